// SPDX-License-Identifier: BSD-3-Clause
// Test of the address cell: a reader never sees half of a change.
#include "device/address_cell.h"

#include <gtest/gtest.h>

#include <thread>

namespace uroce::device {
namespace {

transport::AddressVector filled(uint8_t value) {
  transport::AddressVector vector{};
  std::memset(vector.headers.bytes, value, sizeof vector.headers.bytes);
  vector.sgid.bytes.fill(value);
  vector.dgid.bytes.fill(value);
  vector.flow_label = value;
  return vector;
}

bool whole(const transport::AddressVector& vector) {
  const auto value = static_cast<uint8_t>(vector.flow_label);
  for (const uint8_t byte : vector.headers.bytes) {
    if (byte != value) return false;
  }
  return vector.sgid == filled(value).sgid && vector.dgid == filled(value).dgid;
}

TEST(AddressCell, AReaderSeesTheOldOrTheNewAddressNeverAMixture) {
  AddressCell cell;
  cell.store(filled(0));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (unsigned i = 0; !stop.load(); ++i) cell.store(filled(static_cast<uint8_t>(i)));
  });
  for (int i = 0; i < 100'000; ++i) {
    transport::AddressVector vector;
    cell.load(vector);
    ASSERT_TRUE(whole(vector));
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace uroce::device
