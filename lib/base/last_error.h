// SPDX-License-Identifier: BSD-3-Clause
// The sentence that explains the errno which a C call has returned: the last one of each thread.
// Control path only.
#ifndef UROCE_BASE_LAST_ERROR_H
#define UROCE_BASE_LAST_ERROR_H

#include <string_view>

namespace uroce {

// "": there is none. Control characters are written out, as quotable() does.
void set_last_error(std::string_view sentence);
// "" if there was none. Valid until the thread's next set_last_error().
const char* last_error();

}  // namespace uroce

#endif  // UROCE_BASE_LAST_ERROR_H
