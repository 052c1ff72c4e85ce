// SPDX-License-Identifier: BSD-3-Clause
// The command line of uroce-feed.
#ifndef UROCE_APP_FEED_OPTIONS_H
#define UROCE_APP_FEED_OPTIONS_H

#include <uroce/ib_device.h>

#include <cstdint>
#include <string>
#include <vector>

namespace uroce::market {

enum class Role { kExchange, kTrader, kBoth };

// A group as the user wrote it, perhaps with a source to hear, and its GID.
struct Group {
  std::string text;
  ib_gid gid{};
};

struct Options {
  Role role = Role::kBoth;
  Group groups[2] = {{"239.1.1.1", {}}, {"239.1.1.2", {}}};  // A and B
  Group control{"239.1.1.3", {}};
  uint32_t wait_seconds = 30;  // longest that one side waits for the other

  // The exchange's.
  uint64_t messages = 50000;
  double rate = 50000;  // messages a second, at most
  uint32_t batch = 8;   // messages in a packet, at most
  uint32_t trigger_every = 10;
  double inject_loss = 0;  // percent of the packets of each side
  uint64_t seed = 1;
  uint32_t traders = 1;            // that it waits for
  uint32_t history_slots = 65536;  // messages, a power of two

  // The trader's.
  bool recovery = true;
  uint32_t patience_us = 1000;  // how long after a gap the message counts as lost on both sides

  std::vector<const char*> start;  // what uroce_start() gets; empty: memory rings of our own
};

// Fills `options` from the command line. Returns -1 to go on, otherwise the exit status: help was
// printed, or what is wrong was said on stderr.
int parse_options(int argc, const char* const* argv, Options& options);

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_OPTIONS_H
