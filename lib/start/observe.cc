// SPDX-License-Identifier: BSD-3-Clause
// The C entry points of observe.h: what the rooms know, as C structures.
#include "uroce/observe.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "base/address_text.h"
#include "observe/counter_names.h"
#include "observe/group_filter.h"
#include "start/entry.h"

namespace {

using uroce::address_text;
using uroce::start::Unit;

Unit* unit_of(uroce_context* context, unsigned int index) {
  auto& units = context->context->units();
  return index < units.size() ? units[index].get() : nullptr;
}

uroce::observe::CounterSources sources_of(Unit& unit) {
  uroce::observe::CounterSources sources;
  for (uint32_t i = 0; i < unit.engine_count(); ++i) {
    const uroce::engine::Engine& engine = unit.seat(i).engine();
    const uroce::nic::Queue& queue = unit.port().queue(i);
    sources.transport.push_back(&engine.counters());
    sources.drops.push_back(&engine.drops());
    sources.queues.push_back(&queue.counters());
    if (queue.fault_counters() != nullptr) sources.faults.push_back(queue.fault_counters());
    sources.loops.push_back(&unit.loops()[i]->counters());
    if (const uroce::engine::HostSide* host = engine.host()) {
      sources.host_stack = &host->stack().counters();
      sources.igmp = &host->igmp_counters();
      sources.mld = &host->mld_counters();
    }
  }
  return sources;
}

// Texts and, beside them, the pointers that C wants.
struct Texts {
  std::vector<std::string> strings;
  std::vector<const char*> pointers;
  void finish() {
    for (const std::string& string : strings) pointers.push_back(string.c_str());
  }
};

Texts addresses_of(uroce::device::Device& device) {
  Texts texts;
  uroce::Gid gid;
  for (int64_t i = 0;; ++i) {
    const int result = device.query_gid(i, gid);
    if (result == -EINVAL) break;
    if (result == 0) texts.strings.push_back(address_text(gid));
  }
  texts.finish();
  return texts;
}

void give_qp(const uroce::device::QpSummary& qp, uroce_qp_fn function, void* argument) {
  Texts groups;
  for (const uroce::Gid& group : qp.groups) groups.strings.push_back(address_text(group));
  groups.finish();
  const std::string peer = qp.has_path ? address_text(qp.peer) : "";
  uroce_qp_info info{};
  info.qpn = qp.qpn.value();
  info.type = static_cast<int>(qp.type);
  info.state = static_cast<int>(qp.attributes.state);
  info.engine = qp.engine;
  info.dest_qpn = qp.attributes.dest_qpn.value();
  info.rq_psn = qp.attributes.rq_psn.value();
  info.sq_psn = qp.attributes.sq_psn.value();
  info.path_mtu_bytes = uroce::bytes(qp.attributes.path_mtu);
  info.qkey = qp.attributes.qkey;
  info.peer = peer.c_str();
  info.recv_queue_empty = qp.recv_queue_empty;
  info.qkey_violations = qp.qkey_violations;
  info.pkey_violations = qp.pkey_violations;
  info.group_count = static_cast<uint32_t>(groups.pointers.size());
  info.groups = groups.pointers.data();
  function(argument, &info);
}

}  // namespace

extern "C" {

int uroce_observe_counters(uroce_context* context, unsigned int index, uroce_counter_fn function,
                           void* argument) {
  Unit* unit = unit_of(context, index);
  if (unit == nullptr) return -ENODEV;
  const auto list = uroce::observe::list_counters(sources_of(*unit));
  for (const uroce::observe::NamedCounter& counter : list) {
    const uroce_counter given{static_cast<uroce_counter_group>(counter.group), counter.name,
                              counter.help, counter.value};
    function(argument, &given);
  }
  return static_cast<int>(list.size());
}

int uroce_observe_port(uroce_context* context, unsigned int index, uroce_port_fn function,
                       void* argument) {
  Unit* unit = unit_of(context, index);
  if (unit == nullptr) return -ENODEV;
  const uroce::device::PortState state = unit->device().port_state();
  const Texts addresses = addresses_of(unit->device());
  uroce_port_info info{};
  info.device = unit->device().name().c_str();
  info.port = state.info.name.c_str();
  info.driver = unit->port().driver().c_str();
  std::copy(state.info.mac.bytes.begin(), state.info.mac.bytes.end(), info.mac);
  info.shared = state.info.ownership == uroce::device::PortOwnership::kShared;
  info.group_filter = uroce::observe::group_filter_text(state.info.filter);
  info.frame_bytes_max = state.info.frame_bytes_max;
  info.path_mtu_bytes = uroce::bytes(state.active_mtu);
  info.link_up = state.info.link_up;
  info.link_mbps = state.info.link_mbps;
  info.vlan_id = state.info.vlan_id;
  info.queue_count = state.info.queue_count;
  info.numa_node = state.info.numa_node;
  info.address_count = static_cast<uint32_t>(addresses.pointers.size());
  info.addresses = addresses.pointers.data();
  function(argument, &info);
  return 1;
}

int uroce_observe_qps(uroce_context* context, unsigned int index, uroce_qp_fn function,
                      void* argument) {
  Unit* unit = unit_of(context, index);
  if (unit == nullptr) return -ENODEV;
  std::vector<uroce::device::QpSummary> qps;
  if (const int error = unit->device().list_qps(qps); error != 0) return error;
  for (const uroce::device::QpSummary& qp : qps) give_qp(qp, function, argument);
  return static_cast<int>(qps.size());
}

int uroce_observe_groups(uroce_context* context, unsigned int index, uroce_group_fn function,
                         void* argument) {
  Unit* unit = unit_of(context, index);
  if (unit == nullptr) return -ENODEV;
  const std::vector<uroce::device::GroupSummary> groups = unit->device().list_groups();
  for (const uroce::device::GroupSummary& group : groups) {
    const std::string address = address_text(group.group);
    std::vector<uint32_t> members;
    members.reserve(group.members.size());
    for (const uroce::Qpn qpn : group.members) members.push_back(qpn.value());
    Texts sources;
    for (const uroce::Gid& source : group.sources) sources.strings.push_back(address_text(source));
    sources.finish();
    uroce_group_info info{};
    info.address = address.c_str();
    std::copy(group.mac.bytes.begin(), group.mac.bytes.end(), info.mac);
    info.member_count = static_cast<uint32_t>(members.size());
    info.members = members.data();
    info.member_sources = group.member_sources.data();
    info.every_source = std::ranges::find(group.member_sources, 0u) != group.member_sources.end();
    info.source_count = static_cast<uint32_t>(sources.pointers.size());
    info.sources = sources.pointers.data();
    function(argument, &info);
  }
  return static_cast<int>(groups.size());
}

}  // extern "C"
