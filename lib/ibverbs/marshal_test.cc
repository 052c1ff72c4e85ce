// SPDX-License-Identifier: BSD-3-Clause
// Tests of copied attributes: byte for byte what the distribution's library makes of the same.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "ibverbs/distribution_fixture.h"
#include "ibverbs/undeclared.h"

namespace uroce::ibverbs {
namespace {

class Marshal : public DistributionTest {
 protected:
  template <typename Structure>
  Structure noise() {
    Structure made;
    unsigned char bytes[sizeof made];
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_());
    std::memcpy(&made, bytes, sizeof made);
    return made;
  }

  template <typename Structure>
  static std::vector<unsigned char> bytes_of(const Structure& structure) {
    std::vector<unsigned char> bytes(sizeof structure);
    std::memcpy(bytes.data(), &structure, sizeof structure);
    return bytes;
  }

  template <typename To, typename From>
  void expect_the_same(const char* name, void (*copy)(To*, const From*)) {
    auto* const other = theirs(name, copy);
    ASSERT_NE(other, nullptr);
    for (int round = 0; round < 20; ++round) {
      const From from = noise<From>();
      To ours = noise<To>();
      To expected = ours;
      copy(&ours, &from);
      other(&expected, &from);
      EXPECT_EQ(bytes_of(ours), bytes_of(expected)) << name;
    }
  }

 private:
  std::mt19937 random_{1};
};

TEST_F(Marshal, IsThatOfTheDistribution) {
  expect_the_same("ibv_copy_ah_attr_from_kern", ibv_copy_ah_attr_from_kern);
  expect_the_same("ibv_copy_qp_attr_from_kern", ibv_copy_qp_attr_from_kern);
  expect_the_same("ibv_copy_path_rec_from_kern", ibv_copy_path_rec_from_kern);
  expect_the_same("ibv_copy_path_rec_to_kern", ibv_copy_path_rec_to_kern);
}

TEST(MarshalWithoutALibrary, LeavesWhatTheKernelDoesNotSay) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.rate_limit = 7;
  ib_uverbs_qp_attr from{};
  from.qp_state = IBV_QPS_ERR;
  from.dest_qp_num = 0x123456;
  from.ah_attr.grh.dgid[15] = 9;
  ibv_copy_qp_attr_from_kern(&attr, &from);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.rate_limit, 7u);
  EXPECT_EQ(attr.dest_qp_num, 0x123456u);
  EXPECT_EQ(attr.ah_attr.grh.dgid.raw[15], 9);
}

}  // namespace
}  // namespace uroce::ibverbs
