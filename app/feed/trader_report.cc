// SPDX-License-Identifier: BSD-3-Clause
// What the trader says in the end, and whether its checks held.
#include <cinttypes>
#include <cstdio>

#include "checks.h"
#include "trader.h"

namespace uroce::market {

bool Trader::report() const {
  const Totals& totals = ledger_.totals();
  std::printf("trader: %" PRIu64 " messages: %" PRIu64 " delivered, %" PRIu64 " recovered, %" PRIu64
              " lost\n",
              ledger_.wanted(), totals.delivered, totals.recovered, totals.lost);
  arbiter_.print();
  std::printf("trader: %" PRIu64 " orders, %" PRIu64 " fills; %" PRIu64
              " messages overwritten before recovery, %" PRIu64 " foreign messages\n",
              totals.orders, totals.fills, overwritten_, foreign_);
  std::printf("trader: tick polled to order posted: %s\n", tick_to_order_.summary().c_str());
  std::printf("trader: order posted to fill polled: %s\n", order_to_fill_.summary().c_str());
  Failures failures = ledger_.failures(options_.recovery);
  for (std::string& failure : check_sides(arbiter_.statistics(), ledger_.wanted())) {
    failures.push_back(std::move(failure));
  }
  if (!verdict_good_) failures.emplace_back("the exchange did not find these totals right");
  for (const std::string& failure : failures) {
    std::fprintf(stderr, "uroce-feed: trader: %s\n", failure.c_str());
  }
  std::printf("trader: %s\n", failures.empty() ? "all checks held" : "WRONG");
  return failures.empty();
}

}  // namespace uroce::market
