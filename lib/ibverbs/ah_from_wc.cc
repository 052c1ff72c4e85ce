// SPDX-License-Identifier: BSD-3-Clause
// The way back to a datagram's sender, from the 40 bytes before it in its receive buffer.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>

#include "ibverbs/handles.h"
#include "ibverbs/runtime.h"
#include "wire/datagram_header.h"

using namespace uroce;
using namespace uroce::ibverbs;

namespace {

int fail(int error) {
  errno = positive(error);
  return -1;
}

}  // namespace

int ibv_init_ah_from_wc(ibv_context* context, uint8_t port_num, ibv_wc* wc, ibv_grh* grh,
                        ibv_ah_attr* ah_attr) {
  *ah_attr = {};
  ah_attr->sl = wc->sl;
  ah_attr->port_num = port_num;
  if (port_num != 1 || (wc->wc_flags & IBV_WC_GRH) == 0) return fail(EINVAL);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(grh);
  const int version = wire::datagram_header_version(bytes);
  const wire::IpFields header = wire::load_datagram_header(bytes, version);
  if (version == 0 || header.protocol != wire::kProtocolUdp) return fail(EPROTONOSUPPORT);
  // Who has received something has a device that runs.
  device::Device* const device = runtime().running(of(context).index);
  if (device == nullptr) return fail(ENODEV);
  const int index = device->find_gid(header.destination);
  if (index < 0) return fail(index);
  from_gid(header.source, ah_attr->grh.dgid);
  ah_attr->grh.sgid_index = static_cast<uint8_t>(index);
  ah_attr->grh.flow_label = header.flow_label;
  ah_attr->grh.hop_limit = header.hop_limit;
  ah_attr->grh.traffic_class = header.traffic_class;
  ah_attr->is_global = 1;
  return 0;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, uint8_t port_num) {
  ibv_ah_attr attr;
  if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0) return nullptr;
  return ibv_create_ah(pd, &attr);
}
