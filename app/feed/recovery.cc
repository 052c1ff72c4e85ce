// SPDX-License-Identifier: BSD-3-Clause
// A range is cut where the history's ring ends and at the size of a READ.
#include "recovery.h"

#include <algorithm>
#include <cstring>

namespace uroce::market {
namespace {

constexpr uint32_t kPieceBytes = Recovery::kReadMessagesMax * sizeof(Message);

uint32_t place_of(uint64_t number) { return static_cast<uint32_t>(number % Recovery::kReads); }

}  // namespace

void Recovery::step() {
  while (range_.count != 0 && posted_ - taken_ < kReads && link_.has_room()) {
    const uint64_t slot = range_.first % history_.history_slots;
    const uint64_t count =
        std::min<uint64_t>({range_.count, kReadMessagesMax, history_.history_slots - slot});
    const uint32_t place = place_of(posted_);
    link_.post_read(place * kPieceBytes, static_cast<uint32_t>(count * sizeof(Message)),
                    history_.history_address + slot * sizeof(Message), history_.history_rkey);
    pieces_[place] = {range_.first, static_cast<uint32_t>(count), link_.posted()};
    range_.first += count;
    range_.count -= count;
    ++posted_;
  }
}

const Recovery::Piece* Recovery::finished() const {
  if (posted_ == taken_) return nullptr;
  const Piece& oldest = pieces_[place_of(taken_)];
  return link_.completed() >= oldest.number ? &oldest : nullptr;
}

Message Recovery::read(const Piece& piece, uint32_t index) const {
  const auto place = static_cast<uint32_t>(&piece - pieces_);
  Message message;
  std::memcpy(&message, link_.landing(place * kPieceBytes) + index * sizeof message,
              sizeof message);
  return message;
}

}  // namespace uroce::market
