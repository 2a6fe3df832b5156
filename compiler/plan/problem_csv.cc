#include "compiler/plan/problem_csv.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

namespace fold {
namespace {

enum Column { kId, kLower, kUpper, kSize, kAlignment, kColumnCount };
constexpr std::string_view kNames[] = {"id", "lower", "upper", "size",
                                       "alignment"};

std::vector<std::string_view> SplitCells(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::string ReadHeader(std::string_view line, std::vector<Column>* columns) {
  bool seen[kColumnCount] = {};
  for (std::string_view cell : SplitCells(line)) {
    const auto* at = std::find(std::begin(kNames), std::end(kNames), cell);
    if (at == std::end(kNames))
      return "no column is named " + std::string(cell);
    const auto column = static_cast<Column>(at - std::begin(kNames));
    if (std::exchange(seen[column], true)) return "a column stands twice";
    columns->push_back(column);
  }
  for (int column = kId; column <= kSize; ++column) {
    if (!seen[column]) return "no column " + std::string(kNames[column]);
  }
  return "";
}

std::string ReadBuffer(std::string_view line,
                       const std::vector<Column>& columns, Buffer* buffer) {
  const auto cells = SplitCells(line);
  if (cells.size() != columns.size()) return "another number of cells";
  for (size_t i = 0; i < cells.size(); ++i) {
    if (columns[i] == kId) {
      buffer->id = cells[i];
      continue;
    }
    int64_t* const fields[] = {nullptr, &buffer->lower, &buffer->upper,
                               &buffer->size, &buffer->alignment};
    const char* end = cells[i].data() + cells[i].size();
    const auto read =
        std::from_chars(cells[i].data(), end, *fields[columns[i]]);
    if (read.ec != std::errc() || read.ptr != end) {
      return std::string(kNames[columns[i]]) + " is no number";
    }
  }
  return "";
}

}  // namespace

std::string ReadProblemCsv(std::string_view text, Problem* problem) {
  std::vector<Column> columns;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    Buffer buffer;
    const bool header = columns.empty();
    const std::string fault = header ? ReadHeader(line, &columns)
                                     : ReadBuffer(line, columns, &buffer);
    if (!fault.empty()) return "line " + std::to_string(number) + ": " + fault;
    if (!header) problem->buffers.push_back(std::move(buffer));
  }
  return columns.empty() ? "there is no header" : "";
}

}  // namespace fold
