// SPDX-License-Identifier: BSD-3-Clause
// Devices and their ports: attributes, GID and P_Key tables, asynchronous events.
//
// A device comes from uroce_device() (uroce.h) and lives until uroce_stop(). It has one port,
// number 1, on Ethernet, speaking RoCEv2 only.
#ifndef UROCE_IB_DEVICE_H
#define UROCE_IB_DEVICE_H

#include <uroce/ib_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ib_cq;
struct ib_qp;
struct ib_srq;
struct ib_wq;

// A GID is an IP address: IPv6 as it is, IPv4 as ::ffff:a.b.c.d. Bytes in network order.
union ib_gid {
  __u8 raw[16];
  struct {
    __be64 subnet_prefix;
    __be64 interface_id;
  } global;
};

// Bits of device_cap_flags. IB_DEVICE_RESIZE_MAX_WR is never set: the state table of the verbs has
// no transition that takes IB_QP_CAP, so a queue pair keeps its queues.
#define IB_DEVICE_RESIZE_MAX_WR (1ull << 0)
#define IB_DEVICE_RC_RNR_NAK_GEN (1ull << 12)
#define IB_DEVICE_SRQ_RESIZE (1ull << 13)
#define IB_DEVICE_MEM_WINDOW (1ull << 17)
#define IB_DEVICE_XRC (1ull << 20)
#define IB_DEVICE_MEM_MGT_EXTENSIONS (1ull << 21)
#define IB_DEVICE_MEM_WINDOW_TYPE_2B (1ull << 24)
#define IB_DEVICE_FLUSH_GLOBAL (1ull << 38)
#define IB_DEVICE_FLUSH_PERSISTENT (1ull << 39)
#define IB_DEVICE_ATOMIC_WRITE (1ull << 40)

enum ib_atomic_cap { IB_ATOMIC_NONE, IB_ATOMIC_HCA, IB_ATOMIC_GLOB };

// Limits of a device. Creating more, or asking for more per object, is refused.
struct ib_device_attr {
  __u64 fw_ver;
  __be64 sys_image_guid;
  __u64 max_mr_size;    // bytes
  __u64 page_size_cap;  // one bit per page size
  __u32 vendor_id;
  __u32 vendor_part_id;
  __u32 hw_ver;
  int max_qp;
  int max_qp_wr;  // work requests per queue
  __u64 device_cap_flags;
  int max_send_sge;  // entries of a gather list
  int max_recv_sge;  // entries of a scatter list
  int max_sge_rd;    // entries of the scatter list of a READ
  int max_cq;
  int max_cqe;  // entries per CQ
  int max_mr;
  int max_pd;
  int max_qp_rd_atom;       // READs and atomics that a QP answers at once
  int max_res_rd_atom;      // the same over all QPs
  int max_qp_init_rd_atom;  // READs and atomics that a QP has outstanding
  enum ib_atomic_cap atomic_cap;
  int max_mw;
  int max_mcast_grp;              // groups
  int max_mcast_qp_attach;        // QPs in one group
  int max_total_mcast_qp_attach;  // memberships
  int max_ah;
  int max_srq;
  int max_srq_wr;
  int max_srq_sge;
  unsigned int max_fast_reg_page_list_len;
  __u16 max_pkeys;
  __u8 local_ca_ack_delay;  // 4.096 us * 2^n
};

// The part of a device that things other than RDMA have too.
struct device {
  int numa_node;  // of the port; -1: unknown or none, as of virtual ports
};

struct ib_device_ops;

struct ib_device {
  char name[64];                    // "uroce0", …
  const struct ib_device_ops* ops;  // ib_device_ops.h
  struct device dev;
  __u32 phys_port_cnt;
  int num_comp_vectors;
  struct ib_device_attr attrs;
};

// From its part back to the device, and on to a structure `drv_dev_struct` that has the device as
// its member `ibdev_member`.
static inline struct ib_device* rdma_device_to_ibdev(struct device* device) {
  return (struct ib_device*)(void*)((char*)device - offsetof(struct ib_device, dev));
}
#define rdma_device_to_drv_device(dev, drv_dev_struct, ibdev_member) \
  ((drv_dev_struct*)(void*)((char*)rdma_device_to_ibdev(dev) -       \
                            offsetof(drv_dev_struct, ibdev_member)))

// The NUMA node of a device's port; -1: unknown or none.
static inline int ibdev_to_node(struct ib_device* ibdev) { return ibdev->dev.numa_node; }

enum rdma_link_layer {
  IB_LINK_LAYER_UNSPECIFIED,
  IB_LINK_LAYER_INFINIBAND,
  IB_LINK_LAYER_ETHERNET,
};

enum ib_port_state {
  IB_PORT_NOP = 0,
  IB_PORT_DOWN = 1,
  IB_PORT_INIT = 2,
  IB_PORT_ARMED = 3,
  IB_PORT_ACTIVE = 4,
  IB_PORT_ACTIVE_DEFER = 5,
};

enum ib_port_phys_state {
  IB_PORT_PHYS_STATE_SLEEP = 1,
  IB_PORT_PHYS_STATE_POLLING = 2,
  IB_PORT_PHYS_STATE_DISABLED = 3,
  IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING = 4,
  IB_PORT_PHYS_STATE_LINK_UP = 5,
  IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY = 6,
  IB_PORT_PHYS_STATE_PHY_TEST = 7,
};

enum ib_mtu {
  IB_MTU_256 = 1,
  IB_MTU_512 = 2,
  IB_MTU_1024 = 3,
  IB_MTU_2048 = 4,
  IB_MTU_4096 = 5,
};

// Bytes of a path MTU, -1 for a value that is none.
static inline int ib_mtu_enum_to_int(enum ib_mtu mtu) {
  return mtu >= IB_MTU_256 && mtu <= IB_MTU_4096 ? 128 << (int)mtu : -1;
}

// The largest path MTU that is not above `mtu` bytes; IB_MTU_256 for anything below 512.
static inline enum ib_mtu ib_mtu_int_to_enum(int mtu) {
  return mtu >= 4096   ? IB_MTU_4096
         : mtu >= 2048 ? IB_MTU_2048
         : mtu >= 1024 ? IB_MTU_1024
         : mtu >= 512  ? IB_MTU_512
                       : IB_MTU_256;
}

enum ib_port_width {
  IB_WIDTH_1X = 1,
  IB_WIDTH_4X = 2,
  IB_WIDTH_8X = 4,
  IB_WIDTH_12X = 8,
  IB_WIDTH_2X = 16,
};

enum ib_port_speed {
  IB_SPEED_SDR = 1,
  IB_SPEED_DDR = 2,
  IB_SPEED_QDR = 4,
  IB_SPEED_FDR10 = 8,
  IB_SPEED_FDR = 16,
  IB_SPEED_EDR = 32,
  IB_SPEED_HDR = 64,
  IB_SPEED_NDR = 128,
  IB_SPEED_XDR = 256,
};

enum ib_port_cap_mask_bits { IB_PORT_CM_SUP = 1 << 16, IB_PORT_IP_BASED_GIDS = 1 << 26 };

struct ib_port_attr {
  __u64 subnet_prefix;
  enum ib_port_state state;
  enum ib_mtu max_mtu;
  enum ib_mtu active_mtu;  // what the port's frame size allows now
  __u32 phys_mtu;          // bytes of IP packet that fit a frame
  int gid_tbl_len;
  unsigned int ip_gids : 1;
  __u32 port_cap_flags;
  __u32 max_msg_sz;  // bytes
  __u32 bad_pkey_cntr;
  __u32 qkey_viol_cntr;
  __u16 pkey_tbl_len;
  __u32 sm_lid;
  __u32 lid;
  __u8 lmc;
  __u8 max_vl_num;
  __u8 sm_sl;
  __u8 subnet_timeout;
  __u8 init_type_reply;
  __u8 active_width;
  __u16 active_speed;
  __u8 phys_state;
  __u16 port_cap_flags2;
};

// Fills `device_attr` with the limits (the same as device->attrs). 0.
int ib_query_device(struct ib_device* device, struct ib_device_attr* device_attr);

// The port as it is now; link state is read from the port. -EINVAL: not port 1.
int ib_query_port(struct ib_device* device, __u32 port_num, struct ib_port_attr* port_attr);

// Entry `index` of the GID table. Entry 0 is fe80::/64 with the EUI-64 of the MAC address; then
// the port's addresses in the order in which they appeared. An index is stable while the address
// exists. -EINVAL: no such port, or index outside the table; -ENODATA: the entry is empty.
int rdma_query_gid(struct ib_device* device, __u32 port_num, int index, union ib_gid* gid);
// The same under its older name.
int ib_query_gid(struct ib_device* device, __u32 port_num, int index, union ib_gid* gid);

// Where an address is in the GID table; port_num and index may be NULL. -ENOENT: nowhere.
int ib_find_gid(struct ib_device* device, union ib_gid* gid, __u32* port_num, __u16* index);

// The P_Key table has one entry, index 0: 0xFFFF. -EINVAL: no such port or index.
int ib_query_pkey(struct ib_device* device, __u32 port_num, __u16 index, __u16* pkey);

// Reads the port's addresses again and mends the GID table; IB_EVENT_GID_CHANGE if it changed. A
// port that shares the kernel's addresses does so by itself within about 100 ms of a change (inline
// modes: at the next uroce_poll after that).
void rdma_roce_rescan_device(struct ib_device* ibdev);

enum ib_event_type {
  IB_EVENT_CQ_ERR,
  IB_EVENT_QP_FATAL,
  IB_EVENT_QP_REQ_ERR,
  IB_EVENT_QP_ACCESS_ERR,
  IB_EVENT_COMM_EST,
  IB_EVENT_SQ_DRAINED,
  IB_EVENT_PATH_MIG,
  IB_EVENT_PATH_MIG_ERR,
  IB_EVENT_DEVICE_FATAL,
  IB_EVENT_PORT_ACTIVE,
  IB_EVENT_PORT_ERR,
  IB_EVENT_LID_CHANGE,
  IB_EVENT_PKEY_CHANGE,
  IB_EVENT_SM_CHANGE,
  IB_EVENT_SRQ_ERR,
  IB_EVENT_SRQ_LIMIT_REACHED,
  IB_EVENT_QP_LAST_WQE_REACHED,
  IB_EVENT_CLIENT_REREGISTER,
  IB_EVENT_GID_CHANGE,
  IB_EVENT_WQ_FATAL,
};

// The event's name for people, a static string; "unknown event" outside the list.
const char* ib_event_msg(enum ib_event_type event);

// Whose event it is: element.cq for CQ events, element.qp for QP events, element.srq for SRQ events
// (all go to the event_handler given at creation), element.port_num for port events (to the
// handlers below).
struct ib_event {
  struct ib_device* device;
  union {
    struct ib_cq* cq;
    struct ib_qp* qp;
    struct ib_srq* srq;
    struct ib_wq* wq;
    __u32 port_num;
  } element;
  enum ib_event_type event;
};

// A subscription to the events of a device's port. The memory is the application's and must stay
// until ib_unregister_event_handler() has returned.
struct ib_event_handler {
  struct ib_device* device;
  void (*handler)(struct ib_event_handler*, struct ib_event*);
  struct ib_event_handler* next;  // of the library, as long as it is registered
};

#define INIT_IB_EVENT_HANDLER(_ptr, _device, _handler) \
  do {                                                 \
    (_ptr)->device = (_device);                        \
    (_ptr)->handler = (_handler);                      \
    (_ptr)->next = NULL;                               \
  } while (0)

void ib_register_event_handler(struct ib_event_handler* event_handler);
// Waits until a call of the handler that is under way has returned, unless called from within it.
void ib_unregister_event_handler(struct ib_event_handler* event_handler);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_DEVICE_H
