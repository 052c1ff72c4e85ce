// SPDX-License-Identifier: BSD-3-Clause
// Making packets. A message is in the history before it is sent: who misses it finds it there.
#include "publisher.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace uroce::market {
namespace {

constexpr uint64_t kHeartbeatNs = 10'000'000;
constexpr ChannelShape kShape{
    .name = "a feed", .type = IB_QPT_UD, .receives = 16, .sends = 256, .send_bytes = kPathMtuBytes};

}  // namespace

Publisher::Side::Side(ib_device* device, const Group& group, uint32_t qkey)
    : channel(device, kShape), target(channel, group.gid, qkey), name(group.text) {
  channel.activate(qkey);
}

Publisher::Publisher(ib_device* const (&devices)[2], const Options& options)
    : last_(options.messages),
      trigger_every_(options.trigger_every),
      inject_loss_(options.inject_loss),
      seed_(options.seed),
      pace_(options.rate, options.batch),
      random_(options.seed),
      history_(options.history_slots),
      sent_ns_(options.messages / options.trigger_every + 1) {
  for (int i = 0; i < 2; ++i) {
    sides_[i] = std::make_unique<Side>(devices[i], options.groups[i], kFeedQkey[i]);
  }
}

void Publisher::step(uint64_t now_ns) {
  for (const auto& side : sides_) side->channel.collect();
  if (!have_room()) return;
  const uint64_t left = last_ + 1 - next_;
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(pace_.take(now_ns), left));
  if (count != 0) {
    publish(count, now_ns);
  } else if (now_ns - spoke_ns_ > kHeartbeatNs) {
    send_bare(Kind::kHeartbeat, now_ns);
  }
}

void Publisher::step_end(uint64_t now_ns) {
  for (const auto& side : sides_) side->channel.collect();
  if (have_room() && now_ns - spoke_ns_ > kHeartbeatNs) send_bare(Kind::kEnd, now_ns);
}

void Publisher::publish(uint32_t count, uint64_t now_ns) {
  const FeedHeader header{header_of(Kind::kData, static_cast<uint16_t>(count)), next_};
  std::array<Message, kPacketMessagesMax> messages;
  for (uint32_t i = 0; i < count; ++i, ++next_) {
    const bool is_trigger = next_ % trigger_every_ == 0;
    const auto trigger = is_trigger ? static_cast<uint32_t>(next_ / trigger_every_) : 0;
    messages[i] = make_message(next_, now_ns, trigger);
    history_[next_ % history_.size()] = messages[i];
    if (is_trigger) sent_ns_[trigger] = now_ns;
  }
  for (const auto& side : sides_) send_packet(*side, header, {messages.data(), count});
  ++packets_;
  spoke_ns_ = now_ns;
}

void Publisher::send_bare(Kind kind, uint64_t now_ns) {
  const FeedHeader header{header_of(kind), next_};
  for (const auto& side : sides_) send_packet(*side, header, {});
  ++bare_;
  spoke_ns_ = now_ns;
}

void Publisher::send_packet(Side& side, const FeedHeader& header,
                            std::span<const Message> messages) {
  if (std::uniform_real_distribution<double>(0, 100)(random_) < inject_loss_) {
    ++side.withheld;
    return;
  }
  const auto bytes = static_cast<uint32_t>(messages.size_bytes());
  uint8_t* const slot = side.channel.send_slot();
  std::memcpy(slot, &header, sizeof header);
  if (bytes != 0) std::memcpy(slot + sizeof header, messages.data(), bytes);
  side.channel.post_datagram(static_cast<uint32_t>(sizeof header) + bytes, side.target.get());
}

void Publisher::print() const {
  std::printf("exchange: %" PRIu64 " messages in %" PRIu64 " packets to A %s and B %s, %" PRIu64
              " without messages\n",
              next_ - 1, packets_, sides_[0]->name.c_str(), sides_[1]->name.c_str(), bare_);
  std::printf("exchange: injected loss %.4g %%, seed %" PRIu64 ": %" PRIu64
              " packets of A and %" PRIu64 " of B withheld\n",
              inject_loss_, seed_, sides_[0]->withheld, sides_[1]->withheld);
}

}  // namespace uroce::market
