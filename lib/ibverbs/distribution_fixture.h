// SPDX-License-Identifier: BSD-3-Clause
// For tests: the distribution's own libibverbs.so.1, whose answers ours are compared with.
#ifndef UROCE_IBVERBS_DISTRIBUTION_FIXTURE_H
#define UROCE_IBVERBS_DISTRIBUTION_FIXTURE_H

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace uroce::ibverbs {

// Skips where it is not installed.
class DistributionTest : public testing::Test {
 protected:
  void SetUp() override {
    static void* const library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    library_ = library;
    if (library_ == nullptr) GTEST_SKIP() << dlerror();
  }

  // `ours` only tells the type.
  template <typename Function>
  Function* theirs(const char* name, Function* /*ours*/) const {
    void* const symbol = dlsym(library_, name);
    EXPECT_NE(symbol, nullptr) << name;
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  void* library_ = nullptr;
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_DISTRIBUTION_FIXTURE_H
