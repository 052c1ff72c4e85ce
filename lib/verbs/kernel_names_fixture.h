// SPDX-License-Identifier: BSD-3-Clause
// For tests: every name of the kernel that test/tidy/kernel_verbs.toml lists, used once, in C11 as
// well as in C++20.
#ifndef UROCE_VERBS_KERNEL_NAMES_FIXTURE_H
#define UROCE_VERBS_KERNEL_NAMES_FIXTURE_H

#include <uroce/ib_verbs.h>

#define UROCE_KERNEL_CALLS(X)      \
  X(ib_attach_mcast)               \
  X(ib_detach_mcast)               \
  X(ib_rate_to_mult)               \
  X(ib_rate_to_mbps)               \
  X(mult_to_ib_rate)               \
  X(ib_port_attr_to_speed_info)    \
  X(rdma_mtu_enum_to_int)          \
  X(rdma_mtu_from_attr)            \
  X(ib_check_mr_status)            \
  X(ib_get_client_data)            \
  X(ib_device_try_get)             \
  X(rdma_device_to_ibdev)          \
  X(ibdev_to_node)                 \
  X(rdma_roce_rescan_device)       \
  X(rdma_cap_ib_switch)            \
  X(rdma_start_port)               \
  X(rdma_end_port)                 \
  X(rdma_cap_ib_mad)               \
  X(rdma_cap_opa_mad)              \
  X(rdma_cap_ib_smi)               \
  X(rdma_cap_ib_cm)                \
  X(rdma_cap_iw_cm)                \
  X(rdma_cap_ib_sa)                \
  X(rdma_cap_ib_mcast)             \
  X(rdma_cap_af_ib)                \
  X(rdma_cap_eth_ah)               \
  X(rdma_cap_opa_ah)               \
  X(rdma_max_mad_size)             \
  X(rdma_cap_roce_gid_table)       \
  X(rdma_core_cap_opa_port)        \
  X(rdma_ah_find_type)             \
  X(ib_alloc_pd)                   \
  X(ib_dealloc_pd)                 \
  X(rdma_create_ah)                \
  X(rdma_create_user_ah)           \
  X(ib_get_gids_from_rdma_hdr)     \
  X(ib_get_rdma_header_version)    \
  X(ib_init_ah_attr_from_wc)       \
  X(ib_create_ah_from_wc)          \
  X(rdma_modify_ah)                \
  X(rdma_query_ah)                 \
  X(rdma_destroy_ah)               \
  X(rdma_destroy_ah_user)          \
  X(ib_modify_srq)                 \
  X(ib_query_srq)                  \
  X(ib_destroy_srq)                \
  X(ib_destroy_srq_user)           \
  X(ib_post_srq_recv)              \
  X(ib_create_qp)                  \
  X(ib_modify_qp)                  \
  X(ib_modify_qp_with_udata)       \
  X(ib_modify_qp_is_ok)            \
  X(ib_query_qp)                   \
  X(ib_destroy_qp)                 \
  X(ib_open_qp)                    \
  X(ib_close_qp)                   \
  X(ib_post_send)                  \
  X(ib_post_recv)                  \
  X(ib_alloc_cq_any)               \
  X(rdma_set_cq_moderation)        \
  X(ib_destroy_cq)                 \
  X(ib_destroy_cq_user)            \
  X(ib_poll_cq)                    \
  X(ib_req_notify_cq)              \
  X(ib_virt_dma_to_ptr)            \
  X(ib_virt_dma_to_page)           \
  X(ib_dma_mapping_error)          \
  X(ib_dma_map_single)             \
  X(ib_dma_unmap_single)           \
  X(ib_dma_map_page)               \
  X(ib_dma_unmap_page)             \
  X(ib_dma_map_bvec)               \
  X(ib_dma_unmap_bvec)             \
  X(ib_dma_map_sg)                 \
  X(ib_dma_unmap_sg)               \
  X(ib_dma_map_sgtable_attrs)      \
  X(ib_dma_max_seg_size)           \
  X(ib_dma_sync_single_for_cpu)    \
  X(ib_dma_sync_single_for_device) \
  X(ib_dereg_mr)                   \
  X(ib_dereg_mr_user)              \
  X(ib_update_fast_reg_key)        \
  X(ib_inc_rkey)                   \
  X(ib_lid_cpu16)                  \
  X(ib_lid_be16)                   \
  X(rdma_flow_label_to_udp_sport)  \
  X(rdma_calc_flow_label)          \
  X(rdma_get_udp_sport)

#define UROCE_KERNEL_TYPES(X) \
  X(struct rdma_stat_desc)    \
  X(struct rdma_hw_stats)     \
  X(enum ib_mr_type)          \
  X(struct ib_mr_status)      \
  X(struct ib_udata)          \
  X(struct rdma_netdev)       \
  X(struct ib_device_ops)

// How many names compile, link and are something.
// NOLINTBEGIN(modernize-redundant-void-arg): C needs it
static inline int uroce_kernel_names(void) {
  typedef void (*Call)(void);
  // NOLINTEND(modernize-redundant-void-arg)
#define UROCE_CALL(name) (Call)(name),
  const Call calls[] = {UROCE_KERNEL_CALLS(UROCE_CALL)};
#undef UROCE_CALL
#define UROCE_SIZE(name) sizeof(name),
  const size_t sizes[] = {UROCE_KERNEL_TYPES(UROCE_SIZE)};
#undef UROCE_SIZE
  int names = 0;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) names += calls[i] ? 1 : 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) names += sizes[i] != 0 ? 1 : 0;
  struct Outer {
    int before;
    struct ib_device ibdev;
  };
  static struct Outer outer;
  outer.ibdev.phys_port_cnt = 1;
  names += rdma_device_to_drv_device(&outer.ibdev.dev, struct Outer, ibdev) == &outer ? 1 : 0;
  __u32 port = 0;
  rdma_for_each_port(&outer.ibdev, port) names += 1;
  return names;
}

#endif  // UROCE_VERBS_KERNEL_NAMES_FIXTURE_H
