// SPDX-License-Identifier: BSD-3-Clause
// Group joins by the kernel on a shared port: it programs the filter and speaks IGMP and MLD.
#ifndef UROCE_NIC_KERNEL_GROUPS_H
#define UROCE_NIC_KERNEL_GROUPS_H

#include <cstddef>
#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/source_filter.h"
#include "base/types.h"
#include "nic/descriptor.h"

namespace uroce::nic {

// The kernel limits the groups of one socket (20 of IPv4 by default) and the sources of one group
// on one socket (10 of IPv4, 64 of IPv6), and listens to what all sockets together want: so there
// are as many sockets as it takes, and a group with many sources is on several. They are bound to
// no port and receive nothing. Control thread. The destructor leaves every group.
class KernelGroups {
 public:
  explicit KernelGroups(int if_index) : if_index_(if_index) {}

  // What the kernel listens to in a group from now on: every source, some, or none. What comes is
  // joined before what goes is left. 0, -EINVAL (not a group; all but some sources), or the
  // kernel's error, when no frame that was let through before is missing.
  int set(const Gid& group, const SourceFilter& filter);

  // One line about an error of set(): the limit that was met, and where it is raised.
  static std::string cure(int error, const Gid& group);

  size_t socket_count() const { return sockets_.size(); }

 private:
  struct Socket {
    Descriptor descriptor;
    bool ipv4 = false;
    bool full = false;  // of groups
    size_t groups = 0;
  };
  // A group on a socket.
  struct Seat {
    Socket* socket = nullptr;
    bool full = false;        // of sources
    std::set<Gid> sources{};  // none: every source
  };
  using Seats = std::vector<Seat>;

  int add_source(const Gid& group, Seats& seats, const Gid& source);
  int add_seat(const Gid& group, Seats& seats, const Gid* source);
  void remove_source(const Gid& group, Seats& seats, const Gid& source);
  void remove_seat(const Gid& group, Seats& seats, size_t index);
  int set_sources(const Gid& group, Seats& seats, std::span<const Gid> sources);

  int if_index_;
  std::list<Socket> sockets_;
  std::map<Gid, Seats> groups_;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_KERNEL_GROUPS_H
