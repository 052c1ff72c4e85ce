// SPDX-License-Identifier: BSD-3-Clause
// An endpoint posts work requests, and tells the models what must become of them.
#include <algorithm>
#include <cstring>

#include "test/sim/endpoint.h"

namespace uroce::sim {
namespace {

uint8_t payload(uint64_t id, size_t side, uint32_t at) {
  const uint64_t mixed = (id * 2 + side + 1) * 0x9E3779B97F4A7C15u + at * 0xC2B2AE3D27D4EB4Fu;
  return static_cast<uint8_t>(mixed >> 56);
}

}  // namespace

// Over either edge, most of the time by a single byte.
uint32_t Endpoint::beyond_edge(uint32_t offset, uint32_t length, uint32_t begin, uint32_t end) {
  const uint32_t over = offset % 4 == 0 ? 1 + offset % 64 : 1;
  return offset % 2 == 0 ? end - length + over : begin - over;
}

uint32_t Endpoint::send_slot(uint64_t id) const {
  return send_area_ + static_cast<uint32_t>(id % (plan_.send_depth + 2)) * stride();
}
uint32_t Endpoint::sink_slot(uint64_t id) const {
  return sink_area_ + static_cast<uint32_t>(id % (plan_.send_depth + 2)) * stride();
}
uint32_t Endpoint::recv_slot(uint64_t id) const {
  return recv_area_ + static_cast<uint32_t>(id % plan_.recv_depth) * stride();
}

// [offset, offset + length) in `count` pieces, the list beginning with piece `rotation`.
std::vector<ib_sge> Endpoint::pieces(uint32_t offset, uint32_t length, uint32_t count,
                                     uint32_t rotation) const {
  std::vector<ib_sge> list;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t piece = (i + rotation) % count;
    const uint32_t from = static_cast<uint32_t>(uint64_t{length} * piece / count);
    const uint32_t to = static_cast<uint32_t>(uint64_t{length} * (piece + 1) / count);
    list.push_back({kIova + offset + from, to - from, local_mr_->lkey});
  }
  return list;
}

std::vector<uint8_t> Endpoint::gather(const std::vector<ib_sge>& list) const {
  std::vector<uint8_t> bytes;
  for (const ib_sge& sge : list) {
    const uint8_t* from = memory_.data() + (sge.addr - kIova);
    bytes.insert(bytes.end(), from, from + sge.length);
  }
  return bytes;
}

// [offset, offset + length) as it is once `bytes` have been scattered over `list`.
std::vector<uint8_t> Endpoint::placed(uint32_t offset, uint32_t length,
                                      const std::vector<ib_sge>& list,
                                      const std::vector<uint8_t>& bytes) const {
  std::vector<uint8_t> range(length, 0xEE);
  size_t done = 0;
  for (const ib_sge& sge : list) {
    const size_t count = std::min<size_t>(sge.length, bytes.size() - done);
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(done), count,
                range.begin() + static_cast<ptrdiff_t>(sge.addr - kIova - offset));
    done += count;
  }
  return range;
}

// The word is drawn by the request's number.
uint64_t& Endpoint::word_of(const Sent& sent) { return peer_->words_[sent.id % kWords]; }

void Endpoint::prepare_sink(Sent& sent) {
  sent.slot = sink_slot(sent.id);
  fill(sent.slot, stride(), 0xEE);
  shadow_->doubt(sent.slot, sent.length);
  if (sent.kind->effect == Effect::kRead) {
    const uint8_t* from = peer_->memory_.data() + sent.remote;
    sent.bytes.assign(from, from + sent.length);
  } else {
    const uint8_t* word = reinterpret_cast<const uint8_t*>(&word_of(sent));
    sent.bytes.assign(word, word + kWordBytes);
  }
}

void Endpoint::prepare_data(const Operation& operation, Sent& sent) {
  // Have no list.
  if (sent.kind->effect == Effect::kFlush || is_local(*sent.kind)) return;
  const uint32_t count =
      sent.length == 0 ? operation.sge_count : std::max<uint32_t>(operation.sge_count, 1);
  if (fetches(sent.kind->effect)) {
    prepare_sink(sent);
  } else {
    sent.slot = send_slot(sent.id);
    for (uint32_t i = 0; i < sent.length; ++i) memory_[sent.slot + i] = payload(sent.id, side_, i);
    shadow_->set_from_memory(sent.slot, sent.length);
  }
  sent.list = pieces(sent.slot, sent.length, count, operation.rotation);
  if (!fetches(sent.kind->effect)) sent.bytes = gather(sent.list);
}

Sent Endpoint::prepare(const Operation& operation) {
  Sent sent;
  sent.id = next_id_++;
  sent.kind = &kOperations[operation.kind];
  const bool refused = sim::offends(*sent.kind);
  sent.length = std::clamp<uint32_t>(operation.length, refused ? 1 : 0, plan_.message_bytes_max);
  if (is_on_word(sent.kind->effect)) sent.length = kWordBytes;
  if (is_local(*sent.kind)) sent.length = 0;
  // What may be lost is recognised by its immediate or its bytes.
  const bool nameless = sent.kind->takes_receive && !sent.kind->immediate;
  if (!reliable() && nameless) sent.length = std::max(sent.length, kWordBytes);
  sent.signaled =
      plan_.signal_all || operation.signaled || refused || silent_run_ + 1 >= plan_.send_depth / 2;
  sent.solicited = operation.solicited && sent.kind->takes_receive;
  sent.immediate = static_cast<uint32_t>(sent.id * 0x01000193u ^ side_);
  const bool after_read =
      !ledger_.empty() && ledger_.outstanding().back().kind->effect == Effect::kRead;
  const bool can_forward =
      sent.kind->effect == Effect::kMessage || sent.kind->effect == Effect::kWrite;
  const Sent* const forwarded =
      operation.forwards && after_read && can_forward ? &ledger_.outstanding().back() : nullptr;
  if (forwarded != nullptr) sent.length = forwarded->length;
  aim(operation, sent);
  if (forwarded != nullptr) {
    sent.list = forwarded->list;
    sent.bytes = forwarded->bytes;
  } else {
    prepare_data(operation, sent);
  }
  return sent;
}

// Where in the peer's memory it goes.
void Endpoint::aim(const Operation& operation, Sent& sent) const {
  const uint32_t offset = operation.remote_offset % kSpread;
  const Effect effect = sent.kind->effect;
  if (effect == Effect::kWrite || is_on_word(effect)) sent.remote_bytes = sent.length;
  if (aim_through(operation, sent)) return;
  sent.rkey = peer_->open_mr_->rkey;
  sent.remote = peer_->open_begin_ + offset;
  if (effect == Effect::kRead) {
    sent.remote = peer_->read_area_ + offset;
  } else if (is_on_word(effect)) {
    sent.remote = peer_->word_area_ + static_cast<uint32_t>(sent.id % kWords) * kWordBytes;
  } else if (effect == Effect::kStaleKey && peer_->retired_key_ != 0) {
    sent.rkey = peer_->retired_key_;
  } else if (effect == Effect::kTrespass || effect == Effect::kStaleKey) {
    sent.remote = beyond_edge(offset, sent.length, peer_->open_begin_, peer_->open_end_);
  }
  sent.address = kIova + sent.remote;
}

// Operands by the request's number; every other CMP_SWAP guesses right. The model moves on.
void Endpoint::aim_atomic(Sent& sent, ib_atomic_wr& wr) {
  uint64_t& word = word_of(sent);
  wr.remote_addr = sent.address;
  wr.rkey = sent.rkey;
  if (sent.kind->effect == Effect::kFetchAdd) {
    wr.compare_add = sent.id * 0x0101'0307'0F1Fu + 1;
    word += wr.compare_add;
    return;
  }
  wr.compare_add = sent.id % 2 == 0 ? word : word + 1;
  wr.swap = word * 3 + sent.id;
  if (wr.compare_add == word) word = wr.swap;
}

// What a kind of request has beside the common fields.
void Endpoint::fill_in(const Operation& operation, Sent& sent, Request& request) {
  const Effect effect = sent.kind->effect;
  if (works_on_keys(*sent.kind)) return work_on_key(operation, sent, request);
  if (effect == Effect::kFetchAdd || effect == Effect::kCompareSwap) {
    return aim_atomic(sent, request.atomic);
  }
  if (effect == Effect::kFlush) {
    request.flush.remote_addr = sent.address;
    request.flush.length = sent.length;
    request.flush.rkey = sent.rkey;
    request.flush.type = IB_FLUSH_GLOBAL;
    request.flush.level = IB_FLUSH_RANGE;
    return;
  }
  request.rdma.remote_addr = sent.address;
  request.rdma.rkey = sent.rkey;
}

// Makes the work request and posts it.
int Endpoint::submit(const Operation& operation, Sent& sent) {
  const bool inlined =
      operation.inlined && sent.length <= kInlineMax && sent.kind->inlinable && sent.slot != 0;
  std::vector<ib_sge> list = sent.list;
  if (inlined) {
    for (ib_sge& sge : list) {
      sge.addr = reinterpret_cast<uint64_t>(memory_.data()) + (sge.addr - kIova);
    }
  }
  Request request{};
  ib_send_wr& wr = request.common;
  wr.ex.imm_data = sent.immediate;
  fill_in(operation, sent, request);
  if (plan_.type == IB_QPT_XRC_INI) request.xrc.remote_srqn = peer_->srq_->ext.xrc.srq_num;
  wr.sg_list = list.data();
  wr.num_sge = static_cast<int>(list.size());
  wr.wr_id = sent.id;
  wr.opcode = sent.kind->opcode;
  wr.send_flags = (sent.signaled ? IB_SEND_SIGNALED : 0) |
                  (sent.solicited ? IB_SEND_SOLICITED : 0) | (operation.fence ? IB_SEND_FENCE : 0) |
                  (inlined ? IB_SEND_INLINE : 0);
  const int result = ib_post_send(qp_, &wr, nullptr);
  if (inlined) fill(sent.slot, sent.length, 0xDD);  // it must have been copied
  return result;
}

bool Endpoint::hand_over(const Operation& operation, Sent sent) {
  const int result = submit(operation, sent);
  if (result != 0) {
    verdict_.fail("completions",
                  std::string("post of ") + sent.kind->name + ": " + std::strerror(-result));
    return true;
  }
  if (sent.kind->effect == Effect::kAtomicWrite) {
    std::memcpy(&word_of(sent), sent.bytes.data(), kWordBytes);
  }
  if (sent.remote_bytes != 0) {
    const uint8_t* word = reinterpret_cast<const uint8_t*>(&word_of(sent));
    peer_->announced_ = peer_->shadow_->announce(
        sent.remote,
        is_on_word(sent.kind->effect) ? std::vector<uint8_t>(word, word + kWordBytes) : sent.bytes);
  }
  sent.announced = peer_->announced_;
  tally_.posted(*sent.kind);
  if (plan_.type == IB_QPT_UC) tally_.did(Deed::kOnUc);
  if (plan_.type == IB_QPT_XRC_INI) tally_.did(Deed::kOnXrc);
  if (sent.lender && !works_on_keys(*sent.kind)) tally_.did(Deed::kLentAccess);
  if (works_on_keys(*sent.kind)) begin_key_change(operation, sent);
  offended_ = offended_ || offends(*sent.kind);
  silent_run_ = sent.signaled ? 0 : silent_run_ + 1;
  peer_->incoming_.sent(sent);
  ledger_.posted(std::move(sent));
  return true;
}

bool Endpoint::post(const Operation& operation) {
  if (ledger_.size() >= plan_.send_depth) return false;
  if (rises_ && !closing_) rise();
  if (ledger_.empty() && peer_ != nullptr) {
    faults_at_progress_ = faults_so_far();
  }
  return !suits(operation) || hand_over(operation, prepare(operation));
}

void Endpoint::post_signaled() {
  if (silent_run_ == 0 || broken() || closing_) return;
  Operation operation;
  operation.kind = 2;  // a WRITE of nothing
  operation.sge_count = 0;
  post(operation);
}

std::vector<ib_sge> Endpoint::recv_list(uint64_t id) const {
  const uint32_t count = 1 + static_cast<uint32_t>(id * 7 % plan_.sge_max);
  return pieces(recv_slot(id), plan_.message_bytes_max, count, static_cast<uint32_t>(id % 3));
}

void Endpoint::post_recvs() {
  while (recvs_.outstanding() < plan_.recv_depth) {
    const uint64_t id = recvs_.posted();
    std::vector<ib_sge> list = recv_list(id);
    ib_recv_wr wr{};
    wr.wr_id = id;
    wr.sg_list = list.data();
    wr.num_sge = static_cast<int>(list.size());
    const int result = post_recv(wr);
    // On UC it may be begun more than once before a message is whole.
    if (!reliable()) shadow_->doubt(recv_slot(id), plan_.message_bytes_max);
    if (result == 0) continue;
    verdict_.fail("completions", std::string("post of a receive: ") + std::strerror(-result));
    return;
  }
}

}  // namespace uroce::sim
