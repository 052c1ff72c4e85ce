// SPDX-License-Identifier: BSD-3-Clause
// A tally in words.
#include "test/sim/tally.h"

namespace uroce::sim {
namespace {

std::string name_of(size_t number) {
  if (number < kOperationCount) return kOperations[number].name;
  number -= kOperationCount;
  if (number < kStepKinds) return std::string("step ") + kStepNames[number];
  return kDeedNames[number - kStepKinds];
}

}  // namespace

std::string describe(const Tally& tally) {
  std::string text;
  for (size_t i = 0; i < Tally::kSize; ++i) {
    text += (text.empty() ? "" : ", ") + std::to_string(tally.counts[i]) + " " + name_of(i);
  }
  return text;
}

}  // namespace uroce::sim
