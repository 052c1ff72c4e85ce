// SPDX-License-Identifier: BSD-3-Clause
// uroce-feed: an exchange that publishes on two groups, and a trader that arbitrates and orders.
#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.h"
#include "common/endpoint.h"
#include "common/ring_pair.h"
#include "common/stop_signals.h"
#include "exchange.h"
#include "options.h"
#include "party.h"
#include "protocol.h"
#include "trader.h"

namespace uroce::market {
namespace {

constexpr app::RingPairOptions kProgram{.program = "uroce-feed"};

ib_device* usable_device(uroce_context* context, unsigned index) {
  ib_device* const device = uroce_device(context, index);
  if (device == nullptr) throw std::runtime_error("both needs two ports: name another --port");
  ib_port_attr port{};
  app::check(ib_query_port(device, 1, &port), "ib_query_port");
  if (static_cast<uint32_t>(ib_mtu_enum_to_int(port.active_mtu)) < kPathMtuBytes) {
    throw std::runtime_error(std::string(device->name) + " has a path MTU below " +
                             std::to_string(kPathMtuBytes) +
                             ": raise the MTU of its interface to 1500");
  }
  return device;
}

// Where one side has feed A and feed B.
template <typename Side>
std::unique_ptr<Party> make_party(uroce_context* context, unsigned a, unsigned b,
                                  const Options& options) {
  ib_device* const devices[2] = {usable_device(context, a), usable_device(context, b)};
  return std::make_unique<Side>(devices, options);
}

using Parties = std::vector<std::unique_ptr<Party>>;

Parties make_parties(uroce_context* context, const Options& options) {
  Parties parties;
  parties.reserve(2);
  const unsigned b = uroce_device_count(context) > 1 ? 1 : 0;
  switch (options.role) {
    case Role::kExchange:
      parties.push_back(make_party<Exchange>(context, 0, b, options));
      break;
    case Role::kTrader:
      parties.push_back(make_party<Trader>(context, 0, b, options));
      break;
    case Role::kBoth:
      parties.push_back(make_party<Exchange>(context, 0, 0, options));
      parties.push_back(make_party<Trader>(context, 1, 1, options));
      break;
  }
  return parties;
}

bool all_done(const Parties& parties) {
  for (const auto& party : parties) {
    if (!party->is_done()) return false;
  }
  return true;
}

// Steps all parties until they are done.
void drive(uroce_context* context, const Parties& parties) {
  while (!all_done(parties)) {
    for (const auto& party : parties) {
      uroce_poll(context);
      party->step();
    }
    if (app::stop_asked()) throw std::runtime_error("interrupted");
  }
}

// The exit status; what cannot go on is said.
int run(uroce_context* context, const Options& options) {
  bool good = true;
  try {
    const Parties parties = make_parties(context, options);
    drive(context, parties);
    for (const auto& party : parties) good = party->report() && good;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", kProgram.program, error.what());
    good = false;
  }
  return good ? 0 : 1;
}

int start_and_run(const Options& options) {
  uroce_context* context = nullptr;
  if (options.start.empty()) {
    context = app::start_ring_pair(kProgram);
  } else if (uroce_start(static_cast<int>(options.start.size()), options.start.data(), &context) !=
             0) {
    std::fprintf(stderr, "%s: %s\n", kProgram.program, uroce_error());
  }
  if (context == nullptr) return 1;
  const int status = run(context, options);
  return app::stop_ring_pair(kProgram, context) ? status : 1;
}

int main(int argc, char** argv) {
  Options options;
  const int done = parse_options(argc, argv, options);
  if (done >= 0) return done;
  app::catch_stop_signals();
  return start_and_run(options);
}

}  // namespace
}  // namespace uroce::market

int main(int argc, char** argv) { return uroce::market::main(argc, argv); }
