// SPDX-License-Identifier: BSD-3-Clause
// UD multicast between the two processes: both are members, both send.
#include <cstring>
#include <stdexcept>

#include "test/smoke/traffic/traffic.h"

namespace uroce::traffic {
namespace {

constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kGrhBytes = 40;
constexpr uint32_t kBurst = 16;
constexpr uint32_t kBursts = 8;
constexpr uint32_t kRecvs = 4 * kBurst;  // our own copies come back as well

ib_gid group_gid(bool ipv6) {
  ib_gid gid{};
  const uint8_t ipv4_group[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 7, 7, 7};
  const uint8_t ipv6_group[] = {0xff, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7, 7};
  std::memcpy(gid.raw, ipv6 ? ipv6_group : ipv4_group, sizeof gid.raw);
  return gid;
}

class Member {
 public:
  Member(const Side& side, bool ipv6)
      : side_(side),
        group_(group_gid(ipv6)),
        bytes_(side.mtu_bytes()),
        slot_(kGrhBytes + bytes_),
        end_(side.device, options()),
        ah_(end_, group_, gid_of(side.device, ipv6).index, 1) {
    end_.activate(kQkey);
    for (uint32_t i = 0; i < kRecvs; ++i) end_.post_recv(i * slot_, slot_, i);
  }

  void attach() { app::check(ib_attach_mcast(end_.qp(), &group_, 0), "ib_attach_mcast"); }
  void detach() { app::check(ib_detach_mcast(end_.qp(), &group_, 0), "ib_detach_mcast"); }

  // Sends a burst and waits until as many of the peer's and of our own have come.
  void burst() {
    for (uint32_t i = 0; i < kBurst; ++i) send(i);
    wanted_ += kBurst;
    try {
      side_.meeting.drive([this] { return collect(); }, "all group messages");
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string(error.what()) + ": wanted " + std::to_string(wanted_) +
                               ", came " + std::to_string(peers_) + " of the peer's and " +
                               std::to_string(own_) + " of our own, not yet sent " +
                               std::to_string(unfinished_));
    }
  }

  // Sends without a look at who hears it.
  void send(uint32_t index) {
    const uint32_t offset = kRecvs * slot_ + index * bytes_;
    fill(end_.buffer() + offset, bytes_, side_.client, sent_++);
    app::check(end_.post_datagram({offset, bytes_}, {ah_.get(), IB_MULTICAST_QPN, kQkey}),
               "ib_post_send");
    ++unfinished_;
  }

  // Takes what has come (the peer may be a burst ahead); true when nothing is missing and nothing
  // of ours is still queued.
  bool collect() {
    ib_wc wc{};
    while (app::take(end_.cq(), wc)) {
      if (wc.opcode == IB_WC_SEND) {
        --unfinished_;
        continue;
      }
      const auto slot = static_cast<uint32_t>(wc.wr_id);
      const uint8_t* payload = end_.buffer() + slot * slot_ + kGrhBytes;
      const bool own =
          wc.src_qp == end_.qp()->qp_num && matches(payload, bytes_, side_.client, own_);
      if (!own && !matches(payload, bytes_, !side_.client, peers_)) {
        throw std::runtime_error("a group message is neither the next of ours nor the peer's");
      }
      if (wc.byte_len != slot_) throw std::runtime_error("a group message has a wrong length");
      ++(own ? own_ : peers_);
      end_.post_recv(slot * slot_, slot_, slot);
    }
    return own_ >= wanted_ && peers_ >= wanted_ && unfinished_ == 0;
  }

  uint32_t received() const { return own_ + peers_; }
  bool all_sent() {
    collect();
    return unfinished_ == 0;
  }

 private:
  app::EndpointOptions options() const {
    app::EndpointOptions result;
    result.type = IB_QPT_UD;
    result.buffer_bytes = kRecvs * slot_ + kBurst * bytes_;
    result.recv_wr = kRecvs;
    return result;
  }

  const Side& side_;
  ib_gid group_;
  const uint32_t bytes_;
  const uint32_t slot_;
  app::Endpoint end_;
  app::AddressHandle ah_;
  uint32_t sent_ = 0;
  uint32_t unfinished_ = 0;
  uint32_t wanted_ = 0;
  uint32_t own_ = 0;
  uint32_t peers_ = 0;
};

}  // namespace

std::string multicast(const Side& side, bool ipv6) {
  const std::string topic = ipv6 ? "group6" : "group4";
  Member member(side, ipv6);
  member.attach();
  side.meeting.meet(topic + "-attached");
  for (uint32_t i = 0; i < kBursts; ++i) member.burst();
  if (side.paced) side.meeting.pause(topic + "-heard-wait");
  side.meeting.meet(topic + "-heard");
  member.detach();
  side.meeting.meet(topic + "-detached");
  // Nobody is a member: what is sent now reaches nobody.
  const uint32_t before = member.received();
  for (uint32_t i = 0; i < kBurst; ++i) member.send(i);
  side.meeting.drive([&] { return member.all_sent(); }, "the end of the last burst");
  side.meeting.meet(topic + "-silence");
  member.collect();
  if (member.received() != before) throw std::runtime_error("messages came after the detach");
  if (side.paced) side.meeting.pause(topic + "-left-wait");
  return std::string("UD multicast") + (ipv6 ? " IPv6" : " IPv4") + " path MTU " +
         std::to_string(side.mtu_bytes()) + ": " + std::to_string(kBurst * kBursts) +
         " from each side, none after the detach";
}

}  // namespace uroce::traffic
