// SPDX-License-Identifier: BSD-3-Clause
// Group joins by the kernel on a shared port.
#include "nic/kernel_groups.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uroce::nic {
namespace {

int change_membership(int socket, int if_index, const Gid& group, bool join) {
  int result = 0;
  if (group.is_ipv4()) {
    ip_mreqn request{};
    std::memcpy(&request.imr_multiaddr, group.bytes.data() + 12, 4);
    request.imr_ifindex = if_index;
    result = setsockopt(socket, IPPROTO_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &request,
                        sizeof request);
  } else {
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, group.bytes.data(), 16);
    request.ipv6mr_interface = static_cast<unsigned>(if_index);
    result = setsockopt(socket, IPPROTO_IPV6, join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP,
                        &request, sizeof request);
  }
  return result == 0 ? 0 : -errno;
}

}  // namespace

int KernelGroups::join(const Gid& group) {
  if (!group.is_multicast()) return -EINVAL;
  const bool ipv4 = group.is_ipv4();
  for (const Holder& holder : holders_) {
    if (std::find(holder.groups.begin(), holder.groups.end(), group) != holder.groups.end()) {
      return -EEXIST;
    }
  }
  for (Holder& holder : holders_) {
    if (holder.ipv4 != ipv4 || holder.full) continue;
    const int result = change_membership(holder.socket.get(), if_index_, group, true);
    if (result == 0) {
      holder.groups.push_back(group);
      return 0;
    }
    if (result != -ENOBUFS && result != -ENOMEM) return result;
    holder.full = true;
  }
  Holder fresh{.socket = Descriptor(
                   ::socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP)),
               .ipv4 = ipv4,
               .full = false,
               .groups = {group}};
  if (!fresh.socket.is_open()) return -errno;
  const int result = change_membership(fresh.socket.get(), if_index_, group, true);
  if (result == 0) holders_.push_back(std::move(fresh));
  return result;
}

int KernelGroups::leave(const Gid& group) {
  for (auto holder = holders_.begin(); holder != holders_.end(); ++holder) {
    const auto found = std::find(holder->groups.begin(), holder->groups.end(), group);
    if (found == holder->groups.end()) continue;
    // Also without an answer from the kernel (the interface may be gone) the group is not ours.
    change_membership(holder->socket.get(), if_index_, group, false);
    holder->groups.erase(found);
    holder->full = false;
    if (holder->groups.empty()) holders_.erase(holder);
    return 0;
  }
  return -ENOENT;
}

}  // namespace uroce::nic
