// SPDX-License-Identifier: BSD-3-Clause
// The buffer is cut into receive slots, the landing area and send slots. A work request's wr_id is
// its number, receives carry a mark beside it.
#include "channel.h"

#include <array>
#include <stdexcept>
#include <string>

namespace uroce::market {
namespace {

constexpr uint32_t kNetworkHeader = 40;
constexpr uint64_t kReceiveMark = uint64_t{1} << 63;

}  // namespace

app::EndpointOptions Channel::endpoint_options(const ChannelShape& shape) {
  const uint32_t header = shape.type == IB_QPT_UD ? kNetworkHeader : 0;
  app::EndpointOptions options;
  options.type = shape.type;
  options.buffer_bytes = shape.receives * (header + shape.receive_bytes) + shape.landing_bytes +
                         shape.sends * shape.send_bytes;
  options.send_wr = shape.sends;
  options.recv_wr = shape.receives;
  options.inline_bytes = kSmallBytesMax;
  return options;
}

Channel::Channel(ib_device* device, const ChannelShape& shape)
    : shape_(shape), endpoint_(device, endpoint_options(shape)) {
  prepare_receives();
}

uint32_t Channel::header_bytes() const { return shape_.type == IB_QPT_UD ? kNetworkHeader : 0; }
uint32_t Channel::send_offset() const { return landing_offset() + shape_.landing_bytes; }

void Channel::prepare_receives() {
  receives_.resize(shape_.receives);
  receive_sges_.resize(shape_.receives);
  lengths_.resize(shape_.receives);
  for (uint32_t i = 0; i < shape_.receives; ++i) {
    receive_sges_[i] = endpoint_.sge(i * slot_bytes(), slot_bytes());
    receives_[i] = {
        &receives_[(i + 1) % shape_.receives], {kReceiveMark | i}, &receive_sges_[i], 1};
  }
}

void Channel::activate(uint32_t qkey) {
  endpoint_.activate(qkey);
  post_receives(shape_.receives);
}

void Channel::connect(const ib_gid& peer, uint32_t qpn, uint32_t psn, int sgid_index) {
  endpoint_.connect(peer, qpn, ib_mtu_int_to_enum(kPathMtuBytes), psn, sgid_index);
  post_receives(shape_.receives);
}

// The requests of the next slots, as one list that is cut behind the last of them.
void Channel::post_receives(uint32_t count) {
  ib_recv_wr& first = receives_[receives_posted_ % shape_.receives];
  ib_recv_wr& last = receives_[(receives_posted_ + count - 1) % shape_.receives];
  ib_recv_wr* const behind = last.next;
  last.next = nullptr;
  const int result = ib_post_recv(endpoint_.qp(), &first, nullptr);
  last.next = behind;
  app::check(result, "ib_post_recv");
  receives_posted_ += count;
}

void Channel::collect() {
  std::array<ib_wc, 32> wcs;
  const int count = ib_poll_cq(endpoint_.cq(), static_cast<int>(wcs.size()), wcs.data());
  app::check(count, "ib_poll_cq");
  for (const ib_wc& wc : std::span(wcs.data(), static_cast<size_t>(count))) {
    if (wc.status != IB_WC_SUCCESS) {
      throw std::runtime_error(std::string(shape_.name) + " fails: " + ib_wc_status_msg(wc.status));
    }
    if ((wc.wr_id & kReceiveMark) != 0) {
      lengths_[wc.wr_id & ~kReceiveMark] = wc.byte_len;
      ++arrived_;
    } else {
      completed_ = wc.wr_id;
    }
  }
}

std::span<const uint8_t> Channel::front() {
  const auto slot = static_cast<uint32_t>(popped_ % shape_.receives);
  const uint32_t length = lengths_[slot];
  if (length < header_bytes()) return {};
  return {endpoint_.buffer() + slot * slot_bytes() + header_bytes(), length - header_bytes()};
}

void Channel::pop() {
  ++popped_;
  if (popped_ + shape_.receives - receives_posted_ >= kReceiveBatch) post_receives(kReceiveBatch);
}

uint8_t* Channel::send_slot() {
  const auto slot = static_cast<uint32_t>(posted_ % shape_.sends);
  return endpoint_.buffer() + send_offset() + slot * shape_.send_bytes;
}

app::SendRange Channel::next_range(uint32_t length, bool signaled) const {
  const auto slot = static_cast<uint32_t>(posted_ % shape_.sends);
  const uint64_t number = posted_ + 1;
  int flags = length <= kSmallBytesMax ? IB_SEND_INLINE : 0;
  if (signaled || number % kSendBatch == 0) flags |= IB_SEND_SIGNALED;
  return {send_offset() + slot * shape_.send_bytes, length, flags, number};
}

void Channel::count_post(int result) {
  app::check(result, "ib_post_send");
  ++posted_;
}

void Channel::post_send(uint32_t length, bool signaled) {
  count_post(endpoint_.post_send(next_range(length, signaled)));
}

void Channel::post_datagram(uint32_t length, const app::DatagramTarget& to) {
  count_post(endpoint_.post_datagram(next_range(length, false), to));
}

void Channel::post_read(uint32_t offset, uint32_t length, uint64_t address, uint32_t rkey) {
  const app::SendRange range{landing_offset() + offset, length, IB_SEND_SIGNALED, posted_ + 1};
  count_post(endpoint_.post_rdma(IB_WR_RDMA_READ, range, address, rkey));
}

}  // namespace uroce::market
