// SPDX-License-Identifier: BSD-3-Clause
// RC between the two processes: ping-pong, and RDMA WRITE both ways at once.
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "test/smoke/traffic/traffic.h"

namespace uroce::traffic {
namespace {

constexpr uint32_t kMessageBytes = 32 * 1024;
constexpr uint32_t kMessages = 16;
constexpr uint32_t kWindow = 2;  // messages under way

// What a side tells the other about its end of a connection.
struct Card {
  ib_gid gid;
  uint32_t qpn;
  uint32_t rkey;
  uint64_t address;
};

std::string write_card(const Card& card) {
  std::ostringstream text;
  text << card.qpn << ' ' << card.rkey << ' ' << card.address;
  for (const uint8_t byte : card.gid.raw) text << ' ' << unsigned{byte};
  return text.str();
}

Card read_card(const std::string& text) {
  std::istringstream in(text);
  Card card{};
  in >> card.qpn >> card.rkey >> card.address;
  for (uint8_t& byte : card.gid.raw) {
    unsigned value = 0;
    in >> value;
    byte = static_cast<uint8_t>(value);
  }
  if (!in) throw std::runtime_error("the peer's card reads: " + text);
  return card;
}

app::EndpointOptions options(uint32_t buffer_bytes) {
  app::EndpointOptions result;
  result.buffer_bytes = buffer_bytes;
  return result;
}

// Connects to the peer's endpoint of the same topic; both are ready when it returns.
Card connect(const Side& side, app::Endpoint& endpoint, bool ipv6, const std::string& topic) {
  const app::GidEntry own = gid_of(side.device, ipv6);
  const Card peer = read_card(
      side.meeting.exchange(topic, write_card({own.gid, endpoint.qp()->qp_num, endpoint.mr()->rkey,
                                               reinterpret_cast<uint64_t>(endpoint.buffer())})));
  endpoint.connect(peer.gid, peer.qpn, side.path_mtu, 0xfffff0, own.index);
  return peer;
}

std::string name(const char* what, const Side& side, bool ipv6) {
  return std::string(what) + (ipv6 ? " IPv6" : " IPv4") + " path MTU " +
         std::to_string(side.mtu_bytes());
}

class PingPong {
 public:
  PingPong(const Side& side, bool ipv6, uint32_t largest)
      : side_(side), largest_(largest), end_(side.device, options(2 * largest)) {
    const std::string topic = ipv6 ? "ping6" : "ping4";
    connect(side, end_, ipv6, topic);
    end_.post_recv(largest_, largest_, 0);
    side.meeting.meet(topic + "-ready");
  }

  void round(uint32_t bytes) {
    if (side_.client) send(bytes);
    receive(bytes);
    if (!side_.client) send(bytes);
    ++number_;
  }

 private:
  void send(uint32_t bytes) {
    fill(end_.buffer(), bytes, side_.client, number_);
    app::check(end_.post_send({0, bytes}), "ib_post_send");
    ++sends_;
  }

  // The next message has come, and our own last one is acknowledged.
  void receive(uint32_t bytes) {
    ib_wc wc{};
    bool received = false;
    side_.meeting.drive(
        [&] {
          while (app::take(end_.cq(), wc)) {
            if (wc.opcode == IB_WC_SEND) {
              --sends_;
              continue;
            }
            received = true;
            if (wc.byte_len != bytes ||
                !matches(end_.buffer() + largest_, bytes, !side_.client, number_)) {
              throw std::runtime_error("message " + std::to_string(number_) + " is not as sent");
            }
          }
          return received && (!side_.client || sends_ == 0);
        },
        "ping-pong message " + std::to_string(number_));
    end_.post_recv(largest_, largest_, 0);
  }

  const Side& side_;
  const uint32_t largest_;
  app::Endpoint end_;
  uint32_t number_ = 0;
  uint32_t sends_ = 0;
};

}  // namespace

std::string ping_pong(const Side& side, bool ipv6) {
  const uint32_t mtu = side.mtu_bytes();
  const uint32_t sizes[] = {64, mtu, 3 * mtu + 5};
  PingPong both(side, ipv6, 3 * mtu + 5);
  for (const uint32_t bytes : sizes) {
    for (uint32_t i = 0; i < side.rounds; ++i) both.round(bytes);
  }
  side.meeting.meet(ipv6 ? "ping6-done" : "ping4-done");
  return name("RC ping-pong", side, ipv6) + ": 3 sizes, " + std::to_string(side.rounds) +
         " rounds each";
}

std::string write_both_ways(const Side& side, bool ipv6) {
  constexpr uint32_t kTotal = kMessageBytes * kMessages;
  app::Endpoint end(side.device, options(2 * kTotal));  // what we write, then what is written
  const std::string topic = ipv6 ? "write6" : "write4";
  for (uint32_t i = 0; i < kMessages; ++i) {
    fill(end.buffer() + i * kMessageBytes, kMessageBytes, side.client, i);
  }
  std::memset(end.buffer() + kTotal, 0xEE, kTotal);
  const Card peer = connect(side, end, ipv6, topic);
  side.meeting.meet(topic + "-ready");
  uint32_t posted = 0, done = 0;
  side.meeting.drive(
      [&] {
        ib_wc wc{};
        while (app::take(end.cq(), wc)) ++done;
        for (; posted < kMessages && posted - done < kWindow; ++posted) {
          const uint32_t offset = posted * kMessageBytes;
          app::check(end.post_rdma(IB_WR_RDMA_WRITE, {offset, kMessageBytes},
                                   peer.address + kTotal + offset, peer.rkey),
                     "ib_post_send");
        }
        return done == kMessages;
      },
      "the completions of " + std::to_string(kMessages) + " writes");
  side.meeting.meet(topic + "-done");
  for (uint32_t i = 0; i < kMessages; ++i) {
    if (!matches(end.buffer() + kTotal + i * kMessageBytes, kMessageBytes, !side.client, i)) {
      throw std::runtime_error("written message " + std::to_string(i) + " is not as sent");
    }
  }
  return name("RC WRITE both ways", side, ipv6) + ": " + std::to_string(kTotal >> 10) +
         " KiB compared";
}

}  // namespace uroce::traffic
