// SPDX-License-Identifier: BSD-3-Clause
// Reading and making what goes over the wire.
#include "protocol.h"

namespace uroce::market {
namespace {

// Any two messages differ in most bits of their payload.
uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

Kind kind_of(std::span<const uint8_t> data) {
  Header header{};
  if (data.size() < sizeof header) return Kind{};
  std::memcpy(&header, data.data(), sizeof header);
  return header.magic == kMagic ? header.kind : Kind{};
}

bool read_feed(std::span<const uint8_t> data, FeedHeader& header) {
  const Kind kind = kind_of(data);
  if (kind != Kind::kData && kind != Kind::kHeartbeat && kind != Kind::kEnd) return false;
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  const uint32_t count = header.header.count;
  return (count != 0) == (kind == Kind::kData) && count <= kPacketMessagesMax &&
         header.sequence != 0 && data.size() == sizeof header + count * sizeof(Message);
}

bool is_within(const FeedHeader& header, uint64_t last) {
  return header.sequence <= last + 1 && header.header.count <= last + 1 - header.sequence;
}

Message read_message(const uint8_t* packet, uint32_t index) {
  Message message;
  std::memcpy(&message, packet + sizeof(FeedHeader) + index * sizeof message, sizeof message);
  return message;
}

Message make_message(uint64_t sequence, uint64_t sent_ns, uint32_t trigger) {
  const uint64_t first = mix(sequence), second = mix(first ^ sent_ns);
  return {sequence, sent_ns, trigger, 0, {first, second, mix(second ^ trigger)}};
}

bool is_intact(const Message& message, uint64_t sequence) {
  const Message wanted = make_message(sequence, message.sent_ns, message.trigger);
  return std::memcmp(&message, &wanted, sizeof message) == 0;
}

}  // namespace uroce::market
