// SPDX-License-Identifier: BSD-3-Clause
// What the responder owes the peer: ACKs, NAKs and READ responses, in order, with coalescing.
// emit_response (responder.h) takes from it.
#ifndef UROCE_TRANSPORT_RESPONSE_QUEUE_H
#define UROCE_TRANSPORT_RESPONSE_QUEUE_H

#include <cstdint>

#include "transport/qp_context.h"

namespace uroce::transport {

// Every function is the owning engine's and takes an RC queue pair.

// PSNs that the response to a READ of `length` bytes takes; `mtu_bytes` is a power of two.
constexpr uint32_t read_response_packets(uint32_t length, uint32_t mtu_bytes) {
  if (length <= mtu_bytes) return 1;
  return ((length - 1) >> __builtin_ctz(mtu_bytes)) + 1;
}

// An ACK of everything up to `psn`, which was executed just now. It takes the place of an ACK or
// NAK 0x60 that waits at the tail: one ACK goes out for a burst of requests.
void owe_acknowledge(QpContext& qp, Psn psn);

// An ACK up to `psn` because of a duplicate. Says nothing new: where an ACK or NAK that covers it
// waits at the tail, that one will do.
void owe_acknowledge_again(QpContext& qp, Psn psn);

// A NAK after which the queue pair goes on: PSN sequence error or RNR. False: no room; the packet
// then counts as lost and the peer's time-out will bring it again.
bool owe_nak(QpContext& qp, Psn psn, uint8_t syndrome);

// The NAK that ends everything: it always finds room, and is the last packet of this queue pair.
void owe_last_nak(QpContext& qp, Psn psn, uint8_t syndrome);

// Whether a READ (or an atomic, ATOMIC WRITE, FLUSH) may be taken. A duplicate may use a part of
// the room only, so that a peer which asks again and again cannot shut out its own new requests.
bool room_for_read(const QpContext& qp);
bool room_for_read_again(const QpContext& qp);

// A READ response that begins with PSN `first`; the key is one of protection domain `pd`. The MSN
// is the one of now.
void owe_read(QpContext& qp, Psn first, uint64_t address, uint32_t length, uint32_t rkey,
              uint32_t pd);

// The same, of a READ that was answered before. Who had that answer may have taken the key back
// since, so where the key is gone by the time the answer leaves, it is dropped and nothing is said.
void owe_read_again(QpContext& qp, Psn first, uint64_t address, uint32_t length, uint32_t rkey,
                    uint32_t pd);

// A READ that was taken is asked for again, or the rest of it from PSN `first` on. True: its
// response waits here or is under way, and goes on from there (from where it is, if it has not come
// that far); nothing else is owed. So a large response that lost one packet is not sent to its end
// before it is sent again.
bool read_goes_on(QpContext& qp, Psn first, uint64_t address, uint32_t length, uint32_t rkey);

// The answer to an atomic, ATOMIC WRITE or FLUSH that was executed: ATOMIC ACKNOWLEDGE with the
// value that it found, or READ RESPONSE ONLY without payload.
void owe_operation(QpContext& qp, Psn psn, wire::Opcode opcode, uint64_t original);

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_RESPONSE_QUEUE_H
