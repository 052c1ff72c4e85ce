// SPDX-License-Identifier: BSD-3-Clause
// Probing memory: madvise(MADV_POPULATE_*) where the kernel has it (5.14), else page by page; a
// large range by the kernel's list of mappings.
//
// The slow way lets the kernel touch each page on our behalf, so that a bad one is an error code
// and no signal: reading by process_vm_readv of ourselves; writing by a futex operation that ORs
// zero into one word of the page, atomically, so that no concurrent store is lost.
#include "device/memory_probe.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace uroce::device {
namespace {

uint64_t page_bytes() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

bool readable(uint64_t address) {
  uint8_t byte;
  iovec local{&byte, 1};
  iovec remote{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

bool writable_word(uint64_t aligned_address) {
  uint32_t unused = 0;
  constexpr int kOrZero = FUTEX_OP_OR << 28 | FUTEX_OP_CMP_EQ << 24;
  return syscall(SYS_futex, &unused, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, aligned_address, kOrZero) >=
         0;
}

}  // namespace

int probe_memory_by_page(uint64_t start, uint64_t length, bool writable) {
  const uint64_t page = page_bytes();
  const uint64_t last = (start + length - 1) / page * page;
  for (uint64_t at = start / page * page;; at += page) {
    if (!readable(at)) return -EFAULT;
    if (writable && !writable_word(at)) return -EFAULT;
    if (at == last) return 0;
  }
}

int probe_memory_by_mapping(uint64_t start, uint64_t length, bool writable) {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return -ENOENT;
  uint64_t next = start;  // below it, all is good
  for (std::string line; next - start < length && std::getline(maps, line);) {
    uint64_t begin = 0, end = 0;
    char rights[5];
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, rights) != 3) break;
    if (end <= next) continue;
    if (begin > next || rights[0] != 'r' || (writable && rights[1] != 'w')) break;
    next = end;
  }
  return next - start < length ? -EFAULT : 0;
}

int probe_memory(uint64_t start, uint64_t length, bool writable) {
  if (length > kBroughtInMax) {
    const int error = probe_memory_by_mapping(start, length, writable);
    if (error != -ENOENT) return error;
  }
  const uint64_t page = page_bytes();
  const uint64_t first = start / page * page;
  const uint64_t bytes = (start + length - 1) / page * page + page - first;
  for (int tries = 0; tries < 100; ++tries) {
    if (madvise(reinterpret_cast<void*>(first), bytes,
                writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0) {
      return 0;
    }
    if (errno == EINTR || errno == EAGAIN) continue;
    // EINVAL: an older kernel, a mapping of its own kind, or a missing right: look closer.
    if (errno != EINVAL) return -EFAULT;
    break;
  }
  return probe_memory_by_page(start, length, writable);
}

}  // namespace uroce::device
