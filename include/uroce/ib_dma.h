// SPDX-License-Identifier: BSD-3-Clause
// The kernel's mapping of memory for a device. There is no bus address here: work requests name
// memory by its addresses in the process, so a mapping is that address, and mapping checks that the
// memory is registered (ib_reg_user_mr() on this device), or is DPDK's own. Nothing needs it; code
// that was written for the kernel finds its calls.
//
// Threads: any. Each map takes a lock for a moment: map once, not for each message.
#ifndef UROCE_IB_DMA_H
#define UROCE_IB_DMA_H

#include <limits.h>
#include <uroce/ib_mr.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dma_data_direction {
  DMA_BIDIRECTIONAL = 0,
  DMA_TO_DEVICE = 1,
  DMA_FROM_DEVICE = 2,
  DMA_NONE = 3,
};

// A range of registered memory; the library's, as long as the memory is registered.
struct page {
  void* address;
  __u64 length;  // bytes
};

// A piece of a page.
struct bio_vec {
  struct page* bv_page;
  unsigned int bv_len;     // bytes
  unsigned int bv_offset;  // bytes from the page's address
};

// A list of pieces; sgl[i].dma_address is set by who makes it.
struct sg_table {
  struct scatterlist* sgl;
  unsigned int nents;       // mapped
  unsigned int orig_nents;  // in the list
};

// The memory that a mapping stands for.
static inline void* ib_virt_dma_to_ptr(__u64 dma_addr) { return (void*)(uintptr_t)dma_addr; }
// The registered range that an address is in; NULL: none.
struct page* ib_virt_dma_to_page(__u64 dma_addr);

// 0, or -ENOMEM: what a map call gave is no mapping.
static inline int ib_dma_mapping_error(struct ib_device* dev, __u64 dma_addr) {
  (void)dev;
  return dma_addr == ~(__u64)0 ? -ENOMEM : 0;
}

// The address for work requests, or all ones: a part of the memory is not registered. `direction`
// is not looked at. Size 0 is as good as its address.
__u64 ib_dma_map_single(struct ib_device* dev, void* cpu_addr, size_t size,
                        enum dma_data_direction direction);
__u64 ib_dma_map_page(struct ib_device* dev, struct page* page, unsigned long offset, size_t size,
                      enum dma_data_direction direction);
__u64 ib_dma_map_bvec(struct ib_device* dev, struct bio_vec* bvec,
                      enum dma_data_direction direction);

// How many pieces are mapped: all, or 0 when one is not registered.
int ib_dma_map_sg(struct ib_device* dev, struct scatterlist* sg, int nents,
                  enum dma_data_direction direction);
// 0 with sgt->nents set; -EIO: no piece, or one that is not registered. dma_attrs is not looked at.
int ib_dma_map_sgtable_attrs(struct ib_device* dev, struct sg_table* sgt,
                             enum dma_data_direction direction, unsigned long dma_attrs);

// Nothing has to be undone: the registration is what is ended.
static inline void ib_dma_unmap_single(struct ib_device* dev, __u64 addr, size_t size,
                                       enum dma_data_direction direction) {
  (void)dev, (void)addr, (void)size, (void)direction;
}
static inline void ib_dma_unmap_page(struct ib_device* dev, __u64 addr, size_t size,
                                     enum dma_data_direction direction) {
  (void)dev, (void)addr, (void)size, (void)direction;
}
static inline void ib_dma_unmap_bvec(struct ib_device* dev, __u64 addr, size_t size,
                                     enum dma_data_direction direction) {
  (void)dev, (void)addr, (void)size, (void)direction;
}
static inline void ib_dma_unmap_sg(struct ib_device* dev, struct scatterlist* sg, int nents,
                                   enum dma_data_direction direction) {
  (void)dev, (void)sg, (void)nents, (void)direction;
}

// Bytes of the longest piece.
static inline unsigned int ib_dma_max_seg_size(struct ib_device* dev) {
  (void)dev;
  return UINT_MAX;
}

// The CPU carries the data, and its caches agree: what was written before is seen after.
static inline void ib_dma_sync_single_for_cpu(struct ib_device* dev, __u64 addr, size_t size,
                                              enum dma_data_direction dir) {
  (void)dev, (void)addr, (void)size, (void)dir;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
static inline void ib_dma_sync_single_for_device(struct ib_device* dev, __u64 addr, size_t size,
                                                 enum dma_data_direction dir) {
  (void)dev, (void)addr, (void)size, (void)dir;
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_DMA_H
