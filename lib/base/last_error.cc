// SPDX-License-Identifier: BSD-3-Clause
// One sentence for each thread, in one line.
#include "base/last_error.h"

#include <string>

#include "base/quotable.h"

namespace uroce {
namespace {

thread_local std::string last;

}  // namespace

void set_last_error(std::string_view sentence) { last = quotable(sentence, std::string::npos); }

const char* last_error() { return last.c_str(); }

}  // namespace uroce
