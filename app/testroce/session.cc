// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs of a session, and the turns that move their traffic.
#include "testroce/session.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "common/stop_signals.h"

namespace uroce::testroce {
namespace {

constexpr unsigned kIdleTurns = 2000;  // spent polling before the thread sleeps

// The place is mixed so that pieces of a message in the wrong order are seen at any path MTU.
uint8_t pattern_byte(uint8_t first, uint32_t place) {
  return static_cast<uint8_t>(first + place * 7 + (place >> 8) * 13);
}

}  // namespace

void fill_pattern(uint8_t* data, uint32_t length, uint8_t first) {
  for (uint32_t i = 0; i < length; ++i) data[i] = pattern_byte(first, i);
}

bool pattern_holds(const uint8_t* data, uint32_t length) {
  for (uint32_t i = 0; i < length; ++i) {
    if (data[i] != pattern_byte(data[0], i)) return false;
  }
  return true;
}

Session::Session(uroce_context* context) : context_(context) {}

Session::~Session() {
  for (auto& [id, qp] : qps_) {
    for (Group& group : qp.groups) ib_detach_mcast(qp.endpoint->qp(), &group.gid, 0);
  }
}

ib_device* Session::device(unsigned index) const {
  ib_device* device = uroce_device(context_, index);
  if (device == nullptr) {
    throw std::runtime_error("no port " + std::to_string(index) + ": there are 0 … " +
                             std::to_string(uroce_device_count(context_) - 1));
  }
  return device;
}

QueuePair& Session::qp(unsigned id) {
  const auto found = qps_.find(id);
  if (found == qps_.end()) {
    throw std::runtime_error("no queue pair " + std::to_string(id) +
                             ": create qp PORT ud|rc makes one");
  }
  return found->second;
}

QueuePair& Session::create_qp(unsigned device_index, ib_qp_type type) {
  QueuePair qp;
  qp.id = next_id_;
  qp.device_index = device_index;
  qp.type = type;
  app::EndpointOptions options;
  options.type = type;
  options.buffer_bytes = qp.buffer_bytes();
  options.send_wr = kSendSlots;
  options.recv_wr = kRecvSlots;
  options.inline_bytes = 0;
  qp.endpoint = std::make_unique<app::Endpoint>(device(device_index), options);
  fill_pattern(qp.endpoint->buffer(), kTargetBytes, static_cast<uint8_t>(qp.id));
  ++next_id_;
  return qps_.emplace(qp.id, std::move(qp)).first->second;
}

void Session::destroy_qp(unsigned id) {
  if (!qp(id).groups.empty()) {
    throw std::runtime_error("queue pair " + std::to_string(id) + " is in group " +
                             qp(id).groups.front().text + ": detach it first");
  }
  qps_.erase(id);
}

void Session::take_received(QueuePair& qp, const ib_wc& wc) {
  const auto slot = static_cast<uint32_t>(wc.wr_id & ~kRecvMark);
  const uint32_t header = qp.type == IB_QPT_UD ? kNetworkHeader : 0;
  const uint8_t* message = qp.endpoint->buffer() + qp.recv_offset(slot) + header;
  ++qp.received;
  qp.received_wrong += wc.byte_len < header || !pattern_holds(message, wc.byte_len - header);
}

unsigned Session::collect(QueuePair& qp) {
  std::array<ib_wc, 16> wcs;
  const int count = ib_poll_cq(qp.endpoint->cq(), static_cast<int>(wcs.size()), wcs.data());
  app::check(count, "ib_poll_cq");
  for (int i = 0; i < count; ++i) {
    const ib_wc& wc = wcs[static_cast<size_t>(i)];
    const bool receive = (wc.wr_id & kRecvMark) != 0;
    if (receive) {
      --qp.recv_posted;
    } else {
      ++qp.completed;
    }
    if (wc.status != IB_WC_SUCCESS) {
      if (qp.error.empty()) qp.error = ib_wc_status_msg(wc.status);
    } else if (receive) {
      take_received(qp, wc);
    } else if ((wc.wr_id & kReadMark) != 0) {
      const uint8_t* landed = qp.endpoint->buffer() + QueuePair::send_offset(wc.wr_id & ~kReadMark);
      qp.read_wrong += !pattern_holds(landed, wc.byte_len);
    }
  }
  return static_cast<unsigned>(count);
}

unsigned Session::turn() {
  auto moved = static_cast<unsigned>(uroce_poll(context_));
  for (auto& [id, qp] : qps_) moved += collect(qp);
  return moved;
}

void Session::sleep_when_idle(unsigned moved) {
  idle_turns_ = moved != 0 ? 0 : idle_turns_ + 1;
  if (idle_turns_ > kIdleTurns) std::this_thread::sleep_for(std::chrono::microseconds(200));
}

bool Session::run_until(const std::function<bool()>& done, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    sleep_when_idle(turn());
    if (done()) return true;
    if (app::stop_asked()) throw std::runtime_error("interrupted");
    if (std::chrono::steady_clock::now() >= end) return false;
  }
}

void check_group(int result) {
  if (result < 0) throw std::runtime_error(uroce_error());
}

ib_gid parse_address(const std::string& text) {
  ib_gid gid{};
  if (inet_pton(AF_INET6, text.c_str(), gid.raw) == 1) return gid;
  gid = {};
  gid.raw[10] = gid.raw[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), gid.raw + 12) == 1) return gid;
  throw std::runtime_error("\"" + text + "\" is no IPv4 or IPv6 address");
}

ib_gid own_address(ib_device* device) {
  ib_gid gid{};
  for (int index = 0;; ++index) {
    const int result = rdma_query_gid(device, 1, index, &gid);
    if (result == -EINVAL) break;
    if (result == 0 && app::is_ipv4(gid)) return gid;
  }
  app::check(rdma_query_gid(device, 1, 0, &gid), "rdma_query_gid");
  return gid;
}

}  // namespace uroce::testroce
