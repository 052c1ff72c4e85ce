// SPDX-License-Identifier: BSD-3-Clause
// A line of text in a caller's buffer: appends like snprintf, counts what did not fit, allocates
// nothing.
#ifndef UROCE_WIRE_TEXT_LINE_H
#define UROCE_WIRE_TEXT_LINE_H

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace uroce::wire {

class TextLine {
 public:
  // The buffer holds `capacity` bytes, of which one is kept for the terminating zero.
  TextLine(char* to, size_t capacity) : to_(to), capacity_(capacity) {
    if (capacity_ != 0) to_[0] = '\0';
  }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const size_t room = length_ < capacity_ ? capacity_ - length_ : 0;
    const int written =
        std::vsnprintf(room != 0 ? to_ + length_ : nullptr, room, format, arguments);
    va_end(arguments);
    if (written > 0) length_ += static_cast<size_t>(written);
  }
  // Length of the whole text, whether it fitted or not.
  size_t length() const { return length_; }

 private:
  char* to_;
  size_t capacity_;
  size_t length_ = 0;
};

}  // namespace uroce::wire

#endif  // UROCE_WIRE_TEXT_LINE_H
