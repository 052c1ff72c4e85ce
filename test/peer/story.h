// SPDX-License-Identifier: BSD-3-Clause
// A capture of a foreign stack as a story: its packets with who said them, and what the programs
// at both ends said about it in the log beside it.
#ifndef UROCE_TEST_PEER_STORY_H
#define UROCE_TEST_PEER_STORY_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "wire/parse.h"

namespace uroce::peer {

using Bytes = std::vector<uint8_t>;

// A packet, or a frame that no receiver would take for one (probe/): `parses` says which.
struct Packet {
  Packet() = default;
  Packet(Packet&&) = default;
  Packet& operator=(Packet&&) = default;

  Bytes frame;
  Duration at{};  // since the first packet
  bool parses = false;
  wire::ParsedFrame fields{};  // into `frame`, with `parses`
  Gid from, to;

  bool answer() const;  // acknowledges, READ and atomic responses
  Bytes payload() const { return {fields.payload, fields.payload + fields.payload_length}; }
};

// "server wc 3 RECV bytes 42 imm 0xb0000002 grh from qp 0x49"; "client wc 1 … (status 10)".
struct LoggedCompletion {
  std::string opcode;  // empty: it failed
  int status = 0;
  uint32_t bytes = 0;
  bool has_imm = false;
  uint32_t imm = 0;
  uint32_t source_qpn = 0;
};

struct End {
  uint32_t qpn = 0;
  uint32_t first_psn = 0;
  uint64_t address = 0;
  uint32_t rkey = 0;
  std::vector<LoggedCompletion> completions;
  int final_state = -1;  // of its queue pair; -1: not said
};

struct Story {
  std::vector<Packet> packets;  // UDP port 4791 only
  End server, client;
  std::string client_command;

  // The number behind an option of the client, such as -t.
  uint32_t option(const std::string& name, uint32_t otherwise) const;
};

// Reads STEM.pcap, and STEM.log if there is one. Throws std::runtime_error, as only tests do.
Story read_story(const std::string& stem);

// What two right stacks agree about in a packet: opcode, PSN, the extension headers and the
// payload. Not the credits of an ACK, nor bits that a sender is free about (MigReq).
std::string essence(const Packet& packet);
Packet to_packet(const Bytes& frame);

}  // namespace uroce::peer

#endif  // UROCE_TEST_PEER_STORY_H
