// SPDX-License-Identifier: BSD-3-Clause
// Which memory of the process is registered, with which device: for the calls that map it.
#ifndef UROCE_VERBS_REGISTERED_MEMORY_H
#define UROCE_VERBS_REGISTERED_MEMORY_H

#include <uroce/ib_dma.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace uroce::verbs {

// One for the process. Any thread.
class RegisteredMemory {
 public:
  static RegisteredMemory& instance();

  struct Range : page {
    const ib_device* device = nullptr;  // nullptr: good for any
  };
  using Ranges = std::multimap<uint64_t, Range>;  // by their first byte

  // A registration; it ends with the object.
  class Hold {
   public:
    Hold() = default;
    Hold(RegisteredMemory& memory, Ranges::iterator at) : memory_(&memory), at_(at) {}
    Hold(Hold&& other) noexcept { *this = std::move(other); }
    Hold& operator=(Hold&& other) noexcept;
    ~Hold() { end(); }

   private:
    void end();
    RegisteredMemory* memory_ = nullptr;
    Ranges::iterator at_;
  };
  Hold hold(const ib_device* device, uint64_t start, uint64_t length);

  // A range that has all of [start, start + length), for this device (nullptr: for any); nullptr:
  // none. Good as long as the registration.
  page* find(const ib_device* device, uint64_t start, uint64_t length);

  // Memory that needs no registration, asked for when nothing registered has it: finds the piece
  // that an address is in. Setting it forgets the pieces that were found before.
  using Lookup = bool (*)(uint64_t address, uint64_t& start, uint64_t& length);
  void set_lookup(Lookup lookup);

 private:
  page* find_registered(const ib_device* device, uint64_t start, uint64_t length);
  page* find_elsewhere(uint64_t start, uint64_t length);

  std::mutex lock_;
  Ranges ranges_;
  uint64_t longest_ = 0;  // of all ranges that ever were
  Lookup lookup_ = nullptr;
  std::map<uint64_t, page> pieces_;  // that lookup_ has found, by their first byte
};

}  // namespace uroce::verbs

#endif  // UROCE_VERBS_REGISTERED_MEMORY_H
