// SPDX-License-Identifier: BSD-3-Clause
// Keeps the kernel silent about RoCE on a shared port, and a second stack away.
#include "nic/port_guard.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"
#include "nic/kernel_interface.h"

namespace uroce::nic {
namespace {

constexpr uint16_t kRoceUdpPort = 4791;

// Returns the socket or a negative errno.
int bind_guard(const Gid& address, int if_index) {
  const bool ipv4 = address.is_ipv4();
  Descriptor socket(
      ::socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP));
  if (!socket.is_open()) return -errno;
  sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{.len = 1, .filter = &drop_all};
  if (setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    return -errno;
  }
  sockaddr_in to4{};
  to4.sin_family = AF_INET;
  to4.sin_port = htons(kRoceUdpPort);
  std::memcpy(&to4.sin_addr, address.bytes.data() + 12, 4);
  sockaddr_in6 to6{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(kRoceUdpPort);
  std::memcpy(&to6.sin6_addr, address.bytes.data(), 16);
  if (address.is_link_local()) to6.sin6_scope_id = static_cast<uint32_t>(if_index);
  const int only = 1;
  if (!ipv4) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
  const int bound = ipv4 ? bind(socket.get(), reinterpret_cast<const sockaddr*>(&to4), sizeof to4)
                         : bind(socket.get(), reinterpret_cast<const sockaddr*>(&to6), sizeof to6);
  if (bound != 0) return -errno;
  return socket.release();
}

absl::Status refusal(const Gid& address, int error) {
  if (error == -EADDRINUSE) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "address %s: UDP port %d is taken by another RoCEv2 stack (see ss -ulpn; the kernel's is "
        "rdma_rxe): stop it or use another address",
        gid_text(address), kRoceUdpPort));
  }
  return absl::UnavailableError(absl::StrFormat("address %s: UDP port %d cannot be bound: %s",
                                                gid_text(address), kRoceUdpPort,
                                                std::strerror(-error)));
}

}  // namespace

absl::Status PortGuard::hold(std::span<const Gid> addresses) {
  std::erase_if(guarded_, [&](const Guarded& guarded) {
    return std::find(addresses.begin(), addresses.end(), guarded.address) == addresses.end();
  });
  absl::Status result;
  for (const Gid& address : addresses) {
    const auto is_it = [&](const Guarded& guarded) { return guarded.address == address; };
    if (std::any_of(guarded_.begin(), guarded_.end(), is_it)) continue;
    const int socket = bind_guard(address, if_index_);
    if (socket < 0) {
      result.Update(refusal(address, socket));
      continue;
    }
    guarded_.push_back({address, Descriptor(socket)});
  }
  return result;
}

}  // namespace uroce::nic
