// SPDX-License-Identifier: BSD-3-Clause
// Opening and closing devices. Neither starts anything: programs open one to look, and fork between
// that and using it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "ibverbs/events.h"
#include "ibverbs/handles.h"
#include "ibverbs/operations.h"
#include "ibverbs/runtime.h"

using namespace uroce;
using namespace uroce::ibverbs;

ibv_context* ibv_open_device(ibv_device* device) {
  std::unique_ptr<Context> opened(new (std::nothrow) Context{});
  if (opened == nullptr) return refuse<ibv_context>(-ENOMEM);
  opened->index = of(device).index;
  install_operations(opened->verbs);
  ibv_context& context = opened->verbs.context;
  context.device = device;
  std::unique_ptr<AsyncQueue> async(new (std::nothrow) AsyncQueue(opened->index));
  if (async == nullptr) return refuse<ibv_context>(-ENOMEM);
  if (async->fd() < 0) return nullptr;  // errno says why
  context.async_fd = async->fd();
  const DeviceDescription description = runtime().describe(opened->index);
  context.num_comp_vectors = static_cast<int>(std::max(description.port.queue_count, 1u));
  // There is no command channel; but programs pass the descriptor on and close copies of it.
  context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (context.cmd_fd < 0) return nullptr;
  opened->async = async.release();
  pthread_mutex_init(&context.mutex, nullptr);
  return &opened.release()->verbs.context;
}

int ibv_close_device(ibv_context* context) {
  // What a program leaves behind goes on, as the manual page says, and so does what it refers to.
  if (of(context).objects != 0) return 0;
  delete of(context).async;
  close(context->cmd_fd);
  pthread_mutex_destroy(&context->mutex);
  delete &of(context);
  return 0;
}
