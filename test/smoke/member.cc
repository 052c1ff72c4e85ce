// SPDX-License-Identifier: BSD-3-Clause
// uroce-member: one queue pair that sends to a group, and is a member of it or not.
//
//   uroce-member GROUP -- EAL-ARGUMENTS -- ARGUMENTS-OF-UROCE
//
// Does what the lines of its standard input say: attach, detach, attach IP, detach IP (of what that
// source alone sends), send (a message every 20 ms from then on). Ends with its input, and says how
// many messages have come.
#include <poll.h>
#include <unistd.h>
#include <uroce/multicast.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/endpoint.h"

namespace uroce {
namespace {

constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kRecvs = 64;
constexpr uint32_t kSlotBytes = 256;
constexpr uint32_t kMessageBytes = 64;
constexpr std::chrono::milliseconds kPace(20);

ib_gid gid_of(const std::string& text) {
  ib_gid gid{};
  if (uroce_parse_mcast(text.c_str(), &gid, nullptr) != 0) throw std::runtime_error(uroce_error());
  return gid;
}

void check_group(int result) {
  if (result != 0) throw std::runtime_error(uroce_error());
}

app::EndpointOptions options() {
  app::EndpointOptions result;
  result.type = IB_QPT_UD;
  result.buffer_bytes = kRecvs * kSlotBytes + kMessageBytes;
  result.recv_wr = kRecvs;
  return result;
}

class Member {
 public:
  Member(ib_device* device, const std::string& group)
      : group_(group),
        end_(device, options()),
        ah_(end_, gid_of(group), app::source_gid(device, gid_of(group)).index) {
    end_.activate(kQkey);
    for (uint32_t i = 0; i < kRecvs; ++i) end_.post_recv(i * kSlotBytes, kSlotBytes, i);
  }

  void obey(const std::string& line) {
    const std::string word = line.substr(0, line.find(' '));
    const bool has_source = word.size() < line.size();
    const std::string name = has_source ? line.substr(word.size() + 1) + "@" + group_ : group_;
    if (word == "attach") {
      check_group(uroce_join_mcast(end_.qp(), name.c_str()));
    } else if (word == "detach") {
      check_group(uroce_leave_mcast(end_.qp(), name.c_str()));
    } else if (word == "send") {
      sends_ = true;
    } else {
      throw std::runtime_error("unknown line: " + line);
    }
  }

  void work() {
    ib_wc wc{};
    while (app::take(end_.cq(), wc)) {
      if (wc.opcode == IB_WC_SEND) {
        under_way_ = false;
        continue;
      }
      ++received_;
      end_.post_recv(static_cast<uint32_t>(wc.wr_id) * kSlotBytes, kSlotBytes, wc.wr_id);
    }
    const auto now = std::chrono::steady_clock::now();
    if (!sends_ || under_way_ || now < next_) return;
    next_ = now + kPace;
    under_way_ = true;
    app::check(end_.post_datagram({kRecvs * kSlotBytes, kMessageBytes},
                                  {ah_.get(), IB_MULTICAST_QPN, kQkey}),
               "ib_post_send");
  }

  bool idle() const { return !under_way_; }
  uint64_t received() const { return received_; }
  void stop_sending() { sends_ = false; }

 private:
  const std::string group_;
  app::Endpoint end_;
  app::AddressHandle ah_;
  bool sends_ = false;
  bool under_way_ = false;
  uint64_t received_ = 0;
  std::chrono::steady_clock::time_point next_{};
};

// Appends what has come on standard input; false at its end. Waits a millisecond at most.
bool read_input(std::string& text) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&input, 1, 1) <= 0) return true;
  char bytes[256];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
  if (count > 0) text.append(bytes, static_cast<size_t>(count));
  return count > 0;
}

void run(uroce_context* context, const std::string& group) {
  Member member(uroce_device(context, 0), group);
  std::string input;
  bool open = true;
  while (open || !member.idle()) {
    if (open && !read_input(input)) {
      open = false;
      member.stop_sending();
    }
    for (size_t end = input.find('\n'); end != std::string::npos; end = input.find('\n')) {
      member.obey(input.substr(0, end));
      input.erase(0, end + 1);
    }
    uroce_poll(context);
    member.work();
  }
  std::printf("%llu messages\n", static_cast<unsigned long long>(member.received()));
}

}  // namespace
}  // namespace uroce

int main(int argc, char** argv) {
  if (argc < 3 || std::strcmp(argv[2], "--") != 0) {
    std::fprintf(stderr, "uroce-member GROUP -- EAL-ARGUMENTS -- ARGUMENTS-OF-UROCE\n");
    return 2;
  }
  std::vector<const char*> start = {argv[0]};
  start.insert(start.end(), argv + 3, argv + argc);
  uroce_context* context = nullptr;
  if (uroce_start(static_cast<int>(start.size()), start.data(), &context) != 0) {
    std::fprintf(stderr, "uroce-member: %s\n", uroce_error());
    return 1;
  }
  int result = 0;
  try {
    uroce::run(context, argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-member: %s\n", error.what());
    result = 1;
  }
  return uroce_stop(context) == 0 ? result : 1;
}
