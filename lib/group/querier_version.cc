// SPDX-License-Identifier: BSD-3-Clause
// The timers of older queriers. See querier_version.h for the rule.
#include "group/querier_version.h"

#include <algorithm>
#include <chrono>

namespace uroce::group {

void QuerierVersion::handle_query(Time now, const wire::MembershipMessage& query) {
  if (query.version >= newest_) {
    // 0: the querier keeps its value to itself.
    if (query.robustness != 0) robustness_ = query.robustness;
    if (query.query_interval_s != 0) {
      query_interval_ = std::chrono::seconds(query.query_interval_s);
    }
    return;
  }
  if (!query.group.is_zero()) return;
  const auto response = std::chrono::milliseconds(query.max_response_ms);
  older_until_[query.version - 1] = now + robustness_ * query_interval_ + response;
}

uint8_t QuerierVersion::at(Time now) const {
  for (uint8_t version = 1; version < newest_; ++version) {
    if (now < older_until_[version - 1]) return version;
  }
  return newest_;
}

}  // namespace uroce::group
