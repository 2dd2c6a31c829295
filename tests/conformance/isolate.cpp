// Tests in child processes; see isolate.h. A child writes the outcome of each test between
// two marks; what stands outside of them is what a library says when it ends the process.
#include "isolate.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace anvil::conformance {

static constexpr char begin_mark = '\x1e', end_mark = '\x1f';

Failure direct(const Test& test) {
  try {
    return test();
  } catch (const Error& e) {
    return "error (" + e.kind + "): " + e.what();
  } catch (const std::exception& e) {
    return std::string("internal error: ") + e.what();
  }
}

static void write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n <= 0) _exit(2);
    done += static_cast<size_t>(n);
  }
}

static std::string read_all(int file) {
  std::string text;
  char block[4096];
  for (;;) {
    ssize_t n = read(file, block, sizeof block);
    if (n <= 0) return text;
    text.append(block, static_cast<size_t>(n));
  }
}

// The tests from `first` on, in a child; gives what it wrote and how it ended.
static std::pair<std::string, int> run_child(const std::vector<Test>& tests, size_t first, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    for (size_t i = first; i < tests.size(); ++i) {
      alarm(static_cast<unsigned>(seconds));
      Failure f = direct(tests[i]);
      write_all(ends[1], begin_mark + std::string(f ? "1" : "0") + f.value_or("") + end_mark);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {text, status};
}

std::vector<Failure> isolated(const std::vector<Test>& tests, int seconds) {
  std::vector<Failure> outcomes;
  while (outcomes.size() < tests.size()) {
    auto [text, status] = run_child(tests, outcomes.size(), seconds);
    size_t place = 0;
    for (size_t from; (from = text.find(begin_mark, place)) != std::string::npos;) {
      size_t end = text.find(end_mark, from);
      if (end == std::string::npos) break;
      outcomes.push_back(text[from + 1] == '1' ? Failure(text.substr(from + 2, end - from - 2)) : std::nullopt);
      place = end + 1;
    }
    if (outcomes.size() == tests.size()) break;
    std::string said = text.substr(place, text.find('\n', place) - place);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      outcomes.push_back("took longer than " + std::to_string(seconds) + " s");
    else
      outcomes.push_back("crashed: " +
                         (WIFSIGNALED(status) ? std::string(strsignal(WTERMSIG(status)))
                                              : "status " + std::to_string(WEXITSTATUS(status))) +
                         (said.empty() ? "" : " | " + said));
  }
  return outcomes;
}

}  // namespace anvil::conformance
