// SPDX-License-Identifier: BSD-3-Clause
// uroce-traffic: one of two processes that send to each other over whatever joins their ports.
//
//   uroce-traffic --role server|client --folder DIR [--path-mtu N]... [--ipv6] [--rounds N]
//                 [--paced] [--yield] -- EAL-ARGUMENTS -- ARGUMENTS-OF-UROCE
//
// Both find each other by files in the folder. One line for each check that held; the exit status
// is 0 only if all did.
#include <uroce/observe.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/smoke/traffic/traffic.h"

namespace uroce::traffic {
namespace {

struct Options {
  std::string role;
  std::string folder;
  uint32_t path_mtu = 1024;
  uint32_t rounds = 100;
  bool ipv6 = false;
  bool paced = false;
  bool yields = false;
  std::vector<const char*> start;  // what uroce_start gets
};

Options read_options(int argc, char** argv) {
  Options options;
  options.start.push_back(argv[0]);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--") {
      options.start.insert(options.start.end(), argv + i + 1, argv + argc);
      break;
    } else if (word == "--role" && has_value) {
      options.role = argv[++i];
    } else if (word == "--folder" && has_value) {
      options.folder = argv[++i];
    } else if (word == "--path-mtu" && has_value) {
      options.path_mtu = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (word == "--rounds" && has_value) {
      options.rounds = static_cast<uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    } else if (word == "--ipv6") {
      options.ipv6 = true;
    } else if (word == "--paced") {
      options.paced = true;
    } else if (word == "--yield") {
      options.yields = true;
    } else {
      throw std::runtime_error("unknown option " + word);
    }
  }
  if (options.role != "server" && options.role != "client") {
    throw std::runtime_error("--role is server or client");
  }
  if (options.folder.empty()) throw std::runtime_error("--folder DIR is missing");
  return options;
}

ib_mtu path_mtu(ib_device* device, uint32_t bytes) {
  const ib_mtu wanted = ib_mtu_int_to_enum(static_cast<int>(bytes));
  ib_port_attr port{};
  app::check(ib_query_port(device, 1, &port), "ib_query_port");
  if (port.active_mtu < wanted) {
    throw std::runtime_error("the port offers a path MTU of " +
                             std::to_string(ib_mtu_enum_to_int(port.active_mtu)) + ", not " +
                             std::to_string(bytes));
  }
  return wanted;
}

// What the device itself says that it sent, copies on the local route not counted twice.
uint64_t sent_packets(uroce_context* context) {
  uint64_t sent = 0;
  const int entries = uroce_observe_counters(
      context, 0,
      [](void* argument, const uroce_counter* counter) {
        if (counter->group == UROCE_COUNTER_TRANSPORT &&
            std::strcmp(counter->name, "sent_packets") == 0) {
          *static_cast<uint64_t*>(argument) = counter->value;
        }
      },
      &sent);
  if (entries < 0) throw std::runtime_error("uroce_observe_counters fails");
  return sent;
}

void run(uroce_context* context, const Options& options) {
  const bool client = options.role == "client";
  const Meeting meeting(context, options.folder, options.role, client ? "server" : "client",
                        options.yields);
  ib_device* const device = uroce_device(context, 0);
  const Side side{meeting, device,         path_mtu(device, options.path_mtu),
                  client,  options.rounds, options.paced};
  meeting.meet("start");
  const auto report = [&](const std::string& line) {
    std::printf("%s: %s\n", options.role.c_str(), line.c_str());
    std::fflush(stdout);
  };
  report(ping_pong(side, options.ipv6));
  report(write_both_ways(side, options.ipv6));
  report(multicast(side, options.ipv6));
  meeting.meet("end");
  report("RoCE packets sent: " + std::to_string(sent_packets(context)));
}

int main(int argc, char** argv) {
  int status = 0;
  try {
    const Options options = read_options(argc, argv);
    uroce_context* context = nullptr;
    if (uroce_start(static_cast<int>(options.start.size()), options.start.data(), &context) != 0) {
      throw std::runtime_error(uroce_error());
    }
    try {
      run(context, options);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "uroce-traffic %s: %s\n", options.role.c_str(), error.what());
      status = 1;
    }
    if (uroce_stop(context) != 0) throw std::runtime_error(uroce_error());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-traffic: %s\n", error.what());
    status = 1;
  }
  return status;
}

}  // namespace

void fill(uint8_t* to, uint32_t bytes, bool client, uint32_t number) {
  uint32_t state = number * 2654435761u + (client ? 0x1234567u : 0x89abcdeu);
  for (uint32_t i = 0; i < bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    to[i] = static_cast<uint8_t>(state >> 24);
  }
}

bool matches(const uint8_t* at, uint32_t bytes, bool client, uint32_t number) {
  std::vector<uint8_t> expected(bytes);
  fill(expected.data(), bytes, client, number);
  return std::memcmp(at, expected.data(), bytes) == 0;
}

app::GidEntry gid_of(ib_device* device, bool ipv6) {
  if (!ipv6) return app::ipv4_gid(device);
  app::GidEntry entry{};
  for (entry.index = 0; rdma_query_gid(device, 1, entry.index, &entry.gid) != -EINVAL;
       ++entry.index) {
    if (entry.gid.raw[0] == 0xfd) return entry;
  }
  throw std::runtime_error(std::string(device->name) + " has no IPv6 address under fd00::/8");
}

}  // namespace uroce::traffic

int main(int argc, char** argv) { return uroce::traffic::main(argc, argv); }
