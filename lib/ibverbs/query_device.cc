// SPDX-License-Identifier: BSD-3-Clause
// What a device can do: from the configuration alone, since programs look at devices long before
// they use one.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/device_attributes.h"
#include "ibverbs/device_memory.h"
#include "ibverbs/operations.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {
namespace {

constexpr uint64_t kNanosecondClockKhz = 1'000'000;

ibv_device_attr attributes_of(const DeviceDescription& device) {
  auto attr =
      device::device_attributes<ibv_device_attr>(device.limits, device.qp_max, device.mr_max);
  attr.max_sge = attr.max_sge_rd;
  attr.device_cap_flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
                          IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
                          IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
                          IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_XRC | IBV_DEVICE_MEM_WINDOW |
                          IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS;
  // They are the CPU's own instructions, so it could be IBV_ATOMIC_GLOB. Programs that want the
  // weaker promise look for that alone: UCX would use no atomics.
  attr.atomic_cap = IBV_ATOMIC_HCA;
  attr.phys_port_cnt = 1;
  return attr;
}

// Everything may fault at any time: it is the CPU that copies.
void set_on_demand_paging(ibv_device_attr_ex& attr) {
  constexpr uint32_t kDatagrams =
      IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_SRQ_RECV;
  constexpr uint32_t kReliable =
      kDatagrams | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC;
  attr.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
  attr.odp_caps.per_transport_caps.rc_odp_caps = kReliable;
  attr.odp_caps.per_transport_caps.uc_odp_caps = kDatagrams | IBV_ODP_SUPPORT_WRITE;
  attr.odp_caps.per_transport_caps.ud_odp_caps = kDatagrams;
  attr.xrc_odp_caps = kReliable;
}

}  // namespace

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attr, size_t attr_size) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  if (attr_size < sizeof attr->orig_attr) return EINVAL;
  ibv_device_attr_ex all{};
  if (const int error = ibv_query_device(context, &all.orig_attr); error != 0) return error;
  set_on_demand_paging(all);
  all.completion_timestamp_mask = UINT64_MAX;
  all.hca_core_clock = kNanosecondClockKhz;
  all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
  all.cq_mod_caps = {.max_cq_count = UINT16_MAX, .max_cq_period = UINT16_MAX};
  all.max_dm_size = kDeviceMemoryBytesMax;
  all.phys_port_cnt_ex = 1;
  std::memset(attr, 0, attr_size);
  std::memcpy(attr, &all, std::min(attr_size, sizeof all));
  return 0;
}

int query_rt_values(ibv_context* context, ibv_values_ex* values) {
  if ((values->comp_mask & ~uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0) return EINVAL;
  if (values->comp_mask == 0) return 0;
  // The clock of completion timestamps begins with the device.
  const device::Device* const device = runtime().running(of(context).index);
  const Duration now = device != nullptr ? device->now().time_since_epoch() : Duration{};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  values->raw_clock.tv_sec = seconds.count();
  values->raw_clock.tv_nsec = (now - seconds).count();
  return 0;
}

}  // namespace uroce::ibverbs

using namespace uroce::ibverbs;

int ibv_query_device(ibv_context* context, ibv_device_attr* device_attr) {
  *device_attr = attributes_of(runtime().describe(of(context).index));
  device_attr->node_guid = device_attr->sys_image_guid = ibv_get_device_guid(context->device);
  return 0;
}
