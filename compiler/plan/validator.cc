#include "compiler/plan/validator.h"

namespace fold {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 60;

std::string Name(const Problem& problem, size_t i) {
  const std::string& id = problem.buffers[i].id;
  return "buffer '" + (id.empty() ? std::to_string(i) : id) + "'";
}

}  // namespace

std::string ProblemFault(const Problem& problem) {
  int64_t total = 0;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const int64_t alignment = buffer.alignment;
    if (buffer.lower >= buffer.upper) return Name(problem, i) + " never lives";
    if (alignment <= 0 || (alignment & (alignment - 1)) != 0 ||
        alignment > kMostBytes) {
      return Name(problem, i) + ": the alignment is no power of two";
    }
    if (buffer.size < 0) return Name(problem, i) + ": the size is negative";
    // Room for the padding in front of and behind it.
    if (buffer.size > kMostBytes - total ||
        2 * alignment > kMostBytes - total - buffer.size) {
      return "the buffers are too large together";
    }
    total += buffer.size + 2 * alignment;
  }
  if (problem.capacity < 0) return "the capacity is negative";
  return "";
}

std::string SolutionFault(const Problem& problem, const Solution& solution) {
  const auto& buffers = problem.buffers;
  if (solution.offsets.size() != buffers.size()) {
    return "the plan has another number of buffers";
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t low = solution.offsets[i];
    if (low < 0) return Name(problem, i) + " lies below 0";
    if (low % buffers[i].alignment != 0) {
      return Name(problem, i) + " is not aligned";
    }
    if (low > solution.height || buffers[i].size > solution.height - low) {
      return Name(problem, i) + " lies above the height";
    }
    for (size_t j = 0; j < i; ++j) {
      const bool in_time = buffers[i].lower < buffers[j].upper &&
                           buffers[j].lower < buffers[i].upper;
      const bool in_memory = low < solution.offsets[j] + buffers[j].size &&
                             solution.offsets[j] < low + buffers[i].size;
      if (in_time && in_memory && buffers[i].size && buffers[j].size) {
        return Name(problem, j) + " and " + Name(problem, i) + " overlap";
      }
    }
  }
  return "";
}

}  // namespace fold
