// SPDX-License-Identifier: BSD-3-Clause
// Protection information of storage (T10-DIF): regions whose blocks of data have an eight-byte
// tuple each (guard, application tag, reference tag; big-endian), and the check of data against
// tuples.
//
// 1. ib_alloc_mr_integrity() makes the region, and in mr->sig_attrs the description of its layout,
//    all zero: no signature. The application fills it.
// 2. ib_map_mr_sg_pi() notes where data and tuples lie. With tuples of their own memory, block n
//    has tuple n there; without, each block is followed by its tuple.
// 3. IB_WR_REG_MR opens the data (with the tuples between, where they are) to work requests and
//    peers, as for a region of ib_alloc_mr().
// 4. When what was to arrive has arrived, ib_check_mr_status() checks it, by the CPU: nothing is
//    checked, added or taken away on the way.
#ifndef UROCE_IB_SIGNATURE_H
#define UROCE_IB_SIGNATURE_H

#include <uroce/ib_mr.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ib_signature_type { IB_SIG_TYPE_NONE, IB_SIG_TYPE_T10_DIF };

enum ib_t10_dif_bg_type {
  IB_T10DIF_CRC,   // CRC-16 with polynomial 0x8BB7
  IB_T10DIF_CSUM,  // not checked: -EOPNOTSUPP
};

// How tuples are made.
struct ib_t10_dif_domain {
  enum ib_t10_dif_bg_type bg_type;
  __u16 pi_interval;  // bytes of a block, without its tuple: 1 … 65535
  __u16 bg;           // what the guard starts from
  __u16 app_tag;
  __u32 ref_tag;    // of the first block
  bool ref_remap;   // each block's is one more; else all have the same
  bool app_escape;  // a tuple with application tag 0xffff is not checked
  bool ref_escape;  // one with reference tag 0xffffffff is not; with both: only one with both
  __u16 apptag_check_mask;  // bits of the application tag that are compared
};

struct ib_sig_domain {
  enum ib_signature_type sig_type;
  union {
    struct ib_t10_dif_domain dif;
  } sig;
};

// What of a tuple is checked, OR-ed.
enum {
  IB_SIG_CHECK_REFTAG = 0x0f,
  IB_SIG_CHECK_APPTAG = 0x30,
  IB_SIG_CHECK_GUARD = 0xc0,
};

struct ib_sig_attrs {
  __u8 check_mask;
  struct ib_sig_domain mem;   // what lies in memory
  struct ib_sig_domain wire;  // not looked at: the wire carries what memory holds
  int meta_length;            // bytes of tuples that are mapped; the library's
};

enum ib_sig_err_type { IB_SIG_BAD_GUARD, IB_SIG_BAD_REFTAG, IB_SIG_BAD_APPTAG };

struct ib_sig_err {
  enum ib_sig_err_type err_type;
  __u32 expected;
  __u32 actual;          // in the tuple
  __u64 sig_err_offset;  // bytes of data, tuples not counted, before the block
  __u32 key;             // the region's
};

enum { IB_MR_CHECK_SIG_STATUS = 1 };

struct ib_mr_status {
  __u32 fail_status;  // IB_MR_CHECK_SIG_STATUS: sig_err says what was found first; else 0
  struct ib_sig_err sig_err;
};

// A region of type IB_MR_TYPE_INTEGRITY: at most so many pieces of data, and of tuples (0: they lie
// between the blocks). Ended by ib_dereg_mr(). ERR_PTR: -EINVAL: a number out of range; -ENOMEM;
// -EOPNOTSUPP.
struct ib_mr* ib_alloc_mr_integrity(struct ib_pd* pd, __u32 max_num_data_sg, __u32 max_num_meta_sg);

// Notes where data and tuples lie: each one range, as in ib_map_mr_sg(). meta_sg_nents 0: the
// tuples lie between the blocks. Returns how many pieces of both are mapped. -EINVAL: another type
// of region; what ib_map_mr_sg() says; more tuple pieces than max_num_meta_sg, or tuples that are
// not one range. -EFAULT: a part of it is not mapped memory.
int ib_map_mr_sg_pi(struct ib_mr* mr, struct scatterlist* data_sg, int data_sg_nents,
                    unsigned int* data_sg_offset, struct scatterlist* meta_sg, int meta_sg_nents,
                    unsigned int* meta_sg_offset, unsigned int page_size);

// Checks the region's memory as it is now: block by block the guard, then the reference tag, then
// the application tag. 0, and mr_status filled; it has passed when fail_status is 0, and so it has
// without a signature or with check_mask 0. Nobody writes to the memory meanwhile.
//
// -EOPNOTSUPP: another type of region, or guards that are checksums; -EINVAL: an unknown bit in
// check_mask, nothing mapped, pi_interval 0, data that is no whole number of blocks, fewer tuples
// than blocks. An error leaves mr_status as it was.
int ib_check_mr_status(struct ib_mr* mr, __u32 check_mask, struct ib_mr_status* mr_status);

#ifdef __cplusplus
}
#endif

#endif  // UROCE_IB_SIGNATURE_H
