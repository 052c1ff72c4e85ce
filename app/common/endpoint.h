// SPDX-License-Identifier: BSD-3-Clause
// Small owners of verbs objects for the programs: made with an exception on failure, destroyed in
// the right order.
#ifndef UROCE_APP_COMMON_ENDPOINT_H
#define UROCE_APP_COMMON_ENDPOINT_H

#include <uroce/ib_verbs.h>
#include <uroce/uroce.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace uroce::app {

// A verbs call that failed, as a sentence.
class VerbsError : public std::runtime_error {
 public:
  VerbsError(const std::string& call, int error);
};

// Throws VerbsError when `result` is a negative errno.
void check(int result, const char* call);
// Throws when `pointer` is an ERR_PTR; returns it otherwise.
template <typename T>
T* check(T* pointer, const char* call) {
  if (IS_ERR(pointer)) check(static_cast<int>(PTR_ERR(pointer)), call);
  return pointer;
}

// Takes one completion if there is one; throws when it is an error.
bool take(ib_cq* cq, ib_wc& wc);

struct EndpointOptions {
  ib_qp_type type = IB_QPT_RC;
  uint32_t buffer_bytes = 4096;
  uint32_t send_wr = 64;
  uint32_t recv_wr = 64;
  uint32_t inline_bytes = 64;
  ib_cq* shared_cq = nullptr;              // instead of one of its own
  ib_comp_handler comp_handler = nullptr;  // of its own, with comp_context
  void* comp_context = nullptr;
};

// A send request for [offset, offset + length) of an endpoint's buffer.
struct SendRange {
  uint32_t offset;
  uint32_t length;
  int flags = IB_SEND_SIGNALED;
  uint64_t wr_id = 0;
};

// Where a datagram goes.
struct DatagramTarget {
  ib_ah* ah;
  uint32_t qpn;
  uint32_t qkey;
};

// One queue pair with its protection domain, completion queue and a registered buffer.
class Endpoint {
 public:
  Endpoint(ib_device* device, const EndpointOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  ib_device* device() const { return device_; }
  ib_pd* pd() const { return pd_; }
  ib_cq* cq() const { return cq_; }
  ib_qp* qp() const { return qp_; }
  ib_mr* mr() const { return mr_; }
  uint8_t* buffer() { return buffer_.get(); }
  uint32_t buffer_bytes() const { return options_.buffer_bytes; }

  // RC: to RTS against the peer's address and QPN. PSNs start at `psn` both ways.
  void connect(const ib_gid& peer, uint32_t peer_qpn, ib_mtu mtu, uint32_t psn, int sgid_index);
  // UD: to RTS with this Q_Key.
  void activate(uint32_t qkey);

  // Posts one receive of [offset, offset + length) of the buffer.
  void post_recv(uint32_t offset, uint32_t length, uint64_t wr_id);
  // Each posts one request and returns what ib_post_send() does.
  int post_send(const SendRange& range);
  int post_datagram(const SendRange& range, const DatagramTarget& to);
  // `opcode`: IB_WR_RDMA_WRITE or IB_WR_RDMA_READ.
  int post_rdma(ib_wr_opcode opcode, const SendRange& range, uint64_t remote_addr, uint32_t rkey);
  ib_sge sge(uint32_t offset, uint32_t length) const;

 private:
  int post(ib_send_wr& wr, ib_wr_opcode opcode, const SendRange& range);

  ib_device* const device_;
  const EndpointOptions options_;
  std::unique_ptr<uint8_t[]> buffer_;
  ib_pd* pd_ = nullptr;
  ib_cq* cq_ = nullptr;
  ib_mr* mr_ = nullptr;
  ib_qp* qp_ = nullptr;
};

// An address handle; what is posted with it must be completed before it goes.
class AddressHandle {
 public:
  // For a unicast or group address, from the entry `sgid_index` of the device's GID table.
  AddressHandle(const Endpoint& of, const ib_gid& destination, int sgid_index,
                uint8_t hop_limit = 64);
  ~AddressHandle();
  AddressHandle(const AddressHandle&) = delete;
  AddressHandle& operator=(const AddressHandle&) = delete;

  ib_ah* get() const { return ah_; }

 private:
  ib_ah* ah_;
};

// Whether it is an IPv4 address, ::ffff:a.b.c.d.
bool is_ipv4(const ib_gid& gid);

// An entry of a device's GID table.
struct GidEntry {
  ib_gid gid;
  int index;
};
// The first one that is an IPv4 address; throws when there is none.
GidEntry ipv4_gid(ib_device* device);
// The one to send to `destination` from: of its family, and link-local only where the destination
// is or there is no other; throws when there is none.
GidEntry source_gid(ib_device* device, const ib_gid& destination);

// "10.0.0.1" or "fd00::1".
std::string gid_text(const ib_gid& gid);

}  // namespace uroce::app

#endif  // UROCE_APP_COMMON_ENDPOINT_H
