// SPDX-License-Identifier: BSD-3-Clause
// From which sources a group is wanted: the filter of a listener, in the terms of IGMPv3 and MLDv2
// (RFC 3376 2, RFC 3810 4).
#ifndef UROCE_BASE_SOURCE_FILTER_H
#define UROCE_BASE_SOURCE_FILTER_H

#include <cstdint>
#include <span>

#include "base/types.h"

namespace uroce {

enum class FilterMode : uint8_t {
  kInclude,  // only from the sources named
  kExclude,  // from all but those named
};

// `sources`: addresses of the group's family, each once; lent.
struct SourceFilter {
  FilterMode mode = FilterMode::kInclude;
  std::span<const Gid> sources;

  // From no source: who listens like this is no listener.
  bool is_nothing() const { return mode == FilterMode::kInclude && sources.empty(); }
};

inline constexpr SourceFilter kEverySource{FilterMode::kExclude, {}};
inline constexpr SourceFilter kNoSource{FilterMode::kInclude, {}};

}  // namespace uroce

#endif  // UROCE_BASE_SOURCE_FILTER_H
