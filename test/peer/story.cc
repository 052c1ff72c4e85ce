// SPDX-License-Identifier: BSD-3-Clause
// Reading captures and the logs beside them.
#include "test/peer/story.h"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/bytes.h"
#include "capture/reader.h"
#include "wire/headers.h"

namespace uroce::peer {
namespace {

bool to_roce_port(const Bytes& frame) {
  if (frame.size() < 42) return false;
  if (load_be16(&frame[12]) == 0x0800) return frame[23] == 17 && load_be16(&frame[36]) == 4791;
  return load_be16(&frame[12]) == 0x86DD && frame.size() >= 62 && frame[20] == 17 &&
         load_be16(&frame[56]) == 4791;
}

uint64_t number(const std::string& text) { return std::stoull(text, nullptr, 0); }

LoggedCompletion read_completion(std::istringstream& words) {
  LoggedCompletion completion;
  std::string word, value, rest;
  words >> completion.opcode;
  std::getline(words, rest);
  const size_t failed = rest.find("(status ");
  if (failed != std::string::npos) {
    completion.opcode.clear();
    completion.status = static_cast<int>(number(rest.substr(failed + 8)));
    return completion;
  }
  std::istringstream details(rest);
  while (details >> word) {
    if (word == "bytes" && details >> value) {
      completion.bytes = static_cast<uint32_t>(number(value));
    } else if (word == "imm" && details >> value) {
      completion.has_imm = true;
      completion.imm = static_cast<uint32_t>(number(value));
    } else if (word == "qp" && details >> value) {
      completion.source_qpn = static_cast<uint32_t>(number(value));
    }
  }
  return completion;
}

// A line that begins with the role: "server case …", "server wc …", "server ends …".
void read_line(const std::string& line, End& end) {
  std::istringstream words(line);
  std::string word, value;
  words >> word >> word;
  if (word == "wc" && words >> word) {
    // 99 is the program's own, before the story begins.
    if (word != "99") end.completions.push_back(read_completion(words));
  } else if (word == "ends") {
    end.final_state = line.back() - '0';
  } else if (word == "case") {
    while (words >> word) {
      if (word == "qp" && words >> value) end.qpn = static_cast<uint32_t>(number(value));
      if (word == "psn" && words >> value) end.first_psn = static_cast<uint32_t>(number(value));
      if (word == "rkey" && words >> value) end.rkey = static_cast<uint32_t>(number(value));
      if (word == "addr" && words >> value) end.address = number(value);
    }
  }
}

void read_log(const std::string& path, Story& story) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("server ")) read_line(line, story.server);
    if (line.starts_with("client ")) read_line(line, story.client);
    if (line.starts_with("# guest 1, client: ")) story.client_command = line;
  }
}

}  // namespace

bool Packet::answer() const {
  const auto opcode = static_cast<uint8_t>(fields.opcode);
  return parses && opcode >= 0x0D && opcode <= 0x12;
}

uint32_t Story::option(const std::string& name, uint32_t otherwise) const {
  const size_t at = client_command.find(" " + name + " ");
  if (at == std::string::npos) return otherwise;
  return static_cast<uint32_t>(number(client_command.substr(at + name.size() + 2)));
}

Packet to_packet(const Bytes& frame) {
  Packet packet;
  packet.frame = frame;
  const bool ipv6 = load_be16(&frame[12]) == 0x86DD;
  packet.from = wire::load_address(&frame[ipv6 ? 22 : 26], ipv6);
  packet.to = wire::load_address(&frame[ipv6 ? 38 : 30], ipv6);
  packet.parses = wire::parse_roce(packet.frame, {}, packet.fields) == wire::Drop::kNone;
  return packet;
}

Story read_story(const std::string& stem) {
  Story story;
  capture::CaptureReader reader;
  if (reader.open((stem + ".pcap").c_str()) != 0) throw std::runtime_error(reader.error());
  capture::CapturedFrame frame;
  int64_t start = -1;
  while (reader.next(frame) == capture::CaptureReader::Result::kFrame) {
    const Bytes bytes(frame.bytes.begin(), frame.bytes.end());
    if (!to_roce_port(bytes)) continue;
    if (start < 0) start = frame.time_ns;
    story.packets.push_back(to_packet(bytes));
    story.packets.back().at = Duration(frame.time_ns - start);
  }
  read_log(stem + ".log", story);
  return story;
}

std::string essence(const Packet& packet) {
  const wire::ParsedFrame& x = packet.fields;
  std::ostringstream text;
  text << std::hex << x.info->name << " PSN 0x" << x.psn.value();
  const uint8_t* extensions = x.bth + wire::kBthBytes;
  Bytes headers(extensions, x.payload);
  if (x.info->aeth != 0) {
    const wire::Aeth aeth = x.aeth();
    const bool credits = wire::Aeth::kind_of(aeth.syndrome) == wire::AethKind::kAck;
    text << " syndrome 0x" << unsigned{credits ? uint8_t{0} : aeth.syndrome} << " MSN " << aeth.msn;
    headers.erase(headers.begin(), headers.begin() + 4);
  }
  text << " headers";
  for (const uint8_t byte : headers) text << ' ' << unsigned{byte};
  text << " payload " << std::dec << x.payload_length << std::hex << ':';
  uint64_t sum =
      0xcbf29ce484222325;  // FNV-1a: unequal payloads are told apart, and lines stay short
  for (const uint8_t byte : packet.payload()) sum = (sum ^ byte) * 0x100000001b3;
  text << sum;
  return text.str();
}

}  // namespace uroce::peer
