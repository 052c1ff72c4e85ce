// SPDX-License-Identifier: BSD-3-Clause
// Lets group MACs through an own port, by the narrowest means that the port has.
#include "nic/multicast_filter.h"

#include <rte_ethdev.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace uroce::nic {
namespace {

using device::FilterKind;

constexpr std::array kSteps = {FilterKind::kPortList, FilterKind::kKernelMembership,
                               FilterKind::kNone, FilterKind::kAllMulticast};

int ethdev_set_list(uint16_t port_id, std::span<const MacAddress> macs) {
  std::vector<rte_ether_addr> list(macs.size());
  static_assert(sizeof(rte_ether_addr) == sizeof(MacAddress));
  if (!macs.empty()) std::memcpy(list.data(), macs.data(), macs.size_bytes());
  return rte_eth_dev_set_mc_addr_list(port_id, list.empty() ? nullptr : list.data(),
                                      static_cast<uint32_t>(list.size()));
}

int ethdev_set_all_multicast(uint16_t port_id, bool on) {
  return on ? rte_eth_allmulticast_enable(port_id) : rte_eth_allmulticast_disable(port_id);
}

// This step cannot, the next one may. Everything else is a real error.
bool steps_down(int result) {
  return result == -ENOTSUP || result == -ENOSPC || result == -ENOBUFS;
}

}  // namespace

const FilterCalls kEthdevFilterCalls = {.set_list = ethdev_set_list,
                                        .set_all_multicast = ethdev_set_all_multicast};

MulticastFilter::MulticastFilter(const FilterSettings& settings)
    : settings_(settings), membership_(settings.if_index) {}

int MulticastFilter::set(std::span<const MacAddress> macs) {
  int result = -ENOTSUP;
  for (const FilterKind step : kSteps) {
    result = set_step(step, macs);
    if (steps_down(result)) continue;
    if (result != 0) return result;
    // The new step is in force before the others end, so no group is deaf in between.
    for (const FilterKind other : kSteps) {
      if (other != step) clear_step(other);
    }
    kind_ = step;
    return 0;
  }
  return result;
}

int MulticastFilter::set_step(FilterKind step, std::span<const MacAddress> macs) {
  switch (step) {
    case FilterKind::kPortList:
      return set_list(macs);
    case FilterKind::kKernelMembership:
      return settings_.if_index == 0 ? -ENOTSUP : membership_.set(macs);
    case FilterKind::kNone:
      return settings_.filters_nothing ? 0 : -ENOTSUP;
    case FilterKind::kAllMulticast:
      break;
    case FilterKind::kKernelGroup:
      return -ENOTSUP;  // shared ports only
  }
  const bool wanted = !macs.empty();
  if (wanted == all_multicast_) return 0;
  const int result = settings_.calls->set_all_multicast(settings_.port_id, wanted);
  if (result != 0) return result;
  all_multicast_ = wanted;
  if (wanted && !warned_ && settings_.log != nullptr) {
    settings_.log("port " + settings_.port +
                  ": it cannot filter these groups one by one, so every multicast frame of the "
                  "network reaches this host");
    warned_ = true;
  }
  return 0;
}

// What the list has refused it is not handed again: with thousands of groups on a port that has no
// list, or a short one, every change would pay for the length of the set.
int MulticastFilter::set_list(std::span<const MacAddress> macs) {
  if (macs.size() >= list_refused_) return -ENOSPC;
  const int result = settings_.calls->set_list(settings_.port_id, macs);
  if (result == 0) list_refused_ = SIZE_MAX;
  if (steps_down(result)) list_refused_ = result == -ENOTSUP ? 0 : macs.size();
  return result;
}

void MulticastFilter::clear_step(FilterKind step) {
  if (step == FilterKind::kPortList && kind_ == step) {
    settings_.calls->set_list(settings_.port_id, {});
  } else if (step == FilterKind::kKernelMembership) {
    membership_.set({});
  } else if (step == FilterKind::kAllMulticast && all_multicast_) {
    if (settings_.calls->set_all_multicast(settings_.port_id, false) == 0) all_multicast_ = false;
  }
}

}  // namespace uroce::nic
