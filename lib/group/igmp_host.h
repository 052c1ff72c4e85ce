// SPDX-License-Identifier: BSD-3-Clause
// The host side of IGMPv3 (RFC 3376): group_host with IPv4's wire form.
#ifndef UROCE_GROUP_IGMP_HOST_H
#define UROCE_GROUP_IGMP_HOST_H

#include "group/group_host.h"

namespace uroce::group {

class IgmpHost : public GroupHost {
 public:
  explicit IgmpHost(const HostConfig& config);
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_IGMP_HOST_H
