// SPDX-License-Identifier: BSD-3-Clause
// Group joins by the kernel on a shared port.
#include "nic/kernel_groups.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace uroce::nic {
namespace {

void fill(sockaddr_storage& to, const Gid& address) {
  if (address.is_ipv4()) {
    to.ss_family = AF_INET;
    std::memcpy(&reinterpret_cast<sockaddr_in&>(to).sin_addr, address.bytes.data() + 12, 4);
  } else {
    to.ss_family = AF_INET6;
    std::memcpy(&reinterpret_cast<sockaddr_in6&>(to).sin6_addr, address.bytes.data(), 16);
  }
}

template <typename Request>
int call(int socket, bool ipv4, int option, const Request& request) {
  const int level = ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
  return setsockopt(socket, level, option, &request, sizeof request) == 0 ? 0 : -errno;
}

int change_group(int socket, int if_index, const Gid& group, int option) {
  group_req request{};
  request.gr_interface = static_cast<uint32_t>(if_index);
  fill(request.gr_group, group);
  return call(socket, group.is_ipv4(), option, request);
}

int change_source(int socket, int if_index, const Gid& group, const Gid& source, int option) {
  group_source_req request{};
  request.gsr_interface = static_cast<uint32_t>(if_index);
  fill(request.gsr_group, group);
  fill(request.gsr_source, source);
  return call(socket, group.is_ipv4(), option, request);
}

// A limit of one socket: another one may still do.
bool is_limit(int error) { return error == -ENOBUFS || error == -ENOMEM; }

}  // namespace

int KernelGroups::set(const Gid& group, const SourceFilter& filter) {
  if (!group.is_multicast()) return -EINVAL;
  const bool every = filter.mode == FilterMode::kExclude;
  if (every && !filter.sources.empty()) return -EINVAL;
  Seats& seats = groups_[group];
  const bool had_every = !seats.empty() && seats[0].sources.empty();
  int error = 0;
  if (every && !had_every) {
    error = add_seat(group, seats, nullptr);
    if (error == 0) std::rotate(seats.begin(), seats.end() - 1, seats.end());
    while (error == 0 && seats.size() > 1) remove_seat(group, seats, 1);
  } else if (!every) {
    error = set_sources(group, seats, filter.sources);
    if (error == 0 && had_every) remove_seat(group, seats, 0);
  }
  if (seats.empty()) groups_.erase(group);
  return error;
}

int KernelGroups::set_sources(const Gid& group, Seats& seats, std::span<const Gid> sources) {
  std::set<Gid> surplus;
  for (const Seat& seat : seats) surplus.insert(seat.sources.begin(), seat.sources.end());
  std::vector<Gid> added;
  for (const Gid& source : sources) {
    if (surplus.erase(source) == 1) continue;
    if (const int error = add_source(group, seats, source); error != 0) {
      for (const Gid& undone : added) remove_source(group, seats, undone);
      return error;
    }
    added.push_back(source);
  }
  for (const Gid& source : surplus) remove_source(group, seats, source);
  return 0;
}

int KernelGroups::add_source(const Gid& group, Seats& seats, const Gid& source) {
  for (Seat& seat : seats) {
    if (seat.full || seat.sources.empty()) continue;
    const int error = change_source(seat.socket->descriptor.get(), if_index_, group, source,
                                    MCAST_JOIN_SOURCE_GROUP);
    if (error == 0) seat.sources.insert(source);
    if (!is_limit(error)) return error;
    seat.full = true;
  }
  return add_seat(group, seats, &source);
}

// On the first socket that takes the group, a new one if need be.
int KernelGroups::add_seat(const Gid& group, Seats& seats, const Gid* source) {
  const bool ipv4 = group.is_ipv4();
  const auto join = [&](Socket& socket) {
    const int fd = socket.descriptor.get();
    if (source == nullptr) return change_group(fd, if_index_, group, MCAST_JOIN_GROUP);
    const int error = change_source(fd, if_index_, group, *source, MCAST_JOIN_SOURCE_GROUP);
    // It may have joined, and then found no room for the source.
    if (error != 0) change_group(fd, if_index_, group, MCAST_LEAVE_GROUP);
    return error;
  };
  const auto take = [&](Socket& socket) {
    ++socket.groups;
    Seat& seat = seats.emplace_back(Seat{.socket = &socket});
    if (source != nullptr) seat.sources.insert(*source);
    return 0;
  };
  for (Socket& socket : sockets_) {
    if (socket.ipv4 != ipv4 || socket.full) continue;
    if (std::ranges::any_of(seats, [&](const Seat& s) { return s.socket == &socket; })) continue;
    const int error = join(socket);
    if (error == 0) return take(socket);
    if (!is_limit(error)) return error;
    socket.full = true;
  }
  Socket fresh;
  fresh.descriptor =
      Descriptor(::socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
  fresh.ipv4 = ipv4;
  if (!fresh.descriptor.is_open()) return -errno;
  if (const int error = join(fresh); error != 0) return error;
  return take(sockets_.emplace_back(std::move(fresh)));
}

// Also without an answer from the kernel (the interface may be gone) the source is not ours.
void KernelGroups::remove_source(const Gid& group, Seats& seats, const Gid& source) {
  for (size_t i = 0; i < seats.size(); ++i) {
    if (!seats[i].sources.contains(source)) continue;
    if (seats[i].sources.size() == 1) return remove_seat(group, seats, i);
    change_source(seats[i].socket->descriptor.get(), if_index_, group, source,
                  MCAST_LEAVE_SOURCE_GROUP);
    seats[i].sources.erase(source);
    seats[i].full = false;
    return;
  }
}

void KernelGroups::remove_seat(const Gid& group, Seats& seats, size_t index) {
  Socket* const socket = seats[index].socket;
  change_group(socket->descriptor.get(), if_index_, group, MCAST_LEAVE_GROUP);
  seats.erase(seats.begin() + static_cast<ptrdiff_t>(index));
  socket->full = false;
  if (--socket->groups > 0) return;
  sockets_.remove_if([&](const Socket& other) { return &other == socket; });
}

std::string KernelGroups::cure(int error, const Gid& group) {
  if (error == -EMFILE || error == -ENFILE) {
    return group.is_ipv4() ? "no more sockets for it: raise ulimit -n, or the groups of one socket "
                             "by sysctl net.ipv4.igmp_max_memberships"
                           : "no more sockets for it: raise ulimit -n, or the groups of one socket "
                             "by sysctl net.core.optmem_max";
  }
  if (!is_limit(error)) return std::strerror(-error);
  return group.is_ipv4() ? "a socket of its own has no room for it: raise sysctl "
                           "net.ipv4.igmp_max_memberships, net.ipv4.igmp_max_msf or "
                           "net.core.optmem_max"
                         : "a socket of its own has no room for it: raise sysctl "
                           "net.ipv6.mld_max_msf or net.core.optmem_max";
}

}  // namespace uroce::nic
