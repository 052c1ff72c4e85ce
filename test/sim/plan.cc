// SPDX-License-Identifier: BSD-3-Clause
// A plan in words.
#include "test/sim/plan.h"

#include <cstdio>

namespace uroce::sim {
namespace {

template <typename... Values>
std::string line(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

const char* words(Wake wake) {
  static constexpr const char* kWords[] = {"polls", "is notified", "is notified if solicited"};
  return kWords[static_cast<size_t>(wake)];
}

const char* words(ib_qp_type type) {
  if (type == IB_QPT_XRC_INI) return "XRC";
  return type == IB_QPT_UC ? "UC" : "RC";
}

std::string flags(const Operation& operation) {
  std::string text;
  if (operation.signaled) text += " signaled";
  if (operation.solicited) text += " solicited";
  if (operation.fence) text += " fence";
  if (operation.inlined) text += " inline";
  if (operation.forwards) text += " forwards";
  if (operation.races) text += " races";
  static constexpr const char* kLender[] = {"fast region", "type 1 window", "type 2 window"};
  text += line(", %s%s, rights %u", operation.through ? "through " : "", kLender[operation.lender],
               unsigned{operation.rights});
  return text;
}

std::string describe(const Step& step) {
  const unsigned channel = step.channel;
  const unsigned side = step.side;
  std::string text = line("+%.3f us ", static_cast<double>(step.wait.count()) / 1000);
  text += kStepNames[static_cast<size_t>(step.kind)];
  switch (step.kind) {
    case StepKind::kPost:
    case StepKind::kDatagram: {
      const Operation& operation = step.operation;
      if (step.kind == StepKind::kDatagram) {
        text += line(" host %u to %u", side, channel);
      } else {
        text += line(" channel %u side %u %s", channel, side, kOperations[operation.kind].name);
      }
      text +=
          line(" %u bytes, offset %u, %u pieces from %u", operation.length, operation.remote_offset,
               unsigned{operation.sge_count}, unsigned{operation.rotation});
      return text + flags(operation);
    }
    case StepKind::kStall:
    case StepKind::kPause:
    case StepKind::kReboot:
    case StepKind::kAttach:
      text += line(" host %u", side);
      break;
    case StepKind::kResizeCq:
    case StepKind::kModerate:
    case StepKind::kResizeSrq:
    case StepKind::kArmSrq:
      text += line(" channel %u side %u %s, %u", channel, side,
                   step.operation.signaled ? "receives" : "sends", step.operation.length);
      break;
    default:
      text += line(" channel %u side %u", channel, side);
  }
  if (step.span != Duration{}) {
    text += line(" for %.3f us", static_cast<double>(step.span.count()) / 1000);
  }
  return text;
}

std::string describe(const ChannelPlan& channel) {
  std::string text =
      line("hosts %zu and %zu, %s, MTU %d, queues %u and %u, PSNs 0x%06x and 0x%06x, ",
           channel.host[0], channel.host[1], words(channel.type), ib_mtu_enum_to_int(channel.mtu),
           channel.send_depth, channel.recv_depth, channel.first_psn[0], channel.first_psn[1]);
  if (channel.type == IB_QPT_UC && channel.tangles) text += "tangled, ";
  text += line("timeout %u, retry_cnt %u, rnr_retry %u, ", unsigned{channel.timeout},
               unsigned{channel.retry_cnt}, unsigned{channel.rnr_retry});
  text += line("rd_atomic %u, %s, sender %s, receiver %s%s", unsigned{channel.rd_atomic},
               channel.signal_all ? "sq_sig_all" : "signals some", words(channel.send_wake),
               words(channel.recv_wake), channel.lends ? ", lends" : "");
  if (channel.srq) text += ", SRQ";
  if (channel.late_rts) text += ", side 1 late in RTS";
  return text;
}

std::string describe(const Faults& faults) {
  std::string text =
      line("loss %.3f, duplicates %.3f, late %.3f, flips %.4f, stalls %.4f, ", faults.loss,
           faults.duplicate, faults.reorder, faults.corrupt, faults.stall);
  text += line("latency %.1f us, ports of %zu frames",
               static_cast<double>(faults.latency.count()) / 1000, faults.port_frames);
  if (faults.latency_period == Duration{}) return text;
  return text + line(", ten times the latency and back every %.1f us",
                     static_cast<double>(faults.latency_period.count()) / 1000);
}

}  // namespace

std::string describe(const Plan& plan, const std::vector<size_t>& kept) {
  std::string text = line("seed %llu, %zu hosts%s\n", static_cast<unsigned long long>(plan.seed),
                          plan.hosts, plan.datagrams ? ", datagrams" : "");
  text += "  wire: " + describe(plan.faults) + "\n";
  if (plan.fabric.mbps != 0) {
    text += line("  switch: %llu Mb/s, queues of %zu bytes, pause above %zu\n",
                 static_cast<unsigned long long>(plan.fabric.mbps), plan.fabric.queue_bytes,
                 plan.fabric.pause_above);
  }
  for (size_t i = 0; i < plan.channels.size(); ++i) {
    text += line("  channel %zu: ", i) + describe(plan.channels[i]) + "\n";
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    text += line("  %zu: ", kept[i]) + describe(plan.steps[i]) + "\n";
  }
  return text;
}

std::string describe(const Plan& plan) {
  std::vector<size_t> kept(plan.steps.size());
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = i;
  return describe(plan, kept);
}

}  // namespace uroce::sim
