// SPDX-License-Identifier: BSD-3-Clause
// Building a unit bottom up, from the port to the device.
#include "start/unit.h"

namespace uroce::start {
namespace {

engine::DriveMode drive_mode(config::DriveMode mode) {
  switch (mode) {
    case config::DriveMode::kWorker:
      return engine::DriveMode::kWorker;
    case config::DriveMode::kShared:
      return engine::DriveMode::kInlineShared;
    case config::DriveMode::kInline:
      break;
  }
  return engine::DriveMode::kInlineExclusive;
}

}  // namespace

device::DeviceLimits device_limits(const config::LimitSettings& limits) {
  device::DeviceLimits result;
  result.cq_max = limits.completion_queues;
  result.group_max = limits.multicast_groups;
  result.group_qp_max = limits.members_per_group;
  result.membership_max = limits.multicast_members;
  result.source_max = limits.multicast_sources;
  return result;
}

Unit::Unit(std::string name, std::unique_ptr<nic::Port> port, const config::Settings& settings,
           const engine::EngineDriver& driver, IdSource& ids)
    : port_(std::move(port)),
      link_watch_(std::make_unique<nic::LinkWatch>(port_->id(), port_->info().kernel_if_index)),
      address_watch_(std::make_unique<nic::AddressWatch>(port_->address_if_index())),
      keys_(std::make_unique<memory::KeyTable>(settings.limits.memory_regions)) {
  make_engines(settings, ids);
  device::DeviceSetup setup;
  setup.name = std::move(name);
  setup.seats = seat_pointers_;
  setup.driver = driver;
  setup.shared = &shared_;
  setup.port = port_.get();
  setup.ids = &ids;
  setup.limits = device_limits(settings.limits);
  setup.gateway_ipv4 = port_->config().gateway_ipv4;
  setup.gateway_ipv6 = port_->config().gateway_ipv6;
  setup.privileged_qkey = port_->config().privileged_qkey;
  device_ = std::make_unique<device::Device>(setup);
}

Unit::~Unit() = default;

void Unit::make_engines(const config::Settings& settings, IdSource& ids) {
  const uint32_t engines = port_->queue_count();
  const device::PortInfo info = port_->info();
  shared_.keys = keys_.get();
  shared_.engine_count = engines;
  shared_.qp_slots_per_engine = settings.limits.queue_pairs;
  shared_.groups =
      std::make_unique<engine::GroupPresence>(engines, uint64_t{ids.next32()} << 32 | ids.next32());
  mesh_ = std::make_unique<worker::HandoffMesh>(engines);
  for (uint32_t i = 0; i < engines; ++i) {
    engine::EngineConfig config;
    config.index = i;
    config.shared = &shared_;
    config.exclusive = settings.mode == config::DriveMode::kInline;
    config.own_port = info.ownership == device::PortOwnership::kOwn;
    config.mac = info.mac;
    config.vlan_id = info.vlan_id;
    // Only a NIC sorts out frames for other hosts before we see them.
    config.port_filters_nothing = info.filter != device::FilterKind::kPortList &&
                                  info.filter != device::FilterKind::kAllMulticast;
    config.port_mtu_bytes = info.frame_bytes_max - 14;
    config.igmp_version = port_->config().igmp_version.value_or(group::kNewestVersion);
    config.mld_version = port_->config().mld_version.value_or(group::kNewestVersion);
    config.groups_max = settings.limits.multicast_groups;
    config.memberships_max = settings.limits.multicast_members;
    config.sources_max = settings.limits.multicast_sources;
    config.seed = uint64_t{ids.next32()} << 32 | ids.next32();
    seats_.push_back(std::make_unique<engine::EngineSeat>(config, drive_mode(settings.mode)));
    seat_pointers_.push_back(seats_.back().get());
    loops_.push_back(std::make_unique<worker::Loop>(*seats_.back(), port_->queue(i), *mesh_, i));
  }
}

}  // namespace uroce::start
