// SPDX-License-Identifier: BSD-3-Clause
// A UD queue pair from RESET to RTS, as each end that has one wants it.
#ifndef UROCE_TEST_SIM_BRING_UP_H
#define UROCE_TEST_SIM_BRING_UP_H

#include <uroce/ib_verbs.h>

#include "test/sim/must.h"

namespace uroce::sim {

inline void bring_up_datagrams(ib_qp* qp, uint32_t qkey) {
  ib_qp_attr attr{};
  attr.qp_state = IB_QPS_INIT;
  attr.port_num = 1;
  attr.qkey = qkey;
  must(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY),
       "to INIT");
  attr.qp_state = IB_QPS_RTR;
  must(ib_modify_qp(qp, &attr, IB_QP_STATE), "to RTR");
  attr.qp_state = IB_QPS_RTS;
  must(ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN), "to RTS");
}

}  // namespace uroce::sim

#endif  // UROCE_TEST_SIM_BRING_UP_H
