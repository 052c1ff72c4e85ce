// SPDX-License-Identifier: BSD-3-Clause
// Multicast: which queue pairs receive what is sent to a group.
#ifndef UROCE_IB_MULTICAST_H
#define UROCE_IB_MULTICAST_H

#include <uroce/ib_qp.h>

#ifdef __cplusplus
extern "C" {
#endif

// The QPN that group messages are sent to.
#define IB_MULTICAST_QPN 0xffffff

// Makes a UD queue pair a member of a group: it then receives one copy of every message to it whose
// Q_Key is its own, from state RTR on. `gid` is ff..:: or ::ffff:a.b.c.d with a.b.c.d in
// 224.0.0.0/4. `lid` is ignored, as it must be on Ethernet. The first member of a group opens the
// port's filter and joins by IGMP or MLD (the kernel does both on a port that it shares).
//
// Membership is a set: to attach a member again is a success that changes nothing. A queue pair
// that is a member cannot be destroyed (-EBUSY).
//
// -EINVAL: gid is no group, or the queue pair is not UD. -ENOMEM: a limit (max_mcast_grp,
// max_mcast_qp_attach, max_total_mcast_qp_attach). -EADDRINUSE: a member by source, see below.
// -EBUSY: another thread is changing or destroying the queue pair. -ENODEV: the device is being
// closed. -ETIMEDOUT: an engine did not answer. Else the error of the port's filter or of the
// kernel's join. An error has changed nothing; after -ETIMEDOUT too the change was withdrawn and
// will not happen later.
int ib_attach_mcast(struct ib_qp* qp, union ib_gid* gid, __u16 lid);

// Ends the membership. When it has returned 0, no delivery to this queue pair starts any more (what
// was delivered before can still be polled), and if it was the last member the group has been left
// and the filter closed. -EINVAL: gid is no group, the queue pair is not UD or not a member.
// -ETIMEDOUT: an engine did not answer; the queue pair is still a member, and the call may be
// repeated.
int ib_detach_mcast(struct ib_qp* qp, union ib_gid* gid, __u16 lid);

// The same for the messages of one source, by its IP address (`source`: an address as GID, of the
// group's family). Those of others are dropped before they are copied, and routers and switches
// that speak IGMPv3 or MLDv2 do not send them; to older ones it is a member as any. A queue pair
// may have several sources in a group; each is attached and detached by itself, and the last one
// detached ends the membership. ib_detach_mcast() ends it with all its sources.
//
// As with sockets, a membership is of every source or by source, and the one does not turn into
// the other: attaching a source to a member of every source is -EINVAL, ib_attach_mcast() of a
// member by source -EADDRINUSE. To attach a source again is a success that changes nothing.
//
// -EINVAL: also, source is not an address that a host of the group's family may have on a network
// (no loopback address). -ENOMEM: also, the limit multicast_sources. Both: -EOPNOTSUPP on a device
// whose ib_device_ops are another's. -EBUSY, -ENODEV, -ETIMEDOUT: as above.
int uroce_attach_mcast_source(struct ib_qp* qp, union ib_gid* gid, const union ib_gid* source);
// -EINVAL: also, the queue pair is not a member by source. -EADDRNOTAVAIL: it is, of other sources.
int uroce_detach_mcast_source(struct ib_qp* qp, union ib_gid* gid, const union ib_gid* source);

// Whether a GID is a group.
static inline int rdma_is_multicast_gid(const union ib_gid* gid) {
  static const __u8 mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (gid->raw[0] == 0xff) return 1;
  for (int i = 0; i < 12; ++i) {
    if (gid->raw[i] != mapped[i]) return 0;
  }
  return (gid->raw[12] & 0xf0) == 0xe0;
}

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_MULTICAST_H
