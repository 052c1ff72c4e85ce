// SPDX-License-Identifier: BSD-3-Clause
// A run as data: hosts, the wire's faults, connections, and the steps of the workload in order.
//
// Every step stands on its own: it names what it acts on by place, not by what came before, so any
// subset of the steps is a run as well. That is what makes a failing run shrinkable.
#ifndef UROCE_TEST_SIM_PLAN_H
#define UROCE_TEST_SIM_PLAN_H

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "test/sim/operations.h"
#include "test/sim/world.h"

namespace uroce::sim {

// How an application learns of completions.
enum class Wake : uint8_t { kPolls, kNotified, kSolicited };

struct ChannelPlan {
  size_t host[2] = {0, 1};      // may be the same one: a connection that never leaves the host
  ib_qp_type type = IB_QPT_RC;  // IB_QPT_XRC_INI: an initiator and a target at each end
  ib_mtu mtu = IB_MTU_1024;
  uint32_t send_depth = 16;
  uint32_t recv_depth = 8;
  uint32_t message_bytes_max = 4096;
  uint32_t sge_max = 4;
  uint32_t first_psn[2] = {0, 0};
  uint8_t rd_atomic = 4;
  uint8_t timeout = 9;
  uint8_t min_rnr_timer = 8;
  uint8_t retry_cnt = 7;
  uint8_t rnr_retry = 7;
  bool late_rts = false;  // RC: side 1 stays in RTR until it hears or has something to say
  bool signal_all = true;
  bool give_mac = false;  // else ARP finds it
  bool ipv6 = false;
  bool srq = false;      // receives come out of a shared receive queue
  bool lends = false;    // fast regions and windows
  bool tangles = false;  // its wire brings frames late or twice: follows from the faults
  Wake send_wake = Wake::kPolls;
  Wake recv_wake = Wake::kPolls;
};

// What a post is about.
struct Operation {
  uint8_t kind = 0;  // index into kOperations
  uint32_t length = 0;
  uint32_t remote_offset = 0;
  uint8_t sge_count = 1;
  uint8_t rotation = 0;  // the gather list begins with this piece of the buffer
  bool signaled = true;
  bool solicited = false;
  bool fence = false;
  bool inlined = false;
  bool forwards = false;  // sends what the READ before it brings: needs the fence
  uint8_t lender = 0;     // 0 … 2: the fast region, type 1 or type 2 window that it is about
  bool through = false;   // uses the peer's key of that, if it is open
  uint8_t rights = 0;     // lends for 1: READ, 2: WRITE, otherwise both
  bool races = false;     // changes a key even if an access through it is under way
};

enum class StepKind : uint8_t {
  kPost,        // channel, side, operation
  kStarve,      // channel, side, span: no new receives for a while
  kDrain,       // channel, side, span: SQD for a while; operation.signaled: asks for SQ_DRAINED
  kQuery,       // channel, side
  kRenew,       // channel: destroyed under load and made again
  kReregister,  // channel, side: the memory's keys change
  kStall,       // side: host index; span
  kCut,         // channel, span: a partition between its hosts
  kPause,       // side: host index; span: PFC
  kReboot,      // side: host index
  kDatagram,    // side: from; channel: to; operation
  kAttach,      // side: host index: joins the group, or leaves it
  kResizeCq,    // channel, side, operation: the receive CQ if it is signaled, and by its length
  kModerate,    // as kResizeCq; span: the period, 0 most of the time
  kResizeSrq,   // channel, side, operation.length
  kArmSrq,      // channel, side, operation.length: the limit event
};
inline constexpr const char* kStepNames[] = {
    "post",  "starve", "drain",    "query",  "renew",     "reregister",  "stall",      "cut",
    "pause", "reboot", "datagram", "attach", "resize CQ", "moderate CQ", "resize SRQ", "arm SRQ"};
inline constexpr size_t kStepKinds = std::size(kStepNames);

struct Step {
  StepKind kind = StepKind::kPost;
  Duration wait{};  // before it
  uint8_t channel = 0;
  uint8_t side = 0;
  Duration span{};
  Operation operation;
};

struct Plan {
  uint64_t seed = 0;
  size_t hosts = 2;
  Faults faults;
  SwitchConfig fabric;
  bool datagrams = false;
  std::vector<ChannelPlan> channels;
  std::vector<Step> steps;
};

// Everything follows from the seed.
Plan draw_plan(uint64_t seed);

// For people: one line per host, channel and step. `kept`: the numbers that the steps had.
std::string describe(const Plan& plan, const std::vector<size_t>& kept);
std::string describe(const Plan& plan);

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_PLAN_H
