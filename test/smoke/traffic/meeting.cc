// SPDX-License-Identifier: BSD-3-Clause
// Files as letters: written aside and renamed, so that a reader never sees half of one.
#include "test/smoke/traffic/meeting.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace uroce::traffic {

Meeting::Meeting(uroce_context* context, std::string folder, std::string role, std::string peer,
                 bool yields)
    : context_(context),
      folder_(std::move(folder)),
      role_(std::move(role)),
      peer_(std::move(peer)),
      yields_(yields) {}

void Meeting::drive(const std::function<bool()>& done, const std::string& what) const {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (uint32_t turns = 1; !done(); ++turns) {
    uroce_poll(context_);
    if (yields_) std::this_thread::yield();
    if (turns % 256 == 0 && std::chrono::steady_clock::now() > limit) {
      throw std::runtime_error("20 s have passed without " + what);
    }
  }
}

void Meeting::put(const std::string& name, const std::string& text) const {
  const std::string path = folder_ + "/" + name;
  const std::string aside = path + ".part";
  std::ofstream(aside) << text;
  if (std::rename(aside.c_str(), path.c_str()) != 0) {
    throw std::runtime_error("cannot write " + path);
  }
}

std::string Meeting::get(const std::string& name) const {
  const std::string path = folder_ + "/" + name;
  std::string text;
  uint32_t looks = 0;
  drive(
      [&] {
        if (++looks % 64 != 1) return false;  // opening files is no way to spend a poll loop
        std::ifstream file(path);
        if (!file) return false;
        text.assign(std::istreambuf_iterator<char>(file), {});
        return true;
      },
      "the file " + path);
  return text;
}

std::string Meeting::exchange(const std::string& topic, const std::string& text) const {
  put(role_ + "." + topic, text);
  return get(peer_ + "." + topic);
}

void Meeting::pause(const std::string& topic) const {
  put(role_ + "." + topic, "here");
  get(topic + ".go");
}

}  // namespace uroce::traffic
