// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the IGMP and MLD hosts share: both protocols as cases, queries to a host, its
// frames and their records.
#ifndef UROCE_GROUP_GROUP_HOST_FIXTURE_H
#define UROCE_GROUP_GROUP_HOST_FIXTURE_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "group/igmp_host.h"
#include "group/mld_host.h"
#include "wire/drop.h"
#include "wire/frame.h"
#include "wire/igmp.h"
#include "wire/mld.h"
#include "wire/parse.h"

namespace uroce::group {

using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Drop;
using wire::MembershipKind;
using wire::MembershipMessage;
using wire::RecordType;
using Bytes = std::vector<uint8_t>;

constexpr Time kStart{seconds(1)};
constexpr Time kLater = kStart + seconds(10);
constexpr Time kMuchLater = kLater + seconds(10);
constexpr MacAddress kMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x02}};
constexpr MacAddress kRouterMac{{0x02, 0xc6, 0x12, 0x00, 0x00, 0x99}};

struct SentFrame {
  Time at;
  Bytes bytes;
};

// A case names a host's type and its protocol's versions and addresses; `query_frame` builds.
struct IgmpCase {
  using Host = IgmpHost;
  static constexpr bool kIpv6 = false;
  static constexpr uint8_t kVersion = 3;  // by records
  static constexpr Drop kBadChecksum = Drop::kIgmpChecksum;
  static constexpr uint32_t kRecordsOfAnEthernetFrame = 183;  // of 8 bytes beside 32 of headers
  static constexpr uint32_t kFrameBytesMax = 14 + 32 + 183 * 8;
  static constexpr Gid kOwn = Gid::from_ipv4(0xC6120002);     // 198.18.0.2
  static constexpr Gid kRouter = Gid::from_ipv4(0xC6120001);  // 198.18.0.1
  static constexpr Gid kGroup = Gid::from_ipv4(0xEF010203);   // 239.1.2.3
  static std::vector<Gid> unreported_groups() { return {Gid::from_ipv4(0xE0000001)}; }
  static Bytes asked_source() { return {10, 0, 0, 9}; }
  static Gid group(uint32_t number) { return Gid::from_ipv4(0xEF000100 + number); }
  static Gid source_of(const uint8_t* l3) { return wire::load_address(l3 + 12, false); }
  static uint32_t build(std::span<uint8_t> room, const Gid& source, const MembershipMessage& m) {
    return wire::build_igmp(room, {kRouterMac, false, 0}, source.is_zero() ? 0 : source.ipv4(), m,
                            {});
  }
  static constexpr auto parse = wire::parse_igmp;
};

struct MldCase {
  using Host = MldHost;
  static constexpr bool kIpv6 = true;
  static constexpr uint8_t kVersion = 2;
  static constexpr Drop kBadChecksum = Drop::kIcmpChecksum;
  static constexpr uint32_t kRecordsOfAnEthernetFrame = 72;  // of 20 bytes beside 56 of headers
  static constexpr uint32_t kFrameBytesMax = 14 + 56 + 72 * 20;
  static constexpr Gid kOwn{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0xc6, 0x12, 0xff, 0xfe, 0, 0, 2}};
  static constexpr Gid kRouter{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  static constexpr Gid kGroup{{0xff, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3}};
  static std::vector<Gid> unreported_groups() {
    return {{{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
            {{0xff, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}},
            {{0xff, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}}};
  }
  static Bytes asked_source() { return {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}; }
  static Gid group(uint32_t number) {
    Gid group = kGroup;
    store_be32(group.bytes.data() + 12, 0x100 + number);
    return group;
  }
  static Gid source_of(const uint8_t* l3) { return wire::load_address(l3 + 8, true); }
  static uint32_t build(std::span<uint8_t> room, const Gid& source, const MembershipMessage& m) {
    return wire::build_mld(room, {kRouterMac, false, 0}, source, m, {});
  }
  static constexpr auto parse = wire::parse_mld;
};

template <typename Case>
HostConfig host_config() {
  HostConfig c;
  c.mac = kMac;
  c.address = Case::kOwn;
  c.seed = 7;
  return c;
}

// A zero group: a general query.
template <typename Case>
Bytes query(const Gid& source, const Gid& group, uint32_t max_response_ms,
            std::span<const uint8_t> sources = {}, uint8_t version = Case::kVersion) {
  MembershipMessage message;
  message.kind = MembershipKind::kQuery;
  message.version = version;
  message.group = group;
  message.max_response_ms = max_response_ms;
  message.sources = sources;
  Bytes frame(512);
  frame.resize(Case::build(frame, source, message));
  return frame;
}

inline Drop give(GroupHost& host, Time now, std::span<const uint8_t> frame) {
  wire::ParseOptions options;
  options.vlan_id = wire::kVlanAny;
  wire::L3Info info;
  wire::classify(frame, options, info);
  return host.handle_frame(now, frame, info, options);
}

// All frames that are due up to `until`, polled at `from` and then at the host's own deadlines.
inline std::vector<SentFrame> run(GroupHost& host, Time from, Time until,
                                  uint32_t capacity = 2048) {
  std::vector<SentFrame> sent;
  for (Time now = from; now <= until; now = std::max(now, host.poll_timeout())) {
    Bytes room(capacity);
    TxSlot slot;
    slot.room = room.data();
    slot.capacity = capacity;
    while (host.poll_frame(now, slot)) {
      sent.push_back({now, Bytes(room.begin(), room.begin() + slot.length)});
    }
    if (host.poll_timeout() == kNever) break;
  }
  return sent;
}

// A frame of ours, parsed; spans point into it.
template <typename Case>
MembershipMessage parsed(const Bytes& frame) {
  wire::ParseOptions options;
  options.vlan_id = wire::kVlanAny;
  wire::L3Info info;
  wire::classify(frame, options, info);
  MembershipMessage message;
  EXPECT_EQ(Case::parse(frame, info, options, message), Drop::kNone);
  return message;
}

// The records of a report; the frame must be one.
template <typename Case>
std::vector<wire::GroupRecord> records_of(const Bytes& frame) {
  const MembershipMessage message = parsed<Case>(frame);
  EXPECT_EQ(message.kind, MembershipKind::kRecordReport);
  std::vector<wire::GroupRecord> records;
  wire::GroupRecord record;
  auto rest = message.records;
  while (wire::next_record(rest, Case::kIpv6, record)) records.push_back(record);
  EXPECT_EQ(records.size(), message.record_count);
  return records;
}

}  // namespace uroce::group

#endif  // UROCE_GROUP_GROUP_HOST_FIXTURE_H
