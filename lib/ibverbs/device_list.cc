// SPDX-License-Identifier: BSD-3-Clause
// Listing devices: the ones that the configuration names, whether or not they run.
//
// The handles are made once and live as long as the process: programs free the list and go on with
// a device of it, and exit with one open.
#include <absl/strings/str_format.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>

#include "ibverbs/handles.h"
#include "ibverbs/runtime.h"

namespace uroce::ibverbs {
namespace {

// What libraries of other hardware compare with their own tables.
constexpr int kNoProvider = 0;

void set_text(char* to, size_t size, const std::string& text) {
  absl::SNPrintF(to, size, "%s", text);
}

void describe(uint32_t index, Device& device) {
  const std::string name = runtime().describe(index).name;
  device.node_type = IBV_NODE_CA;
  device.transport_type = IBV_TRANSPORT_IB;
  const std::string node = absl::StrFormat("uverbs%u", index);
  set_text(device.name, sizeof device.name, name);
  set_text(device.dev_name, sizeof device.dev_name, node);
  set_text(device.dev_path, sizeof device.dev_path, "/sys/class/infiniband_verbs/" + node);
  set_text(device.ibdev_path, sizeof device.ibdev_path, "/sys/class/infiniband/" + name);
  device.provider_operations = &kNoProvider;
  device.index = index;
}

// The first `count` devices; the pointers stay.
void list(uint32_t count, ibv_device** to) {
  static auto& lock = *new std::mutex;
  static auto& devices = *new std::deque<Device>;  // also for threads that outlive main()
  const std::lock_guard guard(lock);
  while (devices.size() < count) {
    const auto index = static_cast<uint32_t>(devices.size());
    describe(index, devices.emplace_back());
  }
  for (uint32_t i = 0; i < count; ++i) to[i] = &devices[i];
}

}  // namespace
}  // namespace uroce::ibverbs

using namespace uroce;
using namespace uroce::ibverbs;

ibv_device** ibv_get_device_list(int* num_devices) {
  if (num_devices != nullptr) *num_devices = 0;
  const int count = runtime().device_count();
  if (count < 0) return refuse<ibv_device*>(count);
  auto** const found =
      static_cast<ibv_device**>(std::calloc(static_cast<size_t>(count) + 1, sizeof(ibv_device*)));
  if (found == nullptr) return refuse<ibv_device*>(-ENOMEM);
  list(static_cast<uint32_t>(count), found);
  if (num_devices != nullptr) *num_devices = count;
  return found;
}

void ibv_free_device_list(ibv_device** list) { std::free(list); }

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

int ibv_get_device_index(ibv_device* device) { return static_cast<int>(of(device).index); }

__be64 ibv_get_device_guid(ibv_device* device) {
  const DeviceDescription description = runtime().describe(of(device).index);
  // The EUI-64 of the port's MAC address, as in the link-local address.
  ibv_gid gid;
  from_gid(device::link_local_gid(description.port.mac), gid);
  return gid.global.interface_id;
}
