// SPDX-License-Identifier: BSD-3-Clause
// Devices, ports and protection domains of the native face.
#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>
#include <vector>

#include "device/device_attributes.h"
#include "device/link_rate.h"
#include "device/live_objects.h"
#include "verbs/driver.h"
#include "verbs/face.h"
#include "verbs/handles.h"

namespace uroce::verbs {

void deliver_port_event(void* context, transport::EventType type);  // events.cc

namespace {

constexpr unsigned int kFastRegionPiecesMax = 65536;

ib_device_attr attributes_of(const device::Device& device) {
  auto attr =
      device::device_attributes<ib_device_attr>(device.limits(), device.qp_max(), device.mr_max());
  attr.max_send_sge = attr.max_recv_sge = attr.max_sge_rd;
  attr.max_fast_reg_page_list_len = kFastRegionPiecesMax;
  attr.device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_SRQ_RESIZE | IB_DEVICE_XRC |
                          IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |
                          IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_FLUSH_GLOBAL |
                          IB_DEVICE_FLUSH_PERSISTENT | IB_DEVICE_ATOMIC_WRITE;
  attr.atomic_cap = IB_ATOMIC_GLOB;  // the CPU's own instructions
  return attr;
}

uint32_t saturated(uint64_t count) {
  return static_cast<uint32_t>(std::min<uint64_t>(count, UINT32_MAX));
}

}  // namespace

ib_device* open_device(device::Device& device) {
  auto* handle = new (std::nothrow) Device{};
  if (handle == nullptr) return error_pointer<ib_device>(-ENOMEM);
  const size_t length = std::min(device.name().size(), sizeof handle->name - 1);
  std::memcpy(handle->name, device.name().data(), length);
  handle->ops = &driver::kOps;
  handle->dev.numa_node = device.port_state().info.numa_node;
  handle->phys_port_cnt = 1;
  handle->num_comp_vectors = static_cast<int>(device.engine_count());
  handle->attrs = attributes_of(device);
  handle->object = &device;
  device.set_event_sink(deliver_port_event, handle);
  return handle;
}

void close_device(ib_device* ibdev) {
  withdraw_device(ibdev);
  Device& device = of(ibdev);
  device.object->set_event_sink(nullptr, nullptr);
  {
    const std::vector<std::shared_ptr<void>> left = device.objects.give_up_all();
    for (const auto& object : left) device::LiveObjects::instance().remove(object.get());
  }
  delete &device;
}

device::Device& device_of(const ib_device* ibdev) {
  return *static_cast<const Device*>(ibdev)->object;
}

}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

int ib_query_device(ib_device* device, ib_device_attr* device_attr) {
  *device_attr = device->attrs;
  return 0;
}

int ib_query_port(ib_device* device, __u32 port_num, ib_port_attr* port_attr) {
  if (!rdma_is_port_valid(device, port_num)) return -EINVAL;
  const uroce::device::PortState port = of(device).object->port_state();
  *port_attr = {};
  port_attr->subnet_prefix = 0xFE80ull << 48;
  port_attr->state = port.info.link_up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
  port_attr->phys_state =
      port.info.link_up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
  port_attr->max_mtu = IB_MTU_4096;
  port_attr->active_mtu = static_cast<ib_mtu>(port.active_mtu);
  port_attr->phys_mtu = port.info.frame_bytes_max - 14;
  port_attr->gid_tbl_len = static_cast<int>(of(device).object->limits().gid_table_length);
  port_attr->ip_gids = 1;
  port_attr->port_cap_flags = IB_PORT_CM_SUP | IB_PORT_IP_BASED_GIDS;
  port_attr->max_msg_sz = uroce::device::kMessageBytesMax;
  port_attr->bad_pkey_cntr = saturated(port.pkey_violations);
  port_attr->qkey_viol_cntr = saturated(port.qkey_violations);
  port_attr->pkey_tbl_len = 1;
  port_attr->max_vl_num = 1;
  const uroce::device::LinkRate rate = uroce::device::link_rate(port.info.link_mbps);
  port_attr->active_width = rate.width;
  port_attr->active_speed = rate.speed;
  return 0;
}

int rdma_query_gid(ib_device* device, __u32 port_num, int index, ib_gid* gid) {
  if (!rdma_is_port_valid(device, port_num)) return -EINVAL;
  Gid found;
  const int error = of(device).object->query_gid(index, found);
  if (error == 0) from_gid(found, *gid);
  return error;
}

int ib_query_gid(ib_device* device, __u32 port_num, int index, ib_gid* gid) {
  return rdma_query_gid(device, port_num, index, gid);
}

int ib_find_gid(ib_device* device, ib_gid* gid, __u32* port_num, __u16* index) {
  const int found = of(device).object->find_gid(to_gid(*gid));
  if (found < 0) return found;
  if (port_num != nullptr) *port_num = 1;
  if (index != nullptr) *index = static_cast<__u16>(found);
  return 0;
}

int ib_query_pkey(ib_device* device, __u32 port_num, __u16 index, __u16* pkey) {
  if (!rdma_is_port_valid(device, port_num) || index != 0) return -EINVAL;
  *pkey = 0xFFFF;
  return 0;
}

void rdma_roce_rescan_device(ib_device* ibdev) { of(ibdev).object->rescan_addresses(); }

ib_pd* ib_alloc_pd(ib_device* device, unsigned int flags) {
  if (flags != 0) return error_pointer<ib_pd>(-EINVAL);
  auto* pd = new (std::nothrow) Pd{};
  if (pd == nullptr) return error_pointer<ib_pd>(-ENOMEM);
  if (const int error = of(device).object->create_pd(pd->object); error != 0) {
    delete pd;
    return error_pointer<ib_pd>(error);
  }
  pd->device = device;
  pd->local_dma_lkey = pd->object->dma_key.value();
  of(device).objects.keep(pd);
  return pd;
}

int ib_dealloc_pd(ib_pd* pd) { return ib_dealloc_pd_user(pd, nullptr); }

int ib_dealloc_pd_user(ib_pd* pd, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  const int error = device_of(*pd).destroy_pd(*of(pd).object);
  if (error == 0) of(pd->device).objects.give_up(&of(pd));
  return error;
}
