// SPDX-License-Identifier: BSD-3-Clause
/*
 * uroce: an RDMA device out of any DPDK port, inside the application's own process.
 *
 * Life of a program: uroce_start (or uroce_adopt), uroce_device for each device, verbs calls
 * (uroce/ib_verbs.h) and, in the inline modes, uroce_poll in a loop; at the end uroce_stop.
 *
 * The library installs no signal handler, prints nothing to stdout, and says its few sentences to
 * the log sink (stderr unless uroce_set_log_sink was called).
 *
 * Errors are negative errno numbers; uroce_error() has the sentence that explains the last one of
 * the calling thread, of these calls and of those of uroce/multicast.h that work on groups: what
 * was wrong and what would do.
 */
#ifndef UROCE_UROCE_H
#define UROCE_UROCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uroce_context;
struct ib_device;

/*
 * Starts DPDK and uroce. The arguments are those of main(): program name, EAL's arguments, "--",
 * ours (doc/configuration.md). Allocates everything, opens the ports and, in worker mode, starts
 * the polling lcores. EAL pins the calling thread to its main lcore.
 *
 * 0, and *context set; or -EINVAL (an argument), -ENODEV (no such port), -ENOMEM (not enough
 * memory: the sentence names the -m that would do), -EADDRINUSE (another stack on a shared port),
 * -EALREADY (EAL was started before in this process; a running one can be adopted), -EBUSY (another
 * process uses EAL's file prefix), -EPERM, -EIO.
 * After an error nothing is left behind, except that DPDK cannot be started a second time.
 *
 * One context at a time in a process. Not thread-safe against itself and uroce_stop.
 */
int uroce_start(int argc, const char* const* argv, struct uroce_context** context);

/*
 * The same in a process that has called rte_eal_init itself. The arguments are ours alone, without
 * a program name and without "--". Ports that the process has configured already are refused
 * (-EBUSY) when they are named.
 */
int uroce_adopt(int argc, const char* const* argv, struct uroce_context** context);

/*
 * Inline modes: runs one loop turn of every engine and then delivers events (comp_handler,
 * event_handler) on the calling thread. Returns how many packets moved; 0 in worker mode.
 *
 * --mode inline: one thread makes all calls of this library, this one included.
 * --mode shared: any thread may call; an engine that another thread is driving is skipped.
 * Makes no system call and never blocks. A turn takes no lock; --mode shared costs a locked
 * exchange for each engine, and an event that is delivered takes a lock for the look at its object.
 */
int uroce_poll(struct uroce_context* context);

/*
 * Stops everything in order: tells clients of the devices (ib_client.h), waits until nobody holds
 * one by ib_device_try_get(), refuses new work, lets ACKs that are owed go out, leaves all groups,
 * gives filters and addresses back, frees the packet buffers (their number is checked), closes the
 * ports, and cleans EAL up if uroce_start started it. Verbs objects that are left are freed: their
 * handles are dead, no call may name them any more, and memory that was registered is the
 * application's alone again. No other thread is inside a call of this library, but that it may put
 * a device back. Takes at most about two seconds when nobody holds one.
 *
 * 0; -EBUSY: a packet buffer was not given back (the sentence says how many); everything else is
 * closed all the same and `context` is gone in either case.
 */
int uroce_stop(struct uroce_context* context);

/* Devices: one for each port, in the order of the configuration. NULL beyond the last. */
unsigned int uroce_device_count(const struct uroce_context* context);
struct ib_device* uroce_device(struct uroce_context* context, unsigned int index);

/*
 * The context's clock, in nanoseconds: 0 when the context was made, never back, no leap. The
 * receive time of a completion (ib_wc.rx_time_ns) is a reading of it, whether the port stamped the
 * packet or the burst did. Any thread; reads the CPU's time stamp counter and makes no system call.
 * For wall-clock time, read both clocks together now and then.
 */
uint64_t uroce_clock_ns(const struct uroce_context* context);

/* The sentence for the calling thread's last error; "" if there was none. Valid until the next. */
const char* uroce_error(void);

/* The library's version, such as "0.1.0". */
const char* uroce_version(void);

/* Options of ours, one a line, for a program's --help. Valid for ever. */
const char* uroce_options_help(void);

/*
 * Where the library's sentences go: one call each, without a newline, level 0 error, 1 warning,
 * 2 info, 3 debug. NULL: back to stderr. To be called before uroce_start.
 */
void uroce_set_log_sink(void (*sink)(void* context, int level, const char* sentence),
                        void* context);

#ifdef __cplusplus
}
#endif

#endif /* UROCE_UROCE_H */
