// SPDX-License-Identifier: BSD-3-Clause
// Tests of refusals in one line.
#include "config/one_line.h"

#include <gtest/gtest.h>

#include <string>

#include "config/command_line.h"
#include "config/profile.h"

namespace uroce::config {
namespace {

TEST(OneLine, WritesControlCharactersOut) {
  const absl::Status status = in_one_line(absl::InvalidArgumentError("'a\nb\t\x1b\x7f': write b"));
  EXPECT_EQ(std::string(status.message()), "'a\\nb\\t\\x1b\\x7f': write b");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(OneLine, LeavesTheRestAlone) {
  EXPECT_TRUE(in_one_line(absl::OkStatus()).ok());
  EXPECT_EQ(in_one_line(absl::NotFoundError("größer")), absl::NotFoundError("größer"));
}

// What the TOML parser quotes may end with the line that it stands in.
TEST(OneLine, HoldsForWhatTheParserSays) {
  Settings settings;
  for (const char* text : {"# \nmode =f\n#   PR", "mode = \"a\\nb\"", "\"a\\nb\" = 1"}) {
    const absl::Status status = apply_profile_text(text, "x.toml", settings);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(std::string(status.message()).find('\n'), std::string::npos) << text;
  }
}

TEST(OneLine, HoldsForArgumentsAndForPorts) {
  for (const char* argument : {"--mo\nde", "--port=net_ring0,addr\ness=1", "a\nb"}) {
    const char* arguments[] = {argument};
    const auto settings = parse_command_line(arguments);
    ASSERT_FALSE(settings.ok()) << argument;
    EXPECT_EQ(std::string(settings.status().message()).find('\n'), std::string::npos) << argument;
  }
  Settings settings;
  settings.ports.resize(2);
  for (PortSettings& port : settings.ports) port.name = "a\nb";
  EXPECT_EQ(std::string(validate(settings).message()).find('\n'), std::string::npos);
}

// A sentence is short, whatever it repeats.
TEST(OneLine, IsBoundedForArgumentsAndForProfiles) {
  const std::string endless(3'000'000, 'a');
  const std::string given[] = {endless,
                               "--" + endless,
                               "--mode=" + endless,
                               "--limit=" + endless,
                               "--limit=" + endless + "=1",
                               "--port=" + endless,
                               "--port=" + endless + "=1",
                               "--port=net_ring_u0," + endless,
                               "--port=net_ring_u0,mtu=" + endless,
                               "--profile=/" + endless};
  for (const std::string& argument : given) {
    const char* arguments[] = {argument.c_str()};
    const auto settings = parse_command_line(arguments);
    ASSERT_FALSE(settings.ok()) << argument.substr(0, 40);
    EXPECT_LT(settings.status().message().size(), 500u) << argument.substr(0, 40);
  }
  for (const std::string& text :
       {endless + " = 1", "mode = \"" + endless + "\"", endless + "=1\n" + endless + "=2",
        "[[port]]\nname = \"" + endless + "\""}) {
    Settings settings;
    const absl::Status status = apply_profile_text(text, "x.toml", settings);
    ASSERT_FALSE(status.ok()) << text.substr(0, 40);
    EXPECT_LT(status.message().size(), 500u) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace uroce::config
