// SPDX-License-Identifier: BSD-3-Clause
// The limits of a device: how many objects, and how much of each one may ask for.
#ifndef UROCE_DEVICE_LIMITS_H
#define UROCE_DEVICE_LIMITS_H

#include <cstdint>

namespace uroce::device {

// QPs are limited by DeviceShared::qp_slots_per_engine, MRs by the key table's capacity (each PD
// takes one key for its local DMA key).
struct DeviceLimits {
  uint32_t pd_max = 1024;
  uint32_t ah_max = 32767;
  uint32_t cq_max = 4096;
  uint32_t cqe_max = 4194303;  // entries of one CQ; some programs ask for many and use few
  uint32_t qp_wr_max = 16384;  // work requests of one queue
  uint32_t srq_max = 1024;
  uint32_t xrcd_max = 256;
  uint32_t srq_wr_max = 32768;      // receive work requests of one shared receive queue
  uint32_t sge_max = 32;            // of a gather or scatter list
  uint32_t inline_bytes_max = 512;  // of one work request
  uint32_t gid_table_length = 128;  // 1 … 256
  uint32_t group_max = 8192;        // multicast groups
  uint32_t group_qp_max = 1024;     // QPs in one group
  uint32_t membership_max = 16384;  // QPs in groups, all told
  uint32_t source_max = 1024;       // sources of their memberships, all told
};

inline constexpr uint32_t kMessageBytesMax = 1u << 31;

}  // namespace uroce::device

#endif  // UROCE_DEVICE_LIMITS_H
