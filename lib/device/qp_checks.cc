// SPDX-License-Identifier: BSD-3-Clause
// Whether a change of a queue pair is legal: values, then the state table.
#include "device/qp_checks.h"

#include <cerrno>

#include "memory/region.h"
#include "transport/qp_context.h"
#include "transport/qp_state.h"

namespace uroce::device {

int check_attribute_values(const transport::QpAttributes& attributes, uint32_t mask,
                           PathMtu port_mtu) {
  using namespace transport;
  const auto wrong = [mask](uint32_t bit, bool is_wrong) { return (mask & bit) != 0 && is_wrong; };
  constexpr uint32_t kAccessAll = memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead |
                                  memory::kRemoteAtomic | memory::kMwBind | memory::kFlushGlobal |
                                  memory::kFlushPersistent;
  const bool bad =
      (mask & (kAttrAltPath | kAttrPathMigState | kAttrCap)) != 0 ||
      wrong(kAttrPort, attributes.port != 1) || wrong(kAttrPkeyIndex, attributes.pkey_index != 0) ||
      wrong(kAttrAccessFlags, (attributes.access & ~kAccessAll) != 0) ||
      wrong(kAttrPathMtu, attributes.path_mtu < PathMtu::k256 || attributes.path_mtu > port_mtu) ||
      wrong(kAttrTimeout, attributes.timeout > 31) ||
      wrong(kAttrRetryCnt, attributes.retry_count > 7) ||
      wrong(kAttrRnrRetry, attributes.rnr_retry > 7) ||
      wrong(kAttrMinRnrTimer, attributes.min_rnr_timer > 31) ||
      wrong(kAttrMaxQpRdAtomic, attributes.rd_atomic_max > kReadAtomicMax) ||
      wrong(kAttrMaxDestRdAtomic, attributes.dest_rd_atomic_max > kReadAtomicMax);
  return bad ? -EINVAL : 0;
}

int check_transition(const transport::QpAttributes& attributes, uint32_t mask,
                     transport::QpType type, transport::QpState state) {
  using transport::QpState;
  const auto known = [](QpState s) { return s <= QpState::kErr; };
  if ((mask & transport::kAttrCurState) != 0 && attributes.current_state != state) return -EINVAL;
  const QpState next = (mask & transport::kAttrState) != 0 ? attributes.state : state;
  if (!known(next)) return -EINVAL;
  return transport::modify_allowed(state, next, type, mask) ? 0 : -EINVAL;
}

}  // namespace uroce::device
