// SPDX-License-Identifier: BSD-3-Clause
// What programs find at the literal paths of RDMA devices (lib/redirect): a folder of small files.
#ifndef UROCE_APP_RUN_TREE_H
#define UROCE_APP_RUN_TREE_H

#include <string>
#include <vector>

#include "library.h"

namespace run {

// Makes the folder, below the one for temporary files. A process that is left behind removes it
// when this one, whatever it is by then, has ended. "": it cannot be made, and `wrong` says why.
std::string make_tree(const std::vector<Device>& devices, std::string& wrong);

}  // namespace run

#endif  // UROCE_APP_RUN_TREE_H
