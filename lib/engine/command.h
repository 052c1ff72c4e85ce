// SPDX-License-Identifier: BSD-3-Clause
// What a control thread asks of an engine. The memory that a command needs comes with it and the
// caller keeps the command alive until `done`.
#ifndef UROCE_ENGINE_COMMAND_H
#define UROCE_ENGINE_COMMAND_H

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/source_filter.h"
#include "base/types.h"
#include "transport/qp_context.h"

namespace uroce::engine {

// `done` is stored last (release); after that the engine does not touch the command again. Most
// commands are done when handle_command returns; kResolve, and kDestroyQp behind completions that
// are held back, may be done in a later turn.
struct Command {
  enum class Kind : uint8_t {
    kCreateQp,
    kModifyQp,
    kQueryQp,
    kDestroyQp,
    kResizeCq,
    kForgetCq,
    kForgetSrq,
    kLeaveSrqRings,
    kAttachMulticast,
    kDetachMulticast,
    kSetGroupFilter,
    kAddXrcQueue,
    kRemoveXrcQueue,
    kResolve,
    kSetAddresses,
    kLinkUp,
    kBarrier,
  };
  explicit Command(Kind k) : kind(k) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // True for the first only: the engine, which carries it out, or the caller, who withdraws it.
  bool claim() { return !claimed.exchange(true, std::memory_order_acq_rel); }

  const Kind kind;
  int result = 0;  // 0 or a negative errno
  std::atomic<bool> claimed{false};
  std::atomic<bool> done{false};
  Command* next = nullptr;  // engine's list of commands that wait for something
  void finish(int r) {
    result = r;
    done.store(true, std::memory_order_release);
  }
};

// The QPN's slot must be free (the device keeps the free list). State RESET afterwards.
struct CreateQpCommand : Command {
  CreateQpCommand() : Command(Kind::kCreateQp) {}
  Qpn qpn;
  transport::QpType type = transport::QpType::kRc;
  uint32_t pd = 0;
  bool signal_all = false;
  bool block_multicast_loopback = false;
  transport::QpQueues* queues = nullptr;
  transport::CompletionQueue* send_cq = nullptr;
  transport::CompletionQueue* recv_cq = nullptr;
  transport::SharedReceiveQueue* srq = nullptr;  // of this engine
  uint32_t xrc_domain = 0;                       // XRC target, which has no CQs and no PD
  void* user = nullptr;
};

struct ModifyQpCommand : Command {
  ModifyQpCommand() : Command(Kind::kModifyQp) {}
  Qpn qpn;
  transport::QpAttributes attributes;
  uint32_t mask = 0;
};

struct QueryQpCommand : Command {
  QueryQpCommand() : Command(Kind::kQueryQp) {}
  Qpn qpn;
  transport::QpAttributes attributes;  // out
};

// Done when no frame, timer or list of the engine refers to the QP any more, and when all that it
// completed can be seen. -EBUSY while it is a member of a group. The queues' memory is the caller's
// again.
struct DestroyQpCommand : Command {
  DestroyQpCommand() : Command(Kind::kDestroyQp) {}
  Qpn qpn;
  // An earlier one was not seen to be done: the QP may be gone already. Without it that is -EINVAL.
  bool again = false;
  // The engine's.
  Time parting_ends{};      // when what the QP still owes its peer is dropped
  uint32_t owed_until = 0;  // ResponderState::responses_tail when the command came
  uint64_t ticket = 0;      // of the grace period that is waited for
};

// The engine's lane of `cq` goes on in another ring, as deep as before. `rings` has one of
// `entries` (as resized_entries() gives) for each engine. -EBUSY: the consumer has not followed the
// last time.
struct ResizeCqCommand : Command {
  ResizeCqCommand() : Command(Kind::kResizeCq) {}
  transport::CompletionQueue* cq = nullptr;
  transport::Cqe* rings = nullptr;
  uint32_t entries = 0;
};

// Done when no list of the engine refers to the completion queue any more, which no queue pair
// uses.
struct ForgetCqCommand : Command {
  ForgetCqCommand() : Command(Kind::kForgetCq) {}
  transport::CompletionQueue* cq = nullptr;
};

// A shared receive queue of this engine. kForgetSrq: as kForgetCq. kLeaveSrqRings: of its rings the
// engine knows none any more that is empty and has a successor. kAddXrcQueue to kRemoveXrcQueue:
// requests may name it, which is of XRC; when it is removed, no queue pair and no list of the
// engine refers to it or its CQ any more.
struct SrqCommand : Command {
  explicit SrqCommand(Kind k) : Command(k) {}
  transport::SharedReceiveQueue* srq = nullptr;
};

// Membership of one QP; a packet sees the group either before or after. Attach: 0, also when it
// is a member already (`changed` false); -ENOMEM: table full; -EADDRINUSE: a member in the other
// way, by source or of every source. Detach: -EINVAL: not a member. With a source that is not zero:
// for the messages of that source only.
struct MulticastCommand : Command {
  explicit MulticastCommand(Kind k) : Command(k) {}
  Qpn qpn;
  Gid group;
  Gid source;
  bool changed = false;  // out
};

// IGMP or MLD on an own port (engine 0): what all members in the device together listen to.
struct GroupFilterCommand : Command {
  GroupFilterCommand() : Command(Kind::kSetGroupFilter) {}
  Gid group;
  FilterMode mode = FilterMode::kInclude;
  std::vector<Gid> sources;
};

// Own port (engine 0): the MAC of the next hop towards `destination`. Done when known, or with
// -ETIMEDOUT, -EHOSTUNREACH (no route).
struct ResolveCommand : Command {
  ResolveCommand() : Command(Kind::kResolve) {}
  Gid destination;
  MacAddress mac;  // out
};

struct LocalAddress {
  Gid address;
  uint8_t prefix_length = 0;  // of its family
};

// The port's addresses, MAC and gateways: every engine needs them for "is it for us", engine 0 of
// an own port also to answer and to resolve. The span is read during the call only.
struct SetAddressesCommand : Command {
  SetAddressesCommand() : Command(Kind::kSetAddresses) {}
  std::span<const LocalAddress> addresses;
  Gid gateway_ipv4;  // zero: none
  Gid gateway_ipv6;
};

// The link came up (again): joins and announcements are repeated (engine 0 of an own port).
struct LinkUpCommand : Command {
  LinkUpCommand() : Command(Kind::kLinkUp) {}
};

// Does nothing; done means that everything before it has been handled.
struct BarrierCommand : Command {
  BarrierCommand() : Command(Kind::kBarrier) {}
};

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_COMMAND_H
