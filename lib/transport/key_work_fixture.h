// SPDX-License-Identifier: BSD-3-Clause
// Test support: a queue pair with a fast region and windows, and work requests about them.
#ifndef UROCE_TRANSPORT_KEY_WORK_FIXTURE_H
#define UROCE_TRANSPORT_KEY_WORK_FIXTURE_H

#include "transport/qp_fixture.h"

namespace uroce::transport {

class KeyWorkFixture : public QpFixture {
 protected:
  static constexpr Key kBindable{0x0301};  // the whole buffer, windows may be bound
  static constexpr Key kFast{0x0410};
  static constexpr Key kWindow1{0x0520};
  static constexpr Key kWindow2{0x0630};

  KeyWorkFixture() {
    keys.publish(kBindable,
                 {buffer.data(), address(0), buffer.size(), kPd, kAllAccess | memory::kMwBind});
    keys.open(kFast, memory::KeyKind::kFastRegion, kPd);
    keys.open(kWindow1, memory::KeyKind::kWindow1, kPd);
    keys.open(kWindow2, memory::KeyKind::kWindow2, kPd);
  }

  void post_local(WrOpcode opcode, Key key, const LocalOperation& operation, uint64_t wr_id,
                  uint8_t flags = kSendSignaled) {
    SendQueue& queue = qp->queues->send;
    ASSERT_FALSE(queue.full());
    const uint32_t index = queue.producer.load();
    SendWqe& wqe = queue.wqe(index);
    wqe = {};
    wqe.wr_id = wr_id;
    wqe.rkey = key.value();
    wqe.opcode = opcode;
    wqe.flags = flags;
    queue.local_operation(wqe) = operation;
    queue.producer.store(index + 1);
  }
  // 4096 bytes of the buffer from `offset` on.
  void post_reg(Key new_key, uint64_t wr_id, size_t offset = 0, uint8_t flags = kSendSignaled) {
    post_local(WrOpcode::kRegMr, kFast,
               {address(offset), 4096, buffer.data() + offset, new_key.value(), 0, kAllAccess},
               wr_id, flags);
  }
  void post_bind(Key window, Key new_key, uint64_t wr_id, uint8_t flags = kSendSignaled) {
    post_local(WrOpcode::kBindMw, window,
               {address(64), 64, nullptr, new_key.value(), kBindable.value(),
                memory::kRemoteWrite | memory::kRemoteRead},
               wr_id, flags);
  }
  void post_invalidate(Key key, uint64_t wr_id, uint8_t flags = kSendSignaled) {
    post_local(WrOpcode::kLocalInvalidate, key, {}, wr_id, flags);
  }
  void post_message(uint32_t length, uint64_t wr_id) {
    SendRequest request;
    request.sges = {sge(0, length)};
    request.wr_id = wr_id;
    post_send(request);
  }
  void post_read(uint32_t length, uint64_t wr_id, size_t to = 0) {
    SendRequest request;
    request.opcode = WrOpcode::kRdmaRead;
    request.sges = {sge(to, length)};
    request.wr_id = wr_id;
    request.remote_address = 0x1000;
    request.rkey = 0x9901;
    post_send(request);
  }
  // Also what is behind a local operation, for which nothing goes out.
  std::vector<Sent> requests() {
    std::vector<Sent> all;
    do {
      for (Sent& sent : QpFixture::requests()) all.push_back(std::move(sent));
    } while (request_ready(*qp, env.now));
    return all;
  }
  void acknowledge(Psn psn) {
    PeerPacket ack;
    ack.opcode = wire::Opcode::kRcAcknowledge;
    ack.psn = psn;
    ack.aeth = {wire::Aeth::kAckNoCredits, 1};
    response(ack);
  }
  bool valid(Key key, size_t offset = 64) {
    uint8_t* pointer = nullptr;
    return keys.translate_remote(key, kPd, kQpn, memory::kRemoteWrite, address(offset), 8,
                                 pointer) == memory::KeyVerdict::kGood;
  }
  // wr_ids of the send completions, all successful; a failed one counts as 1000 + its status.
  std::vector<uint64_t> completed() {
    std::vector<uint64_t> ids;
    for (const Cqe& cqe : send_completions()) {
      const bool good = cqe.status == WcStatus::kSuccess;
      ids.push_back(good ? cqe.wr_id : 1000 + static_cast<uint64_t>(cqe.status));
    }
    return ids;
  }
  static constexpr uint64_t failed(WcStatus status) { return 1000 + static_cast<uint64_t>(status); }
  // From now on the device has a second engine, which is `other`.
  void add_engine() { env.grace.watch(epochs_, 0, 2); }

  EpochSlot other;

 private:
  std::vector<const EpochSlot*> epochs_{nullptr, &other};
};

using Ids = std::vector<uint64_t>;

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_KEY_WORK_FIXTURE_H
