// SPDX-License-Identifier: BSD-3-Clause
// The program: where it is, and whether a library of ours can take the place of its own.
#ifndef UROCE_APP_RUN_PROGRAM_H
#define UROCE_APP_RUN_PROGRAM_H

#include <string>

namespace run {

struct Program {
  std::string path;
  std::string wrong;  // why it cannot be run over us; "": it can
  int status = 0;     // what shells exit with then: 127 there is none, 126 it does not run
};

// As execvp() finds it.
Program find_program(const std::string& name);

}  // namespace run

#endif  // UROCE_APP_RUN_PROGRAM_H
