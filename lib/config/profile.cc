// SPDX-License-Identifier: BSD-3-Clause
// The TOML profile by toml++; every key goes through the table in keys.cc.
#include "config/profile.h"

#include <absl/strings/str_format.h>

#include <toml++/toml.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/quotable.h"
#include "config/keys.h"
#include "config/one_line.h"

namespace uroce::config {
namespace {

// Where an error is: file and line in front of the sentence.
absl::Status at(const std::string& name, const toml::node& node, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrFormat("%s:%d: %s", quotable(name, kQuotedPathMax),
                                                    node.source().begin.line,
                                                    std::string(status.message())));
}

// A scalar of the key's kind as the text that a user would write on the command line.
std::optional<std::string> scalar_text(ValueKind kind, const toml::node& node) {
  switch (kind) {
    case ValueKind::kText:
    case ValueKind::kTexts:
      if (const auto* text = node.as_string()) return text->get();
      break;
    case ValueKind::kNumber:
    case ValueKind::kNumbers:
      if (const auto* number = node.as_integer()) return std::to_string(number->get());
      break;
    case ValueKind::kNumberOrText:
      if (const auto* text = node.as_string()) return text->get();
      if (const auto* number = node.as_integer()) return std::to_string(number->get());
      break;
    case ValueKind::kFlag:
      if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
      break;
  }
  return std::nullopt;
}

const char* wanted(ValueKind kind) {
  switch (kind) {
    case ValueKind::kText:
      return "text in quotes";
    case ValueKind::kTexts:
      return "text in quotes, or a list of such";
    case ValueKind::kNumber:
      return "a whole number without quotes";
    case ValueKind::kNumbers:
      return "a list of whole numbers without quotes";
    case ValueKind::kNumberOrText:
      return "a whole number, or text in quotes";
    case ValueKind::kFlag:
      break;
  }
  return "true or false without quotes";
}

absl::Status wrong_kind(std::string_view key) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s has a value of the wrong kind: give %s", key, wanted(value_kind(key))));
}

// The keys of a table: what is one, and how it is set.
template <typename Target>
struct Keys {
  absl::Status (*check)(std::string_view key);
  absl::Status (*set)(Target& target, std::string_view key, std::string_view value);
};

// A key as the profile shows it, with the brackets of a table.
std::string written(std::string_view key, const toml::node& node) {
  if (node.is_table()) return absl::StrFormat("[%s]", key);
  if (node.is_array_of_tables()) return absl::StrFormat("[[%s]]", key);
  return std::string(key);
}

// A scalar, or a list of scalars each of which is set in turn (addresses) or joined (cores).
template <typename Target>
absl::Status apply_value(const std::string& name, std::string_view key, const toml::node& node,
                         Target& target, const Keys<Target>& keys) {
  if (absl::Status status = keys.check(key); !status.ok()) {
    return at(name, node, keys.check(written(key, node)));
  }
  const ValueKind kind = value_kind(key);
  if (const auto* list = node.as_array()) {
    if (kind != ValueKind::kNumbers && kind != ValueKind::kTexts) {
      return at(name, node, wrong_kind(key));
    }
    std::string joined;
    for (const toml::node& element : *list) {
      const auto text = scalar_text(kind, element);
      if (!text) return at(name, element, wrong_kind(key));
      if (kind == ValueKind::kNumbers) {
        joined += (joined.empty() ? "" : ",") + *text;
      } else if (absl::Status status = keys.set(target, key, *text); !status.ok()) {
        return at(name, element, status);
      }
    }
    return kind == ValueKind::kNumbers ? at(name, node, keys.set(target, key, joined))
                                       : absl::OkStatus();
  }
  const auto text = scalar_text(kind, node);
  if (!text) return at(name, node, wrong_kind(key));
  return at(name, node, keys.set(target, key, *text));
}

template <typename Target>
absl::Status apply_table(const std::string& name, const toml::table& table, Target& target,
                         const Keys<Target>& keys) {
  for (const auto& [key, node] : table) {
    if (absl::Status status = apply_value(name, key.str(), node, target, keys); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status apply_ports(const std::string& name, const toml::node& node, Settings& settings) {
  const auto* ports = node.as_array();
  const auto not_a_table = absl::InvalidArgumentError("write [[port]], with two brackets");
  if (ports == nullptr) return at(name, node, not_a_table);
  for (const toml::node& element : *ports) {
    const auto* table = element.as_table();
    if (table == nullptr) return at(name, element, not_a_table);
    PortSettings port;
    const Keys<PortSettings> keys{check_port_key, set_port_key};
    if (absl::Status status = apply_table(name, *table, port, keys); !status.ok()) return status;
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
  return apply_table(name, *table, settings.limits,
                     Keys<LimitSettings>{check_limit_key, set_limit_key});
}

absl::Status apply_root(const std::string& name, const toml::table& root, Settings& settings) {
  for (const auto& [key, node] : root) {
    absl::Status status;
    if (key.str() == "port") {
      status = apply_ports(name, node, settings);
    } else if (key.str() == "limits") {
      status = apply_limits(name, node, settings);
    } else {
      status = apply_value(name, key.str(), node, settings, Keys<Settings>{check_key, set_key});
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status unreadable(const std::string& path, int error) {
  return absl::NotFoundError(
      absl::StrFormat("cannot read the profile '%s' (%s): give --profile a TOML file",
                      quotable(path, kQuotedPathMax), std::strerror(error)));
}

}  // namespace

absl::Status apply_profile_text(std::string_view text, const std::string& name,
                                Settings& settings) {
  try {
    return in_one_line(apply_root(name, toml::parse(text, std::string_view(name)), settings));
  } catch (const toml::parse_error& error) {
    return in_one_line(absl::InvalidArgumentError(
        absl::StrFormat("%s:%d: %s", quotable(name, kQuotedPathMax), error.source().begin.line,
                        quotable(error.description(), kQuotedPathMax))));
  }
}

absl::Status apply_profile_file(const std::string& path, Settings& settings) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);  // opens like a file
  std::ifstream file(path);
  if (folder || !file) {
    return unreadable(path, folder ? EISDIR : errno);
  }
  std::string text;
  char block[4096];
  errno = 0;
  while (file.read(block, sizeof block) || file.gcount() > 0) {
    text.append(block, static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return unreadable(path, errno != 0 ? errno : EIO);
  return apply_profile_text(text, path, settings);
}

}  // namespace uroce::config
