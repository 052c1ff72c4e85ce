// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory windows and of regions that work requests register, as the device sees them.
#include <gtest/gtest.h>

#include "device/device_fixture.h"
#include "memory/fast_region.h"
#include "memory/invalidate.h"
#include "memory/window.h"

namespace uroce::device {
namespace {

using memory::Change;
using memory::KeyKind;
using memory::KeyVerdict;

class MemoryWindows : public testing::Test {
 protected:
  static constexpr Qpn kQpn{0x11};
  static constexpr uint32_t kAccess =
      memory::kLocalWrite | memory::kRemoteWrite | memory::kRemoteRead | memory::kMwBind;

  MemoryWindows() {
    EXPECT_EQ(device().start(), 0);
    EXPECT_EQ(device().create_pd(pd_), 0);
    EXPECT_EQ(device().register_memory(*pd_, address(), 256, address(), kAccess, mr_), 0);
  }
  ~MemoryWindows() override {
    EXPECT_EQ(device().deregister_memory(*mr_), 0);
    EXPECT_EQ(pd_->use_count, 0u);
    EXPECT_EQ(device().destroy_pd(*pd_), 0);
  }
  Device& device() { return bed_.device(); }
  uint64_t address() const { return reinterpret_cast<uint64_t>(buffer_); }
  // What an engine does for a work request.
  memory::Changer engine() { return {pd_->number, kQpn, 0, rounds_, wait_}; }
  Change bind(Key window, Key new_key) {
    uint64_t ticket = 0;
    return memory::bind_window(bed_.keys(), engine(),
                               {address(), 64, window, new_key, mr_->key, memory::kRemoteWrite},
                               ticket);
  }
  KeyVerdict look(Key key) {
    uint8_t* pointer = nullptr;
    return bed_.keys().translate_remote(key, pd_->number, kQpn, memory::kRemoteWrite, address(), 8,
                                        pointer);
  }

  TestBed bed_;
  Pd* pd_ = nullptr;
  Mr* mr_ = nullptr;
  GraceRounds rounds_;
  memory::KeyWait wait_;
  uint8_t buffer_[256] = {};
};

TEST_F(MemoryWindows, ARegionWithABoundWindowIsNotDeregisteredAndStillWorks) {
  Mw* mw = nullptr;
  ASSERT_EQ(device().allocate_window(*pd_, KeyKind::kWindow1, mw), 0);
  ASSERT_EQ(bind(mw->key, mw->key), Change::kDone);
  EXPECT_EQ(device().deregister_memory(*mr_), -EINVAL);
  EXPECT_EQ(device().reregister_memory(*mr_, {.rights = true, .access = kAccess}), -EINVAL);
  EXPECT_EQ(look(mr_->key), KeyVerdict::kGood);
  EXPECT_EQ(look(mw->key), KeyVerdict::kGood);
  const Key key = mw->key;
  EXPECT_EQ(device().deallocate_window(*mw), 0);
  EXPECT_EQ(look(key), KeyVerdict::kUnknownKey);
}

TEST_F(MemoryWindows, ADomainWithAWindowOrAFastRegionIsInUse) {
  Mw* mw = nullptr;
  Mr* fast = nullptr;
  ASSERT_EQ(device().allocate_window(*pd_, KeyKind::kWindow2, mw), 0);
  EXPECT_EQ(device().destroy_pd(*pd_), -EBUSY);
  ASSERT_EQ(device().allocate_memory(*pd_, fast), 0);
  EXPECT_EQ(device().deallocate_window(*mw), 0);
  EXPECT_EQ(device().destroy_pd(*pd_), -EBUSY);
  EXPECT_EQ(device().deregister_memory(*fast), 0);
}

// case 53
TEST_F(MemoryWindows, ATagThatAWorkRequestChoseDoesNotComeBackWithTheSlot) {
  for (int round = 0; round < 2000; ++round) {
    Mr* fast = nullptr;
    ASSERT_EQ(device().allocate_memory(*pd_, fast), 0);
    const Key chosen(fast->key.value() ^ 0x5A);
    ASSERT_EQ(
        memory::register_fast(bed_.keys(), engine(),
                              {buffer_, address(), 256, fast->key, chosen, memory::kLocalWrite}),
        Change::kDone);
    ASSERT_EQ(device().deregister_memory(*fast), 0);
    // The slot is used again after all others.
    std::vector<Mr*> others;
    Mr* other = nullptr;
    while (device().allocate_memory(*pd_, other) == 0) {
      ASSERT_NE(other->key, chosen);
      others.push_back(other);
    }
    for (Mr* each : others) ASSERT_EQ(device().deregister_memory(*each), 0);
  }
}

TEST_F(MemoryWindows, AFastRegionCannotBeReregistered) {
  Mr* fast = nullptr;
  ASSERT_EQ(device().allocate_memory(*pd_, fast), 0);
  EXPECT_EQ(device().reregister_memory(*fast, {.rights = true, .access = kAccess}), -EINVAL);
  EXPECT_EQ(device().deregister_memory(*fast), 0);
}

TEST_F(MemoryWindows, ATypeTwoWindowEndsWithTheQueuePairThatBoundIt) {
  CqHandle cq;
  QpHandle qp;
  Mw* mw = nullptr;
  ASSERT_EQ(device().create_cq(16, nullptr, cq), 0);
  const QpRequest request{
      .capabilities = {4, 4, 2, 2, 64}, .send_cq = cq.object, .recv_cq = cq.object};
  ASSERT_EQ(device().create_qp(*pd_, request, qp), 0);
  ASSERT_EQ(device().allocate_window(*pd_, KeyKind::kWindow2, mw), 0);
  uint64_t ticket = 0;
  ASSERT_EQ(memory::bind_window(bed_.keys(), {pd_->number, qp.qpn, 0, rounds_, wait_},
                                {address(), 64, mw->key, mw->key, mr_->key, memory::kRemoteWrite},
                                ticket),
            Change::kDone);
  EXPECT_EQ(device().deregister_memory(*mr_), -EINVAL);
  EXPECT_EQ(device().destroy_qp(qp), 0);
  EXPECT_EQ(look(mw->key), KeyVerdict::kUnknownKey);
  EXPECT_EQ(bind(mw->key, mw->key), Change::kDone) << "another queue pair may have it";
  EXPECT_EQ(device().deallocate_window(*mw), 0);
  EXPECT_EQ(device().destroy_cq(cq), 0);
}

}  // namespace
}  // namespace uroce::device
