// SPDX-License-Identifier: BSD-3-Clause
// Tests of XRC domains, targets and their handles, and shared receive queues in a domain.
#include "ibverbs/xrc.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "ibverbs/face_fixture.h"

namespace uroce::ibverbs {
namespace {

// A file without a name.
class TemporaryFile {
 public:
  TemporaryFile() {
    char name[] = "/tmp/uroce-xrc-XXXXXX";
    fd_ = mkstemp(name);
    EXPECT_GE(fd_, 0);
    unlink(name);
  }
  ~TemporaryFile() { close(fd_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

class XrcTest : public QueuesTest {
 protected:
  XrcTest() { xrcd_ = open_domain(context_, -1); }
  ~XrcTest() override { EXPECT_EQ(ibv_close_xrcd(xrcd_), 0); }

  static ibv_xrcd* open_domain(ibv_context* context, int fd, int oflags = O_CREAT) {
    ibv_xrcd_init_attr attr{
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags};
    errno = 0;
    return ibv_open_xrcd(context, &attr);
  }
  ibv_qp* make_target() {
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = IBV_QPT_XRC_RECV;
    attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    attr.xrcd = xrcd_;
    attr.qp_context = this;
    ibv_qp* const qp = ibv_create_qp_ex(context_, &attr);
    EXPECT_NE(qp, nullptr);
    return qp;
  }
  static ibv_qp* open_target(ibv_context* context, ibv_xrcd* xrcd, uint32_t number,
                             void* user = nullptr) {
    ibv_qp_open_attr attr{};
    attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE |
                     IBV_QP_OPEN_ATTR_CONTEXT;
    attr.qp_num = number;
    attr.xrcd = xrcd;
    attr.qp_context = user;
    attr.qp_type = IBV_QPT_XRC_RECV;
    errno = 0;
    return ibv_open_qp(context, &attr);
  }
  ibv_srq* make_srq() {
    ibv_srq_init_attr_ex attr{};
    attr.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
    attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
                     IBV_SRQ_INIT_ATTR_CQ;
    attr.srq_type = IBV_SRQT_XRC;
    attr.pd = pd_;
    attr.xrcd = xrcd_;
    attr.cq = cq_;
    ibv_srq* const srq = ibv_create_srq_ex(context_, &attr);
    EXPECT_NE(srq, nullptr);
    return srq;
  }
  ibv_xrcd* xrcd_ = nullptr;
};

TEST_F(XrcTest, DomainsWithoutAFileAreEachTheirOwn) {
  ibv_xrcd* const other = open_domain(context_, -1);
  ASSERT_NE(other, nullptr);
  EXPECT_NE(of(other).object, of(xrcd_).object);
  EXPECT_EQ(ibv_close_xrcd(other), 0);
}

TEST_F(XrcTest, DomainsOfOneFileAreOne) {
  const TemporaryFile file;
  const TemporaryFile stranger;
  EXPECT_EQ(open_domain(context_, file.fd(), 0), nullptr);
  EXPECT_EQ(errno, EAGAIN) << "there is none yet, and none may be made";
  ibv_xrcd* const first = open_domain(context_, file.fd());
  ASSERT_NE(first, nullptr);
  ibv_context* const elsewhere = ibv_open_device(devices_[0]);
  const int copy = dup(file.fd());
  ibv_xrcd* const second = open_domain(elsewhere, copy, 0);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(of(first).object, of(second).object);
  ibv_xrcd* const another = open_domain(context_, stranger.fd());
  ASSERT_NE(another, nullptr);
  EXPECT_NE(of(another).object, of(first).object);
  EXPECT_EQ(open_domain(context_, copy, O_CREAT | O_EXCL), nullptr);
  EXPECT_EQ(errno, EINVAL);
  close(copy);
  EXPECT_EQ(ibv_close_xrcd(first), 0);
  EXPECT_EQ(ibv_close_xrcd(second), 0);
  EXPECT_EQ(ibv_close_xrcd(another), 0);
  ibv_xrcd* const anew = open_domain(context_, file.fd(), O_CREAT | O_EXCL);
  ASSERT_NE(anew, nullptr) << "the last one that closed it ended it";
  EXPECT_EQ(ibv_close_xrcd(anew), 0);
  EXPECT_EQ(ibv_close_device(elsewhere), 0);
}

TEST_F(XrcTest, DomainsOfOneFileAreEachDevicesOwn) {
  const TemporaryFile file;
  ibv_context* const other = ibv_open_device(devices_[1]);
  ibv_xrcd* const first = open_domain(context_, file.fd());
  ibv_xrcd* const second = open_domain(other, file.fd(), O_CREAT | O_EXCL);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(ibv_close_xrcd(first), 0);
  EXPECT_EQ(ibv_close_xrcd(second), 0);
  EXPECT_EQ(ibv_close_device(other), 0);
}

TEST_F(XrcTest, DomainsNeedTheirAttributesAndAFileThatIsOpen) {
  ibv_xrcd_init_attr attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1, .oflags = O_CREAT};
  errno = 0;
  EXPECT_EQ(ibv_open_xrcd(context_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(open_domain(context_, 1 << 20), nullptr);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(XrcTest, ATargetKeepsItsDomain) {
  ibv_qp* const target = make_target();
  EXPECT_EQ(target->qp_type, IBV_QPT_XRC_RECV);
  EXPECT_EQ(target->pd, nullptr);
  EXPECT_EQ(target->qp_context, this);
  EXPECT_EQ(ibv_close_xrcd(xrcd_), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
}

TEST_F(XrcTest, ATargetIsModifiedAndQueried) {
  ibv_qp* const target = make_target();
  bring_to(target, IBV_QPS_RTR, 0x77);
  ibv_qp_attr attr{};
  ibv_qp_init_attr made{};
  EXPECT_EQ(ibv_query_qp(target, &attr, 0, &made), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTR);
  EXPECT_EQ(attr.dest_qp_num, 0x77u);
  EXPECT_EQ(made.qp_type, IBV_QPT_XRC_RECV);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
}

TEST_F(XrcTest, ATargetLivesUntilItsLastHandleIsClosed) {
  ibv_qp* const first = make_target();
  const uint32_t number = first->qp_num;
  int mark = 0;
  ibv_qp* const second = open_target(context_, xrcd_, number, &mark);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->qp_num, number);
  EXPECT_EQ(second->qp_context, &mark);
  EXPECT_EQ(&real_of(*second), &real_of(*first));
  EXPECT_EQ(ibv_destroy_qp(first), 0);
  bring_to(second, IBV_QPS_INIT);
  EXPECT_EQ(ibv_close_xrcd(xrcd_), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(second), 0);
  EXPECT_EQ(open_target(context_, xrcd_, number), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(XrcTest, ATargetIsOpenedByItsNumberInItsDomain) {
  ibv_qp* const target = make_target();
  EXPECT_EQ(open_target(context_, xrcd_, target->qp_num ^ 1), nullptr);
  ibv_xrcd* const other = open_domain(context_, -1);
  EXPECT_EQ(open_target(context_, other, target->qp_num), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_qp_open_attr attr{};
  attr.comp_mask = IBV_QP_OPEN_ATTR_NUM;
  attr.qp_num = target->qp_num;
  EXPECT_EQ(ibv_open_qp(context_, &attr), nullptr);
  EXPECT_EQ(ibv_close_xrcd(other), 0);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
}

TEST_F(XrcTest, EveryHandleIsToldOfTheTargetsEvents) {
  ibv_qp* const first = make_target();
  ibv_context* const elsewhere = ibv_open_device(devices_[0]);
  ibv_qp* const second = open_target(context_, xrcd_, first->qp_num);
  dispatch_event({.type = transport::EventType::kCommEst, .object = &real_of(*first)});
  for (ibv_qp* const expected : {first, second}) {
    ibv_async_event event{};
    ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_COMM_EST);
    EXPECT_EQ(event.element.qp, expected);
    ibv_ack_async_event(&event);
  }
  EXPECT_EQ(ibv_destroy_qp(first), 0);
  EXPECT_EQ(ibv_destroy_qp(second), 0);
  EXPECT_EQ(ibv_close_device(elsewhere), 0);
}

TEST_F(XrcTest, ASharedReceiveQueueHasANumberAndKeepsItsDomain) {
  ibv_srq* const srq = make_srq();
  uint32_t number = 0;
  EXPECT_EQ(ibv_get_srq_num(srq, &number), 0);
  EXPECT_NE(number, 0u);
  EXPECT_EQ(ibv_close_xrcd(xrcd_), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

}  // namespace
}  // namespace uroce::ibverbs
