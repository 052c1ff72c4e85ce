// SPDX-License-Identifier: BSD-3-Clause
// The transport headers (BTH and what may follow it) as structs that parse from and store to bytes.
//
// parse() reads exactly kBytes bytes and never judges; store() writes exactly kBytes bytes with
// reserved bits 0. The caller has made sure of the room.
#ifndef UROCE_WIRE_HEADERS_H
#define UROCE_WIRE_HEADERS_H

#include <cstdint>

#include "base/bytes.h"
#include "base/types.h"
#include "wire/opcode.h"

namespace uroce::wire {

inline constexpr uint16_t kDefaultPkey = 0xFFFF;
// Q_Key and QPN of the general services interface (IBA 3.9, 9.2.4).
inline constexpr uint32_t kGsiQkey = 0x80010000;

// The BTH as three numbers, most significant byte first on the wire.
struct BthWords {
  uint32_t word0;
  uint32_t word1;
  uint32_t word2;
};

// Base transport header (IBA 9.2).
struct Bth {
  static constexpr uint32_t kBytes = kBthBytes;
  Opcode opcode{};
  bool solicited = false;
  bool mig_req = true;
  uint8_t pad = 0;      // 0..3
  uint8_t version = 0;  // 0..15; 0 on the wire
  uint16_t pkey = kDefaultPkey;
  bool fecn = false;
  bool becn = false;
  Qpn dest_qpn;
  bool ack_request = false;
  Psn psn;

  static Bth parse(const uint8_t* from) {
    Bth bth;
    bth.opcode = static_cast<Opcode>(from[0]);
    bth.solicited = (from[1] & 0x80) != 0;
    bth.mig_req = (from[1] & 0x40) != 0;
    bth.pad = static_cast<uint8_t>((from[1] >> 4) & 3);
    bth.version = static_cast<uint8_t>(from[1] & 0x0F);
    bth.pkey = load_be16(from + 2);
    bth.fecn = (from[4] & 0x80) != 0;
    bth.becn = (from[4] & 0x40) != 0;
    bth.dest_qpn = Qpn(load_be32(from + 4));
    bth.ack_request = (from[8] & 0x80) != 0;
    bth.psn = Psn(load_be32(from + 8));
    return bth;
  }
  BthWords words() const {
    return {uint32_t{static_cast<uint8_t>(opcode)} << 24 | uint32_t{solicited} << 23 |
                uint32_t{mig_req} << 22 | (pad & 3u) << 20 | (version & 15u) << 16 | pkey,
            uint32_t{fecn} << 31 | uint32_t{becn} << 30 | dest_qpn.value(),
            uint32_t{ack_request} << 31 | psn.value()};
  }
  void store(uint8_t* to) const {
    const BthWords numbers = words();
    store_be32(to, numbers.word0);
    store_be32(to + 4, numbers.word1);
    store_be32(to + 8, numbers.word2);
  }
  bool operator==(const Bth&) const = default;
};

// RDMA extended transport header (IBA 9.3.3).
struct Reth {
  static constexpr uint32_t kBytes = 16;
  static constexpr uint32_t kLengthMax = 1u << 31;
  uint64_t address = 0;
  Key rkey;
  uint32_t length_bytes = 0;

  static Reth parse(const uint8_t* from) {
    return {load_be64(from), Key(load_be32(from + 8)), load_be32(from + 12)};
  }
  void store(uint8_t* to) const {
    store_be64(to, address);
    store_be32(to + 8, rkey.value());
    store_be32(to + 12, length_bytes);
  }
  bool operator==(const Reth&) const = default;
};

// What bits 6..5 of an AETH syndrome say (IBA 9.3.5); bit 7 is reserved.
enum class AethKind : uint8_t { kAck, kRnrNak, kReserved, kNak };
enum class NakCode : uint8_t {
  kPsnSequence = 0,
  kInvalidRequest = 1,
  kRemoteAccess = 2,
  kRemoteOperational = 3,
  kInvalidRdRequest = 4,
};

// ACK extended transport header (IBA 9.3.5).
struct Aeth {
  static constexpr uint32_t kBytes = 4;
  static constexpr uint8_t kAckNoCredits = 0x1F;  // ACK whose credit count is not valid
  static constexpr uint8_t kRnrNakBase = 0x20;    // or timer code 0..31
  static constexpr uint8_t kNakBase = 0x60;       // or NakCode
  uint8_t syndrome = kAckNoCredits;
  uint32_t msn = 0;  // 24 bits

  static Aeth parse(const uint8_t* from) { return {from[0], load_be32(from) & 0xFFFFFF}; }
  void store(uint8_t* to) const { store_be32(to, uint32_t{syndrome} << 24 | (msn & 0xFFFFFF)); }
  AethKind kind() const { return kind_of(syndrome); }
  uint8_t rnr_timer() const { return syndrome & 0x1F; }    // of an RNR NAK
  uint8_t credit_code() const { return syndrome & 0x1F; }  // of an ACK
  NakCode nak_code() const { return NakCode{static_cast<uint8_t>(syndrome & 0x1F)}; }

  static constexpr AethKind kind_of(uint8_t syndrome) {
    if ((syndrome & 0x80) != 0) return AethKind::kReserved;
    return AethKind{static_cast<uint8_t>((syndrome >> 5) & 3)};
  }
  static constexpr uint8_t ack(uint8_t credit_code) { return credit_code & 0x1F; }
  static constexpr uint8_t rnr_nak(uint8_t timer) {
    return static_cast<uint8_t>(kRnrNakBase | (timer & 0x1F));
  }
  static constexpr uint8_t nak(NakCode code) {
    return static_cast<uint8_t>(kNakBase | static_cast<uint8_t>(code));
  }
  bool operator==(const Aeth&) const = default;
};

// Datagram extended transport header (IBA 9.3.2).
struct Deth {
  static constexpr uint32_t kBytes = 8;
  uint32_t qkey = 0;
  Qpn source_qpn;

  static Deth parse(const uint8_t* from) { return {load_be32(from), Qpn(load_be32(from + 4))}; }
  void store(uint8_t* to) const {
    store_be32(to, qkey);
    store_be32(to + 4, source_qpn.value());
  }
  bool operator==(const Deth&) const = default;
};

// Atomic extended transport header (IBA 9.3.4). The operands are numbers, big-endian on the wire.
struct AtomicEth {
  static constexpr uint32_t kBytes = 28;
  uint64_t address = 0;
  Key rkey;
  uint64_t swap_or_add = 0;
  uint64_t compare = 0;

  static AtomicEth parse(const uint8_t* from) {
    return {load_be64(from), Key(load_be32(from + 8)), load_be64(from + 12), load_be64(from + 20)};
  }
  void store(uint8_t* to) const {
    store_be64(to, address);
    store_be32(to + 8, rkey.value());
    store_be64(to + 12, swap_or_add);
    store_be64(to + 20, compare);
  }
  bool operator==(const AtomicEth&) const = default;
};

// Atomic ACK extended transport header: the value found before the operation.
struct AtomicAckEth {
  static constexpr uint32_t kBytes = 8;
  uint64_t original = 0;

  static AtomicAckEth parse(const uint8_t* from) { return {load_be64(from)}; }
  void store(uint8_t* to) const { store_be64(to, original); }
  bool operator==(const AtomicAckEth&) const = default;
};

// Immediate data: four bytes handed on as they are; `network_order` keeps their order in memory.
struct ImmDt {
  static constexpr uint32_t kBytes = 4;
  uint32_t network_order = 0;

  static ImmDt parse(const uint8_t* from) { return {load_raw<uint32_t>(from)}; }
  void store(uint8_t* to) const { std::memcpy(to, &network_order, kBytes); }
  bool operator==(const ImmDt&) const = default;
};

// Invalidate extended transport header.
struct Ieth {
  static constexpr uint32_t kBytes = 4;
  Key rkey;

  static Ieth parse(const uint8_t* from) { return {Key(load_be32(from))}; }
  void store(uint8_t* to) const { store_be32(to, rkey.value()); }
  bool operator==(const Ieth&) const = default;
};

// Flush extended transport header (annex A19).
struct Feth {
  static constexpr uint32_t kBytes = 4;
  static constexpr uint8_t kGlobalVisibility = 1;  // placement type bits, may be OR-ed
  static constexpr uint8_t kPersistence = 2;
  static constexpr uint8_t kRange = 0;  // selectivity level
  static constexpr uint8_t kWholeRegion = 1;
  uint8_t placement = 0;    // 4 bits
  uint8_t selectivity = 0;  // 2 bits

  static Feth parse(const uint8_t* from) {
    const uint32_t word = load_be32(from);
    return {static_cast<uint8_t>(word & 15), static_cast<uint8_t>((word >> 4) & 3)};
  }
  void store(uint8_t* to) const { store_be32(to, (selectivity & 3u) << 4 | (placement & 15u)); }
  bool operator==(const Feth&) const = default;
};

// XRC extended transport header.
struct XrcEth {
  static constexpr uint32_t kBytes = 4;
  uint32_t srq_number = 0;  // 24 bits

  static XrcEth parse(const uint8_t* from) { return {load_be32(from) & 0xFFFFFF}; }
  void store(uint8_t* to) const { store_be32(to, srq_number & 0xFFFFFF); }
  bool operator==(const XrcEth&) const = default;
};

}  // namespace uroce::wire

#endif  // UROCE_WIRE_HEADERS_H
