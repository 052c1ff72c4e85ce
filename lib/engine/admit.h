// SPDX-License-Identifier: BSD-3-Clause
// Whether a queue pair takes a packet: P_Key, service, state and address, judged without side
// effects.
#ifndef UROCE_ENGINE_ADMIT_H
#define UROCE_ENGINE_ADMIT_H

#include <cstdint>

#include "transport/qp_context.h"
#include "wire/drop.h"
#include "wire/parse.h"

namespace uroce::engine {

// In the header because every packet passes here and a call would cost a third of it.

// Partition keys match when their low 15 bits are equal and not 0 and at least one of the two is a
// full member's (IBA 10.9.3).
inline bool pkeys_match(uint16_t a, uint16_t b) {
  const unsigned partition = a & 0x7FFFu;
  return partition != 0 && partition == (b & 0x7FFFu) && ((a | b) & 0x8000u) != 0;
}

// Whether a queue pair of this type speaks the service that the opcode belongs to. The two ends of
// XRC are of different types: one takes answers only, the other requests only.
inline bool service_fits(transport::QpType type, const wire::OpcodeInfo& opcode) {
  switch (type) {
    case transport::QpType::kRc:
      return opcode.has(wire::kRc);
    case transport::QpType::kUc:
      return opcode.has(wire::kUc);
    case transport::QpType::kUd:
    case transport::QpType::kGsi:
      return opcode.has(wire::kUd);
    case transport::QpType::kXrcIni:
      return opcode.has(wire::kXrc) && opcode.has(wire::kResponse);
    case transport::QpType::kXrcTgt:
      return opcode.has(wire::kXrc) && !opcode.has(wire::kResponse);
    case transport::QpType::kSmi:
      return false;
  }
  return false;
}

// Whether a queue pair in this state takes requests (or else responses).
inline bool takes(transport::QpState state, bool request) {
  switch (state) {
    case transport::QpState::kRtr:
    case transport::QpState::kSqe:
      return request;
    case transport::QpState::kRts:
    case transport::QpState::kSqd:
      return true;
    case transport::QpState::kReset:
    case transport::QpState::kInit:
    case transport::QpState::kErr:
      return false;
  }
  return false;
}

// wire::Drop::kNone when the packet, whose ICRC is good, may go to the transport of `qp`, which its
// destination QPN or group names. Q_Keys and everything about PSNs are the transport's to judge.
// A source MAC is nobody's proof (a router or a failover changes it); the IP addresses of a
// connection are compared with its address vector.
inline wire::Drop admit(const transport::QpContext& qp, const wire::ParsedFrame& frame) {
  if (!pkeys_match(frame.pkey, qp.pkey)) return wire::Drop::kPkey;
  if (!service_fits(qp.type, *frame.info)) return wire::Drop::kQpType;
  if (!takes(qp.state, !frame.info->has(wire::kResponse))) return wire::Drop::kQpState;
  if (transport::is_connected(qp.type)) {
    const transport::AddressVector& av = qp.attributes.av;
    if (!frame.source_is(av.dgid) || !frame.destination_is(av.sgid))
      return wire::Drop::kSourceAddress;
  }
  return wire::Drop::kNone;
}

}  // namespace uroce::engine

#endif  // UROCE_ENGINE_ADMIT_H
