// SPDX-License-Identifier: BSD-3-Clause
// Tests of XRC domains as objects: what lives where, who holds whom, in which order things may go.
#include <gtest/gtest.h>

#include <set>

#include "device/device_fixture.h"
#include "transport/xrc_queue_table.h"

namespace uroce::device {
namespace {

using transport::QpType;

class XrcDomains : public ObjectsBed, public testing::Test {
 protected:
  XrcDomains() : ObjectsBed(TestBedOptions{.engines = 2, .qp_slots = 8}) {}
  Xrcd& make_domain() {
    Xrcd* xrcd = nullptr;
    EXPECT_EQ(device().create_xrcd(xrcd), 0);
    return *xrcd;
  }
  QpRequest target(Xrcd& xrcd) {
    QpRequest wanted;
    wanted.type = QpType::kXrcTgt;
    wanted.xrcd = &xrcd;
    wanted.user = this;
    return wanted;
  }
  SrqRequest queue(Xrcd& xrcd) {
    return {.xrcd = &xrcd, .cq = cq_.object, .wr_max = 8, .sge_max = 2, .limit = 0, .user = this};
  }
};

TEST_F(XrcDomains, EverythingInADomainLivesOnItsEngine) {
  Xrcd& one = make_domain();
  QpHandle fillers[3];  // the other engine becomes the emptier one
  for (QpHandle& qp : fillers) ASSERT_EQ(device().create_xrc_target(target(one), qp), 0);
  Xrcd& other = make_domain();
  EXPECT_NE(one.engine, other.engine);
  EXPECT_NE(one.number, other.number);
  SrqHandle srq;
  ASSERT_EQ(device().create_srq(*pd_, queue(one), srq), 0);
  EXPECT_EQ(srq.object->engine, one.engine);
  EXPECT_EQ(srq.object->queue.domain, one.number);
  for (QpHandle& qp : fillers) {
    EXPECT_EQ(qp.object->engine, one.engine);
    EXPECT_TRUE(qp.shares_receives);
    EXPECT_EQ(device().destroy_qp(qp), 0);
  }
  EXPECT_EQ(device().destroy_srq(srq), 0);
  EXPECT_EQ(device().destroy_xrcd(one), 0);
  EXPECT_EQ(device().destroy_xrcd(other), 0);
}

TEST_F(XrcDomains, ADomainStaysWhileSomethingIsInIt) {
  Xrcd& xrcd = make_domain();
  QpHandle qp;
  SrqHandle srq;
  ASSERT_EQ(device().create_xrc_target(target(xrcd), qp), 0);
  EXPECT_EQ(device().destroy_xrcd(xrcd), -EBUSY);
  ASSERT_EQ(device().create_srq(*pd_, queue(xrcd), srq), 0);
  EXPECT_EQ(device().destroy_qp(qp), 0);
  EXPECT_EQ(device().destroy_xrcd(xrcd), -EBUSY);
  EXPECT_EQ(device().destroy_cq(cq_), -EBUSY);
  EXPECT_EQ(device().destroy_pd(*pd_), -EBUSY);
  EXPECT_EQ(device().destroy_srq(srq), 0);
  EXPECT_EQ(device().destroy_xrcd(xrcd), 0);
}

TEST_F(XrcDomains, NumbersAreUniqueAndOf24Bits) {
  Xrcd& xrcd = make_domain();
  SrqHandle srqs[20];
  std::set<uint32_t> numbers;
  for (SrqHandle& srq : srqs) {
    ASSERT_EQ(device().create_srq(*pd_, queue(xrcd), srq), 0);
    const uint32_t number = srq.object->queue.number;
    EXPECT_NE(number, 0u);
    EXPECT_LT(number, 1u << 24);
    EXPECT_LE(transport::XrcQueueTable::index_of(number), transport::XrcQueueTable::kQueuesMax);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), std::size(srqs));
  for (SrqHandle& srq : srqs) EXPECT_EQ(device().destroy_srq(srq), 0);
  EXPECT_EQ(device().destroy_xrcd(xrcd), 0);
}

TEST_F(XrcDomains, AnInitiatorNeedsASendCqOnly) {
  QpRequest wanted = request(QpType::kXrcIni);
  wanted.capabilities.recv_wr_max = 1'000'000;  // not looked at
  QpHandle qp;
  ASSERT_EQ(device().create_qp(*pd_, wanted, qp), 0);
  EXPECT_EQ(qp.object->recv_cq, nullptr);
  EXPECT_EQ(qp.capabilities.recv_wr_max, 0u);
  EXPECT_TRUE(qp.shares_receives);
  EXPECT_EQ(device().destroy_qp(qp), 0);
  wanted.send_cq = nullptr;
  EXPECT_EQ(device().create_qp(*pd_, wanted, qp), -EINVAL);
}

TEST_F(XrcDomains, ATargetNeedsItsDomain) {
  QpHandle qp;
  QpRequest wanted = request(QpType::kXrcTgt);
  EXPECT_EQ(device().create_xrc_target(wanted, qp), -EINVAL);
  EXPECT_EQ(device().create_qp(*pd_, wanted, qp), -EINVAL);
}

}  // namespace
}  // namespace uroce::device
