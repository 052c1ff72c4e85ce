// SPDX-License-Identifier: BSD-3-Clause
// Tests of protection domains and memory regions.
#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "device/device_fixture.h"

namespace uroce::device {
namespace {

using memory::KeyVerdict;

class MemoryRegions : public testing::Test {
 protected:
  MemoryRegions() { EXPECT_EQ(device().start(), 0); }
  Device& device() { return bed_.device(); }
  Pd* pd() {
    Pd* created = nullptr;
    EXPECT_EQ(device().create_pd(created), 0);
    return created;
  }
  int reg(Pd& domain, const void* start, uint64_t length, uint32_t access, Mr*& mr) {
    const auto address = reinterpret_cast<uint64_t>(start);
    return device().register_memory(domain, address, length, address, access, mr);
  }
  KeyVerdict look(Key key, const Pd& domain, uint32_t wanted, const void* address,
                  uint64_t length) {
    uint8_t* pointer = nullptr;
    const auto number = reinterpret_cast<uint64_t>(address);
    const KeyVerdict verdict =
        bed_.keys().translate(key, domain.number, wanted, number, length, pointer);
    if (verdict == KeyVerdict::kGood) {
      EXPECT_EQ(pointer, address);
    }
    return verdict;
  }
  TestBed bed_;
  uint8_t buffer_[256] = {};
};

// PD-01.
TEST_F(MemoryRegions, TheDmaKeyOfADomainCoversAllMemoryButGivesNoRemoteRight) {
  Pd* domain = pd();
  EXPECT_EQ(domain->use_count, 0u);
  EXPECT_EQ(look(domain->dma_key, *domain, memory::kLocalWrite, buffer_, 256), KeyVerdict::kGood);
  EXPECT_EQ(look(domain->dma_key, *domain, memory::kRemoteRead, buffer_, 1), KeyVerdict::kNoAccess);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

// PD-02.
TEST(MemoryRegionLimits, DomainsAndKeysRunOut) {
  TestBedOptions options;
  options.limits.pd_max = 2;
  options.keys = 3;
  TestBed bed(options);
  ASSERT_EQ(bed.device().start(), 0);
  Pd* a = nullptr;
  Pd* b = nullptr;
  Pd* c = nullptr;
  ASSERT_EQ(bed.device().create_pd(a), 0);
  ASSERT_EQ(bed.device().create_pd(b), 0);
  EXPECT_EQ(bed.device().create_pd(c), -ENOMEM);
  uint8_t byte = 0;
  Mr* mr = nullptr;
  Mr* none = nullptr;
  const auto address = reinterpret_cast<uint64_t>(&byte);
  EXPECT_EQ(bed.device().register_memory(*a, address, 1, address, 0, mr), 0);
  EXPECT_EQ(bed.device().register_memory(*a, address, 1, address, 0, none), -ENOMEM);
  EXPECT_EQ(bed.device().deregister_memory(*mr), 0);
  EXPECT_EQ(bed.device().destroy_pd(*a), 0);
  EXPECT_EQ(bed.device().destroy_pd(*b), 0);
}

// PD-03.
TEST_F(MemoryRegions, AKeyOfAnotherDomainIsRefused) {
  Pd* mine = pd();
  Pd* other = pd();
  Mr* mr = nullptr;
  ASSERT_EQ(reg(*mine, buffer_, 256, memory::kLocalWrite, mr), 0);
  EXPECT_EQ(look(mr->key, *other, 0, buffer_, 1), KeyVerdict::kWrongDomain);
  EXPECT_EQ(look(other->dma_key, *mine, 0, buffer_, 1), KeyVerdict::kWrongDomain);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*mine), 0);
  EXPECT_EQ(device().destroy_pd(*other), 0);
}

// PD-04, PD-05, MR-10, MR-13.
TEST_F(MemoryRegions, ADomainInUseStaysAndARetiredKeyIsDead) {
  Pd* domain = pd();
  Mr* mr = nullptr;
  ASSERT_EQ(reg(*domain, buffer_, 256, memory::kLocalWrite, mr), 0);
  const Key key = mr->key;
  EXPECT_EQ(look(key, *domain, memory::kLocalWrite, buffer_ + 1, 255), KeyVerdict::kGood);
  EXPECT_EQ(look(key, *domain, 0, buffer_ + 1, 256), KeyVerdict::kOutOfRange);
  EXPECT_EQ(device().destroy_pd(*domain), -EBUSY);
  EXPECT_EQ(look(key, *domain, 0, buffer_, 1), KeyVerdict::kGood) << "and it still works";
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(look(key, *domain, 0, buffer_, 1), KeyVerdict::kUnknownKey);
  EXPECT_EQ(domain->use_count, 0u);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

// case 56
TEST_F(MemoryRegions, BadArgumentsAreErrorsAtRegistration) {
  Pd* domain = pd();
  Mr* mr = nullptr;
  EXPECT_EQ(reg(*domain, buffer_, 0, 0, mr), -EINVAL);
  EXPECT_EQ(reg(*domain, nullptr, 1, 0, mr), -EFAULT);
  EXPECT_EQ(reg(*domain, "constant", 1, memory::kLocalWrite, mr), -EFAULT);
  EXPECT_EQ(reg(*domain, buffer_, UINT64_MAX, 0, mr), -EINVAL) << "wraps around";
  EXPECT_EQ(reg(*domain, buffer_, 1, memory::kRemoteWrite, mr), -EINVAL);
  EXPECT_EQ(reg(*domain, buffer_, 1, memory::kRemoteAtomic, mr), -EINVAL);
  EXPECT_EQ(reg(*domain, buffer_, 1, 1u << 10, mr), -EINVAL);
  EXPECT_EQ(domain->use_count, 0u);
  ASSERT_EQ(reg(*domain, buffer_, 1, 1u << 20, mr), 0) << "optional bits may be ignored";
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  ASSERT_EQ(reg(*domain, buffer_, 1, memory::kFlushGlobal | memory::kFlushPersistent, mr), 0);
  EXPECT_EQ(mr->region.access, memory::kFlushGlobal | memory::kFlushPersistent);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

TEST_F(MemoryRegions, ARegionMayHaveAnotherAddressThanItsMemory) {
  Pd* domain = pd();
  Mr* mr = nullptr;
  ASSERT_EQ(
      device().register_memory(*domain, reinterpret_cast<uint64_t>(buffer_), 256, 0x1000, 0, mr),
      0);
  uint8_t* pointer = nullptr;
  EXPECT_EQ(bed_.keys().translate(mr->key, domain->number, 0, 0x1010, 16, pointer),
            KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer_ + 0x10);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

// case 52
TEST_F(MemoryRegions, ARangeThatWrapsAroundIsNoRegion) {
  Pd* domain = pd();
  Mr* mr = nullptr;
  const auto start = reinterpret_cast<uint64_t>(buffer_);
  EXPECT_EQ(device().register_memory(*domain, start, 256, UINT64_MAX - 100, 0, mr), -EINVAL);
  EXPECT_EQ(device().register_memory(*domain, UINT64_MAX - 100, 256, 0, 0, mr), -EINVAL);
  ASSERT_EQ(device().register_memory(*domain, start, 256, UINT64_MAX - 256, 0, mr), 0);
  uint8_t* pointer = nullptr;
  EXPECT_EQ(bed_.keys().translate(mr->key, domain->number, 0, UINT64_MAX - 1, 1, pointer),
            KeyVerdict::kGood);
  EXPECT_EQ(bed_.keys().translate(mr->key, domain->number, 0, UINT64_MAX - 1, 2, pointer),
            KeyVerdict::kOutOfRange);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

TEST_F(MemoryRegions, AZeroBasedRegionCountsFromItsStart) {
  Pd* domain = pd();
  Mr* mr = nullptr;
  ASSERT_EQ(reg(*domain, buffer_, 256, memory::kZeroBased, mr), 0);
  uint8_t* pointer = nullptr;
  ASSERT_EQ(bed_.keys().translate(mr->key, domain->number, 0, 255, 1, pointer), KeyVerdict::kGood);
  EXPECT_EQ(pointer, buffer_ + 255);
  EXPECT_EQ(bed_.keys().translate(mr->key, domain->number, 0, 255, 2, pointer),
            KeyVerdict::kOutOfRange);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

class Reregistration : public MemoryRegions {
 protected:
  Reregistration() {
    domain_ = pd();
    EXPECT_EQ(reg(*domain_, buffer_, 128, memory::kLocalWrite, mr_), 0);
    key_ = mr_->key;
  }
  ~Reregistration() override {
    EXPECT_EQ(device().deregister_memory(*mr_), 0);
    EXPECT_EQ(device().destroy_pd(*domain_), 0);
  }
  Pd* domain_ = nullptr;
  Mr* mr_ = nullptr;
  Key key_;
};

TEST_F(Reregistration, ChangesThePlaceUnderTheSameKey) {
  const auto start = reinterpret_cast<uint64_t>(buffer_ + 64);
  ASSERT_EQ(device().reregister_memory(
                *mr_, {.translation = true, .start = start, .length = 192, .iova = start}),
            0);
  EXPECT_EQ(mr_->key, key_);
  EXPECT_EQ(look(key_, *domain_, memory::kLocalWrite, buffer_ + 64, 192), KeyVerdict::kGood);
  EXPECT_EQ(look(key_, *domain_, 0, buffer_, 1), KeyVerdict::kOutOfRange);
}

TEST_F(Reregistration, ChangesTheRights) {
  ASSERT_EQ(device().reregister_memory(*mr_, {.rights = true, .access = memory::kRemoteRead}), 0);
  EXPECT_EQ(look(key_, *domain_, memory::kRemoteRead, buffer_, 128), KeyVerdict::kGood);
  EXPECT_EQ(look(key_, *domain_, memory::kLocalWrite, buffer_, 1), KeyVerdict::kNoAccess);
}

TEST_F(Reregistration, BecomesZeroBasedAndBack) {
  ASSERT_EQ(device().reregister_memory(*mr_, {.rights = true, .access = memory::kZeroBased}), 0);
  uint8_t* pointer = nullptr;
  EXPECT_EQ(bed_.keys().translate(key_, domain_->number, 0, 0, 128, pointer), KeyVerdict::kGood);
  ASSERT_EQ(device().reregister_memory(*mr_, {.rights = true, .access = 0}), 0);
  EXPECT_EQ(look(key_, *domain_, 0, buffer_, 128), KeyVerdict::kGood);
}

TEST_F(Reregistration, MovesToAnotherDomain) {
  Pd* other = pd();
  ASSERT_EQ(device().reregister_memory(*mr_, {.pd = other}), 0);
  EXPECT_EQ(look(key_, *domain_, 0, buffer_, 1), KeyVerdict::kWrongDomain);
  EXPECT_EQ(look(key_, *other, 0, buffer_, 1), KeyVerdict::kGood);
  EXPECT_EQ(domain_->use_count, 0u);
  EXPECT_EQ(device().destroy_pd(*other), -EBUSY);
  ASSERT_EQ(device().reregister_memory(*mr_, {.pd = domain_}), 0);
  EXPECT_EQ(device().destroy_pd(*other), 0);
}

TEST_F(Reregistration, AFailureChangesNothing) {
  EXPECT_EQ(device().reregister_memory(*mr_, {.rights = true, .access = memory::kRemoteWrite}),
            -EINVAL);
  EXPECT_EQ(device().reregister_memory(*mr_, {.translation = true, .start = 8, .length = 8}),
            -EFAULT);
  EXPECT_EQ(device().reregister_memory(*mr_, {.translation = true, .start = 8, .length = 0}),
            -EINVAL);
  const auto constant = reinterpret_cast<uint64_t>("constant");
  EXPECT_EQ(device().reregister_memory(*mr_, {.translation = true, .start = constant, .length = 8}),
            -EFAULT)
      << "the right to write stays, and this cannot be written";
  EXPECT_EQ(look(key_, *domain_, memory::kLocalWrite, buffer_, 128), KeyVerdict::kGood);
}

TEST(ReregistrationOfAStuckEngine, LeavesTheOldRegistrationInForce) {
  TestBedOptions options;
  options.mode = engine::DriveMode::kInlineShared;
  TestBed bed(options);
  ASSERT_EQ(bed.device().start(), 0);
  Pd* domain = nullptr;
  Mr* mr = nullptr;
  ASSERT_EQ(bed.device().create_pd(domain), 0);
  uint8_t bytes[64] = {};
  const auto start = reinterpret_cast<uint64_t>(bytes);
  ASSERT_EQ(bed.device().register_memory(*domain, start, 64, start, 0, mr), 0);
  bed.seat().epoch().begin_turn(false);
  bed.on_clock = [&bed] { bed.pass(std::chrono::milliseconds(100)); };
  EXPECT_EQ(bed.device().reregister_memory(
                *mr, {.translation = true, .start = start, .length = 8, .iova = start}),
            -ETIMEDOUT);
  bed.on_clock = nullptr;
  bed.seat().epoch().end_turn();
  uint8_t* pointer = nullptr;
  EXPECT_EQ(bed.keys().translate(mr->key, domain->number, 0, start, 64, pointer),
            KeyVerdict::kGood);
  EXPECT_EQ(bed.device().deregister_memory(*mr), 0);
  EXPECT_EQ(bed.device().destroy_pd(*domain), 0);
}

// Pages on demand: nothing is looked at, so a region may be of memory that is not there yet, and of
// the whole address space.
TEST_F(MemoryRegions, OnDemandMemoryIsNotTouched) {
  constexpr uint32_t kOnDemand = 1u << 6;
  Pd* domain = pd();
  Mr* mr = nullptr;
  ASSERT_EQ(device().register_memory(*domain, 0, UINT64_MAX, 0, kOnDemand, mr), 0);
  EXPECT_EQ(look(mr->key, *domain, 0, buffer_, 256), KeyVerdict::kGood);
  EXPECT_EQ(look(mr->key, *domain, memory::kLocalWrite, buffer_, 1), KeyVerdict::kNoAccess);
  EXPECT_EQ(device().reregister_memory(*mr, {.translation = true, .start = 8, .length = 8}), 0)
      << "it stays on demand";
  EXPECT_EQ(device().reregister_memory(*mr, {.rights = true, .access = memory::kLocalWrite}),
            -EFAULT)
      << "now it would be touched";
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

TEST_F(MemoryRegions, APieceOfOneIsPrefetchedByItsKey) {
  Pd* domain = pd();
  Pd* other = nullptr;
  ASSERT_EQ(device().create_pd(other), 0);
  Mr* mr = nullptr;
  ASSERT_EQ(reg(*domain, buffer_, 256, 0, mr), 0);
  const auto start = reinterpret_cast<uint64_t>(buffer_);
  const memory::Sge whole{start, 256, mr->key.value()};
  EXPECT_EQ(device().prefetch_memory(*domain, whole, Prefetch::kRead), 0);
  EXPECT_EQ(device().prefetch_memory(*domain, whole, Prefetch::kNothing), 0);
  EXPECT_EQ(device().prefetch_memory(*domain, whole, Prefetch::kWrite), -EPERM);
  EXPECT_EQ(device().prefetch_memory(*other, whole, Prefetch::kRead), -EPERM);
  EXPECT_EQ(device().prefetch_memory(*domain, {start, 257, whole.lkey}, Prefetch::kNothing),
            -EFAULT);
  EXPECT_EQ(device().prefetch_memory(*domain, {start, 1, whole.lkey ^ 1}, Prefetch::kRead),
            -ENOENT);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  ASSERT_EQ(device().register_memory(*domain, 0, UINT64_MAX, 0, 1u << 6, mr), 0);
  EXPECT_EQ(device().prefetch_memory(*domain, {8, 8, mr->key.value()}, Prefetch::kRead), -EFAULT);
  EXPECT_EQ(device().prefetch_memory(*domain, {8, 8, mr->key.value()}, Prefetch::kNothing), 0);
  EXPECT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*other), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

// case 53: every live key works, all differ, none is 0, and every retired one is dead, also when
// its slot is in use again.
TEST_F(MemoryRegions, KeysSurviveLongChurn) {
  Pd* domain = pd();
  std::deque<Mr*> live;
  std::deque<Key> retired;
  for (int i = 0; i < 200'000; ++i) {
    if (live.size() == 10) {
      retired.push_back(live.front()->key);
      if (retired.size() > 60) retired.pop_front();
      ASSERT_EQ(device().deregister_memory(*live.front()), 0);
      live.pop_front();
    }
    Mr* mr = nullptr;
    ASSERT_EQ(reg(*domain, buffer_, 256, memory::kLocalWrite, mr), 0);
    live.push_back(mr);
    ASSERT_NE(mr->key.index(), 0u);
    for (const Mr* each : live) {
      ASSERT_EQ(look(each->key, *domain, 0, buffer_, 256), KeyVerdict::kGood);
      ASSERT_TRUE(each == mr || each->key != mr->key);
    }
    for (const Key key : retired) {
      ASSERT_EQ(look(key, *domain, 0, buffer_, 1), KeyVerdict::kUnknownKey);
    }
  }
  for (Mr* mr : live) ASSERT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

// case 55
TEST(MemoryRegionKeys, AreNotSequential) {
  TestBedOptions options;
  options.keys = 2048;
  TestBed bed(options);
  ASSERT_EQ(bed.device().start(), 0);
  Pd* domain = nullptr;
  ASSERT_EQ(bed.device().create_pd(domain), 0);
  uint8_t byte = 0;
  const auto address = reinterpret_cast<uint64_t>(&byte);
  std::vector<Mr*> regions(1000);
  int neighbours = 0;
  std::set<uint8_t> tags;
  for (size_t i = 0; i < regions.size(); ++i) {
    ASSERT_EQ(bed.device().register_memory(*domain, address, 1, address, 0, regions[i]), 0);
    tags.insert(regions[i]->key.tag());
    if (i == 0) continue;
    const int64_t step = int64_t{regions[i]->key.index()} - regions[i - 1]->key.index();
    if (step == 1 || step == -1) ++neighbours;
  }
  EXPECT_LT(neighbours, 20);
  EXPECT_GT(tags.size(), 200u);
  for (Mr* mr : regions) EXPECT_EQ(bed.device().deregister_memory(*mr), 0);
  EXPECT_EQ(bed.device().destroy_pd(*domain), 0);
}

}  // namespace
}  // namespace uroce::device
