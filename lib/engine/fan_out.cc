// SPDX-License-Identifier: BSD-3-Clause
// Multicast replication: parsed and verified once, then one visit per member.
//
// The members' contexts and queues are fetched ahead of the visit, in two steps because the second
// address lies behind the first: the context kContextAhead members before its turn, its queues
// kQueuesAhead members before. Both walk the membership list on cursors of their own.
#include "engine/fan_out.h"

#include "engine/admit.h"
#include "transport/ud.h"

namespace uroce::engine {
namespace {

using group::Membership;
using transport::QpContext;
using wire::Drop;

constexpr int kContextAhead = 6;
constexpr int kQueuesAhead = 3;

// A cursor that runs some members ahead of the delivery.
class Ahead {
 public:
  Ahead(const group::MembershipTable& groups, const Membership* at) : groups_(groups), at_(at) {}
  template <typename Visit>
  void step(Visit&& visit) {
    if (at_ == nullptr) return;
    visit(at_->member);
    at_ = groups_.next(*at_);
  }

 private:
  const group::MembershipTable& groups_;
  const Membership* at_;
};

// A sender that asked for it does not hear itself (MC-50): its packets that never left this host.
bool is_own_echo(const QpContext& qp, const RxFrame& frame, const wire::ParsedFrame& parsed) {
  return qp.block_multicast_loopback && frame.looped && parsed.deth().source_qpn == qp.qpn;
}

// False when the member is not in a state to receive: it counts as not there.
bool deliver(EngineState& engine, QpContext& qp, const RxFrame& frame,
             const wire::ParsedFrame& parsed) {
  const Drop refusal = admit(qp, parsed);
  if (refusal == Drop::kQpState) return false;
  if (refusal != Drop::kNone) {
    if (refusal == Drop::kPkey) ++qp.pkey_violations;
    engine.drops.count(refusal);
  } else if (!is_own_echo(qp, frame, parsed)) {
    transport::receive_datagram(qp, engine.env, parsed, frame.receive_time());
  }
  return true;
}

}  // namespace

void fan_out(EngineState& engine, const group::Group& group, const RxFrame& frame,
             const wire::ParsedFrame& parsed) {
  ++engine.counters.multicast_received;
  const uint64_t before = engine.counters.rdma_recvs.value();
  const Membership* const first = engine.groups.first(group);
  Ahead contexts(engine.groups, first);
  Ahead queues(engine.groups, first);
  const auto fetch_context = [&](uint32_t slot) { engine.qps.prefetch_slot(slot); };
  const auto fetch_queues = [&](uint32_t slot) {
    const transport::QpQueues* q = engine.qps.at(slot).queues;
    __builtin_prefetch(&q->recv);
    __builtin_prefetch(&q->recv.producer);
  };
  for (int i = 0; i < kContextAhead; ++i) contexts.step(fetch_context);
  for (int i = 0; i < kQueuesAhead; ++i) queues.step(fetch_queues);
  const group::SourceTable::Key source = engine.groups.source_key(parsed.source());
  bool admitted = false;
  bool anybody = false;
  for (const Membership* m = first; m != nullptr; m = engine.groups.next(*m)) {
    contexts.step(fetch_context);
    queues.step(fetch_queues);
    if (!engine.groups.admits(*m, source)) continue;
    admitted = true;
    anybody |= deliver(engine, engine.qps.at(m->member), frame, parsed);
  }
  if (!anybody) engine.drops.count(admitted ? Drop::kGroupNoMember : Drop::kGroupSource);
  engine.counters.multicast_copies.add(engine.counters.rdma_recvs.value() - before);
}

}  // namespace uroce::engine
