// SPDX-License-Identifier: BSD-3-Clause
// P_Key, service, state and address rules in the order in which their counters are to be read.
#include "engine/admit.h"

namespace uroce::engine {
namespace {

using transport::QpContext;
using transport::QpState;
using transport::QpType;
using wire::Drop;

bool service_fits(QpType type, const wire::OpcodeInfo& opcode) {
  switch (type) {
    case QpType::kRc:
      return opcode.has(wire::kRc);
    case QpType::kUc:
      return opcode.has(wire::kUc);
    case QpType::kUd:
    case QpType::kGsi:
      return opcode.has(wire::kUd);
    case QpType::kSmi:
      return false;
  }
  return false;
}

bool connected(QpType type) { return type == QpType::kRc || type == QpType::kUc; }

}  // namespace

bool pkeys_match(uint16_t a, uint16_t b) {
  const unsigned partition = a & 0x7FFFu;
  return partition != 0 && partition == (b & 0x7FFFu) && ((a | b) & 0x8000u) != 0;
}

bool takes(QpState state, bool request) {
  switch (state) {
    case QpState::kRtr:
    case QpState::kSqe:
      return request;
    case QpState::kRts:
    case QpState::kSqd:
      return true;
    case QpState::kReset:
    case QpState::kInit:
    case QpState::kErr:
      return false;
  }
  return false;
}

// A source MAC is nobody's proof (a router or a failover changes it); the IP addresses of a
// connection are compared with its address vector.
Drop admit(const QpContext& qp, const wire::ParsedFrame& frame) {
  if (!pkeys_match(frame.pkey, qp.pkey)) return Drop::kPkey;
  if (!service_fits(qp.type, *frame.info)) return Drop::kQpType;
  if (!takes(qp.state, !frame.info->has(wire::kResponse))) return Drop::kQpState;
  if (connected(qp.type)) {
    const transport::AddressVector& av = qp.attributes.av;
    if (!frame.source_is(av.dgid) || !frame.destination_is(av.sgid)) return Drop::kSourceAddress;
  }
  return Drop::kNone;
}

}  // namespace uroce::engine
