// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM as a wish that a program looks for between two steps.
#ifndef UROCE_APP_COMMON_STOP_SIGNALS_H
#define UROCE_APP_COMMON_STOP_SIGNALS_H

namespace uroce::app {

// From now on both signals ask to stop instead of ending the process.
void catch_stop_signals();
void ask_to_stop();
bool stop_asked();

}  // namespace uroce::app

#endif  // UROCE_APP_COMMON_STOP_SIGNALS_H
