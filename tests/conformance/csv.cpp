// Reading of comma-separated tables; see csv.h.
#include "csv.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace anvil::conformance {

static std::vector<std::vector<std::string>> records(std::string_view text) {
  std::vector<std::vector<std::string>> all;
  std::vector<std::string> record = {""};
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      record.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (quoted || (c != ',' && c != '\n' && c != '\r')) {
      record.back() += c;
    } else if (c == ',') {
      record.emplace_back();
    } else if (c == '\n') {
      all.push_back(std::move(record));
      record = {""};
    }
  }
  if (record.size() > 1 || !record[0].empty()) all.push_back(std::move(record));
  return all;
}

std::vector<Row> parse_csv(std::string_view text) {
  auto all = records(text);
  std::vector<Row> rows;
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[r].size() == 1 && all[r][0].empty()) continue;
    Row row;
    for (size_t c = 0; c < all[0].size(); ++c) row[all[0][c]] = c < all[r].size() ? all[r][c] : "";
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c == '\n' ? ' ' : c);
  return quoted + "\"";
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace anvil::conformance
