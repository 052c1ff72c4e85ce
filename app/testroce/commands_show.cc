// SPDX-License-Identifier: BSD-3-Clause
// Commands that show: ports, queue pairs, groups, counters and drop reasons.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "testroce/commands.h"

namespace uroce::testroce {
namespace {

constexpr const char* kTypes[] = {"SMI", "GSI", "RC", "UC", "UD"};
constexpr const char* kStates[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
constexpr const char* kGroups[] = {"transport", "drop", "port", "loop", "host"};

template <size_t N>
const char* word(const char* const (&words)[N], int index) {
  return index >= 0 && static_cast<size_t>(index) < N ? words[index] : "?";
}

void print_port(void*, const uroce_port_info* port) {
  std::printf("%s: port %s, driver %s\n", port->device, port->port, port->driver);
  std::printf("  MAC           %02x:%02x:%02x:%02x:%02x:%02x\n", port->mac[0], port->mac[1],
              port->mac[2], port->mac[3], port->mac[4], port->mac[5]);
  std::printf("  owner         %s\n", port->shared ? "shared with the kernel" : "own");
  std::printf("  group filter  %s\n", port->group_filter);
  std::printf("  frame         %u bytes\n", port->frame_bytes_max);
  std::printf("  path MTU      %u bytes\n", port->path_mtu_bytes);
  std::printf("  link          %s", port->link_up ? "up" : "down");
  if (port->link_mbps != 0) std::printf(", %u Mbit/s", port->link_mbps);
  std::printf(port->vlan_id != 0 ? "\n  VLAN          %u\n" : "\n  VLAN          untagged\n",
              port->vlan_id);
  std::printf("  queues        %u\n", port->queue_count);
  for (uint32_t i = 0; i < port->address_count; ++i) {
    std::printf("  address       %s\n", port->addresses[i]);
  }
}

void show_port(Session& session, const Parsed& parsed) {
  session.device(parsed.id);
  app::check(uroce_observe_port(session.context(), parsed.id, print_port, nullptr), "show port");
}

void show_every_port(Session& session, const Parsed&) {
  for (unsigned i = 0; i < uroce_device_count(session.context()); ++i) {
    app::check(uroce_observe_port(session.context(), i, print_port, nullptr), "show port");
  }
}

void print_qp(void*, const uroce_qp_info* qp) {
  std::printf("0x%06x  %-4s  %-5s", qp->qpn, word(kTypes, qp->type), word(kStates, qp->state));
  if (qp->dest_qpn != 0 && qp->peer[0] != '\0') {
    std::printf("  to 0x%06x at %s, path MTU %u, PSN expected 0x%06x, next 0x%06x", qp->dest_qpn,
                qp->peer, qp->path_mtu_bytes, qp->rq_psn, qp->sq_psn);
  }
  if (qp->type == IB_QPT_UD) std::printf("  Q_Key 0x%08x", qp->qkey);
  for (uint32_t i = 0; i < qp->group_count; ++i) {
    std::printf("%s%s", i == 0 ? ", groups " : " ", qp->groups[i]);
  }
  std::printf("  dropped: recv_queue_empty %" PRIu64 " qkey %" PRIu64 " pkey %" PRIu64 "\n",
              qp->recv_queue_empty, qp->qkey_violations, qp->pkey_violations);
}

void show_qps(Session& session, const Parsed& parsed) {
  session.device(parsed.id);
  const int count = uroce_observe_qps(session.context(), parsed.id, print_qp, nullptr);
  app::check(count, "show qps");
  std::printf("port %u: %d queue pairs\n", parsed.id, count);
}

void print_group(void*, const uroce_group_info* group) {
  std::printf("%s  MAC %02x:%02x:%02x:%02x:%02x:%02x  %u members:", group->address, group->mac[0],
              group->mac[1], group->mac[2], group->mac[3], group->mac[4], group->mac[5],
              group->member_count);
  for (uint32_t i = 0; i < group->member_count; ++i) {
    std::printf(" 0x%06x", group->members[i]);
    const uint32_t sources = group->member_sources[i];
    if (sources != 0) std::printf(" (%u source%s)", sources, sources == 1 ? "" : "s");
  }
  std::printf(group->every_source ? "; every source" : "; by source");
  for (uint32_t i = 0; i < group->source_count; ++i) {
    std::printf("%s%s", i == 0 && group->every_source ? "; by source " : " ", group->sources[i]);
  }
  std::printf("\n");
}

void show_groups(Session& session, const Parsed& parsed) {
  session.device(parsed.id);
  const int count = uroce_observe_groups(session.context(), parsed.id, print_group, nullptr);
  app::check(count, "show groups");
  std::printf("port %u: %d groups\n", parsed.id, count);
}

struct CounterView {
  Session::Baseline* baseline;
  bool zero_too;
  bool drops_only;
};

// A longest time has no difference: it is shown as it is.
uint64_t since_clear(const Session::Baseline& baseline, const uroce_counter& counter) {
  if (std::strcmp(counter.name, "turn_ns_max") == 0) return counter.value;
  const auto found = baseline.find({counter.group, counter.name});
  return found == baseline.end() ? counter.value : counter.value - found->second;
}

void print_counter(void* argument, const uroce_counter* counter) {
  const auto* view = static_cast<const CounterView*>(argument);
  if (view->drops_only && counter->group != UROCE_COUNTER_DROP) return;
  const uint64_t value = since_clear(*view->baseline, *counter);
  if (value == 0 && !view->zero_too) return;
  std::printf("  %-9s  %-30s  %12" PRIu64 "  %s\n", word(kGroups, counter->group), counter->name,
              value, counter->help);
}

void show(Session& session, unsigned index, bool zero_too, bool drops_only) {
  session.device(index);
  CounterView view{&session.baseline(index), zero_too, drops_only};
  std::printf("port %u: %s\n", index, drops_only ? "drops" : "counters");
  app::check(uroce_observe_counters(session.context(), index, print_counter, &view), "show");
}

void show_counters(Session& session, const Parsed& parsed) {
  show(session, parsed.id, false, false);
}
void show_counters_with_zeros(Session& session, const Parsed& parsed) {
  show(session, parsed.id, true, false);
}
void show_counters_of_all(Session& session, const Parsed&) {
  for (unsigned i = 0; i < uroce_device_count(session.context()); ++i) {
    show(session, i, false, false);
  }
}
void show_drops(Session& session, const Parsed& parsed) { show(session, parsed.id, false, true); }

void clear_counters(Session& session, const Parsed& parsed) {
  session.device(parsed.id);
  const auto keep = [](void* argument, const uroce_counter* counter) {
    (*static_cast<Session::Baseline*>(argument))[{counter->group, counter->name}] = counter->value;
  };
  app::check(
      uroce_observe_counters(session.context(), parsed.id, keep, &session.baseline(parsed.id)),
      "clear counters");
  std::printf("port %u: counters shown from here on\n", parsed.id);
}

StringToken show_word = UROCE_WORD(verb, "show");
StringToken clear_word = UROCE_WORD(verb, "clear");
StringToken port_word = UROCE_WORD(noun, "port");
StringToken qps_word = UROCE_WORD(noun, "qps");
StringToken groups_word = UROCE_WORD(noun, "groups");
StringToken counters_word = UROCE_WORD(noun, "counters");
StringToken drops_word = UROCE_WORD(noun, "drops");
StringToken all_word = UROCE_WORD(word, "all");
NumberToken port = UROCE_NUMBER(id);

cmdline_parse_inst_t port_command = {
    .f = run<show_port>,
    .data = nullptr,
    .help_str = "show port N: the port as uroce sees it",
    .tokens = {&show_word.hdr, &port_word.hdr, &port.hdr, nullptr},
};
cmdline_parse_inst_t port_all_command = {
    .f = run<show_every_port>,
    .data = nullptr,
    .help_str = "show port all",
    .tokens = {&show_word.hdr, &port_word.hdr, &all_word.hdr, nullptr},
};
cmdline_parse_inst_t qps_command = {
    .f = run<show_qps>,
    .data = nullptr,
    .help_str = "show qps N: the queue pairs of a port",
    .tokens = {&show_word.hdr, &qps_word.hdr, &port.hdr, nullptr},
};
cmdline_parse_inst_t groups_command = {
    .f = run<show_groups>,
    .data = nullptr,
    .help_str = "show groups N: the groups that queue pairs of a port are in",
    .tokens = {&show_word.hdr, &groups_word.hdr, &port.hdr, nullptr},
};
cmdline_parse_inst_t counters_command = {
    .f = run<show_counters>,
    .data = nullptr,
    .help_str = "show counters N: the counters of a port that are not 0",
    .tokens = {&show_word.hdr, &counters_word.hdr, &port.hdr, nullptr},
};
cmdline_parse_inst_t counters_zero_command = {
    .f = run<show_counters_with_zeros>,
    .data = nullptr,
    .help_str = "show counters N all: also those that are 0",
    .tokens = {&show_word.hdr, &counters_word.hdr, &port.hdr, &all_word.hdr, nullptr},
};
cmdline_parse_inst_t counters_all_command = {
    .f = run<show_counters_of_all>,
    .data = nullptr,
    .help_str = "show counters all: of every port those that are not 0",
    .tokens = {&show_word.hdr, &counters_word.hdr, &all_word.hdr, nullptr},
};
cmdline_parse_inst_t drops_command = {
    .f = run<show_drops>,
    .data = nullptr,
    .help_str = "show drops N: why frames were not taken",
    .tokens = {&show_word.hdr, &drops_word.hdr, &port.hdr, nullptr},
};
cmdline_parse_inst_t clear_command = {
    .f = run<clear_counters>,
    .data = nullptr,
    .help_str = "clear counters N: shows them from here on",
    .tokens = {&clear_word.hdr, &counters_word.hdr, &port.hdr, nullptr},
};
cmdline_parse_inst_t* const kCommands[] = {
    &port_command,   &port_all_command,     &qps_command,
    &groups_command, &counters_command,     &counters_zero_command,
    &drops_command,  &counters_all_command, &clear_command};

}  // namespace

std::span<cmdline_parse_inst_t* const> show_commands() { return kCommands; }

}  // namespace uroce::testroce
