// SPDX-License-Identifier: BSD-3-Clause
// For tests: the drop-in face on the device's test bed.
#ifndef UROCE_IBVERBS_FACE_FIXTURE_H
#define UROCE_IBVERBS_FACE_FIXTURE_H

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device_fixture.h"
#include "ibverbs/handles.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {

// All of a struct that was zeroed and filled, for comparing.
template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A runtime whose devices are test beds ("uroce0", "uroce1", …), driven in shared mode by whoever
// polls, and by the test.
class BedRuntime : public Runtime {
 public:
  BedRuntime(uint32_t devices, device::TestBedOptions options) {
    options.mode = engine::DriveMode::kInlineShared;
    units_.resize(devices);
    for (uint32_t i = 0; i < devices; ++i) {
      options.name = "uroce" + std::to_string(i);
      units_[i].bed = std::make_unique<device::TestBed>(options);
    }
    install_runtime(this);
  }
  ~BedRuntime() override { install_runtime(nullptr); }
  BedRuntime(const BedRuntime&) = delete;
  BedRuntime& operator=(const BedRuntime&) = delete;

  int device_count() override { return error != 0 ? error : static_cast<int>(units_.size()); }
  DeviceDescription describe(uint32_t index) override {
    device::TestBed& bed = *units_[index].bed;
    return {.name = bed.device().name(),
            .limits = bed.device().limits(),
            .qp_max = bed.device().qp_max(),
            .mr_max = bed.device().mr_max(),
            .port = bed.port.port,
            .addresses = bed.port.list};
  }
  int start(uint32_t index, device::Device*& device) override {
    if (error != 0) return error;
    Unit& unit = units_[index];
    if (!unit.started) {
      unit.started = true;
      unit.bed->on_event = dispatch_event;
      EXPECT_EQ(unit.bed->device().start(), 0);
    }
    device = &unit.bed->device();
    return 0;
  }
  device::Device* running(uint32_t index) override {
    return units_[index].started && error == 0 ? &units_[index].bed->device() : nullptr;
  }
  uint32_t drive() override { return others_drive ? 0 : drive_in_turn(); }
  uint32_t drive_in_turn() override {
    for (Unit& unit : units_) {
      if (unit.started) unit.bed->work();
    }
    return 0;
  }

  device::TestBed& bed(uint32_t index = 0) { return *units_[index].bed; }

  int error = 0;              // what every call answers: a negative errno, or 0
  bool others_drive = false;  // somebody else is at the engines, and has not looked yet

 private:
  struct Unit {
    std::unique_ptr<device::TestBed> bed;
    bool started = false;
  };
  std::vector<Unit> units_;
};

// Two listed devices, neither of which runs yet.
class DevicesTest : public testing::Test {
 protected:
  explicit DevicesTest(const device::TestBedOptions& options = {}) : runtime_(2, options) {
    int count = 0;
    devices_ = ibv_get_device_list(&count);
    EXPECT_NE(devices_, nullptr);
    EXPECT_EQ(count, 2);
  }
  ~DevicesTest() override { ibv_free_device_list(devices_); }

  device::TestBed& bed() { return runtime_.bed(); }

  BedRuntime runtime_;
  ibv_device** devices_ = nullptr;
};

// The first of them is open.
class FaceTest : public DevicesTest {
 protected:
  explicit FaceTest(const device::TestBedOptions& options = {}) : DevicesTest(options) {
    context_ = ibv_open_device(devices_[0]);
    EXPECT_NE(context_, nullptr);
  }
  ~FaceTest() override { EXPECT_EQ(ibv_close_device(context_), 0); }

  ibv_context* context_ = nullptr;
};

// With a protection domain, so that the device runs.
class DomainTest : public FaceTest {
 protected:
  explicit DomainTest(const device::TestBedOptions& options = {}) : FaceTest(options) {
    pd_ = ibv_alloc_pd(context_);
    EXPECT_NE(pd_, nullptr);
  }
  ~DomainTest() override { EXPECT_EQ(ibv_dealloc_pd(pd_), 0); }

  static ibv_ah_attr to(const Gid& dgid, uint8_t sgid_index = 1) {
    ibv_ah_attr attr{};
    from_gid(dgid, attr.grh.dgid);
    attr.grh.sgid_index = sgid_index;
    attr.grh.hop_limit = 64;
    attr.is_global = 1;
    attr.port_num = 1;
    return attr;
  }

  ibv_pd* pd_ = nullptr;
  alignas(4096) std::array<uint8_t, 8192> memory_{};
};

inline constexpr uint32_t kTestQkey = 0x11111111;

// With a completion queue, and queue pairs that are destroyed with the fixture.
class QueuesTest : public DomainTest {
 protected:
  explicit QueuesTest(const device::TestBedOptions& options = {}) : DomainTest(options) {
    cq_ = ibv_create_cq(context_, 64, this, nullptr, 0);
    EXPECT_NE(cq_, nullptr);
  }
  ~QueuesTest() override {
    for (ibv_qp* qp : qps_) EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_destroy_cq(cq_), 0);
  }

  ibv_qp_init_attr init(ibv_qp_type type) const {
    ibv_qp_init_attr attr{};
    attr.send_cq = cq_;
    attr.recv_cq = type != IBV_QPT_XRC_SEND ? cq_ : nullptr;
    attr.qp_type = type;
    attr.cap = {.max_send_wr = 8,
                .max_recv_wr = 8,
                .max_send_sge = 2,
                .max_recv_sge = 2,
                .max_inline_data = 64};
    return attr;
  }
  ibv_qp* make(ibv_qp_init_attr attr) {
    ibv_qp* const qp = ibv_create_qp(pd_, &attr);
    EXPECT_NE(qp, nullptr) << errno;
    if (qp != nullptr) qps_.push_back(qp);
    return qp;
  }
  ibv_qp* make(ibv_qp_type type) { return make(init(type)); }
  void forget(ibv_qp* qp) { std::erase(qps_, qp); }

  // Moves a queue pair up to `state`; those of connections to the number of a peer on this device.
  void bring_to(ibv_qp* qp, ibv_qp_state state, uint32_t peer = 0) {
    const bool datagrams = qp->qp_type == IBV_QPT_UD;
    const bool asks = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_SEND;
    const bool answers = qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_XRC_RECV;
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qkey = kTestQkey;
    attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, mask | (datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)), 0);
    if (state == IBV_QPS_INIT) return;
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = peer;
    attr.rq_psn = 100;
    attr.max_dest_rd_atomic = 4;
    attr.min_rnr_timer = 1;
    attr.ah_attr = to(device::kTestIpv4);
    mask = IBV_QP_STATE;
    if (!datagrams) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (answers) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
    if (state == IBV_QPS_RTR) return;
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 100;
    attr.timeout = 10;
    attr.retry_cnt = attr.rnr_retry = 3;
    attr.max_rd_atomic = 4;
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (asks) mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    if (asks || answers) mask |= IBV_QP_TIMEOUT;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, mask), 0);
  }
  // Two queue pairs, connected.
  std::pair<ibv_qp*, ibv_qp*> connected(ibv_qp_type type = IBV_QPT_RC) {
    ibv_qp* const a = make(type);
    ibv_qp* const b = make(type);
    bring_to(a, IBV_QPS_RTS, b->qp_num);
    bring_to(b, IBV_QPS_RTS, a->qp_num);
    return {a, b};
  }

  ibv_cq* cq_ = nullptr;
  std::vector<ibv_qp*> qps_;
};

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_FACE_FIXTURE_H
