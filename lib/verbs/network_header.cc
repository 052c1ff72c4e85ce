// SPDX-License-Identifier: BSD-3-Clause
// The 40 bytes before a datagram: which version of IP they hold, between whom, and the way back.
#include <arpa/inet.h>
#include <uroce/ib_grh.h>
#include <uroce/ib_port.h>

#include <cerrno>
#include <cstring>

#include "device/path.h"
#include "verbs/handles.h"
#include "wire/datagram_header.h"

namespace uroce::verbs {
namespace {

constexpr __u8 kUdp = 17;
constexpr __u16 kNoVlan = 0xFFFF;

ib_gid mapped(__be32 address) {
  ib_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xFF;
  std::memcpy(gid.raw + 12, &address, sizeof address);
  return gid;
}

rdma_network_type network_type_of(const ib_wc& wc, const rdma_network_hdr& header) {
  if ((wc.wc_flags & IB_WC_WITH_NETWORK_HDR_TYPE) != 0) {
    return static_cast<rdma_network_type>(wc.network_hdr_type);
  }
  if (ib_get_rdma_header_version(&header) == 4) return RDMA_NETWORK_IPV4;
  return header.ibgrh.next_hdr == kUdp ? RDMA_NETWORK_IPV6 : RDMA_NETWORK_ROCE_V1;
}

// The index of the address that a datagram was sent to; -ENOENT: not ours.
int local_index(ib_device* device, const ib_wc& wc, rdma_network_type type, ib_gid* dgid) {
  if (type != RDMA_NETWORK_IPV4 && type != RDMA_NETWORK_IPV6) return -ENOENT;
  const __u16 own_vlan = of(device).object->port_state().info.vlan_id;
  const __u16 vlan = (wc.wc_flags & IB_WC_WITH_VLAN) != 0 ? wc.vlan_id : kNoVlan;
  if (vlan != (own_vlan != 0 ? own_vlan : kNoVlan)) return -ENOENT;
  __u16 index = 0;
  const int error = ib_find_gid(device, dgid, nullptr, &index);
  return error != 0 ? error : index;
}

}  // namespace
}  // namespace uroce::verbs

using namespace uroce::verbs;

int ib_get_rdma_header_version(const rdma_network_hdr* hdr) {
  return uroce::wire::datagram_header_version(reinterpret_cast<const uint8_t*>(hdr));
}

int ib_get_gids_from_rdma_hdr(const rdma_network_hdr* hdr, rdma_network_type net_type, ib_gid* sgid,
                              ib_gid* dgid) {
  if (sgid == nullptr || dgid == nullptr) return -EINVAL;
  switch (net_type) {
    case RDMA_NETWORK_IPV4:
      *sgid = mapped(hdr->roce4grh.saddr);
      *dgid = mapped(hdr->roce4grh.daddr);
      return 0;
    case RDMA_NETWORK_IB:
    case RDMA_NETWORK_ROCE_V1:
    case RDMA_NETWORK_IPV6:
      *sgid = hdr->ibgrh.sgid;
      *dgid = hdr->ibgrh.dgid;
      return 0;
    default:
      return -EINVAL;
  }
}

int ib_init_ah_attr_from_wc(ib_device* device, __u32 port_num, const ib_wc* wc, const ib_grh* grh,
                            rdma_ah_attr* ah_attr) {
  *ah_attr = {};
  ah_attr->type = rdma_ah_find_type(device, port_num);
  if (rdma_is_port_valid(device, port_num) == 0) return -EINVAL;
  rdma_network_hdr header;
  std::memcpy(&header, grh, sizeof header);
  const rdma_network_type type = network_type_of(*wc, header);
  ib_gid sgid;
  ib_gid dgid;
  if (const int error = ib_get_gids_from_rdma_hdr(&header, type, &sgid, &dgid); error != 0) {
    return error;
  }
  rdma_ah_set_sl(ah_attr, wc->sl);
  rdma_ah_set_port_num(ah_attr, port_num);
  if ((wc->wc_flags & IB_WC_GRH) == 0) return -EPROTOTYPE;
  const int index = local_index(device, *wc, type, &dgid);
  if (index < 0) return index;
  const __u32 word = type == RDMA_NETWORK_IPV6 ? ntohl(header.ibgrh.version_tclass_flow) : 0;
  rdma_ah_set_grh(ah_attr, &sgid, word & 0xFFFFF, static_cast<__u8>(index),
                  uroce::device::kDefaultHopLimit, static_cast<__u8>(word >> 20));
  if ((wc->wc_flags & IB_WC_WITH_SMAC) != 0) {
    std::memcpy(ah_attr->roce.dmac, wc->smac, sizeof wc->smac);
  }
  return 0;
}

ib_ah* ib_create_ah_from_wc(ib_pd* pd, const ib_wc* wc, const ib_grh* grh, __u32 port_num) {
  rdma_ah_attr attr;
  if (const int error = ib_init_ah_attr_from_wc(pd->device, port_num, wc, grh, &attr); error != 0) {
    return error_pointer<ib_ah>(error);
  }
  ib_ah* ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
  rdma_destroy_ah_attr(&attr);
  return ah;
}
