// SPDX-License-Identifier: BSD-3-Clause
// One DPDK port: opened by the port contract, its queues, and the device's control view of it.
#ifndef UROCE_NIC_PORT_H
#define UROCE_NIC_PORT_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/port_ops.h"
#include "nic/device_clock.h"
#include "nic/frame_size.h"
#include "nic/kernel_groups.h"
#include "nic/kernel_interface.h"
#include "nic/multicast_filter.h"
#include "nic/port_config.h"
#include "nic/port_guard.h"
#include "nic/queue.h"
#include "nic/restart_pace.h"

struct rte_mempool;
struct rte_eth_dev_info;

namespace uroce::nic {

// Control threads, one at a time, except for the queues: each belongs to the thread that polls it.
class Port final : public device::PortOps {
 public:
  // Configures and starts the port: queues, pool, frame size, ownership, checksum offloads, RSS.
  // EAL is up. Every refusal is one line that names the thing and the cure.
  static absl::StatusOr<std::unique_ptr<Port>> open(const PortConfig& config);
  ~Port() override;  // closes; a failure to do so cleanly is logged

  // Gives everything back, in this order over all ports of the process: drain (once no engine
  // polls any more), then close. close says how many mbufs did not come home; the pool is then
  // left alone. Both do nothing the second time.
  void drain();
  absl::Status close();

  Queue& queue(uint32_t index) { return *queues_[index]; }
  uint32_t queue_count() const { return static_cast<uint32_t>(queues_.size()); }
  uint16_t id() const { return port_id_; }
  const PortConfig& config() const { return config_; }
  const std::string& driver() const { return driver_; }
  rte_mempool* pool() const { return pool_; }
  // The interface whose addresses the port shares; 0: none.
  int address_if_index() const { return shared() ? kernel_->index() : 0; }

  // Keeps what the port's stamps mean; nothing to do where it gives none. Any one control thread,
  // several times a second.
  void calibrate_clock() {
    if (device_clock_ != nullptr) device_clock_->calibrate();
  }

  // Queue::look_at_progress(), of all queues.
  void look_at_progress() {
    for (auto& queue : queues_) queue->look_at_progress();
  }

  // A memif client does not look for a server that went away by itself. can_reconnect(): there is
  // one again, and some time since the last restart. restart(): stops and starts the port, which
  // nobody polls meanwhile, nor as long as it returns false.
  bool can_reconnect();
  bool restart();

  // The polling core's NUMA node: one warning when the port's memory is elsewhere.
  void check_core(int numa_node);

  device::PortInfo info() override;
  std::vector<device::PortAddress> addresses() override;
  int set_multicast_macs(std::span<const MacAddress> macs) override;
  int set_group_filter(const Gid& group, const SourceFilter& filter) override;
  int resolve(const Gid& destination, Duration limit, MacAddress& mac) override;

 private:
  explicit Port(const PortConfig& config) : config_(config) {}
  absl::Status find();
  void adopt_mac();
  absl::Status adopt_kernel_interface();
  absl::Status choose_ownership(std::span<const device::PortAddress> kernel_addresses);
  absl::Status check_addresses(std::span<const device::PortAddress> kernel_addresses) const;
  absl::Status choose_size(const rte_eth_dev_info& dev);
  void choose_offloads(const rte_eth_dev_info& dev);
  bool adopt_clock();
  absl::Status configure(const rte_eth_dev_info& dev);
  absl::Status setup_queues(const rte_eth_dev_info& dev, uint16_t rx_count, uint16_t tx_count);
  absl::Status start();
  int start_device();
  absl::Status open_filter();
  void make_queues();
  uint32_t follow_mtu(const KernelLink& link);
  void log(const std::string& line) const;
  bool shared() const { return ownership_ == device::PortOwnership::kShared; }

  const PortConfig config_;
  std::string name_;
  uint16_t port_id_ = 0;
  std::string driver_;
  int if_index_ = 0;
  std::string interface_name_;  // of if_index_
  int socket_ = -1;
  MacAddress mac_;
  FrameSize size_;
  uint32_t interface_mtu_ = 0;
  uint32_t frame_bytes_taken_ = 0;  // by the link at the last look, at most what size_ says
  device::PortOwnership ownership_ = device::PortOwnership::kOwn;
  bool open_ = false;
  bool started_ = false;       // differs after a restart that failed
  std::string server_socket_;  // of a memif client, where a lost server may come back
  RestartPace restart_pace_;
  bool met_peer_ = false;  // the link has been up
  bool warned_numa_ = false;
  rte_mempool* pool_ = nullptr;
  uint64_t rx_offloads_ = 0;
  std::unique_ptr<DeviceClock> device_clock_;  // nullptr: packets get the time of their burst
  StampSource stamps_;
  std::vector<std::unique_ptr<Queue>> queues_;
  // Own: the group filter.
  std::unique_ptr<MulticastFilter> filter_;
  // On a kernel interface: its link. Shared: also addresses, routes and neighbours, and then it is
  // the VLAN interface above the port's where the configuration names a VLAN.
  std::unique_ptr<KernelInterface> kernel_;
  std::unique_ptr<KernelGroups> groups_;
  std::unique_ptr<PortGuard> guard_;
  std::vector<device::PortAddress> addresses_;  // of the kernel's interface, as last read
};

}  // namespace uroce::nic

#endif  // UROCE_NIC_PORT_H
