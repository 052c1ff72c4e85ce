// SPDX-License-Identifier: BSD-3-Clause
// One end of a connection as an application has it: a queue pair (of XRC two), its queues, its
// memory, and the checkers that watch them.
//
// Memory: buffers to send from, to receive into and to READ into, a slot for each work request; and
// the open region: what the peer may write, what it may read (constant), and words for atomics. If
// the channel lends there is an area for each lender, too. Guard bytes lie around and between them
// and must never change.
#ifndef UROCE_TEST_SIM_ENDPOINT_H
#define UROCE_TEST_SIM_ENDPOINT_H

#include <array>
#include <memory>

#include "test/sim/check/completions.h"
#include "test/sim/check/memory.h"
#include "test/sim/check/order.h"
#include "test/sim/check/timers.h"
#include "test/sim/check/wakeups.h"
#include "test/sim/host.h"
#include "test/sim/lent_key.h"
#include "test/sim/plan.h"
#include "test/sim/tally.h"

namespace uroce::sim {

class Endpoint {
 public:
  // `side` 0 or 1 of the channel; `seed` decides the bytes. The wire's faults are those of the
  // world when the first message is posted.
  Endpoint(World& world, Host& host, const ChannelPlan& plan, size_t side, uint64_t seed,
           Verdict& verdict, Tally& tally);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // From RESET to RTS, towards `peer`. Every life of a connection has PSNs of its own.
  void connect(Endpoint& peer, uint32_t life);
  // The peer has gone without a word.
  void orphan() {
    orphan_of_offender_ = peer_->offended_;
    peer_ = nullptr;
    orphaned_ = true;
  }

  // False: no room now. Left out: work on a key whose state does not allow it.
  bool post(const Operation& operation);
  // A last request that is signaled, if the newest ones were not.
  void post_signaled();
  // Takes completions, posts receives.
  void serve();
  void look_at_timers();

  void starve(Duration span) { starved_until_ = world_.now() + span; }
  void drain(Duration span, bool notify);
  void query();
  void reregister();
  void resize_cq(const Operation& drawn);
  void moderate(const Operation& drawn, Duration period);
  // Nothing without a shared receive queue.
  void resize_srq(uint32_t drawn);
  void arm_srq(uint32_t drawn);

  // Something has failed here, within the contract: the connection needs a new life.
  bool broken() const { return broken_ || recv_flushed_; }
  // Everything posted here has completed, and everything sent to here has come.
  bool idle() const { return ledger_.empty() && (!reliable() || incoming_.empty()); }
  // Costs the connection. On UC what is refused is as good as lost.
  bool offends(const OperationKind& kind) const { return reliable() && sim::offends(kind); }
  bool reliable() const { return plan_.type != IB_QPT_UC; }
  // Something posted here will still speak.
  bool waits() const { return ledger_.size() > silent_run_; }
  // After to_error(): all that was posted has completed, or had done so in silence before.
  bool drained() const;
  std::string outstanding() const;  // in words
  void to_error();
  // The end of a life, after to_error() and when drained; then RESET, or another queue pair.
  void end_life(bool new_qp);
  // The queue pair goes under load, and another one takes its place.
  void destroy_and_create();
  void compare_memory();
  void compare_abandoned();
  uint64_t messages_done() const { return done_; }
  bool offended() const { return offended_; }

 private:
  static constexpr uint32_t kGuard = 256;
  static constexpr uint32_t kSpread = 16'384;     // offsets within the open region
  static constexpr uint32_t kSlotGuard = 32;      // behind each buffer
  static constexpr uint32_t kLentSpread = 2'048;  // and within each half of a lent area
  static constexpr uint32_t kWords = 8;
  static constexpr uint32_t kInlineMax = 256;
  static uint32_t beyond_edge(uint32_t offset, uint32_t length, uint32_t begin, uint32_t end);
  static constexpr uint64_t kIova = 0x7000'0000'0000;  // the same in every run, unlike a pointer

  void create_memory(uint64_t seed);
  void register_open();
  void query(ib_qp* qp);
  // endpoint_connect.cc
  void create_qps();
  void create_target();
  int destroy_qps();
  ib_qp_attr attributes_towards(const ib_qp* peer, uint32_t life) const;
  void to_rtr(ib_qp* qp, const ib_qp* peer, uint32_t life);
  void to_rts(ib_qp* qp, const ib_qp* peer, uint32_t life);
  void rise();
  ib_qp* receiver() const { return target_ != nullptr ? target_ : qp_; }
  uint64_t faults_so_far() const;
  // endpoint_events.cc
  void take_event(const ib_event& event);
  void check_heard();
  void check_drained();
  void check_last_wqe();
  void resume();
  // endpoint_queues.cc
  void create_srq();
  int post_recv(const ib_recv_wr& wr);
  void take_limit_event();
  void check_limit_event(uint64_t taken_id);
  // endpoint_post.cc
  Sent prepare(const Operation& operation);
  void prepare_data(const Operation& operation, Sent& sent);
  void aim(const Operation& operation, Sent& sent) const;
  void fill_in(const Operation& operation, Sent& sent, Request& request);
  void aim_atomic(Sent& sent, ib_atomic_wr& wr);
  void prepare_sink(Sent& sent);
  uint64_t& word_of(const Sent& sent);
  void resync_words();
  bool hand_over(const Operation& operation, Sent sent);
  int submit(const Operation& operation, Sent& sent);
  std::vector<ib_sge> pieces(uint32_t offset, uint32_t length, uint32_t count,
                             uint32_t rotation) const;
  std::vector<uint8_t> gather(const std::vector<ib_sge>& list) const;
  std::vector<uint8_t> placed(uint32_t offset, uint32_t length, const std::vector<ib_sge>& list,
                              const std::vector<uint8_t>& bytes) const;
  void post_recvs();
  std::vector<ib_sge> recv_list(uint64_t id) const;
  // endpoint_keys.cc
  void create_lent_keys();
  void destroy_lent_keys();
  LentKey& own_key(const Sent& sent) { return lent_keys_[*sent.lender]; }
  std::vector<LentKey>& keys_of(const OperationKind& kind);
  bool suits(const Operation& operation);
  bool accesses(size_t lender, bool reads_only) const;
  bool catches(const Operation& operation, const OperationKind& kind, size_t lender) const;
  bool aim_through(const Operation& operation, Sent& sent) const;
  void work_on_key(const Operation& operation, Sent& sent, Request& request);
  void begin_key_change(const Operation& operation, const Sent& sent);
  void end_key_change(const Sent& sent);
  bool was_caught(const Sent& sent, ib_wc_status status) const;
  bool may_fail_receive(ib_wc_status status);
  // endpoint_complete.cc
  bool take_send(const ib_wc& wc);
  bool take_recv(const ib_wc& wc);
  void succeed(const Sent& sent);
  void fail_request(const Sent& sent, ib_wc_status status);
  void take_message(const ib_wc& wc, const Sent& message);
  bool holds(const ib_wc& wc, const Sent& message) const;
  void take_unreliable(const ib_wc& wc, const Sent& message);
  void check_loss();
  bool peer_is_dead() const;
  bool peer_offended() const { return peer_ != nullptr ? peer_->offended_ : orphan_of_offender_; }
  void check_memory(uint32_t offset, uint32_t length, const char* what);
  void forget_receives();
  void forget_life();
  void fill(uint32_t offset, uint32_t length, uint8_t value);

  // Of a lent area: one to write to, one to read from.
  uint32_t lent_half() const { return kLentSpread + stride() + 64; }
  uint32_t stride() const { return plan_.message_bytes_max + kSlotGuard; }
  uint32_t send_slot(uint64_t id) const;
  uint32_t recv_slot(uint64_t id) const;
  uint32_t sink_slot(uint64_t id) const;

  World& world_;
  Host& host_;
  const ChannelPlan plan_;
  const size_t side_;
  Verdict& verdict_;
  Tally& tally_;
  std::vector<uint8_t> memory_;
  uint32_t send_area_ = 0;
  uint32_t recv_area_ = 0;
  uint32_t sink_area_ = 0;
  uint32_t open_begin_ = 0;  // the write area begins here
  uint32_t read_area_ = 0;
  uint32_t word_area_ = 0;
  uint32_t open_end_ = 0;
  uint32_t lent_begin_ = 0;               // an area for each lender
  std::array<uint64_t, kWords> words_{};  // what the peer's atomics will have made of them
  std::unique_ptr<Shadow> shadow_;
  std::unique_ptr<WatchedCq> send_cq_;
  std::unique_ptr<WatchedCq> recv_cq_;
  ib_pd* pd_ = nullptr;
  ib_mr* local_mr_ = nullptr;
  ib_mr* open_mr_ = nullptr;
  ib_mr* parent_mr_ = nullptr;      // of windows; none unless the channel lends
  std::vector<LentKey> lent_keys_;  // by Lender
  uint32_t retired_key_ = 0;
  ib_qp* qp_ = nullptr;
  ib_xrcd* xrcd_ = nullptr;  // XRC: `qp_` sends, to the peer's target
  ib_qp* target_ = nullptr;
  ib_srq* srq_ = nullptr;
  uint32_t srq_limit_ = 0;         // armed, and the event has not come
  uint64_t posted_at_arming_ = 0;  // receives
  Endpoint* peer_ = nullptr;

  SendLedger ledger_;
  RecvLedger recvs_;
  const Carriage carriage_;
  Stream incoming_;  // what the peer has sent to here
  TimerCheck timers_;
  uint64_t next_id_ = 0;
  uint64_t done_ = 0;
  uint32_t silent_run_ = 0;  // newest requests that are not signaled
  uint64_t faults_at_progress_ = 0;
  uint64_t faults_at_start_ = 0;  // of this life
  bool refuses_ = false;          // may have dropped a message, rightly
  uint64_t announced_ = 0;        // writes to here
  bool orphaned_ = false;
  bool orphan_of_offender_ = false;
  bool recv_doubted_ = false;
  bool offended_ = false;      // a request that ends the connection was posted
  bool broken_ = false;        // a send request has failed
  bool recv_flushed_ = false;  // a receive has
  bool connected_ = false;
  bool closing_ = false;  // to_error() was called
  Time starved_until_{};
  Time resume_at_ = kNever;
  uint32_t life_ = 0;
  bool rises_ = false;           // still in RTR
  bool heard_ = false;           // COMM_EST has come in this life
  bool awaits_drained_ = false;  // has asked for SQ_DRAINED, which has not come
  uint64_t posted_at_drain_ = 0;
  uint32_t last_wqes_ = 0;  // LAST_WQE_REACHED in this life
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_ENDPOINT_H
