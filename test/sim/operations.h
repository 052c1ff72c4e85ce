// SPDX-License-Identifier: BSD-3-Clause
// The operations that the random workload knows: one row each, so that a new one is one row more.
#ifndef UROCE_TEST_SIM_OPERATIONS_H
#define UROCE_TEST_SIM_OPERATIONS_H

#include <uroce/ib_verbs.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace uroce::sim {

// What an operation does to memory.
enum class Effect : uint8_t {
  kMessage,   // into a receive buffer of the peer
  kWrite,     // into the peer's write area
  kRead,      // out of the peer's constant area
  kTrespass,  // a WRITE that leaves what the peer's key opens: refused
  kStaleKey,  // a WRITE with a key that was retired: refused
  kFetchAdd,  // on one of the peer's words, of eight bytes each
  kCompareSwap,
  kAtomicWrite,
  kFlush,
  kLend,        // makes a key of ours valid (lent_key.h)
  kTakeBack,    // ends its validity
  kBadLend,     // of a key that is valid: refused
  kBadTakeBack  // of one that is not: refused
};

// A work request with the fields that its kind has beside the common ones.
union Request {
  ib_send_wr common;
  ib_rdma_wr rdma;
  ib_atomic_wr atomic;
  ib_flush_wr flush;
  ib_reg_wr reg;
  ib_bind_mw_wr bind;
  ib_xrc_wr xrc;  // those of RC, and the queue at the other end
};

// Brings something back from the peer into a buffer here.
constexpr bool fetches(Effect effect) {
  return effect == Effect::kRead || effect == Effect::kFetchAdd || effect == Effect::kCompareSwap;
}
// Acts on one word, so its length is not free.
constexpr bool is_on_word(Effect effect) {
  return effect == Effect::kFetchAdd || effect == Effect::kCompareSwap ||
         effect == Effect::kAtomicWrite;
}
inline constexpr uint32_t kWordBytes = 8;

constexpr uint32_t type_bit(ib_qp_type type) { return 1u << static_cast<unsigned>(type); }
inline constexpr uint32_t kRc = type_bit(IB_QPT_RC);
inline constexpr uint32_t kRcAndXrc = kRc | type_bit(IB_QPT_XRC_INI);
inline constexpr uint32_t kConnected = kRcAndXrc | type_bit(IB_QPT_UC);

struct OperationKind {
  const char* name;
  ib_wr_opcode opcode;
  ib_wc_opcode completion;
  Effect effect;
  bool immediate;
  bool takes_receive;      // completes a receive work request of the peer
  ib_wc_opcode receive;    // with this opcode
  ib_wc_status ends_with;  // on a connection that lives
  uint32_t types;          // type_bit() of each queue pair type that has it
  uint32_t weight;         // how often it is drawn, among those allowed
  bool inlinable;
};
// A SEND that takes back a key of the peer.
constexpr bool invalidates(const OperationKind& kind) { return kind.opcode == IB_WR_SEND_WITH_INV; }
// Works on keys here and sends nothing.
constexpr bool is_local(const OperationKind& kind) {
  return kind.opcode == IB_WR_REG_MR || kind.opcode == IB_WR_BIND_MW ||
         kind.opcode == IB_WR_LOCAL_INV;
}
constexpr bool works_on_keys(const OperationKind& kind) {
  return is_local(kind) || invalidates(kind);
}
// Costs the connection. (A SEND that takes back a dead key succeeds: it is the receiver's error.)
constexpr bool offends(const OperationKind& kind) {
  return kind.ends_with != IB_WC_SUCCESS || kind.effect == Effect::kBadTakeBack;
}

inline constexpr OperationKind kOperations[] = {
    {"SEND", IB_WR_SEND, IB_WC_SEND, Effect::kMessage, false, true, IB_WC_RECV, IB_WC_SUCCESS,
     kConnected, 100, true},
    {"SEND_WITH_IMM", IB_WR_SEND_WITH_IMM, IB_WC_SEND, Effect::kMessage, true, true, IB_WC_RECV,
     IB_WC_SUCCESS, kConnected, 100, true},
    {"RDMA_WRITE", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, Effect::kWrite, false, false, IB_WC_RECV,
     IB_WC_SUCCESS, kConnected, 100, true},
    {"RDMA_WRITE_WITH_IMM", IB_WR_RDMA_WRITE_WITH_IMM, IB_WC_RDMA_WRITE, Effect::kWrite, true, true,
     IB_WC_RECV_RDMA_WITH_IMM, IB_WC_SUCCESS, kConnected, 100, true},
    {"RDMA_READ", IB_WR_RDMA_READ, IB_WC_RDMA_READ, Effect::kRead, false, false, IB_WC_RECV,
     IB_WC_SUCCESS, kRcAndXrc, 100, false},
    {"WRITE outside the region", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, Effect::kTrespass, false,
     false, IB_WC_RECV, IB_WC_REM_ACCESS_ERR, kConnected, 3, true},
    {"WRITE with a retired key", IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE, Effect::kStaleKey, false,
     false, IB_WC_RECV, IB_WC_REM_ACCESS_ERR, kConnected, 8, true},
    {"FETCH_ADD", IB_WR_ATOMIC_FETCH_AND_ADD, IB_WC_FETCH_ADD, Effect::kFetchAdd, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kRcAndXrc, 60, false},
    {"CMP_SWAP", IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, Effect::kCompareSwap, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kRcAndXrc, 60, false},
    {"ATOMIC_WRITE", IB_WR_ATOMIC_WRITE, IB_WC_ATOMIC_WRITE, Effect::kAtomicWrite, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kRcAndXrc, 40, false},
    {"FLUSH", IB_WR_FLUSH, IB_WC_FLUSH, Effect::kFlush, false, false, IB_WC_RECV, IB_WC_SUCCESS,
     kRcAndXrc, 30, false},
    {"SEND_WITH_INV", IB_WR_SEND_WITH_INV, IB_WC_SEND, Effect::kMessage, false, true, IB_WC_RECV,
     IB_WC_SUCCESS, kRc, 80, true},
    {"REG_MR", IB_WR_REG_MR, IB_WC_REG_MR, Effect::kLend, false, false, IB_WC_RECV, IB_WC_SUCCESS,
     kRc, 60, false},
    {"BIND_MW", IB_WR_BIND_MW, IB_WC_BIND_MW, Effect::kLend, false, false, IB_WC_RECV,
     IB_WC_SUCCESS, kRc, 80, false},
    {"BIND_MW of nothing", IB_WR_BIND_MW, IB_WC_BIND_MW, Effect::kTakeBack, false, false,
     IB_WC_RECV, IB_WC_SUCCESS, kRc, 20, false},
    {"LOCAL_INV", IB_WR_LOCAL_INV, IB_WC_LOCAL_INV, Effect::kTakeBack, false, false, IB_WC_RECV,
     IB_WC_SUCCESS, kRc, 60, false},
    {"REG_MR of a valid region", IB_WR_REG_MR, IB_WC_REG_MR, Effect::kBadLend, false, false,
     IB_WC_RECV, IB_WC_LOC_QP_OP_ERR, kRc, 6, false},
    {"BIND_MW of a bound window", IB_WR_BIND_MW, IB_WC_BIND_MW, Effect::kBadLend, false, false,
     IB_WC_RECV, IB_WC_MW_BIND_ERR, kRc, 6, false},
    {"LOCAL_INV of a dead key", IB_WR_LOCAL_INV, IB_WC_LOCAL_INV, Effect::kBadTakeBack, false,
     false, IB_WC_RECV, IB_WC_LOC_QP_OP_ERR, kRc, 2, false},
    {"SEND_WITH_INV of a dead key", IB_WR_SEND_WITH_INV, IB_WC_SEND, Effect::kBadTakeBack, false,
     true, IB_WC_RECV, IB_WC_SUCCESS, kRc, 2, true},
};
inline constexpr size_t kOperationCount = std::size(kOperations);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_OPERATIONS_H
