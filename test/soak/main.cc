// SPDX-License-Identifier: BSD-3-Clause
// uroce-soak: messages of the greatest length there is, 2^31 bytes, through every operation that
// carries data, between two simulated hosts; every byte is compared.
//
// At a path MTU of 256 such a message takes 2^23 PSNs, half of their space; first PSNs lie shortly
// before the wrap.
#include <sys/mman.h>
#include <uroce/ib_verbs.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "test/sim/host.h"
#include "test/sim/must.h"

namespace uroce::sim {
namespace {

constexpr uint64_t kIova = 0x7000'0000'0000;
constexpr uint64_t kGuardBytes = 4096;
constexpr uint8_t kGuard = 0xA5;
constexpr uint32_t kFirstPsn = 0xFFFFF0;
constexpr uint32_t kWrId = 77;

struct Case {
  const char* name;
  ib_qp_type type;
  ib_wr_opcode opcode;
  ib_mtu mtu;
  uint32_t sges;
  double loss;
};

// The wire takes no time for a packet, so the whole response to a READ has left before the news of
// a loss comes, and is sent again from there: few losses are many packets.
constexpr Case kCases[] = {
    {"RC SEND", IB_QPT_RC, IB_WR_SEND, IB_MTU_4096, 1, 0},
    {"RC SEND, 30 SGEs", IB_QPT_RC, IB_WR_SEND, IB_MTU_4096, 30, 0},
    {"RC SEND with immediate", IB_QPT_RC, IB_WR_SEND_WITH_IMM, IB_MTU_4096, 1, 1e-4},
    {"RC WRITE", IB_QPT_RC, IB_WR_RDMA_WRITE, IB_MTU_4096, 1, 1e-3},
    {"RC WRITE with immediate", IB_QPT_RC, IB_WR_RDMA_WRITE_WITH_IMM, IB_MTU_4096, 1, 1e-4},
    {"RC READ", IB_QPT_RC, IB_WR_RDMA_READ, IB_MTU_4096, 1, 1e-5},
    {"RC SEND", IB_QPT_RC, IB_WR_SEND, IB_MTU_256, 1, 0},
    {"RC WRITE", IB_QPT_RC, IB_WR_RDMA_WRITE, IB_MTU_256, 1, 1e-5},
    {"RC READ", IB_QPT_RC, IB_WR_RDMA_READ, IB_MTU_256, 1, 2e-7},
    {"UC SEND with immediate", IB_QPT_UC, IB_WR_SEND_WITH_IMM, IB_MTU_4096, 1, 0},
    {"UC WRITE", IB_QPT_UC, IB_WR_RDMA_WRITE, IB_MTU_256, 1, 0},
};

// Anonymous memory with a guard behind it.
class Area {
 public:
  explicit Area(uint64_t bytes) : bytes_(bytes) {
    void* mapped = mmap(nullptr, bytes + kGuardBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      std::perror("uroce-soak: no memory, of which it takes twice the length of a message");
      std::exit(1);
    }
    data_ = static_cast<uint8_t*>(mapped);
    std::memset(data_ + bytes, kGuard, kGuardBytes);
  }
  ~Area() { munmap(data_, bytes_ + kGuardBytes); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  // No two places of 8 bytes hold the same.
  void fill(uint64_t salt) {
    for (uint64_t at = 0; at + 8 <= bytes_; at += 8) {
      const uint64_t word = (at + salt) * 0x9E3779B97F4A7C15u;
      std::memcpy(data_ + at, &word, sizeof word);
    }
  }
  bool same_as(const Area& other) const { return std::memcmp(data_, other.data_, bytes_) == 0; }
  bool guard_is_whole() const {
    for (uint64_t i = 0; i < kGuardBytes; ++i) {
      if (data_[bytes_ + i] != kGuard) return false;
    }
    return true;
  }
  uint8_t* data() { return data_; }

 private:
  uint64_t bytes_;
  uint8_t* data_ = nullptr;
};

// One host's end.
struct End {
  Host& host;
  ib_pd* pd = nullptr;
  ib_cq* cq = nullptr;
  ib_mr* mr = nullptr;
  ib_qp* qp = nullptr;

  End(Host& on, Area& area, uint64_t bytes, const Case& c) : host(on) {
    pd = must(ib_alloc_pd(host.device(), 0), "ib_alloc_pd");
    ib_cq_init_attr cq_attr{};
    cq_attr.cqe = 16;
    cq = must(ib_create_cq(host.device(), nullptr, nullptr, nullptr, &cq_attr), "ib_create_cq");
    const auto start = reinterpret_cast<uint64_t>(area.data());
    mr =
        must(ib_reg_user_mr(pd, start, bytes, kIova,
                            IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ),
             "ib_reg_user_mr");
    ib_qp_init_attr attr{};
    attr.send_cq = attr.recv_cq = cq;
    attr.cap = {4, 4, c.sges, c.sges, 0, 0};
    attr.sq_sig_type = IB_SIGNAL_ALL_WR;
    attr.qp_type = c.type;
    qp = must(ib_create_qp(pd, &attr), "ib_create_qp");
  }
  ~End() {
    ib_destroy_qp(qp);
    ib_dereg_mr(mr);
    ib_destroy_cq(cq);
    ib_dealloc_pd(pd);
  }

  void connect(const End& peer, const Case& c) {
    const bool reliable = c.type == IB_QPT_RC;
    ib_qp_attr attr{};
    attr.qp_state = IB_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IB_ACCESS_REMOTE_WRITE | (reliable ? IB_ACCESS_REMOTE_READ : 0);
    must(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS),
         "to INIT");
    attr.qp_state = IB_QPS_RTR;
    attr.path_mtu = c.mtu;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.rq_psn = attr.sq_psn = kFirstPsn;
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
    attr.ah_attr.port_num = 1;
    ib_gid dgid;
    std::memcpy(dgid.raw, peer.host.ipv4().bytes.data(), sizeof dgid.raw);
    rdma_ah_set_grh(&attr.ah_attr, &dgid, 0, 1, 64, 0);
    const int answers = reliable ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0;
    must(ib_modify_qp(
             qp, &attr,
             IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN | answers),
         "to RTR");
    attr.qp_state = IB_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    const int retries =
        reliable ? IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC : 0;
    must(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN | retries), "to RTS");
  }

  // The whole of its memory, in pieces that differ by one byte at most.
  std::vector<ib_sge> list(uint64_t bytes, uint32_t pieces) const {
    std::vector<ib_sge> sges;
    uint64_t at = 0;
    for (uint32_t i = 1; i <= pieces; ++i) {
      const uint64_t end = bytes * i / pieces;
      sges.push_back({kIova + at, static_cast<uint32_t>(end - at), mr->lkey});
      at = end;
    }
    return sges;
  }
};

bool uses_receive(ib_wr_opcode opcode) {
  return opcode != IB_WR_RDMA_WRITE && opcode != IB_WR_RDMA_READ;
}

void post(End& left, End& right, const Case& c, uint64_t bytes) {
  if (uses_receive(c.opcode)) {
    std::vector<ib_sge> sges = right.list(bytes, c.sges);
    ib_recv_wr recv{};
    recv.wr_id = kWrId;
    recv.sg_list = sges.data();
    recv.num_sge = static_cast<int>(sges.size());
    must(ib_post_recv(right.qp, &recv, nullptr), "ib_post_recv");
  }
  std::vector<ib_sge> sges = left.list(bytes, c.sges);
  ib_rdma_wr send{};
  send.wr.wr_id = kWrId;
  send.wr.opcode = c.opcode;
  send.wr.sg_list = sges.data();
  send.wr.num_sge = static_cast<int>(sges.size());
  send.remote_addr = kIova;
  send.rkey = right.mr->rkey;
  must(ib_post_send(left.qp, &send.wr, nullptr), "ib_post_send");
}

// The next completion of `end`; false: none came within an hour of virtual time.
bool await(World& world, End& end, ib_wc& wc) {
  const Time limit = world.now() + std::chrono::hours(1);
  while (world.now() < limit) {
    if (ib_poll_cq(end.cq, 1, &wc) == 1) return true;
    end.host.pump();
    for (int i = 0; i < 64; ++i) {
      if (!world.step()) return ib_poll_cq(end.cq, 1, &wc) == 1;
    }
  }
  return false;
}

// An error, or nullptr.
const char* run(const Case& c, uint64_t bytes, Area& a, Area& b, uint64_t& sent_again) {
  World world(1);
  world.faults.port_frames = 1 << 16;
  Host& left_host = world.add_host(std::make_unique<Host>(world, 1, 1));
  Host& right_host = world.add_host(std::make_unique<Host>(world, 2, 2));
  left_host.start();
  right_host.start();
  End left(left_host, a, bytes, c);
  End right(right_host, b, bytes, c);
  left.connect(right, c);
  right.connect(left, c);
  world.faults.loss = c.loss;
  post(left, right, c, bytes);
  ib_wc wc{};
  if (!await(world, left, wc)) return "the sender's completion does not come";
  if (wc.status != IB_WC_SUCCESS) return ib_wc_status_msg(wc.status);
  if (uses_receive(c.opcode)) {
    if (!await(world, right, wc)) return "the receiver's completion does not come";
    if (wc.status != IB_WC_SUCCESS) return ib_wc_status_msg(wc.status);
    if (wc.byte_len != bytes || wc.wr_id != kWrId) return "the receiver's completion is wrong";
  } else {
    while (world.in_flight() != 0) world.step();  // nobody tells when a WRITE of UC has arrived
  }
  sent_again = left_host.engine().counters().retransmitted_packets.value() +
               right_host.engine().counters().retransmitted_packets.value();
  if (!a.same_as(b)) return "the bytes differ";
  return a.guard_is_whole() && b.guard_is_whole() ? nullptr : "bytes behind the buffer are written";
}

int run_all(uint64_t bytes) {
  Area a(bytes);
  Area b(bytes);
  int failures = 0;
  uint64_t salt = 0;
  for (const Case& c : kCases) {
    const bool reads = c.opcode == IB_WR_RDMA_READ;
    (reads ? b : a).fill(salt);
    (reads ? a : b).fill(~salt);
    ++salt;
    uint64_t sent_again = 0;
    const auto start = std::chrono::steady_clock::now();
    const char* error = run(c, bytes, a, b, sent_again);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%-24s %llu bytes, path MTU %d, loss %g %%: %s; %llu packets sent again, %.1f s\n",
                c.name, static_cast<unsigned long long>(bytes), 128 << c.mtu, c.loss * 100,
                error == nullptr ? "good" : error, static_cast<unsigned long long>(sent_again),
                took.count());
    std::fflush(stdout);
    failures += error == nullptr ? 0 : 1;
  }
  return failures == 0 ? 0 : 1;
}

constexpr uint64_t kLeastBytes = 30;  // one for each SGE
constexpr uint64_t kMostBytes = 1ull << 31;

// Nothing: `bytes` is set. Else the status to exit with, and all has been said.
std::optional<int> parse(int argc, char** argv, uint64_t& bytes) {
  if (argc == 1) return std::nullopt;
  if (std::strcmp(argv[1], "--help") == 0) {
    std::printf("usage: uroce-soak [--bytes N]   length of each message, %llu to %llu (default)\n",
                static_cast<unsigned long long>(kLeastBytes),
                static_cast<unsigned long long>(kMostBytes));
    return 0;
  }
  if (std::strcmp(argv[1], "--bytes") != 0 || argc > 3) {
    std::fprintf(stderr, "uroce-soak: unknown argument %s: see --help\n", argv[argc > 3 ? 3 : 1]);
    return 2;
  }
  const char* const text = argc == 3 ? argv[2] : "";
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, bytes);
  if (error == std::errc{} && stop == end && bytes >= kLeastBytes && bytes <= kMostBytes) {
    return std::nullopt;
  }
  std::fprintf(stderr, "uroce-soak: --bytes wants a number from %llu to %llu, not '%s'\n",
               static_cast<unsigned long long>(kLeastBytes),
               static_cast<unsigned long long>(kMostBytes), text);
  return 2;
}

}  // namespace
}  // namespace uroce::sim

int main(int argc, char** argv) {
  uint64_t bytes = uroce::sim::kMostBytes;
  if (const auto status = uroce::sim::parse(argc, argv, bytes)) return *status;
  try {
    return uroce::sim::run_all(bytes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "uroce-soak: %s\n", error.what());
    return 1;
  }
}
