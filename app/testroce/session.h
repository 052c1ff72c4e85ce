// SPDX-License-Identifier: BSD-3-Clause
// What a testroce session holds: the running stack, its queue pairs by number, and the traffic on
// them. One thread does everything.
//
// Every message carries a pattern that can be judged by itself: byte 0 is drawn by the sender,
// each further byte follows from it and its place. Receivers and READs check it.
#ifndef UROCE_APP_TESTROCE_SESSION_H
#define UROCE_APP_TESTROCE_SESSION_H

#include <uroce/ib_verbs.h>
#include <uroce/multicast.h>
#include <uroce/observe.h>
#include <uroce/uroce.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/endpoint.h"

namespace uroce::testroce {

inline constexpr uint32_t kMessageMax = 65536;         // bytes of an RC message, READ or WRITE
inline constexpr uint32_t kDatagramMax = 4096;         // bytes of a UD message
inline constexpr uint32_t kNetworkHeader = 40;         // in front of a received datagram
inline constexpr uint32_t kSendSlots = 16;             // messages under way at once
inline constexpr uint32_t kRecvSlots = 64;             // receives posted at once
inline constexpr uint32_t kTargetBytes = kMessageMax;  // what peers may WRITE and READ
inline constexpr std::chrono::seconds kTrafficLimit{10};
// In wr_id, above the slot or the message's number: a receive; a READ, whose data is to be judged.
inline constexpr uint64_t kRecvMark = uint64_t{1} << 63;
inline constexpr uint64_t kReadMark = uint64_t{1} << 62;

// A group and the source that is heard there, all zero: every one.
struct Group {
  std::string text;  // as the user wrote it
  ib_gid gid{};
  ib_gid source{};
};

// A queue pair with its buffer: the target of WRITE and READ first, then send and receive slots.
struct QueuePair {
  unsigned id = 0;
  unsigned device_index = 0;
  ib_qp_type type = IB_QPT_RC;
  std::unique_ptr<app::Endpoint> endpoint;
  std::vector<Group> groups;  // that it has joined
  bool ready = false;         // connected or activated

  // Receive slots as a ring in posting order, since receives complete in that order.
  uint32_t recv_posted = 0;  // now
  uint32_t recv_next = 0;    // slot
  uint64_t received = 0;
  uint64_t received_expected = 0;  // judged by an earlier `expect recv`
  uint64_t received_wrong = 0;     // pattern or length was not the sender's

  uint64_t sent = 0;       // requests posted
  uint64_t completed = 0;  // of them, whatever their status
  uint64_t read_wrong = 0;
  std::string error;  // of the first completion that failed, since the command began

  uint32_t recv_slot_bytes() const {
    return type == IB_QPT_UD ? kNetworkHeader + kDatagramMax : kMessageMax;
  }
  static uint32_t send_offset(uint64_t message) {
    return kTargetBytes + static_cast<uint32_t>(message % kSendSlots) * kMessageMax;
  }
  uint32_t recv_offset(uint32_t slot) const {
    return kTargetBytes + kSendSlots * kMessageMax + slot * recv_slot_bytes();
  }
  uint32_t buffer_bytes() const { return recv_offset(kRecvSlots); }
};

void fill_pattern(uint8_t* data, uint32_t length, uint8_t first);
bool pattern_holds(const uint8_t* data, uint32_t length);

class Session {
 public:
  explicit Session(uroce_context* context);
  ~Session();  // detaches and destroys what is left
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  uroce_context* context() const { return context_; }
  // Throw std::runtime_error with one sentence when there is none.
  ib_device* device(unsigned index) const;
  QueuePair& qp(unsigned id);

  QueuePair& create_qp(unsigned device_index, ib_qp_type type);
  void destroy_qp(unsigned id);

  // One turn: polls, takes completions. Returns how many packets and completions moved.
  unsigned turn();
  // Turns until `done` holds (true) or `limit` has passed (false); throws when a signal came.
  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds limit);
  void sleep_when_idle(unsigned moved);

  // What `clear counters` remembered, by (group, name); for display.
  using Baseline = std::map<std::pair<int, std::string>, uint64_t>;
  Baseline& baseline(unsigned device_index) { return baselines_[device_index]; }

 private:
  unsigned collect(QueuePair& qp);
  static void take_received(QueuePair& qp, const ib_wc& wc);

  uroce_context* const context_;
  std::map<unsigned, QueuePair> qps_;
  std::map<unsigned, Baseline> baselines_;
  unsigned next_id_ = 1;
  unsigned idle_turns_ = 0;
};

// Throws the sentence of a call of uroce/multicast.h that returned an error.
void check_group(int result);
// An address as people write it, IPv4 or IPv6; throws.
ib_gid parse_address(const std::string& text);
// The address under which others find this device: its first IPv4 one, else the link-local one.
ib_gid own_address(ib_device* device);

}  // namespace uroce::testroce

#endif  // UROCE_APP_TESTROCE_SESSION_H
