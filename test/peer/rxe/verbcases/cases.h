// SPDX-License-Identifier: BSD-3-Clause
// The two sides of each case; verbcases.c says which belong together.
#ifndef TEST_PEER_RXE_VERBCASES_CASES_H_
#define TEST_PEER_RXE_VERBCASES_CASES_H_

#include "end.h"

// transfers.c
void receive_sizes(struct end* end);
void send_client(struct end* end);
void send_imm_client(struct end* end);
void write_client(struct end* end);
void write_imm_client(struct end* end);
void passive(struct end* end);
void written_server(struct end* end);
void write_rc_client(struct end* end);
void read_client(struct end* end);
void read_many_client(struct end* end);
void inline_client(struct end* end);
void inline_server(struct end* end);
void gather_client(struct end* end);
void gather_server(struct end* end);
void batch_client(struct end* end);
void batch_server(struct end* end);
void mixed_client(struct end* end);
void mixed_server(struct end* end);
void atomics_client(struct end* end);
void invalidate_client(struct end* end);
void invalidate_server(struct end* end);

// refusals.c
void atomic_odd_client(struct end* end);
void bad_write_client(struct end* end);
void bad_read_client(struct end* end);
void bad_atomic_client(struct end* end);
void untouched_server(struct end* end);
void bad_uc_write_client(struct end* end);
void range_client(struct end* end);
void readonly_client(struct end* end);
void zero_client(struct end* end);
void too_long_client(struct end* end);
void too_long_server(struct end* end);
void rnr_client(struct end* end);
void rnr_server(struct end* end);
void rnr_out_client(struct end* end);
void gone_client(struct end* end);
void gone_server(struct end* end);

// datagrams.c
void receive_datagrams(struct end* end);
void ud_client(struct end* end);
void ud_bad_client(struct end* end);
void ud_bad_server(struct end* end);
void group_client(struct end* end);
void group_server(struct end* end);

#endif  // TEST_PEER_RXE_VERBCASES_CASES_H_
