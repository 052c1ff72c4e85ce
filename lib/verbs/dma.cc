// SPDX-License-Identifier: BSD-3-Clause
// Mapping of registered memory for work requests: the address itself.
#include <uroce/ib_dma.h>

#include <cerrno>
#include <span>

#include "verbs/registered_memory.h"

using uroce::verbs::RegisteredMemory;

namespace {

constexpr __u64 kNoMapping = ~__u64{0};

__u64 map(const ib_device* dev, __u64 address, size_t size) {
  return RegisteredMemory::instance().find(dev, address, size) != nullptr ? address : kNoMapping;
}

bool all_mapped(const ib_device* dev, std::span<const scatterlist> list) {
  for (const scatterlist& piece : list) {
    if (map(dev, piece.dma_address, piece.length) == kNoMapping) return false;
  }
  return true;
}

__u64 address_of(const page& page, unsigned long offset) {
  return reinterpret_cast<__u64>(page.address) + offset;
}

}  // namespace

page* ib_virt_dma_to_page(__u64 dma_addr) {
  return RegisteredMemory::instance().find(nullptr, dma_addr, 1);
}

__u64 ib_dma_map_single(ib_device* dev, void* cpu_addr, size_t size,
                        dma_data_direction /*direction*/) {
  return map(dev, reinterpret_cast<__u64>(cpu_addr), size);
}

__u64 ib_dma_map_page(ib_device* dev, page* page, unsigned long offset, size_t size,
                      dma_data_direction /*direction*/) {
  return map(dev, address_of(*page, offset), size);
}

__u64 ib_dma_map_bvec(ib_device* dev, bio_vec* bvec, dma_data_direction /*direction*/) {
  return map(dev, address_of(*bvec->bv_page, bvec->bv_offset), bvec->bv_len);
}

int ib_dma_map_sg(ib_device* dev, scatterlist* sg, int nents, dma_data_direction /*direction*/) {
  if (nents <= 0) return 0;
  return all_mapped(dev, {sg, static_cast<size_t>(nents)}) ? nents : 0;
}

int ib_dma_map_sgtable_attrs(ib_device* dev, sg_table* sgt, dma_data_direction direction,
                             unsigned long /*dma_attrs*/) {
  const int mapped = ib_dma_map_sg(dev, sgt->sgl, static_cast<int>(sgt->orig_nents), direction);
  if (mapped == 0) return -EIO;
  sgt->nents = static_cast<unsigned>(mapped);
  return 0;
}
