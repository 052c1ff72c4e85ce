// SPDX-License-Identifier: BSD-3-Clause
// Every command of command.h.
//
// A caller may free memory as soon as it sees `done`: so completions are published and every list
// of the engine has forgotten the object before a command is finished.
#include "engine/commands.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "group/mgid.h"
#include "transport/completion_resize.h"
#include "transport/error_class.h"
#include "transport/qp_state.h"
#include "transport/reorder.h"
#include "transport/responder.h"
#include "transport/xrc.h"

namespace uroce::engine {
namespace {

using transport::Cqe;
using transport::QpContext;
using transport::QpType;

// A full port lets an ACK wait for about as long.
constexpr Duration kPartingLimit = std::chrono::milliseconds(5);

QpContext* find(EngineState& engine, Qpn qpn) {
  return engine.qps.owns(qpn) ? engine.qps.find(qpn) : nullptr;
}

int create_qp(EngineState& engine, const CreateQpCommand& command) {
  const bool supported = transport::is_connected(command.type) || command.type == QpType::kUd ||
                         command.type == QpType::kGsi;
  if (!supported) return -EOPNOTSUPP;
  const bool gsi = command.type == QpType::kGsi;
  if (!engine.qps.owns(command.qpn) || gsi != (command.qpn == kGsiQpn)) return -EINVAL;
  if (engine.qps.at(engine.qps.layout().slot_of(command.qpn)).queues != nullptr) return -EBUSY;
  QpContext& qp = engine.qps.open(command.qpn);
  qp.type = command.type;
  qp.pd = command.pd;
  qp.signal_all = command.signal_all;
  qp.block_multicast_loopback = command.block_multicast_loopback;
  qp.send_cq = command.send_cq;
  qp.recv_cq = command.recv_cq;
  qp.srq = command.srq;
  qp.recv_pd = command.srq != nullptr ? command.srq->pd : command.pd;
  qp.xrc_domain = command.xrc_domain;
  qp.user = command.user;
  qp.queues = command.queues;
  transport::set_state(qp, transport::QpState::kReset);
  return 0;
}

int modify_qp(EngineState& engine, const ModifyQpCommand& command) {
  QpContext* qp = find(engine, command.qpn);
  if (qp == nullptr) return -EINVAL;
  const int result = apply_modify(*qp, engine.env, command.attributes, command.mask);
  settle(engine, *qp);
  return result;
}

int query_qp(EngineState& engine, QueryQpCommand& command) {
  const QpContext* qp = find(engine, command.qpn);
  if (qp == nullptr) return -EINVAL;
  command.attributes = query_attributes(*qp);
  return 0;
}

int destroy_qp(EngineState& engine, const DestroyQpCommand& command) {
  QpContext* qp = find(engine, command.qpn);
  if (qp == nullptr) return command.again ? 0 : -EINVAL;
  if (engine.groups.memberships_of(engine.qps.slot_of(*qp)) > 0) return -EBUSY;
  if (qp->on_transmit_list && &engine.transmit.front() == qp) {
    engine.turn_left = engine.config.burst_per_qp;
  }
  engine.transmit.remove(*qp);
  engine.timers.cancel(*qp);
  engine.timeouts.forget(*qp);
  transport::forget_kept(*qp, engine.env);
  transport::set_state(*qp, transport::QpState::kReset);
  transport::cq_publish_all(engine.env);
  engine.env.events.forget(qp->events);
  engine.qps.close(*qp);
  return 0;
}

int resize_cq(EngineState& engine, const ResizeCqCommand& command) {
  Cqe* const ring = command.rings + size_t{engine.config.index} * command.entries;
  return transport::cq_switch_ring(engine.env, *command.cq, ring, command.entries);
}

int add_xrc_queue(EngineState& engine, const SrqCommand& command) {
  engine.env.xrc_queues.add(*command.srq);
  return 0;
}

int remove_xrc_queue(EngineState& engine, const SrqCommand& command) {
  engine.env.xrc_queues.remove(*command.srq);
  for (uint32_t slot = 0; slot < engine.qps.slot_count(); ++slot) {
    QpContext& qp = engine.qps.at(slot);
    if (qp.queues != nullptr && qp.type == QpType::kXrcTgt) leave_queue(qp, *command.srq);
  }
  engine.env.events.forget(command.srq->events);
  return 0;
}

int attach(EngineState& engine, MulticastCommand& command) {
  QpContext* qp = find(engine, command.qpn);
  if (qp == nullptr || !group::is_valid_mgid(command.group)) return -EINVAL;
  if (qp->type != QpType::kUd && qp->type != QpType::kGsi) return -EINVAL;
  const uint32_t member = engine.qps.slot_of(*qp);
  const uint32_t before = engine.groups.membership_count();
  const auto result = command.source.is_zero()
                          ? engine.groups.attach(command.group, member)
                          : engine.groups.attach_source(command.group, member, command.source);
  switch (result) {
    case group::AttachResult::kAdded:
      command.changed = true;
      if (engine.groups.membership_count() != before) {
        engine.shared.groups->add(engine.config.index, command.group);
      }
      return 0;
    case group::AttachResult::kAlready:
      return 0;
    case group::AttachResult::kFull:
      return -ENOMEM;
    case group::AttachResult::kMixed:
      return -EADDRINUSE;
  }
  return -EINVAL;
}

int detach(EngineState& engine, MulticastCommand& command) {
  QpContext* qp = find(engine, command.qpn);
  if (qp == nullptr) return -EINVAL;
  const uint32_t member = engine.qps.slot_of(*qp);
  const uint32_t before = engine.groups.membership_count();
  const bool was_there = command.source.is_zero()
                             ? engine.groups.detach(command.group, member)
                             : engine.groups.detach_source(command.group, member, command.source);
  if (!was_there) return -EINVAL;
  command.changed = true;
  if (engine.groups.membership_count() != before) {
    engine.shared.groups->remove(engine.config.index, command.group);
  }
  return 0;
}

int set_group_filter(EngineState& engine, const GroupFilterCommand& command) {
  if (engine.host == nullptr) return -EOPNOTSUPP;
  if (!group::is_valid_mgid(command.group)) return -EINVAL;
  const SourceFilter filter{command.mode, command.sources};
  return engine.host->set_filter(engine.env.now, command.group, filter) ? 0 : -ENOMEM;
}

int set_addresses(EngineState& engine, const SetAddressesCommand& command) {
  if (engine.host != nullptr && !engine.host->set_addresses(engine.env.now, command)) {
    return -EINVAL;
  }
  return engine.addresses.set(command.addresses) ? 0 : -EINVAL;
}

int link_up(EngineState& engine) {
  if (engine.host != nullptr) engine.host->link_up(engine.env.now);
  return 0;
}

// True when the command is finished.
bool try_resolve(EngineState& engine, ResolveCommand& command) {
  const std::optional<int> result =
      engine.host->resolve(engine.env.now, command.destination, command.mac);
  if (!result) return false;
  command.finish(*result);
  return true;
}

void resolve(EngineState& engine, ResolveCommand& command) {
  if (engine.host == nullptr) return command.finish(-EOPNOTSUPP);
  if (try_resolve(engine, command)) return;
  command.next = engine.waiting;
  engine.waiting = &command;
}

int carry_out(EngineState& engine, Command& command) {
  switch (command.kind) {
    case Command::Kind::kCreateQp:
      return create_qp(engine, static_cast<CreateQpCommand&>(command));
    case Command::Kind::kModifyQp:
      return modify_qp(engine, static_cast<ModifyQpCommand&>(command));
    case Command::Kind::kQueryQp:
      return query_qp(engine, static_cast<QueryQpCommand&>(command));
    case Command::Kind::kResizeCq:
      return resize_cq(engine, static_cast<ResizeCqCommand&>(command));
    case Command::Kind::kForgetCq:
      transport::cq_publish_all(engine.env);
      transport::cq_forget(engine.env, *static_cast<ForgetCqCommand&>(command).cq);
      return 0;
    case Command::Kind::kForgetSrq:
      engine.env.events.forget(static_cast<SrqCommand&>(command).srq->events);
      return 0;
    case Command::Kind::kLeaveSrqRings:
      transport::leave_empty_rings(*static_cast<SrqCommand&>(command).srq);
      return 0;
    case Command::Kind::kAttachMulticast:
      return attach(engine, static_cast<MulticastCommand&>(command));
    case Command::Kind::kDetachMulticast:
      return detach(engine, static_cast<MulticastCommand&>(command));
    case Command::Kind::kAddXrcQueue:
      return add_xrc_queue(engine, static_cast<SrqCommand&>(command));
    case Command::Kind::kRemoveXrcQueue:
      return remove_xrc_queue(engine, static_cast<SrqCommand&>(command));
    case Command::Kind::kSetGroupFilter:
      return set_group_filter(engine, static_cast<GroupFilterCommand&>(command));
    case Command::Kind::kSetAddresses:
      return set_addresses(engine, static_cast<SetAddressesCommand&>(command));
    case Command::Kind::kLinkUp:
      return link_up(engine);
    case Command::Kind::kBarrier:
    case Command::Kind::kResolve:
    case Command::Kind::kDestroyQp:
      return 0;
  }
  return -EINVAL;
}

// The queue pair is gone, but completions of it may be among those that wait for a grace period, in
// whichever queues: its owner takes them back when it sees that the command is done, so they have
// to be there by then. Those that come later are not its own, so one period is enough.
void hold_back(EngineState& engine, DestroyQpCommand& command) {
  command.ticket = engine.env.grace.ask();
  command.next = engine.held_back;
  engine.held_back = &command;
}

void finish_destroy(EngineState& engine, DestroyQpCommand& command) {
  const int result = destroy_qp(engine, command);
  transport::cq_publish_all(engine.env);
  if (result == 0 && engine.env.dirty != nullptr) return hold_back(engine, command);
  command.finish(result);
}

// The application may have taken a message whose ACK waits for its turn, and be done: without that
// ACK the peer would repeat the message until its retries are used up.
bool is_parting(EngineState& engine, const DestroyQpCommand& command) {
  const QpContext* qp = find(engine, command.qpn);
  return qp != nullptr && engine.env.now < command.parting_ends && transport::response_ready(*qp) &&
         static_cast<int32_t>(command.owed_until - qp->resp.responses_head) > 0;
}

void begin_destroy(EngineState& engine, DestroyQpCommand& command) {
  if (const QpContext* qp = find(engine, command.qpn); qp != nullptr) {
    command.owed_until = qp->resp.responses_tail;
  }
  command.parting_ends = engine.env.now + kPartingLimit;
  if (!is_parting(engine, command)) return finish_destroy(engine, command);
  command.next = engine.parting;
  engine.parting = &command;
}

}  // namespace

void run_command(EngineState& engine, Command& command) {
  if (!command.claim()) return;
  if (command.kind == Command::Kind::kDestroyQp) {
    return begin_destroy(engine, static_cast<DestroyQpCommand&>(command));
  }
  if (command.kind == Command::Kind::kResolve) {
    return resolve(engine, static_cast<ResolveCommand&>(command));
  }
  const int result = carry_out(engine, command);
  transport::cq_publish_all(engine.env);
  command.finish(result);
}

void finish_resolved(EngineState& engine) {
  Command** link = &engine.waiting;
  while (*link != nullptr) {
    auto& command = static_cast<ResolveCommand&>(**link);
    Command* const next = command.next;  // a finished command is its caller's again
    if (try_resolve(engine, command)) {
      *link = next;
    } else {
      link = &command.next;
    }
  }
}

void finish_parting(EngineState& engine) {
  Command** link = &engine.parting;
  while (*link != nullptr) {
    auto& command = static_cast<DestroyQpCommand&>(**link);
    if (is_parting(engine, command)) {
      link = &command.next;
    } else {
      *link = command.next;
      finish_destroy(engine, command);  // which may be its caller's again
    }
  }
}

Time parting_deadline(const EngineState& engine) {
  Time earliest = kNever;
  for (const Command* command = engine.parting; command != nullptr; command = command->next) {
    earliest = std::min(earliest, static_cast<const DestroyQpCommand*>(command)->parting_ends);
  }
  return earliest;
}

void finish_held_back(EngineState& engine) {
  Command** link = &engine.held_back;
  while (*link != nullptr) {
    auto& command = static_cast<DestroyQpCommand&>(**link);
    Command* const next = command.next;  // a finished command is its caller's again
    if (engine.env.grace.over(command.ticket)) {
      transport::cq_publish_all(engine.env);
      *link = next;
      command.finish(0);
    } else {
      link = &command.next;
    }
  }
}

}  // namespace uroce::engine
