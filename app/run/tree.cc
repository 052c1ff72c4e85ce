// SPDX-License-Identifier: BSD-3-Clause
// Only what is the same as long as the program runs, on the kernel's devices of this kind: no
// counters, and no GIDs, which come and go.
#include "tree.h"

#include <filesystem>
#include <fstream>

#include "folder.h"

namespace run {
namespace {

namespace fs = std::filesystem;

// With what stands below, no longer than what the preloaded library leads elsewhere.
constexpr size_t kTreeBytesMax = 256;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << text << '\n';
  stream.close();
  if (!stream) throw fs::filesystem_error("write", file, std::make_error_code(std::errc::io_error));
}

void write_device(const fs::path& tree, const Device& device) {
  const fs::path folder = tree / "sys/class/infiniband" / device.name;
  write(folder / "node_type", "1: CA");
  write(folder / "device/numa_node", "-1");
  write(folder / "ports/1/link_layer", "Ethernet");
  for (const GidEntry& gid : device.gids) {
    const std::string index = std::to_string(gid.index);
    write(folder / "ports/1/gid_attrs/types" / index, "RoCE v2");
    if (gid.interface.empty()) continue;
    write(folder / "ports/1/gid_attrs/ndevs" / index, gid.interface);
    fs::create_directories(folder / "device/net" / gid.interface);
  }
  // A character device that may be opened, as programs want it, and does no harm.
  const fs::path nodes = tree / "dev/infiniband";
  fs::create_directories(nodes);
  fs::create_symlink("/dev/null", nodes / device.node);
}

}  // namespace

std::string make_tree(const std::vector<Device>& devices, std::string& wrong) {
  const auto fail = [&](const std::string& why) {
    wrong = "no folder for what stands below /sys/class/infiniband (" + why +
            "): set TMPDIR to one that may be written, or give --no-redirect";
    return "";
  };
  try {
    std::string tree = fs::temp_directory_path() / "uroce-run-XXXXXX";
    if (tree.size() > kTreeBytesMax) return fail("its name would be too long");
    if (const int error = make_folder_of_this_process(tree); error != 0) {
      return fail(std::generic_category().message(error));
    }
    for (const Device& device : devices) write_device(tree, device);
    return tree;
  } catch (const fs::filesystem_error& error) {
    return fail(error.what());
  }
}

}  // namespace run
