// SPDX-License-Identifier: BSD-3-Clause
// Clients of devices: who is told of which, their data, and the references that keep a device.
#include <uroce/ib_client.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ranges>
#include <string>
#include <vector>

#include "base/log.h"
#include "verbs/face.h"
#include "verbs/handles.h"

namespace uroce::verbs {
namespace {

// Devices that are announced, and clients; the lock is held while clients are called.
struct Registry {
  std::mutex lock;
  std::vector<Device*> devices;
  std::vector<ib_client*> clients;
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

void add_to(ib_client& client, Device& device) {
  {
    const std::lock_guard guard(device.clients_lock);
    device.client_data.emplace(&client, nullptr);
  }
  if (client.add == nullptr || client.add(&device) == 0) return;
  const std::lock_guard guard(device.clients_lock);
  device.client_data.erase(&client);
}

// The data is there until `remove` has returned.
void remove_from(ib_client& client, Device& device) {
  void* data = nullptr;
  {
    const std::lock_guard guard(device.clients_lock);
    const auto found = device.client_data.find(&client);
    if (found == device.client_data.end()) return;
    data = found->second;
  }
  if (client.remove != nullptr) client.remove(&device, data);
  const std::lock_guard guard(device.clients_lock);
  device.client_data.erase(&client);
}

// Until the last reference is put back; says once what it waits for.
void wait_for_references(Device& device) {
  std::unique_lock lock(device.clients_lock);
  device.announced = false;
  const auto gone = [&device] { return device.references == 0; };
  if (device.references_gone.wait_for(lock, std::chrono::seconds(1), gone)) return;
  log(LogLevel::kWarning, std::string(device.name) + " waits for " +
                              std::to_string(device.references) +
                              " references of ib_device_try_get(): ib_device_put() them");
  device.references_gone.wait(lock, gone);
}

}  // namespace

void announce_device(ib_device* ibdev) {
  Device& device = of(ibdev);
  Registry& all = registry();
  const std::lock_guard guard(all.lock);
  {
    const std::lock_guard references_guard(device.clients_lock);
    device.announced = true;
  }
  all.devices.push_back(&device);
  for (ib_client* client : all.clients) add_to(*client, device);
}

void withdraw_device(ib_device* ibdev) {
  Device& device = of(ibdev);
  Registry& all = registry();
  {
    const std::lock_guard guard(all.lock);
    if (std::erase(all.devices, &device) == 0) return;
    for (ib_client* client : all.clients | std::views::reverse) remove_from(*client, device);
  }
  wait_for_references(device);
}

}  // namespace uroce::verbs

using namespace uroce::verbs;

int ib_register_client(ib_client* client) {
  Registry& all = registry();
  const std::lock_guard guard(all.lock);
  if (std::ranges::find(all.clients, client) != all.clients.end()) return -EALREADY;
  all.clients.push_back(client);
  for (Device* device : all.devices) add_to(*client, *device);
  return 0;
}

void ib_unregister_client(ib_client* client) {
  Registry& all = registry();
  const std::lock_guard guard(all.lock);
  if (std::erase(all.clients, client) == 0) return;
  for (Device* device : all.devices | std::views::reverse) remove_from(*client, *device);
}

void ib_set_client_data(ib_device* device, ib_client* client, void* data) {
  const std::lock_guard guard(of(device).clients_lock);
  const auto found = of(device).client_data.find(client);
  if (found != of(device).client_data.end()) found->second = data;
}

void* ib_get_client_data(ib_device* device, ib_client* client) {
  const std::lock_guard guard(of(device).clients_lock);
  const auto found = of(device).client_data.find(client);
  return found != of(device).client_data.end() ? found->second : nullptr;
}

bool ib_device_try_get(ib_device* dev) {
  const std::lock_guard guard(of(dev).clients_lock);
  if (!of(dev).announced) return false;
  ++of(dev).references;
  return true;
}

void ib_device_put(ib_device* dev) {
  Device& device = of(dev);
  const std::lock_guard guard(device.clients_lock);
  if (--device.references == 0) device.references_gone.notify_all();
}
