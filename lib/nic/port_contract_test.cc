// SPDX-License-Identifier: BSD-3-Clause
// The port contract on each virtual driver that needs no privilege: how it opens, what it carries,
// how groups get through, and that every mbuf comes home. Cases 70 and 71.
#include <gmock/gmock.h>
#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <numeric>

#include "nic/nic_test_ports.h"
#include "nic/port.h"

namespace uroce::nic {
namespace {

using device::FilterKind;
using device::PortOwnership;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr MacAddress kGroup{{0x01, 0x00, 0x5e, 0x01, 0x02, 0x03}};

class PortContractTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (auto& port : ports) port->drain();
    for (auto& port : ports) {
      const absl::Status closed = port->close();
      EXPECT_TRUE(closed.ok()) << closed;
    }
    ports.clear();
    for (const std::string& name : names) rte_vdev_uninit(name.c_str());
    for (const std::string& file : files) std::remove(file.c_str());
  }
  // Makes the vdev and opens it; nullptr where that failed (the test fails).
  Port* opened(const std::string& name, const std::string& arguments, PortConfig config = {}) {
    EXPECT_EQ(rte_vdev_init(name.c_str(), arguments.c_str()), 0) << name;
    names.push_back(name);
    config.name = name;
    config.frames_held_max = 64;
    auto port = Port::open(config);
    EXPECT_TRUE(port.ok()) << port.status();
    if (!port.ok()) return nullptr;
    ports.push_back(*std::move(port));
    return ports.back().get();
  }
  static void send_one(Port& port, uint8_t tag, uint32_t length) {
    const std::span<TxSlot> slots = port.queue(0).lend();
    ASSERT_FALSE(slots.empty());
    ASSERT_GE(slots[0].capacity, length);
    fill(slots[0], tag, length);
    port.queue(0).submit(1);
  }
  std::string file(const std::string& name) {
    files.push_back(testing::TempDir() + "uroce-" + std::to_string(getpid()) + name);
    return files.back();
  }

  std::vector<std::unique_ptr<Port>> ports;
  std::vector<std::string> names;
  std::vector<std::string> files;
};

// case 70
TEST_F(PortContractTest, RingOfTheEalIsALoopAndGetsALocalMac) {
  Port* port = opened("net_ring_loop", "");
  ASSERT_NE(port, nullptr);
  const device::PortInfo info = port->info();
  EXPECT_EQ(info.mac.bytes[0], 0x02);
  EXPECT_EQ(info.ownership, PortOwnership::kOwn);
  EXPECT_EQ(info.filter, FilterKind::kNone);
  EXPECT_EQ(info.frame_bytes_max, 4198u);
  EXPECT_EQ(port->set_multicast_macs(std::span(&kGroup, 1)), 0);
  EXPECT_EQ(port->info().filter, FilterKind::kNone);
  send_one(*port, 3, 4198);
  EXPECT_THAT(receive_tags(port->queue(0)), ElementsAre(3));
}

// case 70
TEST_F(PortContractTest, NullTakesAFilterAndGivesNothing) {
  Port* port = opened("net_null_contract", "");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->set_multicast_macs(std::span(&kGroup, 1)), 0);
  EXPECT_EQ(port->info().filter, FilterKind::kNone);
  send_one(*port, 1, 200);  // its bytes are in an mbuf that the driver gives back as received
  for (int i = 0; i < 1'000; ++i) EXPECT_THAT(receive_tags(port->queue(0)), IsEmpty());
  EXPECT_EQ(port->queue(0).counters().rx_empty_frame.value(), 32'000u);
  EXPECT_EQ(port->queue(0).counters().rx_frames.value(), 32'000u);
}

// A capture file of little-endian pcap: frames of the given lengths, tagged 1, 2, …
void write_capture(const std::string& path, const std::vector<uint32_t>& lengths) {
  std::FILE* out = std::fopen(path.c_str(), "wb");
  ASSERT_NE(out, nullptr);
  const uint32_t head[] = {0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1};
  std::fwrite(head, sizeof head, 1, out);
  uint8_t tag = 0;
  for (uint32_t length : lengths) {
    const uint32_t record[] = {1, 0, length, length};
    std::fwrite(record, sizeof record, 1, out);
    std::vector<uint8_t> bytes(length, 0x11);
    bytes.back() = ++tag;
    std::fwrite(bytes.data(), bytes.size(), 1, out);
  }
  std::fclose(out);
}

// case 71
TEST_F(PortContractTest, CaptureFileComesInAndOneGoesOut) {
  const std::string in = file("-in.pcap");
  const std::string out = file("-out.pcap");
  write_capture(in, {64, 4198, 9000, 60});
  Port* port = opened("net_pcap_contract", "rx_pcap=" + in + ",tx_pcap=" + out);
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->info().filter, FilterKind::kNone);
  EXPECT_EQ(port->set_multicast_macs(std::span(&kGroup, 1)), 0);
  EXPECT_THAT(receive_tags(port->queue(0)), ElementsAre(1, 2, 4));  // 9000 is too long here
  EXPECT_EQ(port->queue(0).counters().rx_linearize_drop.value(), 1u);
  EXPECT_THAT(receive_tags(port->queue(0)), IsEmpty());
  send_one(*port, 0x77, 100);
  port->drain();
  EXPECT_TRUE(port->close().ok());
  std::FILE* written = std::fopen(out.c_str(), "rb");
  ASSERT_NE(written, nullptr);
  std::vector<uint8_t> bytes(1000);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), written));
  std::fclose(written);
  ASSERT_EQ(bytes.size(), 24u + 16u + 100u);
  EXPECT_EQ(bytes.back(), 0x77);
}

class MemifTest : public PortContractTest {
 protected:
  // Server and client in this process, joined when both say so.
  void open_pair(const std::string& buffer_bytes, uint16_t mtu) {
    static int serial = 0;  // an abstract name: a new one each time, the old one may linger
    const std::string socket = ",socket=uroce-" + std::to_string(getpid()) + "-" +
                               std::to_string(serial++) + ",id=0,bsize=" + buffer_bytes;
    PortConfig config;
    config.mtu = mtu;
    server = opened("net_memif_s", "role=server" + socket, config);
    client = opened("net_memif_c", "role=client" + socket, config);
    ASSERT_TRUE(server != nullptr && client != nullptr);
    wait_for_links(true);
    ASSERT_TRUE(server->info().link_up);
    ASSERT_TRUE(client->info().link_up);
  }
  // One end after the other: the driver's interrupt thread does not bear an end that goes away
  // while it still takes leave of the other one (DPDK 22.11).
  void TearDown() override {
    if (client != nullptr) {
      client->drain();
      server->drain();
      EXPECT_TRUE(client->close().ok());
      wait_for_links(false);
      usleep(200'000);
    }
    PortContractTest::TearDown();
  }
  void wait_for_links(bool up) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while ((server->info().link_up != up || (up && !client->info().link_up)) &&
           std::chrono::steady_clock::now() < deadline) {
      usleep(1'000);
    }
  }
  // The server sends into buffers that the client offers when it polls: the first may have to wait.
  static std::vector<int> pass(Port& from, Port& to, uint8_t tag, uint32_t length) {
    receive_tags(to.queue(0));
    send_one(from, tag, length);
    for (int i = 0; i < 1'000; ++i) {
      std::vector<int> tags = receive_tags(to.queue(0));
      if (!tags.empty()) return tags;
      from.queue(0).flush();
    }
    return {};
  }
  void expect_whole_frames() {
    EXPECT_EQ(server->info().frame_bytes_max, 4198u);
    EXPECT_EQ(server->info().filter, FilterKind::kNone);
    EXPECT_NE(server->info().mac, client->info().mac);
    EXPECT_THAT(pass(*server, *client, 5, 4198), ElementsAre(5));
    EXPECT_THAT(pass(*client, *server, 6, 4198), ElementsAre(6));
    EXPECT_EQ(client->queue(0).counters().rx_linearized.value(), 0u);
  }
  Port* server = nullptr;
  Port* client = nullptr;
};

// case 70, case 71
TEST_F(MemifTest, CarriesWhatTheUserSaysInOneSegment) {
  open_pair("9216", 4184);
  expect_whole_frames();
}

// case 70, case 71
TEST_F(MemifTest, CarriesThemInChainsOfItsSmallBuffersToo) {
  open_pair("2048", 4184);
  expect_whole_frames();
}

TEST_F(MemifTest, ClientWithoutAServerIsToldWhatToDo) {
  names.push_back("net_memif_alone");
  const std::string arguments = "role=client,id=0,socket=uroce-alone-" + std::to_string(getpid());
  ASSERT_EQ(rte_vdev_init("net_memif_alone", arguments.c_str()), 0);
  const auto port = Port::open({.name = "net_memif_alone", .frames_held_max = 64});
  ASSERT_FALSE(port.ok());
  EXPECT_EQ(port.status().message(),
            "port net_memif_alone: its memif server does not answer: start that one first");
}

TEST_F(MemifTest, FullRingIsBackPressure) {
  open_pair("2048", 0);
  EXPECT_EQ(server->info().frame_bytes_max, 1514u);
  uint32_t sent = 0;
  while (!server->queue(0).blocked() && sent < 100'000 && send(server->queue(0), 32, 0)) sent += 32;
  EXPECT_TRUE(server->queue(0).blocked());
  size_t received = 0;
  for (int i = 0; i < 10'000 && received < sent; ++i) {
    received += receive_tags(client->queue(0)).size();
    server->queue(0).flush();
  }
  EXPECT_EQ(received, sent);
  EXPECT_FALSE(server->queue(0).blocked());
}

}  // namespace
}  // namespace uroce::nic
