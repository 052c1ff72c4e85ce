// SPDX-License-Identifier: BSD-3-Clause
// One sentence for each thread.
#include "base/last_error.h"

#include <utility>

namespace uroce {
namespace {

thread_local std::string last;

}  // namespace

void set_last_error(std::string sentence) { last = std::move(sentence); }

const char* last_error() { return last.c_str(); }

}  // namespace uroce
