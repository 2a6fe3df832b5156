#include "compiler/exact/chain.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace fold::exact {
namespace {

constexpr std::int64_t kAccLimit = std::int64_t{1} << 62;
constexpr std::int64_t kZeroPointLimit = std::int64_t{1} << 32;
constexpr std::int64_t kHighestCode = std::int64_t{1} << 24;
constexpr std::int64_t kCodeLimit = 65536;

std::optional<std::string> FindFaultOfStep(const ChainStep& step) {
  if (const auto* divide = std::get_if<Divide>(&step)) {
    if (sgn(divide->divisor) == 0) return "division by zero";
  } else if (const auto* norm = std::get_if<BatchNorm>(&step)) {
    if (norm->variance + norm->epsilon <= 0) {
      return "variance plus epsilon is not positive";
    }
  } else if (const auto* leaky = std::get_if<LeakyRelu>(&step)) {
    if (sgn(leaky->slope) < 0) return "a negative slope is not monotone";
  } else if (std::holds_alternative<Reciprocal>(step)) {
    return "a reciprocal of an accumulator is not monotone";
  }
  return std::nullopt;
}

}  // namespace

CodeRange EffectiveRange(const Quantization& quantization) {
  CodeRange range{quantization.code_low, quantization.code_high};
  const auto limit = [&quantization](std::int64_t code) {
    if (quantization.clamp_low) code = std::max(code, *quantization.clamp_low);
    if (quantization.clamp_high) {
      code = std::min(code, *quantization.clamp_high);
    }
    return code;
  };
  range.low = limit(range.low);
  range.high = limit(range.high);
  return range;
}

std::optional<std::string> FindFault(const Quantization& quantization) {
  if (sgn(quantization.scale) == 0) return "the output's scale is zero";
  if (quantization.code_low > quantization.code_high) {
    return "the output has no codes";
  }
  if (quantization.zero_point < -kZeroPointLimit ||
      quantization.zero_point > kZeroPointLimit) {
    return "the output's zero point lies beyond 2^32";
  }
  const CodeRange range = EffectiveRange(quantization);
  if (range.low < -kHighestCode || range.high > kHighestCode) {
    return "a code of the output lies beyond 2^24";
  }
  if (range.high - range.low >= kCodeLimit) {
    return "the output has more than 65,536 codes";
  }
  if (quantization.rounding == Rounding::kSign &&
      (quantization.zero_point != 0 || range.low < -1 || range.high > 1)) {
    return "a sign has other codes than -1, 0 and 1";
  }
  return std::nullopt;
}

std::optional<std::string> FindFault(const ChannelProblem& problem) {
  if (problem.acc_low > problem.acc_high) {
    return "the accumulator's range is empty";
  }
  if (problem.acc_low < -kAccLimit || problem.acc_high > kAccLimit) {
    return "the accumulator's range exceeds 2^62";
  }
  for (const ChainStep& step : problem.steps) {
    if (auto fault = FindFaultOfStep(step)) return fault;
  }
  return FindFault(problem.quantization);
}

}  // namespace fold::exact
