// SPDX-License-Identifier: BSD-3-Clause
// File descriptors that DPDK has opened and that a program's children are not to inherit.
#ifndef UROCE_IBVERBS_NEW_DESCRIPTORS_H
#define UROCE_IBVERBS_NEW_DESCRIPTORS_H

#include <set>

namespace uroce::ibverbs {

// Control path: reads /proc/self/fd.
class NewDescriptors {
 public:
  NewDescriptors();  // remembers which are open

  // Marks those that are open now and were not then close-on-exec, if they are of a kind that DPDK
  // opens (sockets, memory, pipes, events): a file that another thread opened meanwhile is not its.
  void close_on_exec() const;

 private:
  std::set<int> before_;
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_NEW_DESCRIPTORS_H
