// SPDX-License-Identifier: BSD-3-Clause
// What the kernel knows of a network interface, by rtnetlink.
//
// Resolving: the route is asked with our interface as the way out and RTM_F_FIB_MATCH, because a
// plain question with an interface is answered "on link" where there is no route at all. The next
// hop's neighbour entry is then watched; an absent or failed one is made to resolve by a neighbour
// request with NTF_USE, which sends what the kernel itself would send and nothing else. Where that
// is not allowed, or brings no answer (IPv6 without a usable link-local address solicits only on
// behalf of a packet), a datagram to the discard port follows.
#include "nic/kernel_interface.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/vlan.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "nic/descriptor.h"

namespace uroce::nic {
namespace {

constexpr auto kLookInterval = std::chrono::milliseconds(1);
constexpr auto kAskInterval = std::chrono::milliseconds(500);
constexpr auto kForgetAfter = std::chrono::seconds(2);  // then a question starts from its beginning
constexpr uint16_t kDiscardPort = 9;
constexpr unsigned kLowerUp = 1u << 16;  // IFF_LOWER_UP of <linux/if.h>, which <net/if.h> excludes

// Owners of what libnl gives; `kFree` gives it back.
template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Cache = std::unique_ptr<nl_cache, Free<nl_cache_free>>;
using Address = std::unique_ptr<nl_addr, Free<nl_addr_put>>;
using Route = std::unique_ptr<rtnl_route, Free<rtnl_route_put>>;
using Neighbour = std::unique_ptr<rtnl_neigh, Free<rtnl_neigh_put>>;
using Link = std::unique_ptr<rtnl_link, Free<rtnl_link_put>>;
using Message = std::unique_ptr<nl_msg, Free<nlmsg_free>>;

Address address_of(const Gid& gid) {
  return Address(gid.is_ipv4() ? nl_addr_build(AF_INET, gid.bytes.data() + 12, 4)
                               : nl_addr_build(AF_INET6, gid.bytes.data(), 16));
}

Gid gid_of(const nl_addr* address) {
  Gid gid;
  const auto* bytes = static_cast<const uint8_t*>(nl_addr_get_binary_addr(address));
  if (nl_addr_get_family(address) == AF_INET) {
    gid = Gid::from_ipv4(0);
    std::copy(bytes, bytes + 4, gid.bytes.begin() + 12);
  } else {
    std::copy(bytes, bytes + 16, gid.bytes.begin());
  }
  return gid;
}

bool mac_of(const nl_addr* address, MacAddress& mac) {
  if (address == nullptr || nl_addr_get_len(address) != mac.bytes.size()) return false;
  std::memcpy(mac.bytes.data(), nl_addr_get_binary_addr(address), mac.bytes.size());
  return true;
}

int keep_route(nl_msg* message, void* result) {
  rtnl_route* route = nullptr;
  if (rtnl_route_parse(nlmsg_hdr(message), &route) == 0) static_cast<Route*>(result)->reset(route);
  return NL_OK;
}

// The route out of the interface; nullptr: none.
Route find_route(nl_sock* socket, int if_index, const nl_addr* destination) {
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(nl_addr_get_family(destination));
  header.rtm_dst_len = static_cast<unsigned char>(nl_addr_get_prefixlen(destination));
  header.rtm_flags = RTM_F_FIB_MATCH;
  const Message message(nlmsg_alloc_simple(RTM_GETROUTE, 0));
  if (message == nullptr || nlmsg_append(message.get(), &header, sizeof header, 0) != 0 ||
      nla_put_addr(message.get(), RTA_DST, const_cast<nl_addr*>(destination)) != 0 ||
      nla_put_u32(message.get(), RTA_OIF, static_cast<uint32_t>(if_index)) != 0) {
    return nullptr;
  }
  Route route;
  nl_cb* callbacks = nl_cb_alloc(NL_CB_DEFAULT);
  nl_cb_set(callbacks, NL_CB_VALID, NL_CB_CUSTOM, keep_route, &route);
  if (nl_send_auto(socket, message.get()) >= 0 && nl_recvmsgs(socket, callbacks) == 0) {
    nl_wait_for_ack(socket);
  }
  nl_cb_put(callbacks);
  return route;
}

// The address whose MAC is wanted: a gateway out of this interface, or the destination itself.
Address next_hop(rtnl_route* route, int if_index, const Address& destination) {
  for (int i = 0; i < rtnl_route_get_nnexthops(route); ++i) {
    rtnl_nexthop* hop = rtnl_route_nexthop_n(route, i);
    if (rtnl_route_nh_get_ifindex(hop) != if_index) continue;
    if (nl_addr* gateway = rtnl_route_nh_get_gateway(hop)) return Address(nl_addr_clone(gateway));
    if (nl_addr* via = rtnl_route_nh_get_via(hop)) return Address(nl_addr_clone(via));
    return Address(nl_addr_clone(destination.get()));
  }
  return nullptr;
}

bool is_known(nl_sock* socket, int if_index, nl_addr* hop, MacAddress& mac) {
  nl_cache* cache = nullptr;
  if (rtnl_neigh_alloc_cache(socket, &cache) != 0) return false;
  const Cache owner(cache);
  const Neighbour neighbour(rtnl_neigh_get(cache, if_index, hop));
  if (neighbour == nullptr) return false;
  const int state = rtnl_neigh_get_state(neighbour.get());
  return (state & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT)) != 0 &&
         mac_of(rtnl_neigh_get_lladdr(neighbour.get()), mac);
}

void send_discard(int if_index, const nl_addr* hop) {
  const int family = nl_addr_get_family(hop);
  const Descriptor socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  char name[IF_NAMESIZE] = {};
  if_indextoname(static_cast<unsigned>(if_index), name);
  setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, name,
             static_cast<socklen_t>(std::strlen(name) + 1));
  sockaddr_storage to{};
  socklen_t length = sizeof to;
  if (nl_addr_fill_sockaddr(hop, reinterpret_cast<sockaddr*>(&to), &length) != 0) return;
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&to)->sin_port = htons(kDiscardPort);
  } else {
    reinterpret_cast<sockaddr_in6*>(&to)->sin6_port = htons(kDiscardPort);
    reinterpret_cast<sockaddr_in6*>(&to)->sin6_scope_id = static_cast<uint32_t>(if_index);
  }
  const char nothing = 0;
  sendto(socket.get(), &nothing, 1, 0, reinterpret_cast<const sockaddr*>(&to), length);
}

bool ask_kernel(nl_sock* socket, int if_index, nl_addr* hop) {
  const Neighbour wanted(rtnl_neigh_alloc());
  rtnl_neigh_set_ifindex(wanted.get(), if_index);
  rtnl_neigh_set_dst(wanted.get(), hop);
  rtnl_neigh_set_state(wanted.get(), NUD_NONE);
  rtnl_neigh_set_flags(wanted.get(), NTF_USE);
  return rtnl_neigh_add(socket, wanted.get(), NLM_F_CREATE) == 0;
}

absl::Status failed(int if_index, absl::string_view what, int error) {
  return absl::InternalError(
      absl::StrFormat("kernel interface %d: %s: %s", if_index, what, nl_geterror(error)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<KernelInterface>> KernelInterface::open(int if_index) {
  nl_sock* socket = nl_socket_alloc();
  if (socket == nullptr) return failed(if_index, "netlink socket", -NLE_NOMEM);
  if (const int error = nl_connect(socket, NETLINK_ROUTE); error != 0) {
    nl_socket_free(socket);
    return failed(if_index, "netlink socket", error);
  }
  return std::unique_ptr<KernelInterface>(new KernelInterface(if_index, socket));
}

KernelInterface::~KernelInterface() { nl_socket_free(socket_); }

absl::StatusOr<KernelLink> KernelInterface::link() {
  rtnl_link* raw = nullptr;
  if (const int error = rtnl_link_get_kernel(socket_, if_index_, nullptr, &raw); error != 0) {
    return failed(if_index_, "link", error);
  }
  const Link link(raw);
  KernelLink result;
  result.name = rtnl_link_get_name(raw);
  result.mtu = rtnl_link_get_mtu(raw);
  const unsigned flags = rtnl_link_get_flags(raw);
  // IFF_RUNNING may lag behind the carrier, whose changes are counted at once.
  constexpr unsigned kUp = IFF_UP | IFF_RUNNING | kLowerUp;
  result.up = (flags & kUp) == kUp;
  // Left at 0 by a kernel that does not count.
  rtnl_link_get_carrier_changes(raw, &result.carrier_changes);
  mac_of(rtnl_link_get_addr(raw), result.mac);
  return result;
}

absl::StatusOr<std::vector<device::PortAddress>> KernelInterface::addresses(bool* tentative) {
  nl_cache* cache = nullptr;
  if (const int error = rtnl_addr_alloc_cache(socket_, &cache); error != 0) {
    return failed(if_index_, "addresses", error);
  }
  const Cache owner(cache);
  std::vector<device::PortAddress> result;
  if (tentative != nullptr) *tentative = false;
  for (nl_object* object = nl_cache_get_first(cache); object != nullptr;
       object = nl_cache_get_next(object)) {
    auto* entry = reinterpret_cast<rtnl_addr*>(object);
    const nl_addr* local = rtnl_addr_get_local(entry);
    if (rtnl_addr_get_ifindex(entry) != if_index_ || local == nullptr) continue;
    const unsigned flags = rtnl_addr_get_flags(entry);
    if ((flags & IFA_F_DADFAILED) != 0) continue;
    if ((flags & IFA_F_TENTATIVE) != 0) {
      if (tentative != nullptr) *tentative = true;
      continue;
    }
    result.push_back({gid_of(local), static_cast<uint8_t>(rtnl_addr_get_prefixlen(entry))});
  }
  std::stable_partition(result.begin(), result.end(), [](const device::PortAddress& address) {
    return address.address.is_ipv4();
  });
  return result;
}

int KernelInterface::vlan_child(uint16_t vlan_id) {
  nl_cache* cache = nullptr;
  if (rtnl_link_alloc_cache(socket_, AF_UNSPEC, &cache) != 0) return 0;
  const Cache owner(cache);
  for (nl_object* object = nl_cache_get_first(cache); object != nullptr;
       object = nl_cache_get_next(object)) {
    auto* link = reinterpret_cast<rtnl_link*>(object);
    if (rtnl_link_get_link(link) == if_index_ && rtnl_link_is_vlan(link) != 0 &&
        rtnl_link_vlan_get_id(link) == vlan_id) {
      return rtnl_link_get_ifindex(link);
    }
  }
  return 0;
}

int KernelInterface::resolve(const Gid& destination, Duration limit, MacAddress& mac) {
  if (destination.is_multicast() || destination.is_zero()) return -EINVAL;
  const Address target = address_of(destination);
  const Route route = find_route(socket_, if_index_, target.get());
  if (route == nullptr) return -EHOSTUNREACH;
  const uint8_t type = rtnl_route_get_type(route.get());
  if (type == RTN_LOCAL) {
    const absl::StatusOr<KernelLink> own = link();
    if (!own.ok()) return -EIO;
    mac = own->mac;
    return 0;
  }
  if (type != RTN_UNICAST) return -EHOSTUNREACH;
  const Address hop = next_hop(route.get(), if_index_, target);
  if (hop == nullptr) return -EHOSTUNREACH;
  return wait_for_neighbour(gid_of(hop.get()), limit, mac);
}

int KernelInterface::wait_for_neighbour(const Gid& hop, Duration limit, MacAddress& mac) {
  using Clock = std::chrono::steady_clock;
  const Address address = address_of(hop);
  const auto deadline = Clock::now() + limit;
  std::erase_if(asking_,
                [&](const auto& entry) { return entry.second.next + kForgetAfter < Clock::now(); });
  while (!is_known(socket_, if_index_, address.get(), mac)) {
    const auto now = Clock::now();
    Asking& asking = asking_[hop];
    if (now >= asking.next) {
      if (asking.before || !ask_kernel(socket_, if_index_, address.get())) {
        send_discard(if_index_, address.get());
      }
      asking = {now + kAskInterval, true};
    }
    if (now >= deadline) return -ETIMEDOUT;
    std::this_thread::sleep_for(kLookInterval);
  }
  asking_.erase(hop);
  return 0;
}

std::string gid_text(const Gid& gid) {
  char text[INET6_ADDRSTRLEN] = {};
  if (gid.is_ipv4()) {
    inet_ntop(AF_INET, gid.bytes.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, gid.bytes.data(), text, sizeof text);
  }
  return text;
}

}  // namespace uroce::nic
