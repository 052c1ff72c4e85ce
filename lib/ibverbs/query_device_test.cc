// SPDX-License-Identifier: BSD-3-Clause
// Tests of what a device says it can do.
#include <gtest/gtest.h>

#include "ibverbs/face_fixture.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {
namespace {

TEST_F(FaceTest, SaysWhatTheDeviceCanDoWithoutStartingIt) {
  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context_, &attr), 0);
  EXPECT_EQ(attr.max_qp, static_cast<int>(bed().device().qp_max()));
  EXPECT_EQ(attr.max_mr, static_cast<int>(bed().device().mr_max()));
  EXPECT_EQ(attr.max_sge, 32);
  EXPECT_EQ(attr.max_srq, 1024);
  EXPECT_EQ(attr.max_pkeys, 1);
  EXPECT_EQ(attr.phys_port_cnt, 1);
  EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_HCA);  // no more: see UCX
  EXPECT_EQ(attr.max_raw_ethy_qp, 0);
  EXPECT_NE(attr.vendor_id, 0u);
  EXPECT_EQ(attr.node_guid, ibv_get_device_guid(context_->device));
  EXPECT_EQ(attr.sys_image_guid, attr.node_guid);
  EXPECT_EQ(runtime_.running(0), nullptr);
}

// Programs ask for queues that could take everything, and use little of them.
TEST_F(FaceTest, HasVeryLongCompletionQueues) {
  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context_, &attr), 0);
  EXPECT_GE(attr.max_cqe, 4194303);
}

TEST_F(FaceTest, AnswersThroughTheOldTableToo) {
  ibv_device_attr plain{};
  ibv_device_attr old{};
  ASSERT_EQ(ibv_query_device(context_, &plain), 0);
  ASSERT_EQ(context_->ops._compat_query_device(context_, &old), 0);
  EXPECT_EQ(bytes_of(plain), bytes_of(old));
}

TEST_F(FaceTest, SaysMoreInTheExtendedAttributes) {
  ibv_device_attr_ex attr{};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &attr), 0);
  EXPECT_EQ(attr.orig_attr.max_sge, 32);
  EXPECT_EQ(attr.phys_port_cnt_ex, 1u);
  EXPECT_EQ(attr.device_cap_flags_ex, attr.orig_attr.device_cap_flags);
  EXPECT_NE(attr.device_cap_flags_ex & IBV_DEVICE_XRC, 0u);
  EXPECT_EQ(attr.completion_timestamp_mask, UINT64_MAX);
  EXPECT_EQ(attr.hca_core_clock, 1'000'000u) << "kHz";
  EXPECT_EQ(attr.odp_caps.general_caps, uint64_t{IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT});
  EXPECT_NE(attr.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_ATOMIC, 0u);
  EXPECT_EQ(attr.odp_caps.per_transport_caps.ud_odp_caps & IBV_ODP_SUPPORT_WRITE, 0u);
  EXPECT_NE(attr.xrc_odp_caps & IBV_ODP_SUPPORT_SRQ_RECV, 0u);
  EXPECT_EQ(attr.cq_mod_caps.max_cq_count, UINT16_MAX);
  EXPECT_GT(attr.max_dm_size, 0u);
  EXPECT_EQ(attr.tm_caps.max_num_tags, 0u);
  EXPECT_EQ(attr.rss_caps.supported_qpts, 0u);
  EXPECT_EQ(attr.tso_caps.max_tso, 0u);
}

// A program made with an older header has less room for them.
TEST_F(FaceTest, FillsAsMuchOfTheExtendedAttributesAsTheProgramKnows) {
  ibv_device_attr_ex attr;
  std::memset(&attr, 0x55, sizeof attr);
  const size_t known = offsetof(ibv_device_attr_ex, odp_caps);
  ASSERT_EQ(query_device_ex(context_, nullptr, &attr, known), 0);
  EXPECT_EQ(attr.orig_attr.max_sge, 32);
  EXPECT_EQ(attr.odp_caps.general_caps, 0x5555555555555555u);
  EXPECT_EQ(query_device_ex(context_, nullptr, &attr, sizeof attr.orig_attr - 1), EINVAL);
  const ibv_query_device_ex_input more{.comp_mask = 1};
  EXPECT_EQ(query_device_ex(context_, &more, &attr, sizeof attr), EINVAL);
}

TEST_F(FaceTest, HasAClockThatBeginsWithTheDevice) {
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  values.raw_clock.tv_sec = 7;
  ASSERT_EQ(ibv_query_rt_values_ex(context_, &values), 0);
  EXPECT_EQ(values.raw_clock.tv_sec, 0);
  EXPECT_EQ(values.raw_clock.tv_nsec, 0);
  ibv_pd* const pd = ibv_alloc_pd(context_);
  bed().pass(std::chrono::milliseconds(1500));
  const auto now = bed().clock().time_since_epoch();
  ASSERT_EQ(ibv_query_rt_values_ex(context_, &values), 0);
  EXPECT_EQ(std::chrono::seconds(values.raw_clock.tv_sec) +
                std::chrono::nanoseconds(values.raw_clock.tv_nsec),
            now);
  values.comp_mask = 2;
  EXPECT_EQ(ibv_query_rt_values_ex(context_, &values), EINVAL);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
