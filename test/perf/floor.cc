// SPDX-License-Identifier: BSD-3-Clause
// The floor program: allocate, template, copy, CRC, ring, posted buffer, completion.
#include "test/perf/floor.h"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "wire/headers.h"

namespace uroce::perf {
namespace {

constexpr uint32_t kQpn = 0x12;
constexpr uint32_t kQkey = 0x11111111;
constexpr uint32_t kGrh = 40;
constexpr uint32_t kBurstMax = 32;
constexpr uint32_t kHeaderBytes = 14 + 20 + 8 + 12 + 8;  // Ethernet … DETH

wire::HeaderTemplate make_headers() {
  wire::AddressFields fields;
  fields.source = {{2, 0, 0, 0, 0, 1}};
  fields.destination = {{2, 0, 0, 0, 0, 2}};
  fields.sgid = Gid::from_ipv4(0x0A000001);
  fields.dgid = Gid::from_ipv4(0x0A000002);
  fields.udp_source_port = 0xC000;
  return wire::make_header_template(fields);
}

}  // namespace

FloorPort::FloorPort(const char* name) {
  if (rte_eth_dev_get_port_by_name(name, &id_) != 0) throw std::runtime_error("no floor port");
  pool_ = rte_pktmbuf_pool_create("floor", 4095, 256, 0, 4608, SOCKET_ID_ANY);
  if (pool_ == nullptr) throw std::runtime_error("no memory for the floor's pool");
  for (const auto port : {id_, static_cast<uint16_t>(id_ + 1)}) {
    const rte_eth_conf conf{};
    if (rte_eth_dev_configure(port, 1, 1, &conf) != 0 ||
        rte_eth_rx_queue_setup(port, 0, 1024, SOCKET_ID_ANY, nullptr, pool_) != 0 ||
        rte_eth_tx_queue_setup(port, 0, 1024, SOCKET_ID_ANY, nullptr) != 0 ||
        rte_eth_dev_start(port) != 0) {
      throw std::runtime_error("the floor's ports do not start");
    }
  }
}

FloorPort::~FloorPort() {
  for (const auto port : {id_, static_cast<uint16_t>(id_ + 1)}) rte_eth_dev_stop(port);
  rte_mempool_free(pool_);
}

Floor::Floor(uint16_t port, rte_mempool* pool, uint32_t payload_bytes)
    : port_(port),
      pool_(pool),
      payload_bytes_(payload_bytes),
      headers_(make_headers()),
      source_(payload_bytes),
      buffers_(size_t{kRing} * (payload_bytes + kGrh)),
      completions_(kRing) {
  for (uint32_t i = 0; i < payload_bytes; ++i) source_[i] = static_cast<uint8_t>(7 * i + 1);
}

uint32_t Floor::round(uint32_t burst) {
  send(burst);
  receive();
  return poll();
}

uint32_t Floor::send(uint32_t burst) {
  rte_mbuf* frames[kBurstMax];
  if (rte_pktmbuf_alloc_bulk(pool_, frames, burst) != 0) std::abort();
  const uint32_t pad = wire::pad_bytes(payload_bytes_);
  const uint32_t ib_bytes = 12 + 8 + payload_bytes_ + pad + 4;
  for (uint32_t i = 0; i < burst; ++i) {
    auto* room = rte_pktmbuf_mtod(frames[i], uint8_t*);
    uint8_t* bth = wire::emit_headers(room, headers_, ib_bytes, ip_id_++);
    store_be32(bth, 0x6440FFFF | pad << 20);
    store_be32(bth + 4, kQpn);
    store_be32(bth + 8, psn_++ & 0xFFFFFF);
    store_be32(bth + 12, kQkey);
    store_be32(bth + 16, 0x13);
    std::memcpy(bth + 20, source_.data(), payload_bytes_);
    const uint32_t length = wire::finish_icrc(room, 14, false, kHeaderBytes + payload_bytes_);
    frames[i]->data_len = static_cast<uint16_t>(length);
    frames[i]->pkt_len = length;
  }
  return rte_eth_tx_burst(port_, 0, frames, static_cast<uint16_t>(burst));
}

uint32_t Floor::receive() {
  rte_mbuf* frames[kBurstMax];
  const uint16_t count = rte_eth_rx_burst(static_cast<uint16_t>(port_ + 1), 0, frames, kBurstMax);
  for (uint16_t i = 0; i < count; ++i) rte_prefetch0(rte_pktmbuf_mtod(frames[i], void*));
  for (uint16_t i = 0; i < count; ++i) deliver(frames[i]);
  rte_pktmbuf_free_bulk(frames, count);
  return count;
}

void Floor::deliver(rte_mbuf* frame) {
  const auto* bytes = rte_pktmbuf_mtod(frame, const uint8_t*);
  const uint8_t* bth = bytes + 42;
  if (load_be16(bytes + 12) != 0x0800 || load_be16(bytes + 36) != 4791 ||
      load_be24(bth + 5) != kQpn || load_be32(bth + 12) != kQkey) {
    return;
  }
  const uint32_t covered = frame->pkt_len - 14 - 4;
  if (wire::icrc(bytes + 14, false, covered) != load_raw<uint32_t>(bytes + 14 + covered)) return;
  uint8_t* buffer = &buffers_[size_t{produced_ % kRing} * (payload_bytes_ + kGrh)];
  std::memset(buffer, 0, 20);
  std::memcpy(buffer + 20, bytes + 14, 20);
  std::memcpy(buffer + kGrh, bth + 20, payload_bytes_);
  completions_[produced_ % kRing] = {produced_, payload_bytes_ + kGrh, load_be24(bth + 17)};
  ++produced_;
}

uint32_t Floor::poll() {
  uint32_t count = 0;
  for (; consumed_ != produced_; ++consumed_, ++count) {
    bytes_seen_ += completions_[consumed_ % kRing].byte_len;
  }
  return count;
}

bool Floor::check() const {
  if (produced_ == 0) return false;
  const uint8_t* last = &buffers_[size_t{(produced_ - 1) % kRing} * (payload_bytes_ + kGrh)];
  return std::memcmp(last + kGrh, source_.data(), payload_bytes_) == 0;
}

}  // namespace uroce::perf
