// Tables and lists of results; see report.h.
#include "report.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <sstream>

#include "csv.h"

namespace anvil::conformance {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> list;
  for (std::string w; in >> w;) list.push_back(w);
  return list;
}

struct Counts {
  int cases = 0, passed = 0;
};

// One line a key, and for each mode: cases that passed of those that ran.
void Report::table(const std::string& title, bool operators) const {
  std::map<std::string, std::map<std::string, Counts>> rows;
  std::set<std::string> modes;
  for (const Result& r : results_) {
    modes.insert(r.mode);
    std::vector<std::string> keys = {r.kind + (r.tier.empty() ? "" : " " + r.tier), r.kind + ", all"};
    if (operators) keys = r.kind == "run" || r.kind == "program" ? r.operators : std::vector<std::string>{};
    for (const std::string& key : keys) {
      Counts& c = rows[key][r.mode];
      ++c.cases;
      c.passed += !r.failure;
    }
  }
  std::printf("\n%-42s", title.c_str());
  for (const std::string& mode : modes) std::printf("%14s", mode.c_str());
  std::printf("\n");
  for (const auto& [key, row] : rows) {
    std::printf("%-42s", key.c_str());
    for (const std::string& mode : modes) {
      auto it = row.find(mode);
      std::string text =
          it == row.end() ? "" : std::to_string(it->second.passed) + " of " + std::to_string(it->second.cases);
      std::printf("%14s", text.c_str());
    }
    std::printf("\n");
  }
}

// The message without what differs from case to case: places, names, numbers.
static std::string pattern(const std::string& reason) {
  std::string s;
  for (size_t i = 0; i < reason.size() && s.size() < 160; ++i) {
    bool digit =
        std::isdigit(static_cast<unsigned char>(reason[i])) || (reason[i] == '-' && i > 0 && reason[i - 1] == ' ');
    if (!digit)
      s += reason[i];
    else if (s.empty() || s.back() != '#')
      s += '#';
  }
  return s;
}

void Report::groups() const {
  std::map<std::string, std::set<std::string>> files;
  for (const Result& r : results_)
    if (r.failure) files[pattern(*r.failure)].insert(r.file);
  std::vector<std::pair<std::string, std::set<std::string>>> sorted(files.begin(), files.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  std::printf("\nFailures by message (files):\n");
  for (const auto& [message, where] : sorted) {
    std::printf("%4zu  %s\n", where.size(), message.c_str());
    std::string some;
    size_t n = 0;
    for (const std::string& f : where)
      if (n++ < 4) some += "  " + f;
    std::printf("      %s\n", some.c_str());
  }
}

bool Report::print(const std::string& known_failures, bool grouped) const {
  table("operator", true);
  table("tier", false);
  std::map<std::pair<std::string, std::string>, std::string> known;
  if (!known_failures.empty())
    for (const Row& row : parse_csv(read_file(known_failures)))
      known[{row.at("file"), row.at("mode")}] = row.at("reason");
  if (grouped) groups();
  int passed = 0, accepted = 0, failed = 0;
  std::printf("\nNot passed:\n");
  for (const Result& r : results_) {
    auto it = known.find({r.file, r.mode});
    if (r.failure && it != known.end()) {
      ++accepted;
      std::printf("  accepted  %s (%s): %s | %s\n", r.file.c_str(), r.mode.c_str(), it->second.c_str(),
                  r.failure->c_str());
    } else if (r.failure) {
      ++failed;
      std::printf("  FAILED    %s (%s): %s\n", r.file.c_str(), r.mode.c_str(), r.failure->c_str());
    } else if (it != known.end()) {
      ++failed;
      std::printf("  FAILED    %s (%s): passes, but is listed as a known failure\n", r.file.c_str(), r.mode.c_str());
    } else {
      ++passed;
    }
  }
  std::printf("%d accepted failures\n%d passed, %d failed\n", accepted, passed, failed);
  return failed == 0 && passed > 0;
}

}  // namespace anvil::conformance
