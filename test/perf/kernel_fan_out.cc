// SPDX-License-Identifier: BSD-3-Clause
// Sockets that do not block: the loopback interface has delivered when the send returns.
#include "test/perf/kernel_fan_out.h"

#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace uroce::perf {
namespace {

constexpr uint32_t kGroup = 0xEF010203;  // 239.1.2.3
constexpr rlim_t kOtherFiles = 128;      // that the program has open beside the sockets

std::string failure(const char* call) {
  return std::string("UDP multicast on lo: ") + call + ": " + std::strerror(errno);
}

void require(int result, const char* call) {
  if (result < 0) throw KernelRefuses(failure(call));
}

template <typename T>
void set_option(int socket, int level, int option, const T& value, const char* name) {
  require(setsockopt(socket, level, option, &value, sizeof value), name);
}

void allow_files(rlim_t count) {
  rlimit limit{};
  require(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  if (limit.rlim_cur >= count) return;
  if (limit.rlim_max < count) {
    throw KernelRefuses("a socket for each member is more open files than are allowed: ulimit -n " +
                        std::to_string(count));
  }
  limit.rlim_cur = count;
  require(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
}

// `port` as in the result.
sockaddr_in address(uint32_t host, uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_addr.s_addr = htonl(host);
  result.sin_port = port;
  return result;
}

nic::Descriptor open_socket() {
  nic::Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  require(socket.get(), "socket");
  return socket;
}

}  // namespace

KernelFanOut::KernelFanOut(uint32_t members, uint32_t payload_bytes)
    : sent_(payload_bytes, 1), received_(payload_bytes) {
  allow_files(members + kOtherFiles);
  members_.reserve(members);
  for (uint32_t i = 0; i < members; ++i) add_member();
  open_sender();
}

void KernelFanOut::add_member() {
  members_.push_back(open_socket());
  const int socket = members_.back().get();
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
  sockaddr_in local = address(kGroup, port_);
  require(bind(socket, reinterpret_cast<const sockaddr*>(&local), sizeof local), "bind");
  if (port_ == 0) {
    socklen_t length = sizeof local;
    require(getsockname(socket, reinterpret_cast<sockaddr*>(&local), &length), "getsockname");
    port_ = local.sin_port;
  }
  ip_mreqn membership{};
  membership.imr_multiaddr.s_addr = htonl(kGroup);
  membership.imr_address.s_addr = htonl(INADDR_LOOPBACK);
  set_option(socket, IPPROTO_IP, IP_ADD_MEMBERSHIP, membership, "IP_ADD_MEMBERSHIP");
}

void KernelFanOut::open_sender() {
  sender_ = open_socket();
  const in_addr loopback{htonl(INADDR_LOOPBACK)};
  set_option(sender_.get(), IPPROTO_IP, IP_MULTICAST_IF, loopback, "IP_MULTICAST_IF");
  set_option(sender_.get(), IPPROTO_IP, IP_MULTICAST_LOOP, 1, "IP_MULTICAST_LOOP");
  const sockaddr_in group = address(kGroup, port_);
  require(connect(sender_.get(), reinterpret_cast<const sockaddr*>(&group), sizeof group),
          "connect");
}

uint64_t KernelFanOut::round(uint32_t burst) {
  for (uint32_t i = 0; i < burst; ++i) {
    ++sent_[0];
    require(static_cast<int>(send(sender_.get(), sent_.data(), sent_.size(), 0)), "send");
    for (const nic::Descriptor& member : members_) read(member.get());
  }
  return uint64_t{burst} * members_.size();
}

// The kernel may leave the delivery to a thread of its own, which then needs this CPU.
void KernelFanOut::read(int socket) {
  for (int attempt = 0; attempt < 100'000; ++attempt) {
    const ssize_t length = recv(socket, received_.data(), received_.size(), 0);
    if (length == static_cast<ssize_t>(received_.size()) && received_[0] == sent_[0]) return;
    if (length >= 0) throw std::runtime_error("UDP multicast on lo: a copy of something else");
    if (errno != EAGAIN) throw std::runtime_error(failure("recv"));
    sched_yield();
  }
  throw std::runtime_error("UDP multicast on lo: a copy was lost");
}

}  // namespace uroce::perf
