// SPDX-License-Identifier: BSD-3-Clause
// For tests: the drop-in face on the device's test bed.
#ifndef UROCE_IBVERBS_FACE_FIXTURE_H
#define UROCE_IBVERBS_FACE_FIXTURE_H

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "device/device_fixture.h"
#include "ibverbs/handles.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {

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
      EXPECT_EQ(unit.bed->device().start(), 0);
    }
    device = &unit.bed->device();
    return 0;
  }
  device::Device* running(uint32_t index) override {
    return units_[index].started && error == 0 ? &units_[index].bed->device() : nullptr;
  }
  uint32_t drive() override {
    for (Unit& unit : units_) {
      if (unit.started) unit.bed->work();
    }
    return 0;
  }

  device::TestBed& bed(uint32_t index = 0) { return *units_[index].bed; }

  int error = 0;  // what every call answers: a negative errno, or 0

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

}  // namespace uroce::ibverbs

#endif  // UROCE_IBVERBS_FACE_FIXTURE_H
