// SPDX-License-Identifier: BSD-3-Clause
// The profile says the same as the command line, and its errors name file and line.
#include "config/profile.h"

#include <gtest/gtest.h>

namespace uroce::config {
namespace {

TEST(Profile, SaysTheSameAsTheCommandLine) {
  Settings settings;
  ASSERT_TRUE(apply_profile_text("mode = \"worker\"\n"
                                 "cores = [1, 3]\n"
                                 "rings = 2\n"
                                 "[limits]\n"
                                 "queue_pairs = 256\n"
                                 "[[port]]\n"
                                 "name = \"p0\"\n"
                                 "address = [\"10.0.0.1/24\", \"fd00::1/64\"]\n"
                                 "own = true\n"
                                 "igmp = 2\n"
                                 "mld = \"off\"\n",
                                 "test.toml", settings)
                  .ok());
  EXPECT_EQ(settings.cores, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(settings.limits.queue_pairs, 256u);
  ASSERT_EQ(settings.ports.size(), 1u);
  EXPECT_EQ(settings.ports[0].addresses.size(), 2u);
  EXPECT_EQ(settings.ports[0].ownership, Ownership::kOwn);
  EXPECT_EQ(settings.ports[0].igmp_version, 2);
  EXPECT_EQ(settings.ports[0].mld_version, 0);
}

TEST(Profile, ErrorsNameFileLineAndKey) {
  Settings settings;
  EXPECT_EQ(apply_profile_text("rings = 1\nmodus = \"inline\"\n", "x.toml", settings).message(),
            "x.toml:2: unknown key 'modus', nearest is mode; known are mode, rings, cores, fault, "
            "log_level, spin_us, sleep_us, "
            "[limits], [[port]]");
  EXPECT_EQ(
      apply_profile_text("[[port]]\nname = \"p\"\nvlan = \"x\"\n", "x.toml", settings).message(),
      "x.toml:3: vlan has a value of the wrong kind: give a whole number without quotes");
  EXPECT_EQ(apply_profile_text("[[port]]\nown = true\n", "x.toml", settings).message(),
            "x.toml:1: this port has no name: add one, such as name = \"net_af_packet0\"");
  EXPECT_EQ(apply_profile_text("[port]\nname = \"p\"\n", "x.toml", settings).message(),
            "x.toml:1: write [[port]], with two brackets");
  EXPECT_EQ(apply_profile_text("limits = 7\n", "x.toml", settings).message(),
            "x.toml:1: write [limits], and below it lines such as queue_pairs = 256");
  EXPECT_EQ(apply_profile_text("rings = 1.5\n", "x.toml", settings).message(),
            "x.toml:1: rings has a value of the wrong kind: give a whole number without quotes");
  EXPECT_EQ(
      std::string(apply_profile_text("rings = = 2\n", "x.toml", settings).message()).substr(0, 9),
      "x.toml:1:");
}

TEST(Profile, AValueIsOfItsKeysKind) {
  for (const char* text :
       {"rings = \"1\"", "rings = [1, 2]", "rings = true", "mode = 7", "cores = \"1,2\"",
        "cores = [\"1\"]", "fault = false", "[limits]\nqueue_pairs = \"256\"", "[[port]]\nname = 7",
        "[[port]]\nname = \"p\"\nown = \"true\"", "[[port]]\nname = \"p\"\nmtu = \"1500\"",
        "[[port]]\nname = [\"p\", \"q\"]"}) {
    Settings settings;
    const absl::Status status = apply_profile_text(text, "x.toml", settings);
    EXPECT_NE(status.message().find("has a value of the wrong kind: give "), std::string::npos)
        << text << ": " << status;
  }
}

TEST(Profile, ATableThatIsNoneIsUnknown) {
  Settings settings;
  EXPECT_EQ(apply_profile_text("[limit]\nqueue_pairs = 256\n", "x.toml", settings).message(),
            "x.toml:1: unknown key '[limit]', nearest is [limits]; known are mode, rings, cores, "
            "fault, log_level, spin_us, sleep_us, [limits], [[port]]");
  EXPECT_EQ(
      apply_profile_text("[[ports]]\nname = \"p\"\n", "x.toml", settings).message().substr(0, 55),
      "x.toml:1: unknown key '[[ports]]', nearest is [[port]];");
  EXPECT_EQ(apply_profile_text("queue_pairs = \"x\"\n", "x.toml", settings).message().substr(0, 36),
            "x.toml:1: unknown key 'queue_pairs':");
}

TEST(Profile, OwnAndSharedTogetherAreRefused) {
  Settings settings;
  EXPECT_EQ(
      apply_profile_text("[[port]]\nname = \"p\"\nown = true\nshared = true\n", "x.toml", settings)
          .message(),
      "x.toml:4: own and shared exclude each other: give one of them");
}

}  // namespace
}  // namespace uroce::config
