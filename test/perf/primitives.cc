// SPDX-License-Identifier: BSD-3-Clause
// ns of the steps that every packet takes: parse, ICRC, copy with CRC, queue pair look-up.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <vector>

#include "base/id_source.h"
#include "engine/qp_table.h"
#include "test/perf/primitives.h"
#include "wire/emit.h"
#include "wire/icrc.h"
#include "wire/parse.h"

namespace uroce::perf {
namespace {

// A UD SEND ONLY with this much payload, as it would come in.
std::vector<uint8_t> make_frame(uint32_t payload) {
  wire::AddressFields fields;
  fields.sgid = Gid::from_ipv4(0x0A000001);
  fields.dgid = Gid::from_ipv4(0x0A000002);
  fields.udp_source_port = 0xC000;
  const wire::HeaderTemplate headers = wire::make_header_template(fields);
  std::vector<uint8_t> frame(4400);
  uint8_t* bth = wire::emit_headers(frame.data(), headers, 12 + 8 + payload + 4, 1);
  store_be32(bth, 0x6440FFFF);
  store_be32(bth + 4, 0x12);
  store_be32(bth + 8, 1);
  store_be32(bth + 12, 0x11111111);
  store_be32(bth + 16, 0x13);
  frame.resize(wire::finish_icrc(frame.data(), 14, false, 62 + payload));
  return frame;
}

void parse(benchmark::State& state) {
  const std::vector<uint8_t> frame = make_frame(static_cast<uint32_t>(state.range(0)));
  wire::ParsedFrame parsed;
  for (auto _ : state) {
    benchmark::DoNotOptimize(wire::parse_roce(frame, {}, parsed));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(parse)->Arg(64);

void icrc(benchmark::State& state) {
  const std::vector<uint8_t> frame = make_frame(static_cast<uint32_t>(state.range(0)));
  wire::ParsedFrame parsed;
  if (wire::parse_roce(frame, {}, parsed) != wire::Drop::kNone) state.SkipWithError("no frame");
  for (auto _ : state) benchmark::DoNotOptimize(wire::icrc_ok(parsed));
}
BENCHMARK(icrc)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096);

void icrc_copy(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  std::vector<uint8_t> from(size, 1), to(size);
  for (auto _ : state) {
    benchmark::DoNotOptimize(wire::icrc_copy({0}, to.data(), from.data(), size));
  }
}
BENCHMARK(icrc_copy)->Arg(64)->Arg(1024)->Arg(4096);

// Random queue pairs of a full table, looked up in bursts of 32 with the prefetch that dispatch
// makes.
void qp_lookup(benchmark::State& state) {
  const auto slots = static_cast<uint32_t>(state.range(0));
  // Made once for each size: a table of 65,536 takes longer to make than to measure.
  static std::map<uint32_t, std::unique_ptr<engine::QpTable>> tables;
  static transport::QpQueues queues;
  const bool fresh = tables.find(slots) == tables.end();
  if (fresh) {
    engine::DeviceShared shared;
    shared.qp_slots_per_engine = slots;
    tables[slots] = std::make_unique<engine::QpTable>(engine::QpnLayout::of(shared), 0);
  }
  engine::QpTable& table = *tables[slots];
  SeededIdSource ids(1);
  std::vector<Qpn> lookups(4096);
  for (uint32_t slot = 2; fresh && slot < slots; ++slot) table.open(Qpn(slot)).queues = &queues;
  for (Qpn& qpn : lookups) qpn = Qpn(2 + ids.below(slots - 2));
  uint32_t at = 0;
  for (auto _ : state) {
    for (uint32_t i = 0; i < 32; ++i) table.prefetch(lookups[(at + i) % 4096]);
    for (uint32_t i = 0; i < 32; ++i) {
      benchmark::DoNotOptimize(table.find(lookups[(at + i) % 4096])->state);
    }
    at += 32;
  }
  state.counters["items"] = 32;
}
BENCHMARK(qp_lookup)->Arg(1024)->Arg(65536);

// Takes the medians out of the library's own report.
class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const std::string name = run.benchmark_name();
      const size_t slash = name.find('/');
      const auto items = run.counters.find("items");
      const double ns =
          run.GetAdjustedCPUTime() / (items != run.counters.end() ? items->second.value : 1.0);
      const auto size = static_cast<uint32_t>(std::stoul(name.substr(slash + 1)));
      samples[{name.substr(0, slash), size}].push_back(ns);
    }
  }
  std::map<std::pair<std::string, uint32_t>, std::vector<double>> samples;
};

}  // namespace

std::vector<Row> run_primitives(bool smoke) {
  std::string arguments[] = {"uroce-bench",
                             smoke ? "--benchmark_min_time=0.005" : "--benchmark_min_time=0.05",
                             "--benchmark_repetitions=9"};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(), nullptr};
  int argc = 3;
  benchmark::Initialize(&argc, argv);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  std::vector<Row> rows;
  for (const auto& [key, samples] : collector.samples) {
    Row row;
    row.name = key.first;
    row.size = key.second;
    row.ns = median(samples);
    row.p90 = p90(samples);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace uroce::perf
