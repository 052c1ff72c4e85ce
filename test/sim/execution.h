// SPDX-License-Identifier: BSD-3-Clause
// Carries out a plan in a world: the applications' work, the control calls between it, and what
// befalls the hosts. A connection that fails within its contract gets a new life and goes on.
#ifndef UROCE_TEST_SIM_EXECUTION_H
#define UROCE_TEST_SIM_EXECUTION_H

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "test/sim/datagram_end.h"
#include "test/sim/endpoint.h"
#include "test/sim/plan.h"

namespace uroce::sim {

class Execution {
 public:
  Execution(World& world, const Plan& plan, Verdict& verdict);
  ~Execution();

  // All steps, then until nothing is outstanding; all checkers. The verdict says the rest.
  void run();
  uint64_t messages() const { return messages_ + datagrams_.arrived(); }
  uint64_t retransmitted() const { return retransmitted_; }
  uint64_t renewed() const { return renewed_; }
  const Tally& tally() const { return tally_; }

 private:
  struct Channel {
    ChannelPlan plan;
    std::array<std::unique_ptr<Endpoint>, 2> ends;
    uint32_t life = 0;
  };
  using Condition = std::function<bool()>;

  std::unique_ptr<Host> make_host(size_t index);
  void serve();
  // Lets time pass until the condition holds, at most until `end`. False: it does not hold.
  bool wait(Time end, const Condition& condition);
  bool wait(Duration most, const Condition& condition) {
    return wait(world_.now() + most, condition);
  }
  void carry_out(const Step& step);
  void post(const Step& step);
  void datagram(const Step& step);
  void speak_up(Channel& channel);
  void reregister(const Step& step);
  void make_endpoints(Channel& channel);
  void connect(Channel& channel);
  bool broken(const Channel& channel) const;
  void mend();
  void renew_drained(Channel& channel);
  void renew_under_load(Channel& channel);
  void reboot(size_t index);
  void take_down(size_t index);
  void finish();
  void retire(Host& host);

  World& world_;
  const Plan& plan_;
  Verdict& verdict_;
  Tally tally_;
  DatagramBook datagrams_;
  std::vector<Channel> channels_;
  std::vector<std::unique_ptr<DatagramEnd>> datagram_ends_;  // by host; empty without datagrams
  uint64_t lives_ = 0;                                       // of hosts
  uint64_t turns_ = 0;
  uint64_t messages_ = 0;
  uint64_t retransmitted_ = 0;
  uint64_t renewed_ = 0;
};

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_EXECUTION_H
