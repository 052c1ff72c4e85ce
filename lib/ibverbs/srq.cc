// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues as objects: creation, change, query, end.
#include <cerrno>
#include <optional>

#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {
namespace {

bool has(const ibv_srq_init_attr_ex& init, uint32_t mask) { return (init.comp_mask & mask) != 0; }

bool is_xrc(const ibv_srq_init_attr_ex& init) {
  return has(init, IBV_SRQ_INIT_ATTR_TYPE) && init.srq_type == IBV_SRQT_XRC;
}

// 0 or a negative errno.
int check(const ibv_context* context, const ibv_srq_init_attr_ex& init) {
  constexpr uint32_t kMasks =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  if ((init.comp_mask & ~kMasks) != 0) return -EOPNOTSUPP;
  if (has(init, IBV_SRQ_INIT_ATTR_TYPE) && init.srq_type != IBV_SRQT_BASIC &&
      init.srq_type != IBV_SRQT_XRC) {
    return -EOPNOTSUPP;
  }
  if (!has(init, IBV_SRQ_INIT_ATTR_PD) || init.pd == nullptr || init.pd->context != context) {
    return -EINVAL;
  }
  if (!is_xrc(init)) return 0;
  const bool complete = has(init, IBV_SRQ_INIT_ATTR_XRCD) && init.xrcd != nullptr &&
                        init.xrcd->context == context && has(init, IBV_SRQ_INIT_ATTR_CQ) &&
                        init.cq != nullptr && init.cq->context == context;
  return complete ? 0 : -EINVAL;
}

}  // namespace

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* init_attr) {
  ibv_srq_init_attr_ex& init = *init_attr;
  if (const int error = check(context, init); error != 0) return refuse<ibv_srq>(error);
  const bool xrc = is_xrc(init);
  Srq* const made = make_live<Srq>(
      context,
      [&](Srq& srq) {
        srq.context = context;
        srq.srq_context = init.srq_context;
        srq.pd = init.pd;
      },
      [&](device::Device& device, Srq& srq) {
        const device::SrqRequest request{.xrcd = xrc ? of(init.xrcd).object : nullptr,
                                         .cq = xrc ? of(init.cq).handle.object : nullptr,
                                         .wr_max = init.attr.max_wr,
                                         .sge_max = init.attr.max_sge,
                                         .limit = 0,  // what is asked for does not count here
                                         .user = &srq};
        return device.create_srq(*of(init.pd).object, request, srq.handle);
      });
  if (made == nullptr) return nullptr;
  made->xrcd = xrc ? &of(init.xrcd) : nullptr;
  if (xrc) ++made->xrcd->uses;
  ++of(init.pd).uses;
  return made;
}

int get_srq_num(ibv_srq* srq, uint32_t* srq_num) {
  if (of(srq).xrcd == nullptr) return EOPNOTSUPP;  // only those of XRC have one
  *srq_num = of(srq).handle.object->queue.number;
  return 0;
}

}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* srq_init_attr) {
  ibv_srq_init_attr_ex init{};
  init.srq_context = srq_init_attr->srq_context;
  init.attr = srq_init_attr->attr;
  init.comp_mask = IBV_SRQ_INIT_ATTR_PD;
  init.pd = pd;
  return create_srq_ex(pd->context, &init);
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* srq_attr, int srq_attr_mask) {
  if ((srq_attr_mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
  std::optional<uint32_t> wr_max;
  std::optional<uint32_t> limit;
  if ((srq_attr_mask & IBV_SRQ_MAX_WR) != 0) wr_max = srq_attr->max_wr;
  if ((srq_attr_mask & IBV_SRQ_LIMIT) != 0) limit = srq_attr->srq_limit;
  device::Device* device = nullptr;
  int error = reach_device(srq->context, device);
  if (error == 0) error = device->modify_srq(of(srq).handle, wr_max, limit);
  return positive(error);
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* srq_attr) {
  device::Device* device = nullptr;
  if (const int error = reach_device(srq->context, device); error != 0) return positive(error);
  const device::SrqState now = device->query_srq(of(srq).handle);
  *srq_attr = {.max_wr = now.wr_max, .max_sge = now.sge_max, .srq_limit = now.limit};
  return 0;
}

int ibv_destroy_srq(ibv_srq* srq) {
  Pd& domain = of(srq->pd);
  Xrcd* const xrcd = of(srq).xrcd;
  const int error = end_live_object(srq->context, of(srq),
                                    [srq](device::Device& device, const device::Quiesce& quiesce) {
                                      return device.destroy_srq(of(srq).handle, quiesce);
                                    });
  if (error != 0) return error;
  --domain.uses;
  if (xrcd != nullptr) --xrcd->uses;
  return 0;
}
