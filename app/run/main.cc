// SPDX-License-Identifier: BSD-3-Clause
// uroce-run: runs an unmodified program of libibverbs over uroce. It sets the environment, and then
// becomes the program: no process is left in between.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "library.h"
#include "options.h"
#include "program.h"
#include "tree.h"

namespace {

// As env, nice and timeout have it.
constexpr int kWrongUsage = 125;
constexpr int kCannotRun = 126;

int fail(const std::string& sentence, int status) {
  std::fprintf(stderr, "uroce-run: %s\n", sentence.c_str());
  return status;
}

void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Both, with `between` where neither is empty.
std::string joined(const std::string& first, const char* between, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : between) + second;
}

// What the library is configured by.
void configure(const run::Options& options) {
  set("UROCE_OPTIONS", joined(value_of("UROCE_OPTIONS"), " ", options.library_words));
  if (!options.profile.empty()) set("UROCE_CONFIG", std::filesystem::absolute(options.profile));
}

// What the dynamic linker takes for an end of a name; preloading has no way to write it.
std::string check_can_be_preloaded(const std::string& library_folder) {
  if (library_folder.find_first_of(" \t\n:;") == std::string::npos) return "";
  return "the folder of our library, '" + library_folder +
         "', has a blank, colon or semicolon in its name, where LD_PRELOAD and LD_LIBRARY_PATH end "
         "a name: move it";
}

// What the program gets from us in place of its own.
void take_place(const std::string& library_folder, const std::string& tree) {
  set("LD_LIBRARY_PATH", joined(library_folder, ":", value_of("LD_LIBRARY_PATH")));
  if (tree.empty()) return;
  set("LD_PRELOAD", joined(library_folder + "/liburoce-redirect.so", ":", value_of("LD_PRELOAD")));
  set("UROCE_TREE", tree);
}

}  // namespace

int main(int argc, char** argv) {
  run::Options options;
  std::string wrong = run::parse_options(argc, argv, options);
  if (!wrong.empty()) return fail(wrong, kWrongUsage);
  if (options.help) return std::fputs(run::kHelp, stdout) < 0;
  const std::string library_folder = run::find_library(wrong);
  if (!wrong.empty()) return fail(wrong, kWrongUsage);
  wrong = check_can_be_preloaded(library_folder);
  if (!wrong.empty()) return fail(wrong, kWrongUsage);
  const run::Program program = run::find_program(options.program[0]);
  if (!program.wrong.empty()) return fail(program.wrong, program.status);
  configure(options);
  const std::vector<run::Device> devices = run::list_devices(library_folder, wrong);
  if (!wrong.empty()) return fail(wrong, kWrongUsage);
  if (devices.empty()) return kWrongUsage;
  const std::string tree = options.redirect ? run::make_tree(devices, wrong) : "";
  if (!wrong.empty()) return fail(wrong, kWrongUsage);
  take_place(library_folder, tree);
  execv(program.path.c_str(), options.program);
  // The program is there, so it is something else that is not.
  const std::string why =
      errno == ENOENT ? "the interpreter that it names is not there" : std::strerror(errno);
  return fail("cannot run '" + program.path + "': " + why, kCannotRun);
}
