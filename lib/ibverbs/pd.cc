// SPDX-License-Identifier: BSD-3-Clause
// Protection domains, and the domains that say more about the objects in them: thread domains and
// parent domains. Both are only counted here: posting has locks of its own either way, and memory
// of queues is the device's.
#include <cerrno>
#include <new>

#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {

ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* init_attr) {
  if (init_attr == nullptr || init_attr->comp_mask != 0) return refuse<ibv_td>(-EINVAL);
  auto* const td = new (std::nothrow) Td{};
  if (td == nullptr) return refuse<ibv_td>(-ENOMEM);
  td->context = context;
  return td;
}

int dealloc_td(ibv_td* td) {
  if (of(td).uses != 0) return EBUSY;
  delete &of(td);
  return 0;
}

ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attr) {
  constexpr uint32_t kKnown =
      IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  if (attr == nullptr || attr->pd == nullptr || (attr->comp_mask & ~kKnown) != 0 ||
      attr->pd->context != context || (attr->td != nullptr && attr->td->context != context)) {
    return refuse<ibv_pd>(-EINVAL);
  }
  auto* const pd = new (std::nothrow) Pd{};
  if (pd == nullptr) return refuse<ibv_pd>(-ENOMEM);
  Pd& parent = of(attr->pd);
  pd->context = context;
  pd->handle = parent.handle;
  pd->object = parent.object;
  pd->parent = &parent;
  pd->td = attr->td != nullptr ? &of(attr->td) : nullptr;
  ++parent.uses;
  if (pd->td != nullptr) ++pd->td->uses;
  return pd;
}

namespace {

int end_parent_domain(Pd& pd) {
  --pd.parent->uses;
  if (pd.td != nullptr) --pd.td->uses;
  delete &pd;
  return 0;
}

}  // namespace
}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return make_object<Pd>(context, [context](device::Device& device, Pd& pd) {
    if (const int error = device.create_pd(pd.object); error != 0) return error;
    pd.context = context;
    pd.handle = pd.object->number;
    return 0;
  });
}

int ibv_dealloc_pd(ibv_pd* pd) {
  if (of(pd).uses != 0) return EBUSY;
  if (of(pd).parent != nullptr) return end_parent_domain(of(pd));
  return end_object(pd->context, of(pd),
                    [pd](device::Device& device) { return device.destroy_pd(*of(pd).object); });
}
