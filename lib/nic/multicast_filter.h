// SPDX-License-Identifier: BSD-3-Clause
// Lets group MACs through an own port, by the narrowest means that the port has.
#ifndef UROCE_NIC_MULTICAST_FILTER_H
#define UROCE_NIC_MULTICAST_FILTER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/types.h"
#include "device/port_ops.h"
#include "nic/packet_membership.h"

namespace uroce::nic {

// The port's own calls; each returns 0 or a negative errno. A table, so that tests bring a port.
struct FilterCalls {
  int (*set_list)(uint16_t port_id, std::span<const MacAddress> macs);
  int (*set_all_multicast)(uint16_t port_id, bool on);
};
extern const FilterCalls kEthdevFilterCalls;

struct FilterSettings {
  std::string port{};  // for messages
  uint16_t port_id = 0;
  int if_index = 0;              // kernel interface; 0: none
  bool filters_nothing = false;  // every frame arrives anyway (ring, memif, null, pcap)
  void (*log)(const std::string& line) = nullptr;
  const FilterCalls* calls = &kEthdevFilterCalls;
};

// The steps, each taken only when the one before cannot (not there, or its list is full):
// the port's address list; membership on the kernel interface; nothing, where the port filters
// nothing; all-multicast, with one warning. Never promiscuous mode. When the set shrinks, the
// narrower step is taken again. Control thread.
class MulticastFilter {
 public:
  explicit MulticastFilter(const FilterSettings& settings);

  // The whole set, sorted, each MAC once; in force on return. 0, or a real error of the port
  // (such as -EIO), or -ENOTSUP: the port has no means at all.
  int set(std::span<const MacAddress> macs);
  device::FilterKind kind() const { return kind_; }

 private:
  int set_step(device::FilterKind step, std::span<const MacAddress> macs);
  int set_list(std::span<const MacAddress> macs);
  void clear_step(device::FilterKind step);

  const FilterSettings settings_;
  PacketMembership membership_;
  device::FilterKind kind_ = device::FilterKind::kNone;
  // As few addresses as the port's list has refused since it last took some; 0: there is no list.
  size_t list_refused_ = SIZE_MAX;
  bool all_multicast_ = false;
  bool warned_ = false;
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_MULTICAST_FILTER_H
