// SPDX-License-Identifier: BSD-3-Clause
// Commands into the parser of librte_cmdline, and what became of them.
#include "testroce/console.h"

#include <cmdline_socket.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "common/stop_signals.h"
#include "testroce/commands.h"

namespace uroce::testroce {
namespace {

// Commands are called by a C library: their session and their error are handed over here.
Session* current_session = nullptr;
std::string current_error;
bool on_terminal = false;  // errors are said at once, before the next prompt

constexpr unsigned kTurnsPerLook = 64;  // between looks at standard input

const std::vector<cmdline_parse_inst_t*>& all_commands();

void help(Session&, const Parsed&) {
  for (const cmdline_parse_inst_t* command : all_commands()) {
    if (command != nullptr) std::printf("  %s\n", command->help_str);
  }
}

void quit(Session&, const Parsed&) { app::ask_to_stop(); }

StringToken help_word = UROCE_WORD(verb, "help");
StringToken quit_word = UROCE_WORD(verb, "quit");
cmdline_parse_inst_t help_command = {
    .f = run<help>,
    .data = nullptr,
    .help_str = "help: this list",
    .tokens = {&help_word.hdr, nullptr},
};
cmdline_parse_inst_t quit_command = {
    .f = run<quit>,
    .data = nullptr,
    .help_str = "quit: ends the session in order",
    .tokens = {&quit_word.hdr, nullptr},
};

// In the order of `help`, with the nullptr that librte_cmdline wants behind.
const std::vector<cmdline_parse_inst_t*>& all_commands() {
  static const std::vector<cmdline_parse_inst_t*> list = [] {
    std::vector<cmdline_parse_inst_t*> all = {&help_command};
    for (const auto& part :
         {show_commands(), qp_commands(), traffic_commands(), group_commands()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    all.push_back(&quit_command);
    all.push_back(nullptr);
    return all;
  }();
  return list;
}

cmdline_parse_ctx_t* context() { return const_cast<cmdline_parse_ctx_t*>(all_commands().data()); }

// A parser without a terminal; its own words go nowhere, ours are better.
class Parser {
 public:
  explicit Parser(Session& session) : line_(cmdline_new(context(), "", -1, -1)) {
    current_session = &session;
    if (line_ == nullptr) throw std::runtime_error("no memory for the command parser");
  }
  ~Parser() { cmdline_free(line_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // "" or the sentence that says what failed.
  std::string run(const std::string& command) {
    current_error.clear();
    const int result = cmdline_parse(line_, (command + "\n").c_str());
    std::fflush(stdout);
    if (result >= 0) return current_error;  // bytes taken
    const char* what = result == CMDLINE_PARSE_AMBIGUOUS  ? "ambiguous command"
                       : result == CMDLINE_PARSE_BAD_ARGS ? "wrong arguments"
                                                          : "no such command";
    return std::string(what) + " \"" + command + "\" (help lists all)";
  }

 private:
  cmdline* line_;
};

std::string trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string::npos || line[begin] == '#') return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

std::runtime_error unreadable(const std::string& path, int error) {
  return std::runtime_error("--cmdline-file: cannot read " + path + ": " + std::strerror(error));
}

bool input_is_ready() {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  return poll(&in, 1, 0) > 0;
}

// The prompt of librte_cmdline, with editing, TAB and history.
void run_terminal(Session& session, const std::function<void()>& every_turn) {
  current_session = &session;
  on_terminal = true;
  cmdline* line = cmdline_stdin_new(context(), "testroce> ");
  if (line == nullptr) throw std::runtime_error("no prompt on this terminal");
  int status = RDLINE_RUNNING;
  for (unsigned turns = 0; status == RDLINE_RUNNING && !app::stop_asked(); ++turns) {
    session.sleep_when_idle(session.turn());
    if (turns % kTurnsPerLook != 0) continue;
    every_turn();
    while (status == RDLINE_RUNNING && !app::stop_asked() && input_is_ready()) {
      status = cmdline_poll(line);
    }
  }
  cmdline_stdin_exit(line);
  on_terminal = false;
}

// Lines of a pipe or a file, as they come.
unsigned run_pipe(Session& session, const std::function<void()>& every_turn) {
  Parser parser(session);
  unsigned failed = 0;
  std::string waiting;
  bool open = true;
  for (unsigned turns = 0; !app::stop_asked(); ++turns) {
    session.sleep_when_idle(session.turn());
    if (turns % kTurnsPerLook != 0) continue;
    every_turn();
    if (open && input_is_ready()) {
      char bytes[512];
      const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
      open = count > 0;
      waiting.append(bytes, open ? static_cast<size_t>(count) : 0);
      if (!open && !waiting.empty()) waiting += '\n';
    }
    size_t end = 0;
    while (!app::stop_asked() && (end = waiting.find('\n')) != std::string::npos) {
      const std::string command = trimmed(waiting.substr(0, end));
      waiting.erase(0, end + 1);
      if (command.empty()) continue;
      const std::string error = parser.run(command);
      if (error.empty()) continue;
      ++failed;
      std::printf("error: %s\n", error.c_str());
      std::fflush(stdout);
    }
    if (!open) break;
  }
  return failed;
}

}  // namespace

void execute(Command command, const Parsed& parsed) {
  try {
    command(*current_session, parsed);
  } catch (const std::exception& error) {
    current_error = error.what();
    if (on_terminal) std::printf("error: %s\n", error.what());
  }
  std::fflush(stdout);
}

void run_file(Session& session, const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);  // opens like a file
  std::ifstream file(path);
  if (folder || !file) throw unreadable(path, folder ? EISDIR : errno);
  Parser parser(session);
  std::string line;
  for (unsigned number = 1; std::getline(file, line) && !app::stop_asked(); ++number) {
    const std::string command = trimmed(line);
    if (command.empty()) continue;
    std::printf("testroce> %s\n", command.c_str());
    const std::string error = parser.run(command);
    if (!error.empty()) {
      std::string where = path;
      where.append(":").append(std::to_string(number)).append(": ");
      throw std::runtime_error(where.append(error));
    }
    errno = 0;  // of the next read
  }
  if (file.bad()) throw unreadable(path, errno != 0 ? errno : EIO);
}

unsigned run_prompt(Session& session, const std::function<void()>& every_turn) {
  if (isatty(STDIN_FILENO) != 0) {
    run_terminal(session, every_turn);
    return 0;
  }
  return run_pipe(session, every_turn);
}

}  // namespace uroce::testroce
