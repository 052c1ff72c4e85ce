// SPDX-License-Identifier: BSD-3-Clause
// The command line, up to the first "--"; alone in its file because CLI11 takes long to compile.
#include "options.h"

#include <uroce/multicast.h>
#include <uroce/uroce.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "protocol.h"

namespace uroce::market {
namespace {

constexpr const char* kAbout =
    "A market-data feed on two multicast groups, and who trades on it.\n\n"
    "  uroce-feed both [OPTIONS]\n"
    "  uroce-feed exchange|trader [OPTIONS] -- EAL-ARGUMENTS [-- OPTIONS OF UROCE]\n\n"
    "Exits with 0 when every check held, with 1 when one did not, with 2 when its own\n"
    "arguments are wrong.";

// An option whose value is its default.
template <typename T>
CLI::Option* add(CLI::App& app, const char* name, T& value, const char* text) {
  return app.add_option(name, value, text)->capture_default_str();
}

// A number between two others: nan and inf, which compare with nothing, are not.
CLI::Option* add_between(CLI::App& app, const char* name, double& value, double least, double most,
                         const char* text) {
  return add(app, name, value, text)
      ->check(CLI::Range(least, most))
      ->check([](const std::string& given) {
        double number = 0;
        return CLI::detail::lexical_cast(given, number) && std::isfinite(number)
                   ? std::string()
                   : given + " is no number";
      });
}

// The power of two that CLI11 reads there, whatever its notation.
std::string check_power_of_two(const std::string& given) {
  uint32_t number = 0;
  return CLI::detail::lexical_cast(given, number) && std::has_single_bit(number)
             ? std::string()
             : given + " is no power of two";
}

// CLI11 takes "-1" for an unsigned number's greatest.
std::string check_no_sign(const std::string& given) {
  return given.starts_with('-') ? given + " is negative" : std::string();
}

void add_common(CLI::App& app, Options& options) {
  add(app, "--group-a", options.groups[0].text, "group of feed A; a trader's may be SOURCE@GROUP");
  add(app, "--group-b", options.groups[1].text, "group of feed B");
  add(app, "--control-group", options.control.text,
      "group for logins; its family is that of the connections");
  add(app, "--wait", options.wait_seconds, "seconds to wait for the other side")
      ->check(CLI::Range(1, 3600));
}

void add_exchange(CLI::App& app, Options& options) {
  add(app, "--messages", options.messages, "length of the stream")
      ->check(CLI::Range(uint64_t{1}, kMessagesMax));
  add_between(app, "--rate", options.rate, 1, 1e8, "messages a second, at most");
  add(app, "--batch", options.batch, "messages in a packet, at most")
      ->check(CLI::Range(1u, kPacketMessagesMax));
  add(app, "--trigger-every", options.trigger_every, "each Nth message wants an order")
      ->check(CLI::Range(uint64_t{1}, kMessagesMax));
  add_between(app, "--inject-loss", options.inject_loss, 0, 90, "percent of each side's packets");
  add(app, "--seed", options.seed, "of the injected loss")->check(check_no_sign);
  add(app, "--traders", options.traders, "how many to wait for")->check(CLI::Range(1, 16));
  add(app, "--history", options.history_slots, "messages kept for recovery")
      ->check(CLI::Range(64, 1 << 24))
      ->check(check_power_of_two);
}

void add_trader(CLI::App& app, Options& options) {
  app.add_flag_callback(
      "--no-recovery", [&options] { options.recovery = false; },
      "leave what both sides lost, instead of READing it from the exchange");
  add(app, "--patience-us", options.patience_us,
      "how long after a gap a message counts as lost on both sides")
      ->check(CLI::Range(1, 1000000));
}

// Who sends names the group alone.
void read_group(const char* option, Group& group, bool takes_source) {
  ib_gid source{};
  if (uroce_parse_mcast(group.text.c_str(), &group.gid, takes_source ? &source : nullptr) != 0) {
    throw std::runtime_error(std::string(option) + ": " + uroce_error());
  }
}

bool same(const Group& one, const Group& other) {
  return std::memcmp(one.gid.raw, other.gid.raw, sizeof one.gid.raw) == 0;
}

// What options cannot say one by one.
void complete(Options& options) {
  const bool hears = options.role != Role::kExchange;
  read_group("--group-a", options.groups[0], hears);
  read_group("--group-b", options.groups[1], hears);
  read_group("--control-group", options.control, false);
  if (same(options.groups[0], options.groups[1]) || same(options.groups[0], options.control) ||
      same(options.groups[1], options.control)) {
    throw std::runtime_error("--group-a, --group-b and --control-group must be three groups");
  }
  if (options.role != Role::kBoth && options.start.empty()) {
    throw std::runtime_error(
        "which port? EAL's arguments are missing: -- --vdev=net_af_packet0,iface=NAME "
        "--no-huge --no-pci --no-shconf -m 256 -l 0");
  }
  if (options.role == Role::kBoth && options.traders != 1) {
    throw std::runtime_error("--traders: in one process there is one");
  }
}

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "uroce-feed: %s (uroce-feed --help)\n", sentence.c_str());
  return 2;
}

// What CLI11 says badly: a word that is no role, and a role's option behind the other role.
std::string name_mistake(int own, const char* const* argv, CLI::App& app) {
  if (own < 2) return {};
  const std::string role = argv[1];
  if (role.starts_with('-')) return {};
  if (role != "exchange" && role != "trader" && role != "both") {
    return "\"" + role + "\" is no role: write exchange, trader or both";
  }
  if (role == "both") return {};
  const std::string other = role == "trader" ? "exchange" : "trader";
  for (int i = 2; i < own; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--")) continue;
    if (app.get_subcommand(role)->get_option_no_throw(name) == nullptr &&
        app.get_subcommand(other)->get_option_no_throw(name) != nullptr) {
      std::string sentence = name + " is an option of ";
      return sentence.append(other).append(", not of ").append(role);
    }
  }
  return {};
}

// Returns how many arguments are ours; those behind "--" are for uroce_start().
int split(int argc, const char* const* argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    options.start.assign(argv + i, argv + argc);
    options.start.front() = argv[0];
    return i;
  }
  return argc;
}

}  // namespace

int parse_options(int argc, const char* const* argv, Options& options) {
  const int own = split(argc, argv, options);
  CLI::App app(kAbout, "uroce-feed");
  app.require_subcommand(1);
  CLI::App* exchange = app.add_subcommand("exchange", "publishes, takes orders, answers fills");
  CLI::App* trader = app.add_subcommand("trader", "arbitrates A and B, sends orders");
  CLI::App* both = app.add_subcommand("both", "both in one process, joined by memory rings");
  for (CLI::App* role : {exchange, trader, both}) add_common(*role, options);
  for (CLI::App* role : {exchange, both}) add_exchange(*role, options);
  for (CLI::App* role : {trader, both}) add_trader(*role, options);
  try {
    const std::string mistake = name_mistake(own, argv, app);
    if (!mistake.empty()) throw std::runtime_error(mistake);
    app.parse(own, argv);
    options.role = exchange->parsed() ? Role::kExchange
                   : trader->parsed() ? Role::kTrader
                                      : Role::kBoth;
    complete(options);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const std::exception& wrong) {
    return refuse(wrong.what());
  }
  return -1;
}

}  // namespace uroce::market
