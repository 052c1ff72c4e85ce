// SPDX-License-Identifier: BSD-3-Clause
// The UDP source port functions of the native face.
#include "device/flow_label.h"

#include <uroce/ib_ah.h>

using namespace uroce::device;

__u16 rdma_flow_label_to_udp_sport(__u32 fl) { return udp_source_port_of_label(fl); }

__u32 rdma_calc_flow_label(__u32 lqpn, __u32 rqpn) { return flow_label_of_qpns(lqpn, rqpn); }

__u16 rdma_get_udp_sport(__u32 fl, __u32 lqpn, __u32 rqpn) {
  return udp_source_port(fl, lqpn, rqpn);
}
