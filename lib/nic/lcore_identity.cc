// SPDX-License-Identifier: BSD-3-Clause
// The ID is kept by an object of the thread, whose destructor runs when the thread ends.
#include "nic/lcore_identity.h"

#include <rte_lcore.h>

namespace uroce::nic {
namespace {

class LcoreIdentity {
 public:
  LcoreIdentity() : ours_(rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() == 0) {}
  ~LcoreIdentity() {
    if (ours_) rte_thread_unregister();
  }
  LcoreIdentity(const LcoreIdentity&) = delete;
  LcoreIdentity& operator=(const LcoreIdentity&) = delete;

  bool present() const { return rte_lcore_id() != LCORE_ID_ANY; }

 private:
  const bool ours_;
};

}  // namespace

bool take_lcore_identity() {
  static thread_local const LcoreIdentity identity;
  return identity.present();
}

}  // namespace uroce::nic
