// SPDX-License-Identifier: BSD-3-Clause
// Programs for which the dynamic linker takes no library from us would run without a word, on the
// kernel's devices: they are refused.
#include "program.h"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

namespace run {
namespace {

std::vector<std::string> places_of(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/bin:/bin";
  std::vector<std::string> places;
  places.reserve(static_cast<size_t>(std::ranges::count(folders, ':')) + 1);
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    places.push_back((folder.empty() ? "." : folder) + "/" + name);
    begin = end + 1;
  }
  return places;
}

// A 64-bit ELF file that names no dynamic linker. Scripts, whose interpreter nobody looks at here,
// are none.
bool is_static(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return false;
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (file && segment.p_type == PT_INTERP) return false;
  }
  return true;
}

// What gives the program rights that its user has not; "": nothing.
std::string more_rights(const std::string& path, const struct stat& status) {
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return "setuid";
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) return "setgid";
  const bool capable = getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return capable && geteuid() != 0 ? "file capabilities" : "";
}

std::string check(const std::string& path, const struct stat& status) {
  if (const std::string rights = more_rights(path, status); !rights.empty()) {
    return path + " runs with more rights than yours (" + rights +
           "), so it ignores LD_LIBRARY_PATH: run a copy of it without them";
  }
  if (!is_static(path)) return "";
  return path + " is linked statically, so no library of ours can take the place of its own";
}

}  // namespace

Program find_program(const std::string& name) {
  bool is_there = false;
  for (const std::string& place : places_of(name)) {
    struct stat status {};
    if (stat(place.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    is_there = true;
    if (access(place.c_str(), X_OK) != 0) continue;
    std::string wrong = check(place, status);
    return {place, wrong, wrong.empty() ? 0 : 126};
  }
  const std::string cannot = "cannot run '" + name + "': ";
  if (is_there) return {"", cannot + "it may not be executed (chmod +x)", 126};
  const bool searched = name.find('/') == std::string::npos;
  return {"", cannot + "there is no such program" + (searched ? " in PATH" : ""), 127};
}

}  // namespace run
