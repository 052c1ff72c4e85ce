// SPDX-License-Identifier: BSD-3-Clause
// uroce-info decode: one line per frame, one summary line per file, the reason for failing last.
#include "decode.h"

#include <uroce/decode.h>

#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>

namespace info {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

struct File {
  const Options& options;
  int64_t first_time_ns = 0;
  std::map<std::string, uint64_t> faults;
};

void print_frame(void* context, const struct uroce_decoded_frame* frame) {
  auto* file = static_cast<File*>(context);
  const Options& options = file->options;
  if (frame->number == 1 && !options.absolute_time) file->first_time_ns = frame->time_ns;
  if (frame->fault != nullptr) ++file->faults[frame->fault];
  if (options.show == Show::kSummary) return;
  if (options.show == Show::kBad && frame->fault == nullptr) return;
  // A frame may be older than the first one.
  int64_t time = frame->time_ns - file->first_time_ns;
  const char* sign = time < 0 ? "-" : "";
  if (time < 0) time = -time;
  std::printf("%6" PRIu64 " %s%" PRId64 ".%09" PRId64 " %s%s\n", frame->number, sign,
              time / kNanosecondsPerSecond, time % kNanosecondsPerSecond,
              frame->fault != nullptr ? "BAD " : "", frame->line);
}

void print_summary(const char* name, const struct uroce_decode_summary& summary,
                   const std::map<std::string, uint64_t>& faults) {
  std::printf("%s: %" PRIu64 " frames: %" PRIu64 " RoCE, %" PRIu64 " link, %" PRIu64
              " other; %" PRIu64 " bad",
              name, summary.frames, summary.roce, summary.link, summary.other, summary.bad);
  const char* separator = " (";
  for (const auto& [fault, count] : faults) {
    std::printf("%s%s %" PRIu64, separator, fault.c_str(), count);
    separator = ", ";
  }
  std::printf("%s\n", faults.empty() ? "" : ")");
}

void add(const File& file, const struct uroce_decode_summary& summary,
         std::map<std::string, uint64_t>& faults, struct uroce_decode_summary& total) {
  total.frames += summary.frames;
  total.roce += summary.roce;
  total.link += summary.link;
  total.other += summary.other;
  total.bad += summary.bad;
  for (const auto& [fault, count] : file.faults) faults[fault] += count;
}

}  // namespace

int decode(const Options& options) {
  struct uroce_decode_summary total = {};
  std::map<std::string, uint64_t> faults;
  std::string errors;
  for (const std::string& path : options.files) {
    File file{options, 0, {}};
    struct uroce_decode_summary summary = {};
    char error[640] = "";
    const int result =
        uroce_decode_capture(path.c_str(), print_frame, &file, &summary, error, sizeof error);
    if (result != 0) errors += std::string("uroce-info: ") + error + "\n";
    if (result == 0 || summary.frames != 0) print_summary(path.c_str(), summary, file.faults);
    add(file, summary, faults, total);
  }
  if (options.files.size() > 1) {
    const std::string name = "all " + std::to_string(options.files.size()) + " files";
    print_summary(name.c_str(), total, faults);
  }
  if (std::fflush(stdout) != 0) errors += "uroce-info: cannot write to standard output\n";
  if (!errors.empty()) {
    std::fputs(errors.c_str(), stderr);
    return 2;
  }
  if (total.bad == 0) return 0;
  std::fprintf(stderr, "uroce-info: %" PRIu64 " bad frame%s\n", total.bad,
               total.bad == 1 ? "" : "s");
  return 1;
}

}  // namespace info
