// SPDX-License-Identifier: BSD-3-Clause
// An MPI program with data that is checked: a ring, an allreduce and one-sided sums. Exit status 0
// and one line by rank 0 if all was right.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const int kSizes[] = {1, 15, 1000, 4096, 100000, 1 << 20};  // words of 64 bits
enum { kSizeCount = sizeof kSizes / sizeof kSizes[0], kWordsMax = 1 << 20, kRounds = 5 };

static int rank_, ranks_;
static uint64_t checked_;

static uint64_t pattern(int from, int round, int i) {
  return ((uint64_t)from << 56) + ((uint64_t)round << 48) + (uint64_t)i * 2654435761u;
}

static void check(const char* what, int words, int i, uint64_t found, uint64_t wanted) {
  ++checked_;
  if (found == wanted) return;
  fprintf(stderr, "rank %d: %s of %d words: word %d is %#llx, not %#llx\n", rank_, what, words, i,
          (unsigned long long)found, (unsigned long long)wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Each sends to the next what the one before sends to it.
static void ring(uint64_t* out, uint64_t* in, int words, int round) {
  const int next = (rank_ + 1) % ranks_;
  const int before = (rank_ + ranks_ - 1) % ranks_;
  for (int i = 0; i < words; ++i) out[i] = pattern(rank_, round, i);
  MPI_Sendrecv(out, words, MPI_UINT64_T, next, round, in, words, MPI_UINT64_T, before, round,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < words; ++i) check("ring", words, i, in[i], pattern(before, round, i));
}

static void sum(uint64_t* out, uint64_t* in, int words, int round) {
  for (int i = 0; i < words; ++i) out[i] = pattern(rank_, round, i);
  MPI_Allreduce(out, in, words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < words; ++i) {
    uint64_t wanted = 0;
    for (int rank = 0; rank < ranks_; ++rank) wanted += pattern(rank, round, i);
    check("allreduce", words, i, in[i], wanted);
  }
}

// All add to the same words of rank 0 at the same time.
static void add_one_sided(void) {
  enum { kWords = 8, kAdds = 50 };
  uint64_t* memory = NULL;
  MPI_Win window;
  MPI_Win_allocate(kWords * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &window);
  for (int i = 0; i < kWords; ++i) memory[i] = 0;
  MPI_Win_fence(0, window);
  const uint64_t addend = (uint64_t)rank_ + 1;
  for (int i = 0; i < kAdds * kWords; ++i) {
    MPI_Accumulate(&addend, 1, MPI_UINT64_T, 0, i % kWords, 1, MPI_UINT64_T, MPI_SUM, window);
  }
  MPI_Win_fence(0, window);
  const uint64_t wanted = (uint64_t)kAdds * ranks_ * (ranks_ + 1) / 2;
  for (int i = 0; rank_ == 0 && i < kWords; ++i) check("sum", kWords, i, memory[i], wanted);
  MPI_Win_free(&window);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  uint64_t* out = malloc(kWordsMax * sizeof *out);
  uint64_t* in = malloc(kWordsMax * sizeof *in);
  if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int size = 0; size < kSizeCount; ++size) {
    for (int round = 0; round < kRounds; ++round) {
      ring(out, in, kSizes[size], round);
      sum(out, in, kSizes[size], round);
    }
  }
  add_one_sided();
  uint64_t all = 0;
  MPI_Reduce(&checked_, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_ == 0) printf("%d ranks checked %llu words\n", ranks_, (unsigned long long)all);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
