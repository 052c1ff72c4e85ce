// SPDX-License-Identifier: BSD-3-Clause
// Multicast as market data uses it: groups that are joined by their names, and one sequence of
// messages that is sent to two groups, A and B, and becomes one stream again.
//
// A group's name is "239.1.1.1", "ff3e::1", or the 32 hexadecimal digits of its MGID; with a source
// in front, "10.0.0.1@239.1.1.1", it is what that source alone sends to the group. Names are read
// as they stand: no blanks, no zone, no name service.
//
// Of two groups the first copy of each message wins.
// A feed object takes what arrives on either side and says at once whether it is new; it holds
// nothing back and copies nothing. A message behind a gap is new as well: the application decides
// whether it goes on, waits, or asks for the missing range elsewhere. What neither side brought in
// time is reported once, as a range, by uroce_feed_lost(), and is never new afterwards.
// A number far ahead is believed only when its side goes on from there: see jump_max.
//
// A feed belongs to one thread at a time. Nothing here allocates, locks or calls the system, except
// uroce_feed_create() and uroce_feed_destroy(). Times are nanoseconds of any one clock that does
// not go back.
#ifndef UROCE_MULTICAST_H
#define UROCE_MULTICAST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_qp;
union ib_gid;
struct uroce_feed;

// The three calls below return 0 or a negative errno; uroce_error() (uroce.h) then has a sentence
// that names the group, what is wrong and what would do.

// Reads a group's name. *source becomes the source's address, all zero when the name has none;
// `source` NULL: one is refused. After an error both are as they were. Any thread.
// -EINVAL: no group, no such source, or the two are not of one family.
int uroce_parse_mcast(const char* text, union ib_gid* group, union ib_gid* source);

// Makes a UD queue pair a member of the group of that name: ib_attach_mcast(), or
// uroce_attach_mcast_source() when it has a source; their errors (ib_multicast.h), and -EINVAL of
// uroce_parse_mcast(). To join again is a success that changes nothing.
int uroce_join_mcast(struct ib_qp* qp, const char* text);
// Ends that: ib_detach_mcast(), which ends a membership with all its sources, or
// uroce_detach_mcast_source() when the name has a source. The name may be written differently.
int uroce_leave_mcast(struct ib_qp* qp, const char* text);

#define UROCE_FEED_SIDES 2

enum uroce_feed_side { UROCE_FEED_A = 0, UROCE_FEED_B = 1 };

// What a packet turned out to be.
enum uroce_feed_verdict {
  UROCE_FEED_NEW = 0,         // brings at least one message that was not here before
  UROCE_FEED_DUPLICATE = 1,   // every message was here already
  UROCE_FEED_STALE = 2,       // every message was reported lost, or the window has passed it
  UROCE_FEED_HEARTBEAT = 3,   // carries no message, only the next sequence number
  UROCE_FEED_UNREADABLE = 4,  // the reader refused it, or its numbers or its side cannot be, or
                              // its number is beyond jump_max
};

// Reads one packet: the sequence number of its first message and how many consecutive messages it
// carries; a count of 0 is a heartbeat whose number is that of the message to come. Returns 0, or
// anything else for a packet that is not of the feed. Must not keep `data`.
typedef int (*uroce_feed_reader)(void* context, const void* data, uint32_t length,
                                 uint64_t* sequence, uint32_t* count);

struct uroce_feed_attr {
  uroce_feed_reader reader;
  void* reader_context;
  // How many consecutive messages the feed knows about at a time: a power of two, 64 … 2^24; 0
  // stands for 65536. 24 bytes of memory each.
  uint32_t window;
  // How many ranges that were lost on both sides wait for uroce_feed_lost(): 1 … 2^20; 0: 1024.
  uint32_t lost_ranges;
  // A message that is missing counts as lost on both sides this long after the first packet behind
  // it, whatever else comes meanwhile. 0: only when the window has gone past it.
  uint64_t patience_ns;
  // The number of the first message. 0: that of the first packet, from whichever side.
  uint64_t first_sequence;
  // How many messages may be missing in front of a packet that is believed at once; 0: `window`. A
  // packet farther ahead is UNREADABLE, as its number may be a broken one; it becomes the feed's
  // new place when the next packet of the same side begins at or behind its end, by no more than
  // this. What lies between is then lost. uroce_feed_restart() takes the feed there at once.
  uint64_t jump_max;
};

// One packet, as uroce_feed_arrive() saw it.
struct uroce_feed_arrival {
  uint64_t sequence;  // of its first message
  uint64_t missing;   // messages between the newest so far and this packet: a gap opened here
  uint64_t late_ns;   // how long its first message came after the first copy; 0: it was the first,
                      // or its time is before that of the first
  uint32_t count;     // messages in it
  uint32_t fresh;     // of these, those that are new
};

// Messages first … first + count - 1 came on neither side.
struct uroce_feed_range {
  uint64_t first;
  uint64_t count;
};

// late[i] counts second copies that came 2^i … 2^(i+1) - 1 ns behind the first, late[0] also those
// that came within the same nanosecond; the last bucket also what is above.
#define UROCE_FEED_LATE_BUCKETS 40

struct uroce_feed_side_statistics {
  uint64_t packets;     // all that arrived
  uint64_t wins;        // messages whose first copy came on this side
  uint64_t losses;      // messages whose second copy came on this side
  uint64_t gaps;        // messages that never came on this side, known when the window passes them
  uint64_t repeats;     // messages that came on this side a second time
  uint64_t stale;       // messages that came when they were reported lost or the window had passed
  uint64_t overdue;     // of these, those that the window had not passed: no gap
  uint64_t unreadable;  // packets
  uint64_t late[UROCE_FEED_LATE_BUCKETS];  // of its second copies
};

struct uroce_feed_statistics {
  struct uroce_feed_side_statistics side[UROCE_FEED_SIDES];
  uint64_t delivered;    // messages that were new: the wins of both sides
  uint64_t filled;       // of these, those that came behind a later one: a gap that closed
  uint64_t lost;         // messages that came on neither side
  uint64_t lost_unsaid;  // of these, those that uroce_feed_lost() will not tell: no room, restart
};

// Makes a feed; *feed is its caller's until uroce_feed_destroy(). 0; -EINVAL: no reader, or a value
// out of its range; -ENOMEM.
int uroce_feed_create(const struct uroce_feed_attr* attr, struct uroce_feed** feed);
void uroce_feed_destroy(struct uroce_feed* feed);

// Takes one packet that arrived on a side (enum uroce_feed_side) at `now_ns`; fills *arrival when
// it is not NULL: all zero for what the reader refused or what is of no side. Anything but
// UROCE_FEED_NEW is to be dropped. A packet may carry at most `window` messages, numbered to
// 2^64 - 2. Takes time for its messages and those missing before it, a window of them at most.
enum uroce_feed_verdict uroce_feed_arrive(struct uroce_feed* feed, uint32_t side, const void* data,
                                          uint32_t length, uint64_t now_ns,
                                          struct uroce_feed_arrival* arrival);

// Whether a message of the packet that arrived last was new. For packets of which only a part was
// (fresh < count: the sides cut their packets at different places).
int uroce_feed_is_fresh(const struct uroce_feed* feed, uint64_t sequence);

// 1 and the next range that came on neither side, oldest first; 0 when there is none. Call it now
// and then also when nothing arrives: it is what notices that patience has run out.
int uroce_feed_lost(struct uroce_feed* feed, uint64_t now_ns, struct uroce_feed_range* range);

// Ends the sequence and begins anew at a number (0: at that of the next packet, whatever it is), as
// at the start of a session. What is known is counted as if the window passed it, so gaps and
// losses of the sequence are complete; ranges that were not taken yet are not told any more, they
// are in lost_unsaid. The statistics stay.
void uroce_feed_restart(struct uroce_feed* feed, uint64_t first_sequence);

void uroce_feed_query(const struct uroce_feed* feed, struct uroce_feed_statistics* statistics);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_MULTICAST_H
