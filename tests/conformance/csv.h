// Comma-separated tables with a header line, fields in double quotes where they need them.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace anvil::conformance {

using Row = std::unordered_map<std::string, std::string>;  // column: field, as text
std::vector<Row> parse_csv(std::string_view text);
std::string csv_field(const std::string&);  // quoted where it needs be

std::string read_file(const std::string& path);  // throws std::runtime_error

}  // namespace anvil::conformance
