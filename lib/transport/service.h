// SPDX-License-Identifier: BSD-3-Clause
// The service part of a BTH opcode, which follows from the type of the queue pair.
#ifndef UROCE_TRANSPORT_SERVICE_H
#define UROCE_TRANSPORT_SERVICE_H

#include <cstdint>

#include "transport/qp_attributes.h"
#include "wire/opcode.h"

namespace uroce::transport {

// The opcode with which a connected queue pair of this type does what `reliable`, an RC opcode,
// does on RC: the code of the operation is the same in every service that has it.
constexpr wire::Opcode opcode_of(QpType type, wire::Opcode reliable) {
  wire::Opcode first = wire::Opcode::kRcSendFirst;
  if (type == QpType::kUc) first = wire::Opcode::kUcSendFirst;
  if (type == QpType::kXrcIni || type == QpType::kXrcTgt) first = wire::Opcode::kXrcSendFirst;
  return static_cast<wire::Opcode>(static_cast<uint8_t>(first) | static_cast<uint8_t>(reliable));
}

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_SERVICE_H
