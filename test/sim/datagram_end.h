// SPDX-License-Identifier: BSD-3-Clause
// A UD queue pair as an application has it: sends to others like it and to one group.
#ifndef UROCE_TEST_SIM_DATAGRAM_END_H
#define UROCE_TEST_SIM_DATAGRAM_END_H

#include <cstdint>
#include <vector>

#include "test/sim/check/datagrams.h"
#include "test/sim/host.h"
#include "test/sim/plan.h"

namespace uroce::sim {

class DatagramEnd {
 public:
  DatagramEnd(World& world, Host& host, DatagramBook& book, Verdict& verdict);
  ~DatagramEnd();
  DatagramEnd(const DatagramEnd&) = delete;
  DatagramEnd& operator=(const DatagramEnd&) = delete;

  // To `to`, or to the group when it is nullptr. Left out when the queue is full.
  void send(const Operation& operation, const DatagramEnd* to);
  // Joins the group, or leaves it.
  void toggle_membership();
  void serve();

 private:
  static constexpr uint32_t kDepth = 16;
  static constexpr uint32_t kSlot = 1536;
  static constexpr uint32_t kGrh = 40;
  static constexpr uint32_t kInlineMax = 128;
  static constexpr uint32_t kQkey = 0x11111111;

  void take_recv(const ib_wc& wc);
  ib_ah* address_of(const DatagramEnd* to);
  ib_sge slot(uint64_t id, bool receive) const;

  World& world_;
  Host& host_;
  DatagramBook& book_;
  Verdict& verdict_;
  std::vector<uint8_t> memory_;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_mr* mr_ = nullptr;
  ib_qp* qp_ = nullptr;
  bool member_ = false;
  bool was_member_ = false;
  uint64_t posted_ = 0;
  uint64_t completed_ = 0;
  uint64_t recvs_posted_ = 0;
  uint64_t recvs_taken_ = 0;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_DATAGRAM_END_H
