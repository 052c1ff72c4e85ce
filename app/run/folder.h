// SPDX-License-Identifier: BSD-3-Clause
// A folder that lives as long as a process.
#ifndef UROCE_APP_RUN_FOLDER_H
#define UROCE_APP_RUN_FOLDER_H

#include <string>

namespace run {

// Makes a folder of a new name: `name` ends with XXXXXX, which is replaced. Others may read it.
// It is removed when this process has ended, in whatever way, also if it has become another
// program. Returns 0 or an errno. Not to be called where other threads run.
int make_folder_of_this_process(std::string& name);

}  // namespace run

#endif  // UROCE_APP_RUN_FOLDER_H
