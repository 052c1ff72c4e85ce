// SPDX-License-Identifier: BSD-3-Clause
// Sentences for completion statuses and events, in the order of their numbers.
#include <uroce/ib_verbs.h>

#include <cstddef>

namespace {

constexpr const char* kStatuses[] = {"success",
                                     "local length error",
                                     "local QP operation error",
                                     "local EE context operation error",
                                     "local protection error",
                                     "work request flushed",
                                     "memory window bind error",
                                     "bad response error",
                                     "local access error",
                                     "remote invalid request error",
                                     "remote access error",
                                     "remote operation error",
                                     "transport retry counter exceeded",
                                     "RNR retry counter exceeded",
                                     "local RDD violation error",
                                     "remote invalid RD request",
                                     "remote aborted error",
                                     "invalid EE context number",
                                     "invalid EE context state",
                                     "fatal error",
                                     "response timeout error",
                                     "general error"};

constexpr const char* kEvents[] = {"CQ error",
                                   "QP fatal error",
                                   "QP request error",
                                   "QP access error",
                                   "communication established",
                                   "send queue drained",
                                   "path migration successful",
                                   "path migration error",
                                   "device fatal error",
                                   "port active",
                                   "port error",
                                   "LID changed",
                                   "P_Key changed",
                                   "SM changed",
                                   "SRQ error",
                                   "SRQ limit reached",
                                   "last WQE reached",
                                   "client reregistration",
                                   "GID changed",
                                   "WQ fatal error"};

template <size_t kCount>
const char* name_of(const char* const (&names)[kCount], size_t number, const char* unknown) {
  return number < kCount ? names[number] : unknown;
}

}  // namespace

const char* ib_wc_status_msg(ib_wc_status status) {
  return name_of(kStatuses, static_cast<size_t>(status), "unknown status");
}

const char* ib_event_msg(ib_event_type event) {
  return name_of(kEvents, static_cast<size_t>(event), "unknown event");
}
