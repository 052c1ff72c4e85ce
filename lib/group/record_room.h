// SPDX-License-Identifier: BSD-3-Clause
// The room for the group records of one report: as many as fit, with as many sources as fit.
#ifndef UROCE_GROUP_RECORD_ROOM_H
#define UROCE_GROUP_RECORD_ROOM_H

#include <cstdint>
#include <span>

#include "base/types.h"
#include "wire/ip.h"
#include "wire/membership.h"

namespace uroce::group {

class RecordRoom {
 public:
  // At most records.size() records, at most `bytes` of them on the wire. `addresses` takes their
  // sources, of which it must hold `bytes`.
  RecordRoom(std::span<wire::GroupRecord> records, std::span<uint8_t> addresses, uint32_t bytes)
      : records_(records), addresses_(addresses), bytes_left_(bytes) {}

  // Begins a record; false when it does not fit with `source_count` sources beside those that are
  // here. Into an empty room goes what fits of it.
  bool open(wire::RecordType type, const Gid& group, uint32_t source_count) {
    const uint64_t source = group.is_ipv4() ? 4 : 16;
    const uint64_t bytes = 4 + source + (count_ == 0 ? 0 : source * source_count);
    if (count_ == records_.size() || bytes > bytes_left_) return false;
    bytes_left_ -= 4 + static_cast<uint32_t>(source);
    records_[count_++] = {type, group, addresses_.subspan(addresses_used_, 0)};
    return true;
  }
  // Another source of the record begun last; false: no room.
  bool add_source(const Gid& source) {
    wire::GroupRecord& record = records_[count_ - 1];
    const uint32_t bytes = record.group.is_ipv4() ? 4 : 16;
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    wire::store_address(addresses_.data() + addresses_used_, source);
    addresses_used_ += bytes;
    record.sources = {record.sources.data(), record.sources.size() + bytes};
    return true;
  }

  std::span<const wire::GroupRecord> records() const { return records_.first(count_); }
  bool empty() const { return count_ == 0; }

 private:
  std::span<wire::GroupRecord> records_;
  std::span<uint8_t> addresses_;
  uint32_t count_ = 0;
  uint32_t addresses_used_ = 0;
  uint32_t bytes_left_;
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_RECORD_ROOM_H
