// SPDX-License-Identifier: BSD-3-Clause
// uroce-info: a program that looks at RoCEv2 traffic.
#include "decode.h"
#include "options.h"

int main(int argc, char** argv) {
  info::Options options;
  const int done = info::parse_options(argc, argv, options);
  if (done >= 0) return done;
  return info::decode(options);
}
