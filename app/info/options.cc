// SPDX-License-Identifier: BSD-3-Clause
// The command line of uroce-info; alone in its file because CLI11 takes long to compile.
#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace info {

int parse_options(int argc, char** argv, Options& options) {
  CLI::App app("Looks at RoCEv2 traffic.", "uroce-info");
  app.require_subcommand(1);
  CLI::App* decode = app.add_subcommand(
      "decode",
      "Prints each frame of capture files (pcap, pcapng) as a line with a verdict.\n"
      "Exits with 1 when a frame is bad, with 2 when a file cannot be read to its end.");
  decode->add_option("FILE", options.files, "capture files")->required();
  CLI::Option* bad = decode->add_flag_callback(
      "-b,--bad", [&] { options.show = Show::kBad; }, "print bad frames only");
  decode
      ->add_flag_callback(
          "-s,--summary", [&] { options.show = Show::kSummary; }, "print one line per file only")
      ->excludes(bad);
  decode->add_flag("-a,--absolute", options.absolute_time,
                   "times since 1970, not since the first frame");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& wrong) {
    std::fprintf(stderr, "uroce-info: %s (uroce-info --help)\n", wrong.what());
    return 2;
  }
  options.command = Options::Command::kDecode;
  return -1;
}

}  // namespace info
