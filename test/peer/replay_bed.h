// SPDX-License-Identifier: BSD-3-Clause
// A queue pair of ours in the place of one of a captured end: same address, QPN, PSNs and keys.
#ifndef UROCE_TEST_PEER_REPLAY_BED_H
#define UROCE_TEST_PEER_REPLAY_BED_H

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/engine_fixture.h"
#include "test/peer/story.h"

namespace uroce::peer {

inline constexpr uint32_t kDatagramQkey = 0x11223344;  // of the guests' own program

struct Place {
  engine::QpType type = engine::QpType::kRc;
  Gid own, peer;
  MacAddress own_mac, peer_mac;
  Qpn own_qpn, peer_qpn;
  Psn expected, first;  // what the peer sends first, and what we do
  uint32_t mtu = 1024;
  uint32_t qkey = kDatagramQkey;
  uint8_t timeout = 17, retries = 7, rnr_retries = 7, rnr_timer = 12;
};

inline engine::TestDeviceOptions bed_options(uint32_t key_slots) {
  engine::TestDeviceOptions options;
  options.tail_probe = false;  // the peer's machine was slow at times: nothing was lost then
  options.number = 2;
  options.own_port = false;
  options.key_slots = key_slots;
  return options;
}

inline PathMtu path_mtu(uint32_t wanted) {
  for (const PathMtu mtu : {PathMtu::k256, PathMtu::k512, PathMtu::k1024, PathMtu::k2048}) {
    if (::uroce::bytes(mtu) == wanted) return mtu;
  }
  return PathMtu::k4096;
}

class ReplayBed {
 public:
  static constexpr uint32_t kAllRights =
      memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead | memory::kRemoteAtomic;

  explicit ReplayBed(const Place& its_place, uint32_t key_slots = 256)
      : place(its_place), device(bed_options(key_slots)) {
    const engine::LocalAddress own[] = {{place.own, uint8_t(place.own.is_ipv4() ? 24 : 64)}};
    engine::SetAddressesCommand addresses;
    addresses.addresses = own;
    EXPECT_EQ(device.run(0, addresses), 0);
    const uint32_t slots = device.options.qp_slots;
    qp = device.create_at(place.type, 0, place.own_qpn.value() % slots,
                          place.own_qpn.value() / slots);
    qp->qkey = place.qkey;
    if (place.type == engine::QpType::kUd) {
      device.start_datagrams(*qp, engine::QpState::kRtr);
      transport::QpAttributes x;
      x.state = engine::QpState::kRts;
      x.sq_psn = place.first;
      EXPECT_EQ(device.modify(*qp, x, transport::kAttrState | transport::kAttrSqPsn), 0);
    } else {
      connect();
    }
  }

  // The whole memory, under a key and from an address on.
  void open(Key key, uint64_t address, uint32_t rights = kAllRights) {
    device.keys.publish(key, {device.memory.data(), address, device.memory.size(),
                              engine::TestDevice::kPd, rights});
  }

  // Everything that can happen now has happened; what left, in order.
  std::vector<Packet> settle() {
    for (int turns = 0; turns < 1000 && device.turn() != 0; ++turns) {
    }
    std::vector<Packet> out;
    for (const Bytes& frame : device.outbox) out.push_back(to_packet(frame));
    device.outbox.clear();
    return out;
  }
  std::vector<Packet> receive(const Bytes& frame) {
    device.receive(frame);
    return settle();
  }

  const Place place;
  engine::TestDevice device;
  std::unique_ptr<engine::TestQp> qp;

 private:
  void connect() {
    const bool reliable = place.type == engine::QpType::kRc;
    transport::QpAttributes x;
    x.state = engine::QpState::kInit;
    x.access = memory::kRemoteWrite | memory::kRemoteRead | memory::kRemoteAtomic;
    if (!reliable) x.access = memory::kRemoteWrite;
    ASSERT_EQ(device.modify(*qp, x,
                            transport::kAttrState | transport::kAttrPkeyIndex |
                                transport::kAttrPort | transport::kAttrAccessFlags),
              0);
    x.state = engine::QpState::kRtr;
    x.av = engine::address_vector(place.own, place.peer, place.own_mac, place.peer_mac);
    x.path_mtu = path_mtu(place.mtu);
    x.dest_qpn = place.peer_qpn;
    x.rq_psn = place.expected;
    x.dest_rd_atomic_max = 8;
    x.min_rnr_timer = place.rnr_timer;
    uint32_t mask = transport::kAttrState | transport::kAttrAv | transport::kAttrPathMtu |
                    transport::kAttrDestQpn | transport::kAttrRqPsn;
    if (reliable) mask |= transport::kAttrMaxDestRdAtomic | transport::kAttrMinRnrTimer;
    ASSERT_EQ(device.modify(*qp, x, mask), 0);
    x.state = engine::QpState::kRts;
    x.timeout = place.timeout;
    x.retry_count = place.retries;
    x.rnr_retry = place.rnr_retries;
    x.sq_psn = place.first;
    x.rd_atomic_max = 8;
    mask = transport::kAttrState | transport::kAttrSqPsn;
    if (reliable) {
      mask |= transport::kAttrTimeout | transport::kAttrRetryCnt | transport::kAttrRnrRetry |
              transport::kAttrMaxQpRdAtomic;
    }
    ASSERT_EQ(device.modify(*qp, x, mask), 0);
  }
};

// The flow in a story from one address to one queue pair, with the answers that come back. QPNs are
// the same at both ends in all these captures.
struct Flow {
  Gid from, to;
  MacAddress from_mac, to_mac;
  Qpn qpn;
  engine::QpType type = engine::QpType::kRc;
  std::vector<const Packet*> packets;  // requests and answers, in the capture's order
  const Packet* first_request = nullptr;
};

inline std::vector<Flow> flows_of(const Story& story) {
  std::vector<Flow> flows;
  const auto belongs = [](const Flow& flow, const Packet& packet) {
    const bool answer = packet.answer();
    return flow.qpn == packet.fields.dest_qpn && flow.from == (answer ? packet.to : packet.from);
  };
  for (const Packet& packet : story.packets) {
    if (!packet.parses || packet.answer()) continue;
    const auto known = [&](const Flow& flow) { return belongs(flow, packet); };
    if (std::ranges::any_of(flows, known)) continue;
    const uint8_t service = static_cast<uint8_t>(packet.fields.opcode) >> 5;
    const auto type = service == 0   ? engine::QpType::kRc
                      : service == 1 ? engine::QpType::kUc
                                     : engine::QpType::kUd;
    flows.push_back({packet.from,
                     packet.to,
                     packet.fields.source_mac(),
                     packet.fields.destination_mac(),
                     packet.fields.dest_qpn,
                     type,
                     {},
                     &packet});
  }
  for (Flow& flow : flows) {
    for (const Packet& packet : story.packets) {
      if (belongs(flow, packet)) flow.packets.push_back(&packet);
    }
  }
  return flows;
}

// The end that receives a flow.
inline Place responder_place(const Story& story, const Flow& flow) {
  Place place;
  place.type = flow.type;
  place.own = flow.to;
  place.peer = flow.from;
  place.own_mac = flow.to_mac;
  place.peer_mac = flow.from_mac;
  place.own_qpn = place.peer_qpn = flow.qpn;
  // Of a captured end that tells it; a link may have changed the order of the first packets.
  place.expected =
      story.client.qpn != 0 ? Psn(story.client.first_psn) : flow.first_request->fields.psn;
  place.first = Psn(0x1100);
  place.mtu = story.option("-m", 1024);
  if (flow.type == engine::QpType::kUd && story.server.qpn == 0) {
    place.qkey = flow.first_request->fields.deth().qkey;
  }
  place.rnr_timer = static_cast<uint8_t>(story.option("-T", 12));
  return place;
}

// The end that sends it.
inline Place requester_place(const Story& story, const Flow& flow) {
  Place place = responder_place(story, flow);
  std::swap(place.own, place.peer);
  std::swap(place.own_mac, place.peer_mac);
  place.first = place.expected;
  place.expected = Psn(0x1100);
  place.timeout = static_cast<uint8_t>(story.option("-t", 17));
  place.retries = static_cast<uint8_t>(story.option("-r", 7));
  place.rnr_retries = static_cast<uint8_t>(story.option("-R", 7));
  return place;
}

// A packet that a rule of the test's own lost behind the recording point: the nth one with this PSN
// (from 1), counted among the requests or among the answers.
struct LostPacket {
  uint32_t psn = 0;
  bool answer = false;
  uint32_t nth = 1;
};

inline std::string capture_path(const std::string& name) {
  return std::string(UROCE_CAPTURES) + "/" + name;
}

}  // namespace uroce::peer

#endif  // UROCE_TEST_PEER_REPLAY_BED_H
