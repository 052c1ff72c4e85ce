// SPDX-License-Identifier: BSD-3-Clause
// The TOML profile by toml++; every key goes through the table in keys.cc.
#include "config/profile.h"

#include <absl/strings/str_format.h>

#include <toml++/toml.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/keys.h"

namespace uroce::config {
namespace {

// Where an error is: file and line in front of the sentence.
absl::Status at(const std::string& name, const toml::node& node, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrFormat("%s:%d: %s", name, node.source().begin.line, std::string(status.message())));
}

// A scalar as the text that a user would write on the command line.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return std::nullopt;
}

absl::Status wrong_kind(std::string_view key) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has a value of the wrong kind: give text, a whole number, true or false",
                      std::string(key)));
}

template <typename Target>
using Setter = absl::Status (*)(Target&, std::string_view, std::string_view);

// A scalar, or a list of scalars each of which is set in turn (addresses) or joined (cores).
template <typename Target>
absl::Status apply_value(const std::string& name, std::string_view key, const toml::node& node,
                         Target& target, Setter<Target> set) {
  if (const auto* list = node.as_array()) {
    std::string joined;
    for (const toml::node& element : *list) {
      const auto text = scalar_text(element);
      if (!text) return at(name, element, wrong_kind(key));
      if (key == "cores") {
        joined += (joined.empty() ? "" : ",") + *text;
      } else if (absl::Status status = set(target, key, *text); !status.ok()) {
        return at(name, element, status);
      }
    }
    return key == "cores" ? at(name, node, set(target, key, joined)) : absl::OkStatus();
  }
  const auto text = scalar_text(node);
  if (!text) return at(name, node, wrong_kind(key));
  return at(name, node, set(target, key, *text));
}

template <typename Target>
absl::Status apply_table(const std::string& name, const toml::table& table, Target& target,
                         Setter<Target> set) {
  for (const auto& [key, node] : table) {
    if (absl::Status status = apply_value(name, key.str(), node, target, set); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status apply_ports(const std::string& name, const toml::node& node, Settings& settings) {
  const auto* ports = node.as_array();
  if (ports == nullptr) {
    return at(name, node, absl::InvalidArgumentError("write [[port]], with two brackets"));
  }
  for (const toml::node& element : *ports) {
    const auto* table = element.as_table();
    if (table == nullptr) return at(name, element, wrong_kind("port"));
    PortSettings port;
    if (absl::Status status = apply_table(name, *table, port, set_port_key); !status.ok()) {
      return status;
    }
    if (port.name.empty()) {
      return at(name, element,
                absl::InvalidArgumentError(
                    "this port has no name: add one, such as name = \"net_af_packet0\""));
    }
    settings.ports.push_back(port);
  }
  return absl::OkStatus();
}

absl::Status apply_limits(const std::string& name, const toml::node& node, Settings& settings) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return at(
        name, node,
        absl::InvalidArgumentError("write [limits], and below it lines such as queue_pairs = 256"));
  }
  return apply_table(name, *table, settings.limits, set_limit_key);
}

absl::Status apply_root(const std::string& name, const toml::table& root, Settings& settings) {
  for (const auto& [key, node] : root) {
    absl::Status status;
    if (key.str() == "port") {
      status = apply_ports(name, node, settings);
    } else if (key.str() == "limits") {
      status = apply_limits(name, node, settings);
    } else {
      status = apply_value(name, key.str(), node, settings, set_key);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status apply_profile_text(std::string_view text, const std::string& name,
                                Settings& settings) {
  try {
    return apply_root(name, toml::parse(text, std::string_view(name)), settings);
  } catch (const toml::parse_error& error) {
    return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", name, error.source().begin.line,
                                                      std::string(error.description())));
  }
}

absl::Status apply_profile_file(const std::string& path, Settings& settings) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);  // opens like a file
  std::ifstream file(path);
  if (folder || !file) {
    return absl::NotFoundError(
        absl::StrFormat("cannot read the profile '%s' (%s): give --profile a TOML file", path,
                        std::strerror(folder ? EISDIR : errno)));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return apply_profile_text(text.str(), path, settings);
}

}  // namespace uroce::config
