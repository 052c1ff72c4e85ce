// SPDX-License-Identifier: BSD-3-Clause
// Construction of an engine's state, and the one place that puts a queue pair onto its lists.
#include "engine/engine_state.h"

#include "base/assert.h"
#include "base/random.h"
#include "transport/requester.h"
#include "transport/responder.h"
#include "transport/retry.h"
#include "transport/uc.h"
#include "transport/ud.h"

namespace uroce::engine {
namespace {

using transport::QpContext;
using transport::QpType;

group::MembershipLimits limits_of(const EngineConfig& config) {
  return {.groups_max = config.groups_max,
          .memberships_max = config.memberships_max,
          .members_max = config.shared->qp_slots_per_engine + 1,
          .sources_max = config.sources_max};
}

bool has_output(QpContext& qp, Time now) {
  if (qp.type == QpType::kUc) return transport::unreliable_ready(qp, now);
  if (!is_reliable(qp.type)) return transport::datagram_ready(qp);
  return transport::response_ready(qp) || transport::request_ready(qp, now);
}

}  // namespace

EngineState::EngineState(const EngineConfig& engine_config)
    : config(engine_config),
      shared(*engine_config.shared),
      qps(QpnLayout::of(shared), config.index),
      groups(limits_of(config), Random(config.seed).next64()),
      doorbells(qps.slot_count(), config.exclusive),
      filter(config.mac, config.own_port, config.port_filters_nothing),
      handoffs(shared.engine_count),
      turn_left(config.burst_per_qp) {
  UROCE_ASSERT(config.index < shared.engine_count && shared.keys != nullptr &&
               shared.groups != nullptr && config.burst_per_qp > 0);
  env.engine_index = config.index;
  env.keys = shared.keys;
  env.drops = &drops;
  env.counters = &counters;
  env.selective_repeat = config.selective_repeat;
  env.tail_probe = config.tail_probe;
  if (config.kept_packets_max != 0) {
    reorder = std::make_unique<transport::ReorderBuffer>(config.kept_packets_max);
    env.reorder = reorder.get();
  }
  env.grace.watch(shared.epochs, config.index, shared.engine_count);
  if (config.own_port && config.index == 0) {
    host = std::make_unique<HostSide>(config, drops);
  }
}

void settle(EngineState& engine, QpContext& qp) {
  if (!qp.on_transmit_list && has_output(qp, engine.env.now)) engine.transmit.push_back(qp);
  engine.timers.arm(qp, transport::next_deadline(qp), engine.env.now);
  engine.timeouts.update(qp);
}

}  // namespace uroce::engine
