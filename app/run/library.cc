// SPDX-License-Identifier: BSD-3-Clause
// The library is asked as any program asks it. Nothing starts by that: it reads its configuration,
// and what is wrong with it is said once, before the program says less clearly that it has no
// device.
#include "library.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>

#include <filesystem>

namespace run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libibverbs.so.1";

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

bool has_devices(const std::string& folder, std::string& wrong) {
  void* const library = dlopen((folder + "/" + kName).c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const call = library == nullptr ? nullptr : dlsym(library, "ibv_get_device_list");
  if (call == nullptr) {
    wrong = std::string("the library cannot be loaded: ") + dlerror();
    return false;
  }
  const auto get_list = reinterpret_cast<decltype(&ibv_get_device_list)>(call);
  int count = 0;
  return get_list(&count) != nullptr && count > 0;  // we go, or become the program
}

}  // namespace run
