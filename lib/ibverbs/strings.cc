// SPDX-License-Identifier: BSD-3-Clause
// Words for numbers: programs print them and scripts look for them, so they are the ones that
// libibverbs.so.1 gives.
#include <infiniband/verbs.h>

#include <cstddef>

namespace {

constexpr const char* kUnknown = "unknown";

constexpr const char* kStatuses[] = {"success",
                                     "local length error",
                                     "local QP operation error",
                                     "local EE context operation error",
                                     "local protection error",
                                     "Work Request Flushed Error",
                                     "memory management operation error",
                                     "bad response error",
                                     "local access error",
                                     "remote invalid request error",
                                     "remote access error",
                                     "remote operation error",
                                     "transport retry counter exceeded",
                                     "RNR retry counter exceeded",
                                     "local RDD violation error",
                                     "remote invalid RD request",
                                     "aborted error",
                                     "invalid EE context number",
                                     "invalid EE context state",
                                     "fatal error",
                                     "response timeout error",
                                     "general error",
                                     "TM error",
                                     "TM software rendezvous"};

constexpr const char* kEvents[] = {"CQ error",
                                   "local work queue catastrophic error",
                                   "invalid request local work queue error",
                                   "local access violation work queue error",
                                   "communication established",
                                   "send queue drained",
                                   "path migrated",
                                   "path migration request error",
                                   "local catastrophic error",
                                   "port active",
                                   "port error",
                                   "LID change",
                                   "P_Key change",
                                   "SM change",
                                   "SRQ catastrophic error",
                                   "SRQ limit reached",
                                   "last WQE reached",
                                   "client reregistration",
                                   "GID table change",
                                   "WQ fatal"};

constexpr const char* kNodeTypes[] = {kUnknown,
                                      "InfiniBand channel adapter",
                                      "InfiniBand switch",
                                      "InfiniBand router",
                                      "iWARP NIC",
                                      "usNIC",
                                      "usNIC UDP",
                                      "unspecified"};

constexpr const char* kPortStates[] = {"no state change (NOP)", "down", "init", "armed", "active",
                                       "active defer"};

template <size_t kCount>
const char* word_of(const char* const (&words)[kCount], int number) {
  return number >= 0 && static_cast<size_t>(number) < kCount ? words[number] : kUnknown;
}

}  // namespace

const char* ibv_wc_status_str(ibv_wc_status status) { return word_of(kStatuses, status); }

const char* ibv_event_type_str(ibv_event_type event) { return word_of(kEvents, event); }

const char* ibv_node_type_str(ibv_node_type node_type) { return word_of(kNodeTypes, node_type); }

const char* ibv_port_state_str(ibv_port_state port_state) {
  return word_of(kPortStates, port_state);
}
