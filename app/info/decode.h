// SPDX-License-Identifier: BSD-3-Clause
// uroce-info decode: capture files as text.
#ifndef UROCE_APP_INFO_DECODE_H
#define UROCE_APP_INFO_DECODE_H

#include "options.h"

namespace info {

// Runs the subcommand and returns the exit status: 0 all good, 1 bad frames, 2 a file unreadable.
int decode(const Options& options);

}  // namespace info

#endif  // UROCE_APP_INFO_DECODE_H
