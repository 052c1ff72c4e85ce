// SPDX-License-Identifier: BSD-3-Clause
// How two processes meet without a network: small files in a folder that both know.
#ifndef UROCE_TEST_SMOKE_TRAFFIC_MEETING_H
#define UROCE_TEST_SMOKE_TRAFFIC_MEETING_H

#include <uroce/uroce.h>

#include <chrono>
#include <functional>
#include <string>

namespace uroce::traffic {

// One side's view. While it waits it drives its devices, so that the peer gets its answers.
class Meeting {
 public:
  // `role`: this side's name, `peer`: the other's; both are beginnings of file names in `folder`.
  // `yields`: gives the CPU away between polls, to the workers that do the work.
  Meeting(uroce_context* context, std::string folder, std::string role, std::string peer,
          bool yields);

  // Polls until `done` holds; throws, naming `what`, after 20 s.
  void drive(const std::function<bool()>& done, const std::string& what) const;

  // Leaves `text` for the peer under `topic`, and waits for what the peer leaves there.
  std::string exchange(const std::string& topic, const std::string& text) const;
  // Waits until the peer is here too.
  void meet(const std::string& topic) const { exchange(topic, "here"); }
  // Says that this side has come to `topic`, and waits until a third party says "TOPIC.go".
  void pause(const std::string& topic) const;

  const std::string& role() const { return role_; }
  uroce_context* context() const { return context_; }

 private:
  void put(const std::string& name, const std::string& text) const;
  std::string get(const std::string& name) const;

  uroce_context* const context_;
  const std::string folder_;
  const std::string role_;
  const std::string peer_;
  const bool yields_;
};

}  // namespace uroce::traffic

#endif  // UROCE_TEST_SMOKE_TRAFFIC_MEETING_H
