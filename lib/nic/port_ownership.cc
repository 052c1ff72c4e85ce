// SPDX-License-Identifier: BSD-3-Clause
// Who answers on a port with a kernel interface behind it: the kernel (shared) or we (own).
#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nic/port.h"

namespace uroce::nic {
namespace {

using device::PortAddress;
using device::PortOwnership;

constexpr auto kTentativeWait = std::chrono::seconds(4);  // duplicate detection takes up to 2

// The addresses that are usable, or will be when their duplicate detection is over.
absl::StatusOr<std::vector<PortAddress>> settled_addresses(KernelInterface& interface) {
  const auto deadline = std::chrono::steady_clock::now() + kTentativeWait;
  while (true) {
    bool tentative = false;
    absl::StatusOr<std::vector<PortAddress>> found = interface.addresses(&tentative);
    if (!found.ok() || !tentative || std::chrono::steady_clock::now() >= deadline) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string text_of(std::span<const PortAddress> addresses) {
  std::vector<std::string> texts;
  for (const PortAddress& address : addresses) {
    texts.push_back(absl::StrFormat("%s/%d", gid_text(address.address), address.prefix_length));
  }
  return texts.empty() ? "none" : absl::StrJoin(texts, ", ");
}

}  // namespace

absl::Status Port::adopt_kernel_interface() {
  if (if_index_ == 0) {
    if (config_.ownership != OwnershipWish::kShared) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrFormat(
        "port %s: no kernel interface is behind it to share: make it an own port", name_));
  }
  auto opened = KernelInterface::open(if_index_);
  if (!opened.ok()) return opened.status();
  kernel_ = *std::move(opened);
  const absl::StatusOr<KernelLink> link = kernel_->link();
  if (!link.ok()) return link.status();
  interface_name_ = link->name;
  interface_mtu_ = link->mtu;
  std::vector<PortAddress> addresses;
  const int addressed = config_.vlan_id == 0 ? if_index_ : kernel_->vlan_child(config_.vlan_id);
  if (addressed != 0) {
    auto tagged = KernelInterface::open(addressed);
    if (!tagged.ok()) return tagged.status();
    auto found = config_.ownership == OwnershipWish::kOwn ? (*tagged)->addresses()
                                                          : settled_addresses(**tagged);
    if (!found.ok()) return found.status();
    addresses = *std::move(found);
    if (config_.ownership != OwnershipWish::kOwn && !addresses.empty()) {
      kernel_ = *std::move(tagged);
      const absl::StatusOr<KernelLink> shared_link = kernel_->link();
      if (!shared_link.ok()) return shared_link.status();
      interface_mtu_ = std::min(interface_mtu_, shared_link->mtu);
    }
  }
  return choose_ownership(addresses);
}

absl::Status Port::choose_ownership(std::span<const PortAddress> kernel_addresses) {
  if (config_.ownership == OwnershipWish::kOwn || kernel_addresses.empty()) {
    if (config_.ownership == OwnershipWish::kShared) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "port %s: interface %s has no address%s to share: ip addr add %s dev %s, or make it an "
          "own "
          "port",
          name_, interface_name_,
          config_.vlan_id == 0 ? "" : absl::StrFormat(" in VLAN %d", config_.vlan_id),
          config_.addresses.empty() ? "ADDRESS" : text_of({config_.addresses.data(), 1}),
          interface_name_));
    }
    if (!kernel_addresses.empty()) {
      log(
          absl::StrFormat("port %s: interface %s has kernel addresses (%s): on an own port the "
                          "kernel answers beside us",
                          name_, interface_name_, text_of(kernel_addresses)));
    }
    return absl::OkStatus();
  }
  if (absl::Status status = check_addresses(kernel_addresses); !status.ok()) return status;
  if (config_.igmp_version || config_.mld_version) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %s: interface %s has kernel addresses, so the kernel speaks IGMP and MLD: leave out "
        "igmp and mld, or make it an own port",
        name_, interface_name_));
  }
  ownership_ = PortOwnership::kShared;
  guard_ = std::make_unique<PortGuard>(kernel_->index());
  std::vector<Gid> gids;
  for (const PortAddress& address : config_.addresses.empty()
                                        ? kernel_addresses
                                        : std::span<const PortAddress>(config_.addresses)) {
    gids.push_back(address.address);
  }
  if (absl::Status held = guard_->hold(gids); !held.ok()) {
    return absl::Status(held.code(), absl::StrFormat("port %s: %s", name_, held.message()));
  }
  return absl::OkStatus();
}

absl::Status Port::check_addresses(std::span<const PortAddress> kernel_addresses) const {
  // With a VLAN the addresses are looked for on its interface.
  const absl::StatusOr<KernelLink> link = kernel_->link();
  const std::string name = link.ok() ? link->name : interface_name_;
  for (const PortAddress& wanted : config_.addresses) {
    const bool there =
        std::any_of(kernel_addresses.begin(), kernel_addresses.end(),
                    [&](const PortAddress& address) { return address.address == wanted.address; });
    if (there) continue;
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %s: address %s is not on interface %s (it has %s): ip addr add %s/%d dev %s, or make "
        "it an own port",
        name_, gid_text(wanted.address), name, text_of(kernel_addresses), gid_text(wanted.address),
        wanted.prefix_length, name));
  }
  return absl::OkStatus();
}

}  // namespace uroce::nic
