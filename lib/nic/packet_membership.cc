// SPDX-License-Identifier: BSD-3-Clause
// Opens a kernel interface's filter for group MACs: new ones first, then the old ones go.
#include "nic/packet_membership.h"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace uroce::nic {

int PacketMembership::change(const MacAddress& mac, bool add) {
  packet_mreq request{};
  request.mr_ifindex = if_index_;
  request.mr_type = PACKET_MR_MULTICAST;
  request.mr_alen = 6;
  std::memcpy(request.mr_address, mac.bytes.data(), 6);
  const int result =
      setsockopt(socket_.get(), SOL_PACKET, add ? PACKET_ADD_MEMBERSHIP : PACKET_DROP_MEMBERSHIP,
                 &request, sizeof request);
  return result == 0 ? 0 : -errno;
}

int PacketMembership::set(std::span<const MacAddress> macs) {
  if (!socket_.is_open()) {
    if (macs.empty()) return 0;
    socket_ = Descriptor(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket_.is_open()) return -errno;
  }
  std::vector<MacAddress> fresh;
  std::set_difference(macs.begin(), macs.end(), macs_.begin(), macs_.end(),
                      std::back_inserter(fresh));
  for (const MacAddress& mac : fresh) {
    if (const int result = change(mac, true); result != 0) return result;
    macs_.insert(std::lower_bound(macs_.begin(), macs_.end(), mac), mac);
  }
  std::vector<MacAddress> old;
  std::set_difference(macs_.begin(), macs_.end(), macs.begin(), macs.end(),
                      std::back_inserter(old));
  for (const MacAddress& mac : old) change(mac, false);  // fails only if the interface is gone
  macs_.assign(macs.begin(), macs.end());
  return 0;
}

}  // namespace uroce::nic
