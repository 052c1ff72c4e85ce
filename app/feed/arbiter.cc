// SPDX-License-Identifier: BSD-3-Clause
// Joining A and B, and what the feed says about them in the end.
#include "arbiter.h"

#include <cinttypes>
#include <cstdio>
#include <string>

#include "common/endpoint.h"

namespace uroce::market {
namespace {

constexpr ChannelShape kShape{.name = "a feed",
                              .type = IB_QPT_UD,
                              .receives = 1024,
                              .receive_bytes = kPathMtuBytes,
                              .sends = 16};
constexpr uint32_t kLostRanges = 1 << 16;

// `context`: the number of the last message.
int read_packet(void* context, const void* data, uint32_t length, uint64_t* sequence,
                uint32_t* count) {
  FeedHeader header{};
  if (!read_feed({static_cast<const uint8_t*>(data), length}, header)) return -1;
  if (!is_within(header, *static_cast<const uint64_t*>(context))) return -1;
  *sequence = header.sequence;
  *count = header.header.count;
  return 0;
}

// The upper end of the bucket in which the `per_mille` of 1000 second copies lies, in microseconds.
double late_us(const uroce_feed_side_statistics& side, uint64_t copies, uint32_t per_mille) {
  uint64_t seen = 0;
  uint32_t bucket = 0;
  while (bucket + 1 < UROCE_FEED_LATE_BUCKETS) {
    seen += side.late[bucket];
    if (seen * 1000 >= copies * per_mille) break;
    ++bucket;
  }
  return static_cast<double>(uint64_t{2} << bucket) / 1e3;
}

void print_side(char letter, const std::string& name, const uroce_feed_side_statistics& side) {
  std::printf("trader: %c %s: %" PRIu64 " packets, %" PRIu64 " wins, %" PRIu64 " gaps, %" PRIu64
              " repeats, %" PRIu64 " stale, %" PRIu64 " overdue, %" PRIu64 " unreadable; ",
              letter, name.c_str(), side.packets, side.wins, side.gaps, side.repeats, side.stale,
              side.overdue, side.unreadable);
  if (side.losses == 0) {
    std::printf("never second\n");
  } else {
    std::printf("%" PRIu64 " times second, by p50 < %.1f  p99 < %.1f us\n", side.losses,
                late_us(side, side.losses, 500), late_us(side, side.losses, 990));
  }
}

}  // namespace

Arbiter::Side::Side(ib_device* device, const Group& group, uint32_t qkey)
    : channel(device, kShape), membership(channel, group), name(group.text) {
  channel.activate(qkey);
}

Arbiter::Arbiter(ib_device* const (&devices)[2], const Options& options) {
  for (int i = 0; i < 2; ++i) {
    sides_[i] = std::make_unique<Side>(devices[i], options.groups[i], kFeedQkey[i]);
  }
  uroce_feed_attr attr{};
  attr.reader = read_packet;
  attr.reader_context = &last_;
  attr.jump_max = kMessagesMax;  // the reader knows the end
  attr.lost_ranges = kLostRanges;
  attr.patience_ns = uint64_t{options.patience_us} * 1000;
  uroce_feed* feed = nullptr;
  app::check(uroce_feed_create(&attr, &feed), "uroce_feed_create");
  feed_.reset(feed);
}

void Arbiter::start(uint64_t first, uint64_t last) {
  last_ = last;
  uroce_feed_restart(feed_.get(), first);
}

void Arbiter::end() { uroce_feed_restart(feed_.get(), 0); }

bool Arbiter::collect(int side) {
  sides_[side]->channel.collect();
  return !sides_[side]->channel.empty();
}

uroce_feed_verdict Arbiter::look(int side, uint64_t now_ns, uroce_feed_arrival& arrival) {
  const std::span<const uint8_t> data = front(side);
  return uroce_feed_arrive(feed_.get(), static_cast<uint32_t>(side), data.data(),
                           static_cast<uint32_t>(data.size()), now_ns, &arrival);
}

uroce_feed_statistics Arbiter::statistics() const {
  uroce_feed_statistics statistics{};
  uroce_feed_query(feed_.get(), &statistics);
  return statistics;
}

void Arbiter::print() const {
  const uroce_feed_statistics all = statistics();
  for (int i = 0; i < 2; ++i) print_side(i == 0 ? 'A' : 'B', sides_[i]->name, all.side[i]);
  std::printf("trader: %" PRIu64 " messages lost on both sides, %" PRIu64
              " came behind a later one\n",
              all.lost, all.filled);
}

}  // namespace uroce::market
