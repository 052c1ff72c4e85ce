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

// Cases 56.
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
  EXPECT_EQ(reg(*domain, buffer_, 1, 1u << 6, mr), -EOPNOTSUPP) << "on demand";
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

// Cases 53, shortened: every live key works, every retired one is dead, also when its slot is used.
TEST_F(MemoryRegions, KeysSurviveLongChurn) {
  Pd* domain = pd();
  std::deque<Mr*> live;
  std::deque<Key> retired;
  for (int i = 0; i < 20'000; ++i) {
    if (live.size() == 10) {
      retired.push_back(live.front()->key);
      if (retired.size() > 50) retired.pop_front();
      ASSERT_EQ(device().deregister_memory(*live.front()), 0);
      live.pop_front();
    }
    Mr* mr = nullptr;
    ASSERT_EQ(reg(*domain, buffer_, 256, memory::kLocalWrite, mr), 0);
    live.push_back(mr);
    ASSERT_EQ(look(live.front()->key, *domain, 0, buffer_, 256), KeyVerdict::kGood);
    for (const Key key : retired) {
      ASSERT_EQ(look(key, *domain, 0, buffer_, 1), KeyVerdict::kUnknownKey);
    }
  }
  for (Mr* mr : live) ASSERT_EQ(device().deregister_memory(*mr), 0);
  EXPECT_EQ(device().destroy_pd(*domain), 0);
}

}  // namespace
}  // namespace uroce::device
