// SPDX-License-Identifier: BSD-3-Clause
// Where an engine's events go: a function of the face, called outside every turn and every lock.
#ifndef UROCE_WORKER_EVENT_SINK_H
#define UROCE_WORKER_EVENT_SINK_H

#include "transport/event.h"

namespace uroce::worker {

struct EventSink {
  void (*deliver)(void* context, const transport::Event& event) = nullptr;
  void* context = nullptr;
};

}  // namespace uroce::worker

#endif  // UROCE_WORKER_EVENT_SINK_H
