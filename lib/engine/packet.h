// SPDX-License-Identifier: BSD-3-Clause
// A packet on its way through the passes of dispatch.
#ifndef UROCE_ENGINE_PACKET_H
#define UROCE_ENGINE_PACKET_H

#include <array>
#include <cstddef>

#include "group/membership.h"
#include "transport/qp_context.h"
#include "wire/frame.h"
#include "wire/parse.h"

namespace uroce::engine {

struct Packet {
  wire::ParsedFrame parsed;
  const RxFrame* frame;
  transport::QpContext* qp;   // unicast, when it is here
  const group::Group* group;  // multicast, when it has members here
  bool multicast;
  bool icrc_good;  // meaningful when there is a queue pair or a group
};

// Room for the packets between the passes. In the engine and not on the stack: it is the same hot
// memory every time, and nothing has to be cleared.
inline constexpr size_t kStage = 32;
using Stage = std::array<Packet, kStage>;

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_PACKET_H
