// SPDX-License-Identifier: BSD-3-Clause
// The command line by CLI11. The only file of the library that includes it: it compiles slowly.
#include "config/command_line.h"

#include <absl/strings/str_format.h>

#include <CLI/CLI.hpp>

#include "base/quotable.h"
#include "config/keys.h"
#include "config/nearest.h"
#include "config/one_line.h"
#include "config/profile.h"

namespace uroce::config {
namespace {

struct Options {
  std::string profile, mode, rings, cores, fault, log_level, spin_us, sleep_us;
  std::vector<std::string> ports, limits;
};

void declare(CLI::App& app, Options& options) {
  app.set_help_flag("");  // the program's own
  app.allow_extras();     // to name the first of them ourselves
  app.add_option("--profile", options.profile, "TOML file of settings; options come on top");
  app.add_option("--mode", options.mode, "who polls: inline, shared or worker");
  app.add_option("--rings", options.rings, "make N crosswise pairs of memory-ring ports");
  app.add_option("--cores", options.cores, "worker mode: the lcores that poll, such as 1,2");
  app.add_option("--port", options.ports,
                 "NAME[,address=IP/PREFIX]...[,gateway=IP][,own|shared][,vlan=ID][,mtu=N]"
                 "[,queues=N][,descriptors=N][,promiscuous][,privileged_qkey][,igmp=V][,mld=V]"
                 "[,DRIVER-KEY=VALUE]...; repeat for each port")
      ->allow_extra_args(false);
  app.add_option("--limit", options.limits, "NAME=N; see doc/configuration.md; repeat")
      ->allow_extra_args(false);
  app.add_option("--fault", options.fault,
                 "faults on receive: loss=P,dup=P,reorder=P,corrupt=P,delay=TIME,seed=N");
  app.add_option("--log-level", options.log_level, "error, warning, info or debug");
  app.add_option("--spin-us", options.spin_us,
                 "drop-in library: poll on for so long after the last packet");
  app.add_option("--sleep-us", options.sleep_us,
                 "drop-in library: sleep at most so long between two looks");
}

absl::Status apply_port(std::string_view spec, Settings& settings) {
  PortSettings port;
  bool first = true;
  while (!spec.empty()) {
    const size_t comma = spec.find(',');
    const std::string_view item = spec.substr(0, comma);
    spec = comma == std::string_view::npos ? std::string_view{} : spec.substr(comma + 1);
    if (first) {
      if (item.find('=') != std::string_view::npos) {
        return absl::InvalidArgumentError(
            absl::StrFormat("--port %s: the port's name comes first and alone, such as net_ring_u0",
                            quotable(item)));
      }
      if (absl::Status status = set_port_key(port, "name", item); !status.ok()) {
        return absl::InvalidArgumentError(
            absl::StrFormat("--port: %s", std::string(status.message())));
      }
      first = false;
      continue;
    }
    const size_t equals = item.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
    if (absl::Status status = set_port_key(port, item.substr(0, equals), value); !status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("--port %s: %s", port.name, std::string(status.message())));
    }
  }
  settings.ports.push_back(port);
  return absl::OkStatus();
}

absl::Status apply_limit(std::string_view spec, Settings& settings) {
  const size_t equals = spec.find('=');
  if (equals == std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--limit %s: write NAME=N, such as queue_pairs=256", quotable(spec)));
  }
  return set_limit_key(settings.limits, spec.substr(0, equals), spec.substr(equals + 1));
}

absl::Status apply(const CLI::App& app, const Options& options, Settings& settings) {
  if (app.count("--profile") > 0) {
    if (auto status = apply_profile_file(options.profile, settings); !status.ok()) return status;
  }
  struct Key {
    const char* option;
    const char* key;
    const std::string& value;
  };
  const Key keys[] = {{"--mode", "mode", options.mode},
                      {"--rings", "rings", options.rings},
                      {"--cores", "cores", options.cores},
                      {"--fault", "fault", options.fault},
                      {"--log-level", "log_level", options.log_level},
                      {"--spin-us", "spin_us", options.spin_us},
                      {"--sleep-us", "sleep_us", options.sleep_us}};
  for (const auto& [option, key, value] : keys) {
    if (app.count(option) == 0) continue;
    if (auto status = set_key(settings, key, value); !status.ok()) return status;
  }
  for (const std::string& port : options.ports) {
    if (auto status = apply_port(port, settings); !status.ok()) return status;
  }
  for (const std::string& limit : options.limits) {
    if (auto status = apply_limit(limit, settings); !status.ok()) return status;
  }
  return validate(settings);
}

absl::Status needs_value(const CLI::Option& option) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s needs a value (%s)", option.get_name(), option.get_description()));
}

// CLI11 takes the next option for the value that was left out.
absl::Status check_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& value : option->results()) {
      if (value.starts_with("--")) return needs_value(*option);
    }
  }
  return absl::OkStatus();
}

// What follows is no option of ours.
absl::Status unexpected(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with("-")) {
    return absl::InvalidArgumentError(
        absl::StrFormat("'%s' belongs to no option: see --help", quotable(argument)));
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string name = argument.substr(0, argument.find('='));
  const std::string_view near = nearest(name, known);
  return absl::InvalidArgumentError(
      near.empty()
          ? absl::StrFormat("unknown option %s: see --help", quotable(name))
          : absl::StrFormat("unknown option %s, nearest is %s: see --help", quotable(name), near));
}

// An option without its value, or with two: CLI11 puts the option's name first.
absl::Status mismatch(const CLI::App& app, const std::string& words) {
  const std::string name = words.substr(0, words.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) {
    return absl::InvalidArgumentError(quotable(words, kQuotedPathMax) + "; see --help");
  }
  if (option->count() > 1) {
    return absl::InvalidArgumentError(absl::StrFormat("%s is given twice: leave one out", name));
  }
  return needs_value(*option);
}

}  // namespace

std::string options_help() {
  CLI::App app;
  Options options;
  declare(app, options);
  return app.help();
}

absl::StatusOr<Settings> parse_command_line(std::span<const char* const> arguments) {
  CLI::App app;
  Options options;
  declare(app, options);
  // CLI11 takes a vector from the back.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return in_one_line(mismatch(app, error.what()));
  }
  if (absl::Status status = check_values(app); !status.ok()) return in_one_line(status);
  if (const auto extras = app.remaining(); !extras.empty()) {
    return in_one_line(unexpected(app, extras[0]));
  }
  Settings settings;
  if (absl::Status status = apply(app, options, settings); !status.ok()) return in_one_line(status);
  return settings;
}

}  // namespace uroce::config
