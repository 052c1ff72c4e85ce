// SPDX-License-Identifier: BSD-3-Clause
// Devices over ports of paper, one for each number of groups, by turns: while one is measured, the
// threads of the others sleep.
#include "test/perf/attach_latency.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "base/id_source.h"
#include "common/ring_pair.h"
#include "device/device.h"
#include "nic/multicast_filter.h"
#include "test/perf/busy_engine.h"
#include "test/perf/cpu_of_its_own.h"

namespace uroce::perf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr MacAddress kMac{{2, 0, 0, 0, 0, 1}};
const Gid kAddress = Gid::from_ipv4(0x0A000001);
constexpr uint32_t kFirstGroup = 0xEF800000;  // 239.128.0.0 and on
constexpr std::array kGroupCounts = {1u, 1000u, 8000u};
constexpr uint32_t kRoundsMin = 3;

// A list of so many addresses, as a driver has one: it copies what it is handed.
template <size_t kCapacity>
int set_list(uint16_t, std::span<const MacAddress> macs) {
  static std::array<MacAddress, kCapacity> list;
  if (macs.size() > list.size()) return -ENOSPC;
  if (!macs.empty()) std::memcpy(list.data(), macs.data(), macs.size_bytes());
  return 0;
}
int set_no_list(uint16_t, std::span<const MacAddress>) { return -ENOTSUP; }
int set_all_multicast(uint16_t, bool) { return 0; }

struct PortKind {
  const char* name;
  bool filters_nothing;
  nic::FilterCalls calls;
};
const std::array kPortKinds = {
    PortKind{"no filter", true, {set_no_list, set_all_multicast}},
    PortKind{"list of 64", false, {set_list<64>, set_all_multicast}},
    PortKind{"list of 10000", false, {set_list<10'000>, set_all_multicast}}};

class PaperPort : public device::PortOps {
 public:
  explicit PaperPort(const PortKind& kind)
      : filter_({.port = "paper", .filters_nothing = kind.filters_nothing, .calls = &kind.calls}) {}

  device::PortInfo info() override {
    return {.name = "paper", .mac = kMac, .frame_bytes_max = 4096 + 98, .link_up = true};
  }
  std::vector<device::PortAddress> addresses() override { return {{kAddress, 24}}; }
  int set_multicast_macs(std::span<const MacAddress> macs) override { return filter_.set(macs); }
  int set_group_filter(const Gid&, const SourceFilter&) override { return -ENOTSUP; }
  int resolve(const Gid&, Duration, MacAddress&) override { return -ENOTSUP; }

 private:
  nic::MulticastFilter filter_;
};

// The rounds of one number of groups.
struct Series {
  std::vector<double> attach_ns;
  std::vector<double> detach_ns;
};

struct Effort {
  uint32_t rounds;
  uint32_t pairs;                   // calls of each kind in a round
  std::chrono::milliseconds limit;  // after it no round begins, once there are three
  std::vector<int> cpus;            // for the caller and for the engine; empty: any
};

// The calling thread and another, each on a CPU of its own, where there are such.
class TwoCpus {
 public:
  TwoCpus(const std::vector<int>& cpus, pthread_t other) {
    if (cpus.empty()) return;
    caller_.emplace(pthread_self(), cpus[0]);
    other_.emplace(other, cpus[1]);
  }

 private:
  std::optional<CpuOfItsOwn> caller_;
  std::optional<CpuOfItsOwn> other_;
};

// Without CPUs of their own, two threads on a busy machine may take a day for 8000 groups.
constexpr std::chrono::seconds kSetUpLimit{5};
class TooBusy : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

void check(int result, const char* call) {
  if (result == 0) return;
  throw std::runtime_error(std::string("attach latency: ") + call + ": " + std::strerror(-result));
}

engine::EngineConfig engine_config(engine::DeviceShared& shared) {
  engine::EngineConfig config;
  config.shared = &shared;
  config.mac = kMac;
  config.port_mtu_bytes = 4096 + 84;
  config.seed = 1;
  return config;
}

// A device with `groups` groups beside that of the load. The one member of all of them has no
// receive posted: every frame is parsed, verified and brought to it, and dropped there by name.
class Bed {
 public:
  Bed(const PortKind& kind, uint32_t groups, const std::vector<int>& cpus)
      : port_(kind), groups_(groups), cpus_(cpus) {
    shared_.keys = &keys_;
    shared_.engine_count = 1;
    shared_.qp_slots_per_engine = 64;
    shared_.groups = std::make_unique<engine::GroupPresence>(1, 1);
    seat_ =
        std::make_unique<engine::EngineSeat>(engine_config(shared_), engine::DriveMode::kWorker);
    engine_ = std::make_unique<BusyEngine>(*seat_);
    engine::EngineSeat* const seats[] = {seat_.get()};
    device::DeviceSetup setup;
    setup.name = "paper";
    setup.seats = seats;
    setup.driver = {[](void*) { return BusyEngine::now(); }, [](void*, uint32_t) {}, nullptr};
    setup.shared = &shared_;
    setup.port = &port_;
    setup.ids = &ids_;
    device_ = std::make_unique<device::Device>(setup);
    const TwoCpus undisturbed(cpus_, engine_->thread());
    check(device_->start(), "start");
    make_member();
  }
  ~Bed() {
    const TwoCpus undisturbed(cpus_, engine_->thread());
    engine_->set_load(BusyEngine::Load::kIdle);
    device_->shut_down();
  }
  Bed(const Bed&) = delete;
  Bed& operator=(const Bed&) = delete;

  // Once, before the rounds: attaches to the groups.
  void fill();
  // Attaches to groups in between the others and detaches again, under load; adds the medians.
  void round(const Effort& effort, Series& series);

 private:
  static Gid even_group(uint32_t index) { return Gid::from_ipv4(kFirstGroup + 2 * index); }
  // All over the range, so that their MAC addresses lie between those of the others.
  Gid odd_group() {
    spread_ = (spread_ + 4999) % groups_;
    return Gid::from_ipv4(kFirstGroup + 2 * spread_ + 1);
  }
  static double time(const std::function<void()>& call) {
    const auto start = Clock::now();
    call();
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  }
  void attach(const Gid& group) { check(device_->attach_multicast(qp_, group), "attach"); }
  void make_member();

  memory::KeyTable keys_{64};
  engine::DeviceShared shared_;
  SeededIdSource ids_{1};
  PaperPort port_;
  std::unique_ptr<engine::EngineSeat> seat_;
  std::unique_ptr<BusyEngine> engine_;
  std::unique_ptr<device::Device> device_;
  device::CqHandle cq_;
  device::QpHandle qp_;
  const uint32_t groups_;
  const std::vector<int>& cpus_;
  uint32_t spread_ = 0;
};

void Bed::fill() {
  const TwoCpus undisturbed(cpus_, engine_->thread());
  const auto end = Clock::now() + kSetUpLimit;
  for (uint32_t i = 0; i < groups_; ++i) {
    attach(even_group(i));
    if (Clock::now() > end) {
      throw TooBusy("after " + std::to_string(kSetUpLimit.count()) + " s there were " +
                    std::to_string(i + 1) + " groups of " + std::to_string(groups_));
    }
  }
  engine_->set_load(BusyEngine::Load::kParked);
}

void Bed::round(const Effort& effort, Series& series) {
  const TwoCpus undisturbed(cpus_, engine_->thread());
  engine_->set_load(BusyEngine::Load::kFull);
  const uint64_t frames = engine_->frames();
  std::vector<double> attach_ns(effort.pairs);
  std::vector<double> detach_ns(effort.pairs);
  for (uint32_t i = 0; i < effort.pairs; ++i) {
    const Gid group = odd_group();
    attach_ns[i] = time([&] { attach(group); });
    detach_ns[i] = time([&] { check(device_->detach_multicast(qp_, group), "detach"); });
  }
  if (engine_->frames() == frames) throw std::runtime_error("attach latency: there was no load");
  engine_->set_load(BusyEngine::Load::kParked);
  series.attach_ns.push_back(median(attach_ns));
  series.detach_ns.push_back(median(detach_ns));
}

void Bed::make_member() {
  device::Pd* pd = nullptr;
  check(device_->create_pd(pd), "create_pd");
  check(device_->create_cq(16, nullptr, cq_), "create_cq");
  const device::QpRequest request{.type = transport::QpType::kUd,
                                  .capabilities = {4, 4, 1, 1, 0},
                                  .send_cq = cq_.object,
                                  .recv_cq = cq_.object};
  check(device_->create_qp(*pd, request, qp_), "create_qp");
  device::QpChange change;
  change.mask = transport::kAttrState | transport::kAttrPkeyIndex | transport::kAttrPort |
                transport::kAttrQkey;
  change.attributes.state = transport::QpState::kInit;
  change.attributes.qkey = kLoadQkey;
  check(device_->modify_qp(qp_, change), "modify_qp to INIT");
  change.mask = transport::kAttrState;
  change.attributes.state = transport::QpState::kRtr;
  check(device_->modify_qp(qp_, change), "modify_qp to RTR");
  attach(kLoadGroup);
}

Row make_row(const std::string& name, uint32_t groups, const Rounds& rounds) {
  Row row = summarize(rounds);
  row.name = name + ", groups";
  row.size = groups;
  if (!rounds.beside_ns.empty()) row.beside = "at 1 group";
  return row;
}

void measure(const PortKind& kind, const Effort& effort, std::vector<Row>& rows) {
  std::array<std::unique_ptr<Bed>, kGroupCounts.size()> beds;
  std::array<Series, kGroupCounts.size()> series;
  for (size_t i = 0; i < beds.size(); ++i) {
    beds[i] = std::make_unique<Bed>(kind, kGroupCounts[i], effort.cpus);
    beds[i]->fill();
  }
  const auto end = Clock::now() + effort.limit;
  for (uint32_t round = 0; round < effort.rounds; ++round) {
    if (round >= kRoundsMin && Clock::now() >= end) break;
    for (size_t i = 0; i < beds.size(); ++i) beds[i]->round(effort, series[i]);
  }
  const auto& [attach_one, detach_one] = series[0];
  for (size_t i = 0; i < beds.size(); ++i) {
    const auto beside = [&](const std::vector<double>& one) {
      return i == 0 ? std::vector<double>{} : one;
    };
    rows.push_back(make_row(std::string("attach, ") + kind.name, kGroupCounts[i],
                            {series[i].attach_ns, beside(attach_one)}));
    rows.push_back(make_row(std::string("detach, ") + kind.name, kGroupCounts[i],
                            {series[i].detach_ns, beside(detach_one)}));
  }
}

// Empty, which is said: the two threads take their turns with whatever else runs here.
std::vector<int> cpus_for_two() {
  std::vector<int> cpus = app::allowed_cpus();
  if (cpus.size() > 1 && CpuOfItsOwn(pthread_self(), cpus[0]).is_granted()) return cpus;
  std::fprintf(
      stderr,
      "uroce-bench: attach and detach wait for CPUs with everything else: two of their own "
      "need two CPUs and CAP_SYS_NICE\n");
  return {};
}

}  // namespace

std::vector<Row> run_attach_latency(bool smoke) {
  const Effort effort = smoke ? Effort{5, 9, std::chrono::seconds(2), cpus_for_two()}
                              : Effort{41, 31, std::chrono::seconds(10), cpus_for_two()};
  std::vector<Row> rows;
  try {
    for (const PortKind& kind : kPortKinds) measure(kind, effort, rows);
  } catch (const TooBusy& error) {
    std::fprintf(stderr, "uroce-bench: attach and detach are left out: %s\n", error.what());
    rows.clear();
  }
  return rows;
}

}  // namespace uroce::perf
