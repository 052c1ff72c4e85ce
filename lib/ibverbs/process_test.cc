// SPDX-License-Identifier: BSD-3-Clause
// The library's runtime, each time in a process of its own: a forked child, whose exit code tells.
#include "ibverbs/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "ibverbs/handles.h"
#include "ibverbs/process_fixture.h"

namespace uroce::ibverbs {
namespace {

// The folder of a thread of this process in /proc, by the thread's name; empty: there is none.
std::filesystem::path folder_of_thread(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string comm;
    std::ifstream(task.path() / "comm") >> comm;
    if (comm == name) return task.path();
  }
  return {};
}

// A line of its status.
std::string status_of_thread(const std::string& name, const std::string& key) {
  std::ifstream status(folder_of_thread(name) / "status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with(key)) return line.substr(key.size() + 1);
  }
  return "";
}

int inherited_by_exec() {
  int count = 0;
  for (int descriptor = 3; descriptor < 256; ++descriptor) {
    const int flags = fcntl(descriptor, F_GETFD);
    count += flags >= 0 && (flags & FD_CLOEXEC) == 0 ? 1 : 0;
  }
  return count;
}

[[noreturn]] void without_configuration_there_is_no_device_and_a_sentence_once() {
  configure("");
  must(Process::instance().device_count() == 0, "no device");
  must(Process::instance().device_count() == 0, "again");
  exit(0);
}

TEST(ProcessDeathTest, WithoutConfigurationThereIsNoDeviceAndASentenceOnce) {
  EXPECT_EXIT(without_configuration_there_is_no_device_and_a_sentence_once(),
              testing::ExitedWithCode(0),
              "^uroce: warning: no port is configured[^\n]*UROCE_OPTIONS[^\n]*\n$");
}

[[noreturn]] void a_wrong_configuration_is_said_once() {
  configure("--port net_af_packet,iface=nope7");
  device::Device* device = nullptr;
  must(Process::instance().device_count() == -EINVAL, "an error");
  must(Process::instance().start(0, device) == -EINVAL, "start says the same");
  exit(0);
}

TEST(ProcessDeathTest, AWrongConfigurationIsSaidOnce) {
  EXPECT_EXIT(a_wrong_configuration_is_said_once(), testing::ExitedWithCode(0),
              "^uroce: error: port net_af_packet: there is no network "
              "interface 'nope7' here[^\n]*\n$");
}

[[noreturn]] void a_failure_to_start_is_remembered_and_said_once() {
  configure("--port net_memif,socket=/nowhere/m,address=10.0.0.1/24");
  device::Device* device = nullptr;
  must(Process::instance().device_count() == 1, "it is listed");
  must(Process::instance().start(0, device) == -EIO, "it does not start");
  must(Process::instance().start(0, device) == -EIO, "the same answer");
  must(Process::instance().running(0) == nullptr, "it does not run");
  exit(0);
}

TEST(ProcessDeathTest, AFailureToStartIsRememberedAndSaidOnce) {
  EXPECT_EXIT(a_failure_to_start_is_remembered_and_said_once(), testing::ExitedWithCode(0),
              "^uroce: error: the RDMA device cannot start: memif socket /nowhere/m[^\n]*\n$");
}

[[noreturn]] void nothing_runs_before_the_first_object() {
  configure("--port net_null0");
  must(Process::instance().device_count() == 1, "listed");
  must(Process::instance().describe(0).name == "uroce0", "described");
  must(Process::instance().running(0) == nullptr, "not running");
  must(Process::instance().drive() == 0, "nothing to drive");
  must(status_of_thread("uroce-progress", "Pid:").empty(), "no thread");
  exit(0);
}

TEST(ProcessDeathTest, NothingRunsBeforeTheFirstObject) {
  EXPECT_EXIT(nothing_runs_before_the_first_object(), testing::ExitedWithCode(0), "^$");
}

[[noreturn]] void a_start_touches_nothing_of_the_program() {
  configure("--port net_null0");
  const int out = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  dup2(out, STDOUT_FILENO);
  cpu_set_t before{}, after{};
  sched_getaffinity(0, sizeof before, &before);
  const int inherited = inherited_by_exec();
  device::Device* device = started();
  must(device == Process::instance().running(0), "running");
  must(device == started(), "started once");
  must(device->name() == Process::instance().describe(0).name, "the name that was listed");
  must(device->port_state().info.mac == Process::instance().describe(0).port.mac, "its MAC");
  sched_getaffinity(0, sizeof after, &after);
  must(CPU_EQUAL(&before, &after) != 0, "the caller's CPUs");
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  must(sigismember(&mask, SIGINT) == 0, "the caller's signals");
  const auto blocked = std::stoull(status_of_thread("uroce-progress", "SigBlk:"), nullptr, 16);
  must((blocked >> (SIGINT - 1) & 1) == 1 && (blocked >> (SIGTERM - 1) & 1) == 1,
       "its own thread takes no signals");
  must((blocked >> (SIGSEGV - 1) & 1) == 0, "but its own faults");
  must(inherited_by_exec() == inherited, "descriptors are closed on exec");
  fflush(stdout);
  struct stat written {};
  must(fstat(out, &written) == 0 && written.st_size == 0, "nothing on stdout");
  exit(0);
}

TEST(ProcessDeathTest, AStartTouchesNothingOfTheProgram) {
  EXPECT_EXIT(a_start_touches_nothing_of_the_program(), testing::ExitedWithCode(0), "^$");
}

[[noreturn]] void sleeps_of_the_thread_end_in_time() {
  configure("--port net_null0");
  started();
  uint64_t slack_ns = 0;
  std::ifstream("/proc" / folder_of_thread("uroce-progress").filename() / "timerslack_ns") >>
      slack_ns;
  must(slack_ns == 1, "not up to 50 us later");
  exit(0);
}

TEST(ProcessDeathTest, SleepsOfTheThreadEndInTime) {
  EXPECT_EXIT(sleeps_of_the_thread_end_in_time(), testing::ExitedWithCode(0), "^$");
}

[[noreturn]] void the_child_of_a_fork_has_no_device_and_leaves_the_parents_alone() {
  configure("--port net_null0");
  device::Device* device = started();
  const pid_t child = fork();
  if (child == 0) {
    device::Device* none = nullptr;
    must(Process::instance().running(0) == nullptr, "no device in the child");
    must(Process::instance().start(0, none) == -EIO, "and none to be had");
    must(Process::instance().start(0, none) == -EIO, "again");
    must(Process::instance().drive() == 0, "nothing to drive");
    must(Process::instance().device_count() == 1, "but one to list");
    exit(7);  // with all its destructors
  }
  int status = 0;
  must(waitpid(child, &status, 0) == child, "the child ends");
  must(WIFEXITED(status) && WEXITSTATUS(status) == 7, "as it wanted to");
  device::Pd* pd = nullptr;
  must(device->create_pd(pd) == 0, "the parent's device works on");
  must(device->destroy_pd(*pd) == 0, "and on");
  exit(0);
}

TEST(ProcessDeathTest, TheChildOfAForkHasNoDeviceAndLeavesTheParentsAlone) {
  EXPECT_EXIT(the_child_of_a_fork_has_no_device_and_leaves_the_parents_alone(),
              testing::ExitedWithCode(0), "^uroce: error: this process was forked[^\n]*\n$");
}

// Everything that a program may do with what it inherits, while threads that are not here hold its
// locks.
void use_what_is_inherited(Qp& qp, ibv_comp_channel* channel) {
  ibv_cq* const cq = qp.qp_base.send_cq;
  ibv_send_wr send{}, *bad_send = nullptr;
  ibv_recv_wr receive{}, *bad_receive = nullptr;
  ibv_wc wc;
  void* cq_context = nullptr;
  ibv_cq* of_event = nullptr;
  ibv_async_event event;
  must(ibv_post_send(&qp.qp_base, &send, &bad_send) == EIO && bad_send == &send, "post_send");
  must(ibv_post_recv(&qp.qp_base, &receive, &bad_receive) == EIO && bad_receive == &receive,
       "post_recv");
  ibv_wr_start(&qp);
  ibv_wr_send(&qp);
  must(ibv_wr_complete(&qp) == EIO, "wr_complete");
  must(ibv_poll_cq(cq, 1, &wc) == -EIO, "poll_cq");
  must(ibv_req_notify_cq(cq, 0) == EIO, "req_notify_cq");
  must(ibv_get_cq_event(channel, &of_event, &cq_context) == -1 && errno == EIO, "get_cq_event");
  must(ibv_get_async_event(cq->context, &event) == -1 && errno == EIO, "get_async_event");
  must(ibv_destroy_qp(&qp.qp_base) == EIO && ibv_destroy_cq(cq) == EIO, "destroy");
  must(ibv_destroy_comp_channel(channel) == EIO, "destroy_comp_channel");
  must(ibv_close_device(cq->context) == 0, "close_device");
}

[[noreturn]] void what_a_child_inherits_answers_at_once() {
  configure("--port net_null0");
  ibv_context* const context = ibv_open_device(ibv_get_device_list(nullptr)[0]);
  ibv_comp_channel* const channel = ibv_create_comp_channel(context);
  ibv_cq* const cq = ibv_create_cq(context, 1, nullptr, channel, 0);
  ibv_qp_init_attr_ex wanted{};
  wanted.send_cq = wanted.recv_cq = cq;
  wanted.cap = {1, 1, 1, 1, 0};
  wanted.qp_type = IBV_QPT_RC;
  wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  wanted.pd = ibv_alloc_pd(context);
  wanted.send_ops_flags = IBV_QP_EX_WITH_SEND;
  Qp& qp = of(ibv_create_qp_ex(context, &wanted));
  qp.handle.send_lock.lock();
  qp.handle.recv_lock.lock();
  of(cq).handle.poll_lock.lock();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    use_what_is_inherited(qp, channel);
    exit(7);
  }
  int status = 0;
  must(waitpid(child, &status, 0) == child && WIFEXITED(status), "the child ends");
  _exit(WEXITSTATUS(status));
}

TEST(ProcessDeathTest, WhatAChildInheritsAnswersAtOnce) {
  EXPECT_EXIT(what_a_child_inherits_answers_at_once(), testing::ExitedWithCode(7), "");
}

[[noreturn]] void a_child_describes_its_device_as_its_parent_saw_it() {
  configure("--port net_af_packet,iface=lo");
  const DeviceDescription seen = Process::instance().describe(0);
  engines_stayed_behind = true;
  const rlimit none{};
  setrlimit(RLIMIT_NOFILE, &none);  // the kernel cannot be asked
  const DeviceDescription known = Process::instance().describe(0);
  must(known.port.frame_bytes_max == seen.port.frame_bytes_max, "its frames");
  must(known.port.kernel_if_index == seen.port.kernel_if_index, "its interface");
  _exit(0);
}

TEST(ProcessDeathTest, AChildDescribesItsDeviceAsItsParentSawIt) {
  EXPECT_EXIT(a_child_describes_its_device_as_its_parent_saw_it(), testing::ExitedWithCode(0),
              "^$");
}

[[noreturn]] void a_fork_before_the_start_leaves_both_free_to_start() {
  configure("--port net_null0");
  must(Process::instance().device_count() == 1, "listed before the fork");
  const pid_t child = fork();
  started();
  if (child == 0) exit(0);
  int status = 0;
  must(waitpid(child, &status, 0) == child && status == 0, "the child's device started");
  exit(0);
}

TEST(ProcessDeathTest, AForkBeforeTheStartLeavesBothFreeToStart) {
  EXPECT_EXIT(a_fork_before_the_start_leaves_both_free_to_start(), testing::ExitedWithCode(0),
              "^$");
}

[[noreturn]] void the_end_closes_ports_and_harms_no_later_call(const std::string& socket) {
  configure(("--port net_memif,address=10.0.0.1/24,socket=" + socket).c_str());
  static device::Device* device = nullptr;
  device = started();
  must(std::filesystem::exists(socket), "the socket is there");
  must(device->port_state().active_mtu == PathMtu::k4096, "path MTU 4096");
  Process::instance().finish();
  must(!std::filesystem::exists(socket), "the socket is gone");
  must(Process::instance().drive() == 0, "nothing moves");
  device::Pd* pd = nullptr;
  must(device->create_pd(pd) != 0, "nothing new is made");
  exit(0);
}

TEST(ProcessDeathTest, TheEndClosesPortsAndHarmsNoLaterCall) {
  const std::string socket = "/tmp/uroce-process-" + std::to_string(getpid());
  EXPECT_EXIT(the_end_closes_ports_and_harms_no_later_call(socket), testing::ExitedWithCode(0),
              "^$");
}

[[noreturn]] void an_end_from_a_handler() {
  configure("--port net_null0");
  device::Device* device = started();
  signal(SIGPROF, [](int) { exit(0); });
  alarm(20);  // for an end that never comes
  const itimerval soon{{}, {0, 20'000}};
  setitimer(ITIMER_PROF, &soon, nullptr);
  for (;;) {
    device::Pd* pd = nullptr;
    if (device->create_pd(pd) == 0) device->destroy_pd(*pd);
    Process::instance().drive();
  }
}

// Wherever this thread is then, in a turn or with a lock of ours or of malloc()'s.
TEST(ProcessDeathTest, AHandlerOfASignalMayEndTheProcess) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EXIT(an_end_from_a_handler(), testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace uroce::ibverbs
