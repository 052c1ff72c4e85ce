// SPDX-License-Identifier: BSD-3-Clause
// Descriptors that DPDK opened, told from the program's.
#include "ibverbs/new_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace uroce::ibverbs {
namespace {

bool closes_on_exec(int descriptor) { return (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0; }

TEST(NewDescriptors, WhatDpdkOpenedIsClosedOnExecAndWhatTheProgramHasIsNot) {
  const int old = eventfd(0, 0);
  const NewDescriptors descriptors;
  const int event = eventfd(0, 0);
  const int socket = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  const int file = open("/etc/passwd", O_RDONLY);
  descriptors.close_on_exec();
  EXPECT_FALSE(closes_on_exec(old));
  EXPECT_TRUE(closes_on_exec(event));
  EXPECT_TRUE(closes_on_exec(socket));
  EXPECT_FALSE(closes_on_exec(file));
  for (const int descriptor : {old, event, socket, file}) close(descriptor);
}

}  // namespace
}  // namespace uroce::ibverbs
