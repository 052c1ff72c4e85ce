// SPDX-License-Identifier: BSD-3-Clause
// Tests of the refusals: by the one error number that programs skip on.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cerrno>

namespace uroce::ibverbs {
namespace {

template <typename Object>
void expect_refused(const Object* made, const char* what) {
  EXPECT_EQ(made, nullptr) << what;
  EXPECT_EQ(errno, EOPNOTSUPP) << what;
  errno = 0;
}

TEST(Unsupported, ImportsAreRefused) {
  errno = 0;
  expect_refused(ibv_import_device(3), "device");
  expect_refused(ibv_import_pd(nullptr, 1), "pd");
  expect_refused(ibv_import_mr(nullptr, 1), "mr");
  expect_refused(ibv_import_dm(nullptr, 1), "dm");
  ibv_unimport_pd(nullptr);
  ibv_unimport_mr(nullptr);
  ibv_unimport_dm(nullptr);
}

TEST(Unsupported, MemoryOfOtherDevicesIsRefused) {
  errno = 0;
  expect_refused(ibv_reg_dmabuf_mr(nullptr, 0, 4096, 0, 5, IBV_ACCESS_LOCAL_WRITE), "dmabuf");
}

// librdmacm goes on after exactly this value.
TEST(Unsupported, OptionsOfAVendorAreRefused) {
  ibv_ece ece{};
  EXPECT_EQ(ibv_set_ece(nullptr, &ece), EOPNOTSUPP);
  EXPECT_EQ(ibv_query_ece(nullptr, &ece), EOPNOTSUPP);
}

TEST(Unsupported, NoOrderIsPromised) {
  EXPECT_EQ(ibv_query_qp_data_in_order(nullptr, IBV_WR_RDMA_WRITE, 0), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
