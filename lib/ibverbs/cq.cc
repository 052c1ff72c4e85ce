// SPDX-License-Identifier: BSD-3-Clause
// Completion queues as objects: creation, change, end.
#include <cerrno>

#include "ibverbs/data_path.h"
#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"
#include "transport/completion_queue.h"

namespace uroce::ibverbs {
namespace {

constexpr uint64_t kClocks =
    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
// What there is to read of a completion. No tags of flows or messages: nothing sets any.
constexpr uint64_t kReadable = IBV_WC_STANDARD_FLAGS | kClocks | IBV_WC_EX_WITH_CVLAN;

// 0 or a negative errno.
int check(const ibv_context* context, const ibv_cq_init_attr_ex& attr) {
  constexpr uint32_t kMasks = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
  constexpr uint32_t kFlags =
      IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  if ((attr.comp_mask & ~kMasks) != 0) return -EINVAL;
  if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0) {
    if ((attr.flags & ~kFlags) != 0) return -EINVAL;
    // A completion says that its work request's memory and slot are the program's again: none may
    // be lost without a word.
    if ((attr.flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) != 0) return -EOPNOTSUPP;
  }
  if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0 &&
      (attr.parent_domain == nullptr || of(attr.parent_domain).parent == nullptr)) {
    return -EINVAL;
  }
  if ((attr.wc_flags & ~kReadable) != 0) return -EOPNOTSUPP;
  const bool known = attr.comp_vector < static_cast<uint32_t>(context->num_comp_vectors) &&
                     (attr.channel == nullptr || attr.channel->context == context);
  return known ? 0 : -EINVAL;
}

Cq* create(ibv_context* context, const ibv_cq_init_attr_ex& attr) {
  if (const int error = check(context, attr); error != 0) return refuse<Cq>(error);
  Cq* const made = make_live<Cq>(
      context,
      [&](Cq& cq) {
        cq.context = context;
        cq.channel = attr.channel;
        cq.cq_context = attr.cq_context;
        install_readers(cq, attr.wc_flags);
      },
      [&](device::Device& device, Cq& cq) { return device.create_cq(attr.cqe, &cq, cq.handle); });
  if (made == nullptr) return nullptr;
  made->cqe = static_cast<int>(made->handle.depth);
  if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 &&
      (attr.flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0) {
    made->handle.exclusive = true;
  }
  if ((attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) != 0) {
    made->parent_domain = &of(attr.parent_domain);
    ++made->parent_domain->uses;
  }
  return made;
}

}  // namespace

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init_attr) {
  return create(context, *init_attr);
}

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
  if (attr->attr_mask != IBV_CQ_ATTR_MODERATE) return EINVAL;
  of(cq).handle.queue->moderation.store(
      {.count = attr->moderate.cq_count, .period_us = attr->moderate.cq_period},
      std::memory_order_relaxed);
  return 0;
}

}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
  if (cqe < 1 || comp_vector < 0) return refuse<ibv_cq>(-EINVAL);
  ibv_cq_init_attr_ex attr{};
  attr.cqe = static_cast<uint32_t>(cqe);
  attr.cq_context = cq_context;
  attr.channel = channel;
  attr.comp_vector = static_cast<uint32_t>(comp_vector);
  Cq* const made = create(context, attr);
  return made != nullptr ? plain(*made) : nullptr;
}

int ibv_resize_cq(ibv_cq* cq, int cqe) {
  if (cqe < 1) return EINVAL;
  // What was posted may be about to complete, and has to find room.
  if (cqe < cq->cqe) runtime().drive_in_turn();
  device::Device* device = nullptr;
  int error = reach_device(cq->context, device);
  if (error == 0) error = device->resize_cq(of(cq).handle, static_cast<uint32_t>(cqe));
  if (error == 0) cq->cqe = cqe;
  return positive(error);
}

int ibv_destroy_cq(ibv_cq* cq) {
  Pd* const domain = of(cq).parent_domain;
  const int error = end_live_object(cq->context, of(cq),
                                    [cq](device::Device& device, const device::Quiesce& quiesce) {
                                      return device.destroy_cq(of(cq).handle, quiesce);
                                    });
  if (error == 0 && domain != nullptr) --domain->uses;
  return error;
}
