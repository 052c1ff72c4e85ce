// SPDX-License-Identifier: BSD-3-Clause
// The command line by CLI11. The only file of the library that includes it: it compiles slowly.
#include "config/command_line.h"

#include <absl/strings/str_format.h>

#include <CLI/CLI.hpp>

#include "config/keys.h"
#include "config/profile.h"

namespace uroce::config {
namespace {

struct Options {
  std::string profile, mode, rings, cores, fault, log_level;
  std::vector<std::string> ports, limits;
};

void declare(CLI::App& app, Options& options) {
  app.set_help_flag("");  // the program's own
  app.add_option("--profile", options.profile, "TOML file of settings; options come on top");
  app.add_option("--mode", options.mode, "who polls: inline, shared or worker");
  app.add_option("--rings", options.rings, "make N crosswise pairs of memory-ring ports");
  app.add_option("--cores", options.cores, "worker mode: the lcores that poll, such as 1,2");
  app.add_option("--port", options.ports,
                 "NAME[,address=IP/PREFIX]...[,gateway=IP][,own|shared][,vlan=ID][,mtu=N]"
                 "[,queues=N][,descriptors=N][,promiscuous]; repeat for each port");
  app.add_option("--limit", options.limits, "NAME=N; see doc/configuration.md; repeat");
  app.add_option("--fault", options.fault,
                 "faults on receive: loss=P,dup=P,reorder=P,corrupt=P,delay=TIME,seed=N");
  app.add_option("--log-level", options.log_level, "error, warning, info or debug");
}

absl::Status apply_port(std::string_view spec, Settings& settings) {
  PortSettings port;
  bool first = true;
  while (!spec.empty()) {
    const size_t comma = spec.find(',');
    const std::string_view item = spec.substr(0, comma);
    spec = comma == std::string_view::npos ? std::string_view{} : spec.substr(comma + 1);
    if (first) {
      port.name = item;
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
        absl::StrFormat("--limit %s: write NAME=N", std::string(spec)));
  }
  return set_limit_key(settings.limits, spec.substr(0, equals), spec.substr(equals + 1));
}

absl::Status apply(const Options& options, Settings& settings) {
  if (!options.profile.empty()) {
    if (auto status = apply_profile_file(options.profile, settings); !status.ok()) return status;
  }
  const std::pair<const char*, const std::string*> keys[] = {{"mode", &options.mode},
                                                             {"rings", &options.rings},
                                                             {"cores", &options.cores},
                                                             {"fault", &options.fault},
                                                             {"log_level", &options.log_level}};
  for (const auto& [key, value] : keys) {
    if (value->empty()) continue;
    if (auto status = set_key(settings, key, *value); !status.ok()) return status;
  }
  for (const std::string& port : options.ports) {
    if (auto status = apply_port(port, settings); !status.ok()) return status;
  }
  for (const std::string& limit : options.limits) {
    if (auto status = apply_limit(limit, settings); !status.ok()) return status;
  }
  return validate(settings);
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
    return absl::InvalidArgumentError(error.what());
  }
  Settings settings;
  if (absl::Status status = apply(options, settings); !status.ok()) return status;
  return settings;
}

}  // namespace uroce::config
