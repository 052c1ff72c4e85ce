// SPDX-License-Identifier: BSD-3-Clause
// The C calls of uroce/multicast.h that work on feeds.
#include <uroce/multicast.h>

#include <bit>
#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "feed/arbiter.h"

using namespace uroce::feed;

struct uroce_feed {
  Arbiter arbiter;
};

namespace {

constexpr uint32_t kWindowMin = 64;
constexpr uint32_t kWindowMax = 1u << 24;
constexpr uint32_t kLostRangesMax = 1u << 20;

bool is_valid(const uroce_feed_attr& attr) {
  return attr.reader != nullptr && std::has_single_bit(attr.window) && attr.window >= kWindowMin &&
         attr.window <= kWindowMax && attr.lost_ranges <= kLostRangesMax;
}

}  // namespace

int uroce_feed_create(const uroce_feed_attr* attr, uroce_feed** feed) {
  uroce_feed_attr wanted = *attr;
  if (wanted.window == 0) wanted.window = 65536;
  if (wanted.lost_ranges == 0) wanted.lost_ranges = 1024;
  if (wanted.jump_max == 0) wanted.jump_max = wanted.window;
  if (!is_valid(wanted)) return -EINVAL;
  std::unique_ptr<Message[]> messages(new (std::nothrow) Message[wanted.window]());
  std::unique_ptr<uroce_feed_range[]> ranges(new (std::nothrow)
                                                 uroce_feed_range[wanted.lost_ranges]());
  if (messages == nullptr || ranges == nullptr) return -ENOMEM;
  *feed = new (std::nothrow) uroce_feed{Arbiter(wanted, Window(std::move(messages), wanted.window),
                                                LostRanges(std::move(ranges), wanted.lost_ranges))};
  return *feed == nullptr ? -ENOMEM : 0;
}

void uroce_feed_destroy(uroce_feed* feed) { delete feed; }

uroce_feed_verdict uroce_feed_arrive(uroce_feed* feed, uint32_t side, const void* data,
                                     uint32_t length, uint64_t now_ns,
                                     uroce_feed_arrival* arrival) {
  uroce_feed_arrival mine;
  uroce_feed_arrival& seen = arrival == nullptr ? mine : *arrival;
  if (side >= UROCE_FEED_SIDES) return feed->arbiter.refuse(seen);
  return feed->arbiter.arrive(static_cast<uroce_feed_side>(side), data, length, now_ns, seen);
}

int uroce_feed_is_fresh(const uroce_feed* feed, uint64_t sequence) {
  return feed->arbiter.is_fresh(sequence);
}

int uroce_feed_lost(uroce_feed* feed, uint64_t now_ns, uroce_feed_range* range) {
  return feed->arbiter.take_lost(now_ns, *range);
}

void uroce_feed_restart(uroce_feed* feed, uint64_t first_sequence) {
  feed->arbiter.restart(first_sequence);
}

void uroce_feed_query(const uroce_feed* feed, uroce_feed_statistics* statistics) {
  *statistics = feed->arbiter.statistics();
}
