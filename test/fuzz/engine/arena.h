// SPDX-License-Identifier: BSD-3-Clause
// The application's memory, its regions and windows, and what must never change in it.
//
//   open     all rights; windows are bound to it, and local work uses it
//   fixed    may be read by the peer, and written by nobody
//   local    may be written by local work only, and none names it
//   fast     registered by work requests
//
// Guard bytes lie around each of them.
#ifndef UROCE_TEST_FUZZ_ENGINE_ARENA_H
#define UROCE_TEST_FUZZ_ENGINE_ARENA_H

#include <uroce/ib_verbs.h>

#include <array>
#include <cstdint>
#include <vector>

#include "test/sim/host.h"

namespace uroce::fuzz {

class Arena {
 public:
  enum Part : uint8_t { kOpen, kFixed, kLocal, kFast, kPartCount };
  static constexpr uint32_t kPartBytes = 4096;
  static constexpr uint32_t kGuardBytes = 512;
  static constexpr uint64_t kIova = 0x10000000;  // of byte 0 of the arena, in all but `fast`
  static constexpr size_t kWindows = 2;          // type 1, type 2

  explicit Arena(sim::Host& host);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  ib_pd* pd() { return pd_; }
  ib_mr* mr(Part part) { return mrs_[part]; }
  ib_mw* window(size_t index) { return windows_[index % kWindows]; }
  uint8_t* memory(Part part) { return &bytes_[begin(part)]; }
  static uint64_t iova(Part part) { return kIova + begin(part); }

  // A key that a peer may name, right or wrong, and the address of its first byte.
  struct Target {
    uint64_t address;
    uint32_t key;
  };
  Target target(uint8_t choice);

  // The open region again, under another key.
  void replace_open(int access);
  // Re-registers a part of it: `flags` of ib_rereg_user_mr().
  void change_open(int flags, uint32_t begin, uint32_t length, int access);
  void replace_window(size_t index);
  void check_untouched() const;

 private:
  static constexpr uint32_t begin(uint32_t part) {
    return kGuardBytes + part * (kPartBytes + kGuardBytes);
  }

  sim::Host& host_;
  std::vector<uint8_t> bytes_;
  ib_pd* pd_;
  std::array<ib_mr*, kPartCount> mrs_{};
  std::array<ib_mw*, kWindows> windows_{};
  uint32_t retired_key_ = 0;
};

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_ARENA_H
