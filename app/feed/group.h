// SPDX-License-Identifier: BSD-3-Clause
// Multicast groups on a channel: the way to one, and membership of one.
#ifndef UROCE_APP_FEED_GROUP_H
#define UROCE_APP_FEED_GROUP_H

#include <uroce/ib_verbs.h>

#include "channel.h"
#include "common/endpoint.h"

namespace uroce::market {

// The way from a channel to a group.
class GroupTarget {
 public:
  GroupTarget(Channel& channel, const ib_gid& group, uint32_t qkey)
      : ah_(channel.endpoint(), group, app::ipv4_gid(channel.endpoint().device()).index),
        qkey_(qkey) {}

  app::DatagramTarget get() const { return {ah_.get(), IB_MULTICAST_QPN, qkey_}; }

 private:
  app::AddressHandle ah_;
  uint32_t qkey_;
};

// A channel is a member as long as this lives.
class Membership {
 public:
  Membership(Channel& channel, const ib_gid& group) : qp_(channel.endpoint().qp()), group_(group) {
    app::check(ib_attach_mcast(qp_, &group_, 0), "ib_attach_mcast");
  }
  ~Membership() { ib_detach_mcast(qp_, &group_, 0); }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  ib_qp* const qp_;
  ib_gid group_;
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_GROUP_H
