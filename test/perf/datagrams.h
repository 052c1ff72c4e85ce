// SPDX-License-Identifier: BSD-3-Clause
// The product in the floor's place: UD messages from one device to another over a ring pair, both
// driven by this thread.
#ifndef UROCE_TEST_PERF_DATAGRAMS_H
#define UROCE_TEST_PERF_DATAGRAMS_H

#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include <memory>
#include <vector>

#include "common/endpoint.h"

namespace uroce::perf {

class Datagrams {
 public:
  static constexpr uint32_t kBurstMax = 32;

  Datagrams(uroce_context* context, uint32_t payload_bytes);

  // Posts `burst` messages, drives the devices until all have arrived, polls and posts their
  // buffers again. Returns messages received (= burst).
  uint32_t round(uint32_t burst);

  // Whether the bytes of the last message arrived.
  bool check();

 private:
  void prepare_requests();

  static constexpr uint32_t kRecvs = 256;
  uroce_context* const context_;
  const uint32_t payload_bytes_;
  const uint32_t slot_bytes_;
  app::Endpoint sender_;
  app::Endpoint receiver_;
  app::AddressHandle ah_;
  ib_sge send_sge_{};
  std::vector<ib_ud_wr> sends_;
  std::vector<ib_sge> recv_sges_;
  std::vector<ib_recv_wr> recvs_;
  uint64_t last_slot_ = 0;
};

}  // namespace uroce::perf

#endif  // UROCE_TEST_PERF_DATAGRAMS_H
