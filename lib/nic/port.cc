// SPDX-License-Identifier: BSD-3-Clause
// One DPDK port: opening, closing, and what the device sees of it.
#define ALLOW_EXPERIMENTAL_API  // for rte_eth_read_clock, which DPDK 22.11 still marks so

#include "nic/port.h"

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/last_error.h"
#include "base/quotable.h"
#include "nic/fault_stage.h"
#include "nic/interrupt_thread.h"
#include "nic/memif_end.h"
#include "nic/pool.h"
#include "nic/ring_pairs.h"
#include "wire/ethernet.h"

namespace uroce::nic {
namespace {

constexpr int kReadAgainMax = 8;  // a list that changes while the kernel gives it is refused

// Vdevs that EAL was given and has no port for.
std::string missing_vdevs() {
  std::vector<std::string> names;
  rte_devargs* devargs = nullptr;
  RTE_EAL_DEVARGS_FOREACH("vdev", devargs) {
    uint16_t id = 0;
    if (rte_eth_dev_get_port_by_name(devargs->name, &id) != 0) names.emplace_back(devargs->name);
  }
  if (names.empty()) return "";
  return "EAL could not make the vdev " + absl::StrJoin(names, ", ") +
         ": its own words are above; check the keys";
}

std::string port_names() {
  std::vector<std::string> names;
  for (uint64_t id = rte_eth_find_next(0); id < RTE_MAX_ETHPORTS;
       id = rte_eth_find_next(static_cast<uint16_t>(id + 1))) {
    char name[RTE_ETH_NAME_MAX_LEN];
    if (rte_eth_dev_get_name_by_port(static_cast<uint16_t>(id), name) == 0) {
      names.push_back(name);
    }
  }
  if (std::string missing = missing_vdevs(); !missing.empty()) return missing;
  return names.empty() ? "there is none, give EAL a --vdev or bind a NIC"
                       : "there are: " + absl::StrJoin(names, ", ");
}

std::string devargs_of(const rte_eth_dev_info& dev) {
  const rte_devargs* devargs = dev.device == nullptr ? nullptr : rte_dev_devargs(dev.device);
  return devargs == nullptr || devargs->args == nullptr ? "" : devargs->args;
}

// Where a memif client finds its server, if that is a file.
std::string server_socket_of(const std::string& driver, const std::string& devargs) {
  bool client = false, file = false;
  std::string socket;
  for (absl::string_view argument : absl::StrSplit(devargs, ',')) {
    client = client || argument == "role=client" || argument == "role=slave";
    file = file || argument == "socket-abstract=no";
    if (absl::ConsumePrefix(&argument, "socket=")) socket = std::string(argument);
  }
  return driver == "net_memif" && client && file ? socket : "";
}

constexpr auto kMemifServerWait = std::chrono::seconds(2);
constexpr uint64_t kUdpHashes = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;
constexpr uint64_t kRxOffloads = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;

// Which drivers deliver every frame of the wire, whatever its destination.
bool filters_nothing(const std::string& driver) {
  return driver == "net_ring" || driver == "net_memif" || driver == "net_null" ||
         driver == "net_pcap";
}

bool contains(std::span<const device::PortAddress> addresses, const Gid& wanted) {
  return std::any_of(addresses.begin(), addresses.end(),
                     [&](const device::PortAddress& address) { return address.address == wanted; });
}

std::vector<Gid> gids_of(std::span<const device::PortAddress> addresses) {
  std::vector<Gid> gids;
  for (const device::PortAddress& address : addresses) gids.push_back(address.address);
  return gids;
}

// net_memif frees its queues on the interrupt thread when the peer goes.
void between_handlers(const std::string& driver, const std::function<void()>& stop) {
  if (driver == "net_memif") {
    on_interrupt_thread(stop);
  } else {
    stop();
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Port>> Port::open(const PortConfig& config) {
  std::unique_ptr<Port> port(new Port(config));
  if (absl::Status status = port->find(); !status.ok()) return status;
  rte_eth_dev_info dev{};
  if (const int result = rte_eth_dev_info_get(port->port_id_, &dev); result != 0) {
    return absl::InternalError(absl::StrFormat("port %s: it says nothing of itself: %s",
                                               port->name_, rte_strerror(-result)));
  }
  port->driver_ = dev.driver_name;
  port->if_index_ = static_cast<int>(dev.if_index);
  port->server_socket_ = server_socket_of(port->driver_, devargs_of(dev));
  port->adopt_mac();
  if (absl::Status status = port->adopt_kernel_interface(); !status.ok()) return status;
  if (absl::Status status = port->choose_size(dev); !status.ok()) return status;
  if (absl::Status status = port->configure(dev); !status.ok()) return status;
  if (absl::Status status = port->start(); !status.ok()) return status;
  port->make_queues();
  if (absl::Status status = port->open_filter(); !status.ok()) return status;
  return port;
}

absl::Status Port::find() {
  uint32_t number = 0;
  if (rte_eth_dev_get_port_by_name(config_.name.c_str(), &port_id_) != 0) {
    if (!absl::SimpleAtoi(config_.name, &number) || number >= RTE_MAX_ETHPORTS ||
        rte_eth_dev_is_valid_port(static_cast<uint16_t>(number)) == 0) {
      return absl::NotFoundError(
          absl::StrFormat("port %s: no such DPDK port; %s", quotable(config_.name), port_names()));
    }
    port_id_ = static_cast<uint16_t>(number);
  }
  char name[RTE_ETH_NAME_MAX_LEN];
  rte_eth_dev_get_name_by_port(port_id_, name);
  name_ = name;
  socket_ = rte_eth_dev_socket_id(port_id_);
  return absl::OkStatus();
}

// A port without a MAC of its own (net_ring as a --vdev), or with one by chance, gets a local one.
void Port::adopt_mac() {
  rte_ether_addr address{};
  rte_eth_macaddr_get(port_id_, &address);
  std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), mac_.bytes.begin());
  if (!mac_.is_zero() && driver_ != "net_null") return;
  mac_ = local_mac(static_cast<uint8_t>(port_id_));
  std::copy(mac_.bytes.begin(), mac_.bytes.end(), address.addr_bytes);
  if (rte_eth_dev_mac_addr_add(port_id_, &address, 0) != 0) {
    rte_eth_dev_default_mac_addr_set(port_id_, &address);
  }
}

absl::Status Port::choose_size(const rte_eth_dev_info& dev) {
  FrameSizeFacts facts{.port = name_,
                       .driver = driver_,
                       .interface = interface_name_,
                       .interface_mtu = interface_mtu_,
                       .devargs = devargs_of(dev),
                       .max_rx_pktlen = dev.max_rx_pktlen,
                       .max_mtu = dev.max_mtu,
                       .mtu_wish = config_.mtu};
  absl::StatusOr<FrameSize> size = choose_frame_size(facts);
  if (!size.ok()) return size.status();
  size_ = *std::move(size);
  if (!size_.warning.empty()) log(size_.warning);
  return absl::OkStatus();
}

// A port's stamps are used where its clock can be read beside the engines'; others would be numbers
// that nobody can compare with anything.
bool Port::adopt_clock() {
  uint64_t ticks = 0;
  if (config_.now == nullptr || rte_eth_read_clock(port_id_, &ticks) != 0 ||
      rte_mbuf_dyn_rx_timestamp_register(&stamps_.field_offset, &stamps_.flag) != 0) {
    return false;
  }
  device_clock_ = std::make_unique<DeviceClock>(
      port_id_, ClockSources{rte_eth_read_clock, config_.now, config_.now_context});
  stamps_.clock = device_clock_.get();
  return true;
}

void Port::choose_offloads(const rte_eth_dev_info& dev) {
  rx_offloads_ = dev.rx_offload_capa & kRxOffloads;
  if ((dev.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 && adopt_clock()) {
    rx_offloads_ |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
  }
}

absl::Status Port::configure(const rte_eth_dev_info& dev) {
  if (driver_ == "net_af_packet" && config_.queue_count != dev.max_rx_queues) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "port %s: qpairs=%d spreads its frames over as many queues: give %d queues or qpairs=%d",
        name_, dev.max_rx_queues, dev.max_rx_queues, config_.queue_count));
  }
  const uint32_t queue_max = std::min(dev.max_rx_queues, dev.max_tx_queues);
  if (config_.queue_count == 0 || config_.queue_count > queue_max) {
    return absl::InvalidArgumentError(absl::StrFormat("port %s: %d queues: it has 1 to %d", name_,
                                                      config_.queue_count, queue_max));
  }
  const auto queues = static_cast<uint16_t>(config_.queue_count);
  rte_eth_conf conf{};
  conf.rxmode.mtu = size_.configure_mtu;
  choose_offloads(dev);
  conf.rxmode.offloads = rx_offloads_;
  if (queues > 1 && (dev.flow_type_rss_offloads & kUdpHashes) != 0) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = dev.flow_type_rss_offloads & kUdpHashes;
  }
  if (const int result = rte_eth_dev_configure(port_id_, queues, queues, &conf); result != 0) {
    return absl::InternalError(absl::StrFormat("port %s: cannot be configured with %d queues: %s",
                                               name_, queues, rte_strerror(-result)));
  }
  uint16_t rx_count = config_.descriptors;
  uint16_t tx_count = config_.descriptors;
  if (const int result = rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &rx_count, &tx_count);
      result != 0) {
    return absl::InternalError(absl::StrFormat("port %s: %d descriptors: %s", name_,
                                               config_.descriptors, rte_strerror(-result)));
  }
  return setup_queues(dev, rx_count, tx_count);
}

absl::Status Port::setup_queues(const rte_eth_dev_info& dev, uint16_t rx_count, uint16_t tx_count) {
  const bool ring = driver_ == "net_ring";
  const PoolNeeds needs{.queue_count = config_.queue_count,
                        .rx_descriptors = ring ? 0u : rx_count,
                        .tx_descriptors = ring ? kRingFrames : tx_count,
                        .frames_held_max = config_.frames_held_max,
                        .fault_held_max = config_.faults.any() ? kFaultHeldMax : 0,
                        .lcores = rte_lcore_count() + 2};
  auto pool = make_pool(name_, pool_mbuf_count(needs), size_.room_bytes_min, socket_);
  if (!pool.ok()) return pool.status();
  pool_ = *pool;
  const auto socket = static_cast<unsigned>(socket_);
  for (uint16_t queue = 0; queue < config_.queue_count; ++queue) {
    rte_eth_rxconf rx_conf = dev.default_rxconf;
    rx_conf.offloads = rx_offloads_;
    int result = rte_eth_rx_queue_setup(port_id_, queue, rx_count, socket, &rx_conf, pool_);
    if (result == 0) result = rte_eth_tx_queue_setup(port_id_, queue, tx_count, socket, nullptr);
    if (result != 0) {
      return absl::InternalError(absl::StrFormat("port %s: queue %d cannot be set up: %s", name_,
                                                 queue, rte_strerror(-result)));
    }
  }
  return absl::OkStatus();
}

absl::Status Port::open_filter() {
  if (shared()) {
    groups_ = std::make_unique<KernelGroups>(kernel_->index());
    return absl::OkStatus();
  }
  filter_ =
      std::make_unique<MulticastFilter>(FilterSettings{.port = name_,
                                                       .port_id = port_id_,
                                                       .if_index = if_index_,
                                                       .filters_nothing = filters_nothing(driver_),
                                                       .log = config_.log});
  // The empty set now tells which means there is, and a port that has none.
  if (const int result = filter_->set({}); result != 0) {
    return absl::UnavailableError(absl::StrFormat("port %s: its multicast filter does not work: %s",
                                                  name_, rte_strerror(-result)));
  }
  return absl::OkStatus();
}

// A memif client does not start before its server is there: it is given a while.
int Port::start_device() {
  const auto deadline = std::chrono::steady_clock::now() + kMemifServerWait;
  while (true) {
    const int result = rte_eth_dev_start(port_id_);
    if (result == 0 || driver_ != "net_memif" || std::chrono::steady_clock::now() >= deadline) {
      return result;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

absl::Status Port::start() {
  if (const int result = start_device(); result != 0) {
    return absl::UnavailableError(
        driver_ == "net_memif"
            ? absl::StrFormat("port %s: its memif server does not answer: start that one first",
                              name_)
            : absl::StrFormat("port %s: it does not start: %s", name_, rte_strerror(-result)));
  }
  open_ = started_ = true;
  restart_pace_.started(std::chrono::steady_clock::now());
  if (!config_.promiscuous) return absl::OkStatus();
  const int result = rte_eth_promiscuous_enable(port_id_);
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrFormat(
      "port %s: it refuses the promiscuous mode asked for: %s", name_, rte_strerror(-result)));
}

bool Port::can_reconnect() {
  if (server_socket_.empty()) return false;
  rte_eth_link link{};
  rte_eth_link_get_nowait(port_id_, &link);
  if (started_ && link.link_status == RTE_ETH_LINK_UP) {
    restart_pace_.connected();
    return false;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!restart_pace_.due(now)) return false;
  restart_pace_.looked(now);
  return memif_server_listens(server_socket_);
}

bool Port::restart() {
  if (std::exchange(started_, false)) {
    between_handlers(driver_, [this] { rte_eth_dev_stop(port_id_); });
  }
  started_ = rte_eth_dev_start(port_id_) == 0;
  if (started_) restart_pace_.started(std::chrono::steady_clock::now());
  return started_;
}

void Port::make_queues() {
  frame_bytes_taken_ = size_.frame_bytes_max;
  for (uint16_t i = 0; i < config_.queue_count; ++i) {
    QueueSettings settings{.port_id = port_id_,
                           .queue_id = i,
                           .pool = pool_,
                           .frame_bytes_max = size_.frame_bytes_max + 4,
                           .ignore_udp_checksum = driver_ == "net_af_packet",
                           .drop_everything = driver_ == "net_null",
                           .drop_own_mac = if_index_ != 0,
                           .mac = mac_,
                           .stamps = stamps_};
    queues_.push_back(std::make_unique<Queue>(settings));
    if (config_.faults.any()) {
      FaultPlan plan = config_.faults;
      plan.seed += i;
      queues_.back()->set_faults(std::make_unique<FaultStage>(plan, pool_));
    }
  }
}

Port::~Port() {
  if (absl::Status status = close(); !status.ok()) log(std::string(status.message()));
}

void Port::drain() {
  for (auto& queue : queues_) queue->drain();
}

absl::Status Port::close() {
  if (filter_ != nullptr) filter_->set({});
  filter_.reset();
  groups_.reset();
  guard_.reset();
  if (open_) drain();
  queues_.clear();
  if (std::exchange(open_, false)) {
    between_handlers(driver_, [this] {
      rte_eth_dev_stop(port_id_);
      rte_eth_dev_close(port_id_);
    });
  }
  if (pool_ == nullptr) return absl::OkStatus();
  uint32_t missing = 0;
  rte_mempool* pool = std::exchange(pool_, nullptr);
  if (!pool_is_full(pool, missing)) {  // left alone: somebody may still touch it
    return absl::InternalError(
        absl::StrFormat("port %s: %d mbufs did not come home", name_, missing));
  }
  rte_mempool_free(pool);
  return absl::OkStatus();
}

void Port::check_core(int numa_node) {
  if (socket_ < 0 || numa_node < 0 || numa_node == socket_ || std::exchange(warned_numa_, true)) {
    return;
  }
  log(
      absl::StrFormat("port %s: its memory is on NUMA node %d, its core on node %d: choose a core "
                      "there by -l",
                      name_, socket_, numa_node));
}

void Port::log(const std::string& line) const {
  if (config_.log != nullptr) config_.log(line);
}

device::PortInfo Port::info() {
  rte_eth_link link{};
  rte_eth_link_get_nowait(port_id_, &link);
  device::PortInfo info;
  info.name = name_;
  info.mac = mac_;
  info.ownership = ownership_;
  info.frame_bytes_max = size_.frame_bytes_max;
  info.link_up = link.link_status == RTE_ETH_LINK_UP;
  if (kernel_ != nullptr) {  // ethdev does not follow a kernel interface's link
    const absl::StatusOr<KernelLink> kernel_link = kernel_->link();
    info.link_up = kernel_link.ok() && kernel_link->up;
    if (kernel_link.ok()) {
      info.link_changes = kernel_link->carrier_changes;
      info.frame_bytes_max = follow_mtu(*kernel_link);
    }
  }
  // af_packet sends to a kernel interface, link or not, and leaves over what finds its ring full.
  if (kernel_ == nullptr) {
    for (auto& queue : queues_) queue->set_link_up(info.link_up);
  }
  met_peer_ |= info.link_up;
  info.awaits_peer = driver_ == "net_memif" && !met_peer_;
  info.link_mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
  info.numa_node = socket_;
  info.vlan_id = config_.vlan_id;
  info.queue_count = config_.queue_count;
  info.filter = shared() ? device::FilterKind::kKernelGroup
                         : (filter_ == nullptr ? device::FilterKind::kNone : filter_->kind());
  info.kernel_if_index = if_index_;
  return info;
}

// The interface's MTU may have changed: what its link takes now, at most what the port was made
// for.
uint32_t Port::follow_mtu(const KernelLink& link) {
  const uint32_t taken = std::min(size_.frame_bytes_max, link.mtu + wire::kEthernetBytes);
  if (taken == frame_bytes_taken_) return taken;
  const uint32_t tag = config_.vlan_id != 0 ? 4 : 0;
  for (auto& queue : queues_) queue->set_tx_bytes_max(taken + tag);
  if (taken < std::exchange(frame_bytes_taken_, taken)) {
    const uint32_t wanted = size_.frame_bytes_max - wire::kEthernetBytes;
    log(
        absl::StrFormat("port %s: interface %s has MTU %d now: longer packets are dropped and "
                        "counted as tx_too_long; ip link set %s mtu %d",
                        name_, link.name, link.mtu, link.name, wanted));
  }
  return taken;
}

// Shared: asked anew, because the kernel's addresses come and go; the guard goes with them.
std::vector<device::PortAddress> Port::addresses() {
  if (!shared()) return config_.addresses;
  absl::StatusOr<std::vector<device::PortAddress>> found = kernel_->addresses();
  for (int again = 0; !found.ok() && again < kReadAgainMax; ++again) found = kernel_->addresses();
  if (!found.ok()) {
    log(absl::StrFormat("port %s: the kernel's addresses cannot be read, the old ones stay: %s",
                        name_, found.status().message()));
    return addresses_;
  }
  if (!config_.addresses.empty()) {
    std::erase_if(*found, [&](const device::PortAddress& address) {
      return !contains(config_.addresses, address.address);
    });
  }
  if (guard_ != nullptr) {
    if (absl::Status held = guard_->hold(gids_of(*found)); !held.ok()) {
      log(absl::StrFormat("port %s: %s", name_, held.message()));
    }
  }
  addresses_ = *std::move(found);
  return addresses_;
}

int Port::set_multicast_macs(std::span<const MacAddress> macs) {
  return filter_ == nullptr ? -ENOTSUP : filter_->set(macs);
}

int Port::set_group_filter(const Gid& group, const SourceFilter& filter) {
  if (groups_ == nullptr) return -ENOTSUP;
  const int error = groups_->set(group, filter);
  if (error != 0) {
    const std::string sentence = absl::StrFormat("port %s: group %s: %s", name_, gid_text(group),
                                                 KernelGroups::cure(error, group));
    set_last_error(sentence);
    log(sentence);
  }
  return error;
}

int Port::resolve(const Gid& destination, Duration limit, MacAddress& mac) {
  return shared() ? kernel_->resolve(destination, limit, mac) : -ENOTSUP;
}

}  // namespace uroce::nic
