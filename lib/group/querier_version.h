// SPDX-License-Identifier: BSD-3-Clause
// Which version of IGMP or MLD the queriers on the link speak: the oldest that was heard lately
// (RFC 3376 7.2.1, RFC 3810 8.2.1).
//
// A general query of an older version makes it the version to speak for the older version querier
// present timeout: robustness times the query interval, and the querier's response time. Queries of
// the newest version carry robustness and interval; without any, the defaults of the RFCs hold.
#ifndef UROCE_GROUP_QUERIER_VERSION_H
#define UROCE_GROUP_QUERIER_VERSION_H

#include <cstdint>

#include "base/types.h"
#include "wire/membership.h"

namespace uroce::group {

class QuerierVersion {
 public:
  static constexpr uint8_t kRobustness = 2;
  static constexpr Duration kQueryInterval = std::chrono::seconds(125);

  // `newest`: what the host speaks when nobody speaks an older one, 1 … 3.
  explicit QuerierVersion(uint8_t newest) : newest_(newest) {}

  void handle_query(Time now, const wire::MembershipMessage& query);
  // What to speak now.
  uint8_t at(Time now) const;
  // The querier's robustness variable, 1 … 7.
  uint8_t robustness() const { return robustness_; }

 private:
  uint8_t newest_;
  uint8_t robustness_ = kRobustness;
  Duration query_interval_ = kQueryInterval;
  // Until when a querier of version 1 and of version 2 counts as present. Before any: the past.
  Time older_until_[2] = {Time::min(), Time::min()};
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_QUERIER_VERSION_H
