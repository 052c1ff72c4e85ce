// SPDX-License-Identifier: BSD-3-Clause
// Random RC traffic from one queue pair to another, checked against a model: every message exactly
// once and in order, memory as the model says, every work request completed once.
#ifndef UROCE_TEST_SIM_TRAFFIC_H
#define UROCE_TEST_SIM_TRAFFIC_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "test/sim/host.h"

namespace uroce::sim {

struct TrafficPlan {
  uint32_t messages = 60;  // in each direction
  uint32_t message_bytes_max = 20'000;
  uint32_t send_queue = 16;
  uint32_t recv_queue = 8;
  ib_mtu mtu = IB_MTU_1024;
  uint32_t first_psn = 0;
  bool recv_starves = true;  // receives are posted late now and then: RNR NAKs
};

// One direction's sender and receiver, and the model between them.
class End {
 public:
  End(World& world, Host& host, const TrafficPlan& plan, uint64_t seed);
  ~End();
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  void connect(const End& peer);
  // Posts what fits; takes completions. Called whenever something has happened.
  void work();
  // Nothing is left to be posted, to complete or to come.
  bool finished() const;
  // The last look at memory, when both ends have finished.
  void compare_memory();

  // The first rule that was broken; empty: none.
  const std::string& failure() const { return failure_; }
  uint64_t messages_done() const { return completed_; }

 private:
  enum class Kind : uint8_t { kSend, kSendImm, kWrite, kWriteImm, kRead };
  struct Message {
    Kind kind;
    uint32_t length;
    uint32_t local_offset;   // in send_area, or of the READ's sink
    uint32_t remote_offset;  // WRITE target or READ source
    uint32_t immediate;
  };

  void post_sends();
  bool post_one();
  Message draw();
  void post_recvs();
  void take_completions();
  void take_send(const ib_wc& wc);
  void take_recv(const ib_wc& wc);
  void check_read(const Message& message);
  void expect_at_peer(const Message& message);
  void fail(const std::string& what);
  ib_sge sge(uint32_t offset, uint32_t length) const;

  // The areas of the registered memory of each end.
  static constexpr uint32_t kSendArea = 0;
  static constexpr uint32_t kRecvArea = 1u << 19;
  static constexpr uint32_t kWriteArea = 2u << 19;  // written by the peer
  static constexpr uint32_t kReadArea = 3u << 19;   // constant, read by the peer
  static constexpr uint32_t kSinkArea = 4u << 19;   // READ results
  static constexpr uint32_t kMemory = 5u << 19;
  static constexpr uint64_t kIova = 0x7000'0000'0000;  // the same in every run, unlike a pointer

  World& world_;
  Host& host_;
  const TrafficPlan plan_;
  Random random_;
  std::string failure_;
  std::vector<uint8_t> memory_;
  std::vector<uint8_t> write_model_;  // what this end's write area should hold
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_mr* mr_ = nullptr;
  ib_qp* qp_ = nullptr;
  End* peer_ = nullptr;
  uint32_t posted_ = 0;
  uint32_t completed_ = 0;
  std::deque<Message> outstanding_;  // posted here, not complete
  std::deque<std::pair<Message, std::vector<uint8_t>>>
      expected_;  // to arrive here, with an RQ entry
  uint32_t recvs_posted_ = 0;
  uint32_t recvs_done_ = 0;
  Time recv_pause_until_{};
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_TRAFFIC_H
