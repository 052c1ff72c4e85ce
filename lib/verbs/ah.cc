// SPDX-License-Identifier: BSD-3-Clause
// Address handles of the native face.
#include <algorithm>
#include <cerrno>
#include <new>

#include "verbs/driver.h"
#include "verbs/handles.h"

namespace uroce::verbs {
namespace {

ib_ah* create(ib_pd* pd, const rdma_ah_attr& attr, bool ask_always) {
  device::AhAttributes path;
  if (const int error = to_path(attr, path); error != 0) return error_pointer<ib_ah>(error);
  auto* ah = new (std::nothrow) Ah{};
  if (ah == nullptr) return error_pointer<ib_ah>(-ENOMEM);
  const int error = device_of(*pd).create_ah(*of(pd).object, path, ask_always, ah->object);
  if (error != 0) {
    delete ah;
    return error_pointer<ib_ah>(error);
  }
  ah->device = pd->device;
  ah->pd = pd;
  ah->type = RDMA_AH_ATTR_TYPE_ROCE;
  of(pd->device).objects.keep(ah);
  return ah;
}

}  // namespace

int to_path(const rdma_ah_attr& attr, device::AhAttributes& path) {
  if (attr.type != RDMA_AH_ATTR_TYPE_ROCE && attr.type != RDMA_AH_ATTR_TYPE_UNDEFINED) {
    return -EINVAL;
  }
  path.dgid = to_gid(attr.grh.dgid);
  path.sgid_index = attr.grh.sgid_index;
  path.flow_label = attr.grh.flow_label;
  path.hop_limit = attr.grh.hop_limit;
  path.traffic_class = attr.grh.traffic_class;
  path.sl = attr.sl;
  path.static_rate = attr.static_rate;
  path.port = attr.port_num;
  path.global = (attr.ah_flags & IB_AH_GRH) != 0;
  std::copy(std::begin(attr.roce.dmac), std::end(attr.roce.dmac), path.dmac.bytes.begin());
  return 0;
}

void from_path(const device::AhAttributes& path, rdma_ah_attr& attr) {
  attr = {};
  attr.type = RDMA_AH_ATTR_TYPE_ROCE;
  from_gid(path.dgid, attr.grh.dgid);
  attr.grh.sgid_index = static_cast<__u8>(path.sgid_index);
  attr.grh.flow_label = path.flow_label;
  attr.grh.hop_limit = path.hop_limit;
  attr.grh.traffic_class = path.traffic_class;
  attr.sl = path.sl;
  attr.static_rate = path.static_rate;
  attr.port_num = path.port;
  attr.ah_flags = path.global ? IB_AH_GRH : 0;
  std::copy(path.dmac.bytes.begin(), path.dmac.bytes.end(), std::begin(attr.roce.dmac));
}

}  // namespace uroce::verbs

using namespace uroce;
using namespace uroce::verbs;

ib_ah* driver::create_ah(ib_pd* pd, rdma_ah_attr* ah_attr, __u32 /*flags*/) {
  return create(pd, *ah_attr, false);
}

ib_ah* driver::create_user_ah(ib_pd* pd, rdma_ah_attr* ah_attr, ib_udata* /*udata*/) {
  return create(pd, *ah_attr, true);
}

int driver::modify_ah(ib_ah* ah, rdma_ah_attr* ah_attr) {
  uroce::device::AhAttributes path;
  if (const int error = to_path(*ah_attr, path); error != 0) return error;
  return device_of(*ah->pd).modify_ah(*of(ah).object, path);
}

int driver::query_ah(ib_ah* ah, rdma_ah_attr* ah_attr) {
  from_path(device_of(*ah->pd).query_ah(*of(ah).object), *ah_attr);
  return 0;
}

int rdma_destroy_ah(ib_ah* ah, __u32 flags) { return rdma_destroy_ah_user(ah, flags, nullptr); }

int rdma_destroy_ah_user(ib_ah* ah, __u32 /*flags*/, ib_udata* udata) {
  if (!uroce_udata_is_empty(udata)) return -EINVAL;
  const int error = device_of(*ah->pd).destroy_ah(*of(ah).object);
  if (error == 0) of(ah->device).objects.give_up(&of(ah));
  return error;
}
