// SPDX-License-Identifier: BSD-3-Clause
// The library is asked as any program asks it. Nothing starts by that: it reads its configuration,
// and what is wrong with it is said once, before the program says less clearly that it has no
// device.
#include "library.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include <array>
#include <filesystem>

namespace run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libibverbs.so.1";
constexpr size_t kGidsMax = 256;

// The calls of a library that is loaded at run time.
struct Calls {
  decltype(&ibv_get_device_list) get_device_list = nullptr;
  decltype(&ibv_open_device) open_device = nullptr;
  decltype(&ibv_close_device) close_device = nullptr;
  decltype(&_ibv_query_gid_table) query_gid_table = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load(const std::string& path, Calls& calls) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && find(library, "ibv_get_device_list", calls.get_device_list) &&
         find(library, "ibv_open_device", calls.open_device) &&
         find(library, "ibv_close_device", calls.close_device) &&
         find(library, "_ibv_query_gid_table", calls.query_gid_table);
}

std::vector<GidEntry> list_gids(ibv_device* device, const Calls& calls) {
  std::vector<GidEntry> gids;
  ibv_context* const context = calls.open_device(device);
  if (context == nullptr) return gids;
  std::array<ibv_gid_entry, kGidsMax> entries{};
  const ssize_t count =
      calls.query_gid_table(context, entries.data(), entries.size(), 0, sizeof entries[0]);
  for (size_t i = 0; static_cast<ssize_t>(i) < count; ++i) {
    std::array<char, IF_NAMESIZE> interface {};
    if_indextoname(entries[i].ndev_ifindex, interface.data());
    gids.push_back({entries[i].gid_index, interface.data()});
  }
  calls.close_device(context);
  return gids;
}

}  // namespace

std::string find_library(std::string& wrong) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path built = (here / "../../lib/ibverbs/library").lexically_normal();
  const fs::path installed = (here / ".." / UROCE_LIBDIR / "uroce").lexically_normal();
  for (const fs::path& folder : {built, installed}) {
    if (fs::exists(folder / kName, error)) return folder;
  }
  wrong = std::string("our ") + kName + " is neither in " + installed.string() + " nor in " +
          built.string() + ": build uroce, or install it (meson install)";
  return "";
}

std::vector<Device> list_devices(const std::string& folder, std::string& wrong) {
  std::vector<Device> devices;
  Calls calls;
  if (!load(folder + "/" + kName, calls)) {
    wrong = std::string("the library cannot be loaded: ") + dlerror();
    return devices;
  }
  int count = 0;
  ibv_device** const list = calls.get_device_list(&count);
  if (list == nullptr) return devices;
  devices.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    devices.push_back({list[i]->name, list[i]->dev_name, list_gids(list[i], calls)});
  }
  return devices;  // the list goes with the image of this process
}

}  // namespace run
