// SPDX-License-Identifier: BSD-3-Clause
// The exchange's stream: numbered messages, the same packets to groups A and B, and the history out
// of which traders READ what both lost.
#ifndef UROCE_APP_FEED_PUBLISHER_H
#define UROCE_APP_FEED_PUBLISHER_H

#include <uroce/ib_verbs.h>

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "channel.h"
#include "group.h"
#include "options.h"
#include "pace.h"
#include "protocol.h"

namespace uroce::market {

class Publisher {
 public:
  // `devices`: of A and of B.
  Publisher(ib_device* const (&devices)[2], const Options& options);

  // The next packet, if one is due; a heartbeat when nothing was for a while.
  void step(uint64_t now_ns);
  // Behind the last message: says so again and again.
  void step_end(uint64_t now_ns);

  bool at_end() const { return next_ > last_; }
  uint64_t next() const { return next_; }  // number of the message to come
  uint64_t last() const { return last_; }
  // The message of trigger 1, 2, …, and of how many; when it was sent, 0: not yet.
  uint64_t sequence_of(uint32_t trigger) const { return uint64_t{trigger} * trigger_every_; }
  uint32_t triggers() const { return static_cast<uint32_t>(last_ / trigger_every_); }
  // How many triggers lie before a message.
  uint64_t triggers_before(uint64_t sequence) const { return (sequence - 1) / trigger_every_; }
  uint64_t sent_ns(uint32_t trigger) const { return sent_ns_[trigger]; }
  const std::vector<Message>& history() const { return history_; }

  void print() const;

 private:
  // The way to one group.
  struct Side {
    Side(ib_device* device, const Group& group, uint32_t qkey);
    Channel channel;
    GroupTarget target;
    const std::string& name;
    uint64_t withheld = 0;  // packets, to be missed
  };

  void publish(uint32_t count, uint64_t now_ns);
  void send_packet(Side& side, const FeedHeader& header, std::span<const Message> messages);
  void send_bare(Kind kind, uint64_t now_ns);
  bool have_room() const { return sides_[0]->channel.has_room() && sides_[1]->channel.has_room(); }

  const uint64_t last_;
  const uint32_t trigger_every_;
  const double inject_loss_;
  const uint64_t seed_;
  Pace pace_;
  std::mt19937_64 random_;
  std::unique_ptr<Side> sides_[2];
  std::vector<Message> history_;
  std::vector<uint64_t> sent_ns_;  // by trigger
  uint64_t next_ = 1;
  uint64_t spoke_ns_ = 0;  // when the last packet went out
  uint64_t packets_ = 0;   // with messages
  uint64_t bare_ = 0;      // heartbeats and ends
};

}  // namespace uroce::market

#endif  // UROCE_APP_FEED_PUBLISHER_H
