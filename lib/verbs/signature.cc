// SPDX-License-Identifier: BSD-3-Clause
// Checking blocks of data against their protection information.
#include <arpa/inet.h>
#include <isa-l/crc.h>
#include <uroce/ib_signature.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "verbs/driver.h"
#include "verbs/handles.h"

namespace uroce::verbs {
namespace {

struct Tuple {
  __u16 guard;
  __u16 app_tag;
  __u32 ref_tag;
};
constexpr uint64_t kTupleBytes = 8;

Tuple read_tuple(const uint8_t* bytes) {
  Tuple tuple;
  std::memcpy(&tuple.guard, bytes, 2);
  std::memcpy(&tuple.app_tag, bytes + 2, 2);
  std::memcpy(&tuple.ref_tag, bytes + 4, 4);
  return {ntohs(tuple.guard), ntohs(tuple.app_tag), ntohl(tuple.ref_tag)};
}

// Where the blocks of a region and their tuples lie.
struct Layout {
  const uint8_t* data = nullptr;
  const uint8_t* tuples = nullptr;
  uint64_t blocks = 0;
  uint64_t block_stride = 0;
  uint64_t tuple_stride = 0;
};

int layout_of(const Mr& mr, Layout& layout) {
  const uint64_t block = mr.sig_attrs->mem.sig.dif.pi_interval;
  if (mr.mapped == nullptr || block == 0) return -EINVAL;
  const bool between = mr.tuples == nullptr;
  layout.data = mr.mapped;
  layout.tuples = between ? mr.mapped + block : mr.tuples;
  layout.block_stride = between ? block + kTupleBytes : block;
  layout.tuple_stride = between ? block + kTupleBytes : kTupleBytes;
  layout.blocks = mr.length / layout.block_stride;
  if (mr.length % layout.block_stride != 0) return -EINVAL;
  const auto tuple_bytes = static_cast<uint64_t>(mr.sig_attrs->meta_length);
  return between || tuple_bytes / kTupleBytes >= layout.blocks ? 0 : -EINVAL;
}

bool is_escaped(const ib_t10_dif_domain& domain, const Tuple& tuple) {
  const bool app = tuple.app_tag == 0xFFFF;
  const bool ref = tuple.ref_tag == 0xFFFFFFFF;
  if (domain.app_escape && domain.ref_escape) return app && ref;
  return (domain.app_escape && app) || (domain.ref_escape && ref);
}

// The first thing about a block that is wrong.
std::optional<ib_sig_err> check_block(const ib_sig_attrs& attrs, const uint8_t* data,
                                      const Tuple& tuple, uint64_t number) {
  const ib_t10_dif_domain& domain = attrs.mem.sig.dif;
  if (is_escaped(domain, tuple)) return std::nullopt;
  ib_sig_err error{};
  error.sig_err_offset = number * domain.pi_interval;
  if ((attrs.check_mask & IB_SIG_CHECK_GUARD) != 0) {
    error.err_type = IB_SIG_BAD_GUARD;
    error.expected = crc16_t10dif(domain.bg, data, domain.pi_interval);
    error.actual = tuple.guard;
    if (error.expected != error.actual) return error;
  }
  if ((attrs.check_mask & IB_SIG_CHECK_REFTAG) != 0) {
    error.err_type = IB_SIG_BAD_REFTAG;
    error.expected = domain.ref_tag + (domain.ref_remap ? static_cast<__u32>(number) : 0);
    error.actual = tuple.ref_tag;
    if (error.expected != error.actual) return error;
  }
  if ((attrs.check_mask & IB_SIG_CHECK_APPTAG) != 0) {
    error.err_type = IB_SIG_BAD_APPTAG;
    error.expected = domain.app_tag;
    error.actual = tuple.app_tag;
    if (((error.expected ^ error.actual) & domain.apptag_check_mask) != 0) return error;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace uroce::verbs

using namespace uroce::verbs;

ib_mr* driver::alloc_mr_integrity(ib_pd* pd, __u32 max_num_data_sg, __u32 max_num_meta_sg) {
  if (max_num_meta_sg > pd->device->attrs.max_fast_reg_page_list_len) {
    return error_pointer<ib_mr>(-EINVAL);
  }
  ib_mr* mr = alloc_mr(pd, IB_MR_TYPE_MEM_REG, max_num_data_sg);
  if (uroce_is_err(mr)) return mr;
  mr->type = IB_MR_TYPE_INTEGRITY;
  mr->sig_attrs = &of(mr).signature;
  of(mr).tuple_pieces_max = max_num_meta_sg;
  return mr;
}

int ib_map_mr_sg_pi(ib_mr* mr, scatterlist* data_sg, int data_sg_nents,
                    unsigned int* data_sg_offset, scatterlist* meta_sg, int meta_sg_nents,
                    unsigned int* meta_sg_offset, unsigned int page_size) {
  if (mr->type != IB_MR_TYPE_INTEGRITY || meta_sg_nents < 0) return -EINVAL;
  Mr& region = of(mr);
  if (static_cast<__u32>(meta_sg_nents) > region.tuple_pieces_max) return -EINVAL;
  MappedPieces tuples;
  if (meta_sg_nents > 0) {
    tuples = map_pieces(meta_sg, meta_sg_nents, meta_sg_offset);
    if (tuples.count < 0) return tuples.count;
    if (tuples.count < meta_sg_nents || tuples.bytes > INT32_MAX) return -EINVAL;
  }
  const int data = ib_map_mr_sg(mr, data_sg, data_sg_nents, data_sg_offset, page_size);
  if (data < 0) return data;
  region.tuples = reinterpret_cast<const __u8*>(tuples.start);
  mr->sig_attrs->meta_length = static_cast<int>(tuples.bytes);
  return data + tuples.count;
}

int driver::check_mr_status(ib_mr* mr, __u32 check_mask, ib_mr_status* mr_status) {
  if (mr->type != IB_MR_TYPE_INTEGRITY) return -EOPNOTSUPP;
  if ((check_mask & ~__u32{IB_MR_CHECK_SIG_STATUS}) != 0) return -EINVAL;
  const ib_sig_attrs& attrs = *mr->sig_attrs;
  const bool wanted = (check_mask & IB_MR_CHECK_SIG_STATUS) != 0 &&
                      attrs.mem.sig_type == IB_SIG_TYPE_T10_DIF && attrs.check_mask != 0;
  Layout layout;
  if (wanted) {
    if (attrs.mem.sig.dif.bg_type != IB_T10DIF_CRC) return -EOPNOTSUPP;
    if (const int error = layout_of(of(mr), layout); error != 0) return error;
  }
  *mr_status = {};
  for (uint64_t i = 0; i < layout.blocks; ++i) {
    const Tuple tuple = read_tuple(layout.tuples + i * layout.tuple_stride);
    const auto error = check_block(attrs, layout.data + i * layout.block_stride, tuple, i);
    if (!error) continue;
    mr_status->fail_status = IB_MR_CHECK_SIG_STATUS;
    mr_status->sig_err = *error;
    mr_status->sig_err.key = mr->lkey;
    break;
  }
  return 0;
}
