// SPDX-License-Identifier: BSD-3-Clause
// The checker of what the host sends: each frame can be read by a receiver as strict as our own,
// its ICRC is right, and it says nothing that its queue pair does not know.
#ifndef UROCE_TEST_FUZZ_ENGINE_SENT_FRAMES_H
#define UROCE_TEST_FUZZ_ENGINE_SENT_FRAMES_H

#include <cstdint>
#include <span>

#include "test/fuzz/engine/fuzz_host.h"

namespace uroce::fuzz {

// - RoCE frames parse, come from an address of the host, and are no longer than the path MTU.
// - There is a queue pair that sends to whom they go.
// - A request's PSN is one that its queue pair waits for an answer to; a UC packet's was used.
// - A response's PSN has come before it; its MSN counts no more than what was taken.
void check_sent(FuzzHost& host, std::span<const uint8_t> frame);

}  // namespace uroce::fuzz

#endif  // UROCE_TEST_FUZZ_ENGINE_SENT_FRAMES_H
