// SPDX-License-Identifier: BSD-3-Clause
// EAL's interrupt thread, where drivers hear of their links.
#ifndef UROCE_NIC_INTERRUPT_THREAD_H
#define UROCE_NIC_INTERRUPT_THREAD_H

#include <functional>

namespace uroce::nic {

// Runs `work` there, hence not while a driver's handler runs, and returns when it is done. For
// net_memif, whose handler frees all queues when the peer goes, as does stopping the port: both at
// a time free them twice. Not to be called on that thread.
void on_interrupt_thread(const std::function<void()>& work);

// Whether the caller is that thread.
bool is_interrupt_thread();

}  // namespace uroce::nic

#endif  // UROCE_NIC_INTERRUPT_THREAD_H
