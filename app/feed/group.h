// SPDX-License-Identifier: BSD-3-Clause
// Multicast groups on a channel: the way to one, and membership of one.
#ifndef UROCE_APP_FEED_GROUP_H
#define UROCE_APP_FEED_GROUP_H

#include <uroce/ib_verbs.h>
#include <uroce/multicast.h>

#include <stdexcept>
#include <string>

#include "channel.h"
#include "common/endpoint.h"
#include "options.h"

namespace uroce::market {

// The way from a channel to a group.
class GroupTarget {
 public:
  GroupTarget(Channel& channel, const ib_gid& group, uint32_t qkey)
      : ah_(channel.endpoint(), group, app::source_gid(channel.endpoint().device(), group).index),
        qkey_(qkey) {}

  app::DatagramTarget get() const { return {ah_.get(), IB_MULTICAST_QPN, qkey_}; }

 private:
  app::AddressHandle ah_;
  uint32_t qkey_;
};

// A channel is a member as long as this lives.
class Membership {
 public:
  Membership(Channel& channel, const Group& group)
      : qp_(channel.endpoint().qp()), name_(group.text) {
    if (uroce_join_mcast(qp_, name_.c_str()) != 0) throw std::runtime_error(uroce_error());
  }
  ~Membership() { uroce_leave_mcast(qp_, name_.c_str()); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  ib_qp* const qp_;
  const std::string name_;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_GROUP_H
