// SPDX-License-Identifier: BSD-3-Clause
// A queue pair as both sides use it: receives that are a ring in posting order and are posted again
// in batches, sends of which one in a batch asks for a completion. Only making one takes memory.
#ifndef UROCE_APP_FEED_CHANNEL_H
#define UROCE_APP_FEED_CHANNEL_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "common/endpoint.h"
#include "protocol.h"

namespace uroce::market {

// Counts of slots are powers of two, of receives at least kReceiveBatch and of sends kSendBatch.
struct ChannelShape {
  const char* name;  // in messages
  ib_qp_type type = IB_QPT_RC;
  uint32_t receives = 64;
  uint32_t receive_bytes = kSmallBytesMax;
  uint32_t sends = 64;
  uint32_t send_bytes = kSmallBytesMax;
  uint32_t landing_bytes = 0;  // for what READs bring
};

class Channel {
 public:
  static constexpr uint32_t kReceiveBatch = 16;
  static constexpr uint32_t kSendBatch = 16;

  Channel(ib_device* device, const ChannelShape& shape);

  // To RTS, with all receives posted. Datagrams; or a connection, PSNs from `psn` both ways.
  void activate(uint32_t qkey);
  void connect(const ib_gid& peer, uint32_t qpn, uint32_t psn, int sgid_index);

  app::Endpoint& endpoint() { return endpoint_; }
  uint32_t qpn() const { return endpoint_.qp()->qp_num; }

  // Takes the completions that are there; throws when one is an error.
  void collect();

  // What was received and not popped yet, oldest first. Its memory is valid until pop().
  bool empty() const { return popped_ == arrived_; }
  std::span<const uint8_t> front();
  void pop();

  // A send needs room. The message is put into send_slot() first, at most `send_bytes` of it.
  bool has_room(uint64_t sends = 1) const { return posted_ - completed_ + sends <= shape_.sends; }
  uint8_t* send_slot();
  void post_send(uint32_t length, bool signaled = false);
  void post_datagram(uint32_t length, const app::DatagramTarget& to);
  template <typename T>
  void send(const T& message, bool signaled = false) {
    std::memcpy(send_slot(), &message, sizeof message);
    post_send(sizeof message, signaled);
  }
  template <typename T>
  void send_to(const app::DatagramTarget& to, const T& message) {
    std::memcpy(send_slot(), &message, sizeof message);
    post_datagram(sizeof message, to);
  }
  // READs into the landing area; always signaled.
  void post_read(uint32_t offset, uint32_t length, uint64_t address, uint32_t rkey);
  uint8_t* landing(uint32_t offset) { return endpoint_.buffer() + landing_offset() + offset; }

  // Requests are numbered from 1 as they are posted. Those that are not signaled count as completed
  // with the next one that is.
  uint64_t posted() const { return posted_; }
  uint64_t completed() const { return completed_; }

 private:
  static app::EndpointOptions endpoint_options(const ChannelShape& shape);
  uint32_t header_bytes() const;  // in front of what is received
  uint32_t slot_bytes() const { return header_bytes() + shape_.receive_bytes; }
  uint32_t send_offset() const;
  uint32_t landing_offset() const { return shape_.receives * slot_bytes(); }
  app::SendRange next_range(uint32_t length, bool signaled) const;
  void count_post(int result);
  void prepare_receives();
  void post_receives(uint32_t count);

  const ChannelShape shape_;
  app::Endpoint endpoint_;
  std::vector<ib_recv_wr> receives_;  // each is followed by the next slot's
  std::vector<ib_sge> receive_sges_;
  std::vector<uint32_t> lengths_;  // of what lies in the receive slots
  uint64_t receives_posted_ = 0;
  uint64_t arrived_ = 0;
  uint64_t popped_ = 0;
  uint64_t posted_ = 0;
  uint64_t completed_ = 0;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_CHANNEL_H
