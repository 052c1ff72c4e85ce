// SPDX-License-Identifier: BSD-3-Clause
// One datagram to many queue pairs of one group, through the verbs: from the send until every
// member has polled its copy and posted its buffer again.
#ifndef UROCE_TEST_PERF_FAN_OUT_H
#define UROCE_TEST_PERF_FAN_OUT_H

#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include <cstdint>
#include <vector>

#include "common/endpoint.h"

namespace uroce::perf {

class FanOut {
 public:
  // The sender is on device 0, the members, 1 … 1024 of them, on device 1.
  FanOut(uroce_context* context, uint32_t members, uint32_t payload_bytes);
  ~FanOut();
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;

  // Sends `burst` datagrams, each when all copies of the one before have been taken. Returns copies
  // received (= burst * members).
  uint64_t round(uint32_t burst);

  // Whether the last datagram arrived in every member's buffer.
  bool check();

 private:
  void add_member(uint32_t index);
  void prepare_receive(uint32_t index);
  uint32_t send_one();

  uroce_context* const context_;
  const uint32_t members_;
  const uint32_t payload_bytes_;
  const uint32_t slot_bytes_;
  app::Endpoint sender_;
  app::Endpoint first_;  // the first member; the others share its memory and completion queue
  app::AddressHandle group_;
  std::vector<ib_qp*> qps_;
  std::vector<ib_sge> sges_;
  std::vector<ib_recv_wr> receives_;  // each member's buffer, its index as wr_id
};

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_FAN_OUT_H
