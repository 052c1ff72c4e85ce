// SPDX-License-Identifier: BSD-3-Clause
// Members that share a completion queue, as an application with many books would have them.
#include "test/perf/fan_out.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace uroce::perf {
namespace {

constexpr uint32_t kQkey = 0x22222222;
constexpr uint32_t kGrh = 40;
constexpr int kPollMax = 32;
constexpr ib_gid kGroup = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 1, 2, 3}};

app::EndpointOptions sender_options(uint32_t payload_bytes) {
  app::EndpointOptions options;
  options.type = IB_QPT_UD;
  options.buffer_bytes = payload_bytes;
  options.inline_bytes = 0;
  return options;
}

// Its completion queue holds a completion of every member: as many as it is said to receive.
app::EndpointOptions member_options(uint32_t members, uint32_t slot_bytes) {
  app::EndpointOptions options;
  options.type = IB_QPT_UD;
  options.buffer_bytes = members * slot_bytes;
  options.send_wr = 1;
  options.recv_wr = std::max(members, 2u);
  options.inline_bytes = 0;
  return options;
}

// A queue pair that receives.
void activate(ib_qp* qp) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = kQkey;
  app::check(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY),
             "ib_modify_qp to INIT");
  attr.qp_state = IB_QPS_RTR;
  app::check(ib_modify_qp(qp, &attr, IB_QP_STATE), "ib_modify_qp to RTR");
}

}  // namespace

FanOut::FanOut(uroce_context* context, uint32_t members, uint32_t payload_bytes)
    : context_(context),
      members_(members),
      payload_bytes_(payload_bytes),
      slot_bytes_((payload_bytes + kGrh + 63) / 64 * 64),
      sender_(uroce_device(context, 0), sender_options(payload_bytes)),
      first_(uroce_device(context, 1), member_options(members, slot_bytes_)),
      group_(sender_, kGroup, app::ipv4_gid(sender_.device()).index),
      sges_(members),
      receives_(members) {
  sender_.activate(kQkey);
  first_.activate(kQkey);
  qps_.reserve(members);
  for (uint32_t i = 0; i < members; ++i) {
    add_member(i);
    prepare_receive(i);
  }
}

FanOut::~FanOut() {
  ib_gid group = kGroup;
  for (ib_qp* qp : qps_) {
    ib_detach_mcast(qp, &group, 0);
    if (qp != first_.qp()) ib_destroy_qp(qp);
  }
}

void FanOut::add_member(uint32_t index) {
  if (index == 0) {
    qps_.push_back(first_.qp());
  } else {
    ib_qp_init_attr init{};
    init.send_cq = init.recv_cq = first_.cq();
    init.cap = {1, 2, 1, 1, 0, 0};
    init.qp_type = IB_QPT_UD;
    qps_.push_back(app::check(ib_create_qp(first_.pd(), &init), "ib_create_qp"));
    activate(qps_.back());
  }
  ib_gid group = kGroup;
  app::check(ib_attach_mcast(qps_.back(), &group, 0), "ib_attach_mcast");
}

void FanOut::prepare_receive(uint32_t index) {
  sges_[index] = first_.sge(index * slot_bytes_, slot_bytes_);
  receives_[index].wr_id = index;
  receives_[index].sg_list = &sges_[index];
  receives_[index].num_sge = 1;
  app::check(ib_post_recv(qps_[index], &receives_[index], nullptr), "ib_post_recv");
}

uint64_t FanOut::round(uint32_t burst) {
  uint64_t copies = 0;
  for (uint32_t i = 0; i < burst; ++i) copies += send_one();
  return copies;
}

uint32_t FanOut::send_one() {
  sender_.buffer()[0] = static_cast<uint8_t>(sender_.buffer()[0] + 1);
  app::check(sender_.post_datagram({0, payload_bytes_}, {group_.get(), 0xFFFFFF, kQkey}),
             "ib_post_send");
  ib_wc wc[kPollMax];
  uint32_t copies = 0;
  for (uint32_t turn = 0; copies < members_; ++turn) {
    if (turn > 10'000) throw std::runtime_error("multicast copies were lost on a memory ring");
    uroce_poll(context_);
    int count = 0;
    while ((count = ib_poll_cq(first_.cq(), kPollMax, wc)) > 0) {
      for (int i = 0; i < count; ++i) {
        const uint64_t member = wc[i].wr_id;
        app::check(ib_post_recv(qps_[member], &receives_[member], nullptr), "ib_post_recv");
      }
      copies += static_cast<uint32_t>(count);
    }
  }
  while (ib_poll_cq(sender_.cq(), kPollMax, wc) == 0) uroce_poll(context_);
  return copies;
}

bool FanOut::check() {
  for (uint32_t i = 0; i < members_; ++i) {
    if (std::memcmp(first_.buffer() + i * slot_bytes_ + kGrh, sender_.buffer(), payload_bytes_) !=
        0) {
      return false;
    }
  }
  return true;
}

}  // namespace uroce::perf
