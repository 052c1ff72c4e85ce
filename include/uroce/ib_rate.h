// SPDX-License-Identifier: BSD-3-Clause
// Rates of a path, and the speed of a port in the words of InfiniBand. Pure functions: any thread.
#ifndef UROCE_IB_RATE_H
#define UROCE_IB_RATE_H

#include <uroce/ib_device.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
enum ib_rate : int {  // any number may be asked about, as in C
#else
enum ib_rate {
#endif
  IB_RATE_PORT_CURRENT = 0,
  IB_RATE_2_5_GBPS = 2,
  IB_RATE_10_GBPS = 3,
  IB_RATE_30_GBPS = 4,
  IB_RATE_5_GBPS = 5,
  IB_RATE_20_GBPS = 6,
  IB_RATE_40_GBPS = 7,
  IB_RATE_60_GBPS = 8,
  IB_RATE_80_GBPS = 9,
  IB_RATE_120_GBPS = 10,
  IB_RATE_14_GBPS = 11,
  IB_RATE_56_GBPS = 12,
  IB_RATE_112_GBPS = 13,
  IB_RATE_168_GBPS = 14,
  IB_RATE_25_GBPS = 15,
  IB_RATE_100_GBPS = 16,
  IB_RATE_200_GBPS = 17,
  IB_RATE_300_GBPS = 18,
  IB_RATE_28_GBPS = 19,
  IB_RATE_50_GBPS = 20,
  IB_RATE_400_GBPS = 21,
  IB_RATE_600_GBPS = 22,
  IB_RATE_800_GBPS = 23,
  IB_RATE_1600_GBPS = 25,
};

// A rate as a multiple of 2.5 Gb/s, rounded down (14 Gb/s: 6); -1 for PORT_CURRENT and any value
// that is none of the list. rdma-core's ibv_rate_to_mult() has no answer for the values 11 … 18.
int ib_rate_to_mult(enum ib_rate rate);

// A rate in Mb/s as it is on the line (25 Gb/s: 25781); -1 as above.
int ib_rate_to_mbps(enum ib_rate rate);

// The rate whose multiple is exactly `mult`, else IB_RATE_PORT_CURRENT.
enum ib_rate mult_to_ib_rate(int mult);

struct ib_port_speed_info {
  const char* str;  // " EDR", … with one blank before it; a static string
  int rate;         // units of 100 Mb/s
};

// The speed of a port in words and as a number: lanes by their speed. An active_speed that is none
// counts as SDR. -EINVAL: an active_width that is none.
int ib_port_attr_to_speed_info(struct ib_port_attr* attr, struct ib_port_speed_info* speed_info);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_RATE_H
