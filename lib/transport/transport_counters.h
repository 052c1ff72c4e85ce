// SPDX-License-Identifier: BSD-3-Clause
// Transport counters of one engine. Names shown to users are in observe/counter_names.cc: mlx5's
// where the event is the same.
#ifndef UROCE_TRANSPORT_TRANSPORT_COUNTERS_H
#define UROCE_TRANSPORT_TRANSPORT_COUNTERS_H

#include "base/counter.h"

namespace uroce::transport {

// X(member): one line per counter, so that tables and sums cannot forget one.
#define UROCE_TRANSPORT_COUNTERS(X)                                                 \
  X(sent_packets)                   /* RoCE packets given to the port or looped */  \
  X(received_packets)               /* RoCE packets with a good ICRC */             \
  X(sent_bytes)                     /* payload bytes sent */                        \
  X(received_bytes)                 /* payload bytes received */                    \
  X(duplicate_request)              /* requests behind the expected PSN */          \
  X(out_of_sequence)                /* NAK 0x60 sent */                             \
  X(out_of_order_kept)              /* early requests kept for their turn */        \
  X(packet_seq_err)                 /* NAK 0x60 received and acted on */            \
  X(implied_nak_seq_err)            /* implied NAK of a READ or atomic */           \
  X(rnr_nak_sent)                   /* RNR NAK sent */                              \
  X(rnr_nak_received)               /* RNR NAK received */                          \
  X(rnr_nak_retry_err)              /* rnr_retry used up */                         \
  X(local_ack_timeout_err)          /* ACK timer fired with requests outstanding */ \
  X(retry_exceeded_err)             /* retry_cnt used up */                         \
  X(retransmitted_packets)          /* packets sent again */                        \
  X(tail_probes)                    /* probes sent: an answer was overdue */        \
  X(req_remote_access_errors)       /* NAK 0x62 received */                         \
  X(req_remote_invalid_request)     /* NAK 0x61 received */                         \
  X(req_remote_operational_errors)  /* NAK 0x63 or an unknown NAK received */       \
  X(resp_remote_access_errors)      /* NAK 0x62 sent */                             \
  X(resp_remote_invalid_request)    /* NAK 0x61 sent */                             \
  X(resp_remote_operational_errors) /* NAK 0x63 sent */                             \
  X(req_cqe_error)                  /* send completions with an error */            \
  X(resp_cqe_error)                 /* receive completions with an error */         \
  X(req_cqe_flush_error)            /* send completions flushed */                  \
  X(resp_cqe_flush_error)           /* receive completions flushed */               \
  X(rx_write_requests)              /* RDMA WRITE messages taken */                 \
  X(rx_read_requests)               /* RDMA READ requests taken */                  \
  X(rx_atomic_requests)             /* atomics and ATOMIC WRITEs executed */        \
  X(rdma_sends)                     /* SEND work requests completed */              \
  X(rdma_recvs)                     /* successful receive completions */            \
  X(multicast_received)             /* packets to a group with members here */      \
  X(multicast_copies)               /* copies delivered to members */               \
  X(cnp_received)                   /* congestion notifications for QPs of ours */  \
  X(handed_off)                     /* frames passed to another engine */           \
  X(cq_overrun)                     /* completions that found their CQ full */      \
  X(events_lost)                    /* notes of failed connections, too many */     \
  X(clock_gaps)                     /* turns that found a quarter of a timeout gone */

struct TransportCounters {
#define UROCE_DECLARE(member) Counter member;
  UROCE_TRANSPORT_COUNTERS(UROCE_DECLARE)
#undef UROCE_DECLARE
};

}  // namespace uroce::transport

#endif  // UROCE_TRANSPORT_TRANSPORT_COUNTERS_H
