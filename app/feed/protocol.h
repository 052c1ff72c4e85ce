// SPDX-License-Identifier: BSD-3-Clause
// What exchange and trader send to each other. Numbers lie in the byte order of the machine, which
// is the same for both: x86-64.
//
//   control group (UD)   LOGIN from the trader until it is answered, WELCOME from the exchange
//   groups A and B (UD)  DATA, HEARTBEAT while there is nothing to say, END behind the last message
//   RC                   trader: READY, ORDER, TOTALS; exchange: START, FILL, VERDICT
//   RC READ              messages, out of the exchange's history
//
// Messages are numbered from 1. Message n of the history lies in slot n modulo the slots.
#ifndef UROCE_APP_FEED_PROTOCOL_H
#define UROCE_APP_FEED_PROTOCOL_H

#include <uroce/ib_device.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace uroce::market {

inline constexpr uint32_t kMagic = 0x31444546;
inline constexpr uint32_t kControlQkey = 0x0EED0C00;
inline constexpr uint32_t kFeedQkey[2] = {0x0EED0A00, 0x0EED0B00};
inline constexpr uint32_t kPathMtuBytes = 1024;
inline constexpr uint64_t kMessagesMax = 100'000'000;  // of a stream
inline constexpr uint32_t kPacketMessagesMax = 20;

enum class Kind : uint16_t {
  kData = 1,
  kHeartbeat,
  kEnd,
  kLogin,
  kWelcome,
  kReady,
  kStart,
  kOrder,
  kFill,
  kTotals,
  kVerdict,
};

struct Header {
  uint32_t magic;
  Kind kind;
  uint16_t count;  // of messages, DATA only
};

// Of DATA, HEARTBEAT and END. DATA: messages follow, `sequence` is the number of the first. Else
// that of the message to come.
struct FeedHeader {
  Header header;
  uint64_t sequence;
};

struct Message {
  uint64_t sequence;
  uint64_t sent_ns;  // the exchange's clock
  uint32_t trigger;  // 1, 2, …: wants an order; 0: does not
  uint32_t reserved;
  uint64_t payload[3];  // follows from all the above
};

struct Login {
  Header header;
  uint32_t qpn;  // of the trader's end of the RC connection
  uint32_t reserved;
  uint64_t nonce;  // tells traders apart
  ib_gid gid;
};

struct Welcome {
  Header header;
  uint32_t qpn;
  uint32_t psn;  // the first, both ways
  uint64_t nonce;
  ib_gid gid;
  uint64_t history_address;
  uint32_t history_rkey;
  uint32_t history_slots;  // a power of two
};

struct Ready {
  Header header;
};

// From `first` on the messages are this trader's; the stream ends with number `last`.
struct Start {
  Header header;
  uint64_t first;
  uint64_t last;
  uint32_t triggers;  // of the whole stream
  uint32_t reserved;
};

// The tick that made the trader act, as it was in the message.
struct Order {
  Header header;
  uint32_t trigger;
  uint32_t reserved;
  uint64_t sequence;
  uint64_t sent_ns;
};

struct Fill {
  Header header;
  uint32_t trigger;
  uint32_t reserved;
};

// What a trader counted from START to END.
struct Totals {
  Header header;
  uint64_t delivered;
  uint64_t recovered;
  uint64_t lost;
  uint64_t orders;
  uint64_t fills;
};

struct Verdict {
  Header header;
  uint32_t good;  // 1: the totals are what the exchange counted
  uint32_t reserved;
};

inline constexpr uint32_t kSmallBytesMax = 64;  // of everything but market data
static_assert(sizeof(Message) == 48 && sizeof(FeedHeader) == 16 && sizeof(Welcome) <= 64);
static_assert(sizeof(FeedHeader) + kPacketMessagesMax * sizeof(Message) <= kPathMtuBytes);

inline Header header_of(Kind kind, uint16_t count = 0) { return {kMagic, kind, count}; }

// The kind of what was received; 0: it is not of this protocol.
Kind kind_of(std::span<const uint8_t> data);

// Copies what was received into `to`. False: it is of another kind or length.
template <typename T>
bool read_as(Kind kind, std::span<const uint8_t> data, T& to) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (data.size() != sizeof(T) || kind_of(data) != kind) return false;
  std::memcpy(&to, data.data(), sizeof(T));
  return true;
}

// Market data: the header, when the length agrees with it. Messages: read_message().
bool read_feed(std::span<const uint8_t> data, FeedHeader& header);
Message read_message(const uint8_t* packet, uint32_t index);
// Whether its numbers can be, in a stream that ends with number `last`.
bool is_within(const FeedHeader& header, uint64_t last);

Message make_message(uint64_t sequence, uint64_t sent_ns, uint32_t trigger);
// Whether it is message `sequence`, whole: neither another one nor a part of two.
bool is_intact(const Message& message, uint64_t sequence);

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_PROTOCOL_H
