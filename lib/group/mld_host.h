// SPDX-License-Identifier: BSD-3-Clause
// The host side of MLDv2 (RFC 3810): group_host with IPv6's wire form.
#ifndef UROCE_GROUP_MLD_HOST_H
#define UROCE_GROUP_MLD_HOST_H

#include "group/group_host.h"

namespace uroce::group {

class MldHost : public GroupHost {
 public:
  explicit MldHost(const HostConfig& config);
};

}  // namespace uroce::group

#endif  // UROCE_GROUP_MLD_HOST_H
