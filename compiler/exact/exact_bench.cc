// Time for a thousand channels (twenty with 16-bit codes) of a convolution with
// K = 576, and for one elementwise sum. The counters hold the candidates tried
// for each channel, the share of channels that reach ties, and the share that
// each form solves.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "compiler/exact/choose_requant.h"
#include "compiler/exact/two_input.h"

namespace fold::exact {
namespace {

enum class Scales { kFloat, kPowerOfTwo, kBatchNorm };

Rational RandomFloat(std::mt19937_64* random, double low, double high) {
  const double unit = static_cast<double>((*random)() >> 11) * 0x1p-53;
  return FromDouble(static_cast<float>(low + (high - low) * unit));
}

std::vector<ChannelProblem> Channels(int count, Scales scales, int code_bits) {
  std::mt19937_64 random(7);
  std::vector<ChannelProblem> problems;
  const Rational input = scales == Scales::kPowerOfTwo
                             ? Fraction(1, 32)
                             : RandomFloat(&random, 0.01, 0.05);
  const Rational output = scales == Scales::kPowerOfTwo
                              ? Fraction(1, 16)
                              : RandomFloat(&random, 0.02, 0.1);
  for (int i = 0; i < count; ++i) {
    ChannelProblem problem;
    problem.acc_low = -576 * 255 * 60;
    problem.acc_high = 576 * 255 * 60;
    const Rational weight = scales == Scales::kPowerOfTwo
                                ? Fraction(1, 1 << (5 + random() % 5))
                                : RandomFloat(&random, 0.001, 0.01);
    problem.steps = {Multiply{input}, Multiply{weight}};
    if (scales == Scales::kBatchNorm) {
      problem.steps.push_back(
          BatchNorm{RandomFloat(&random, 0.5, 2), RandomFloat(&random, -1, 1),
                    RandomFloat(&random, -1, 1), RandomFloat(&random, 0.1, 2),
                    FromDouble(1e-5f)});
    } else if (scales == Scales::kPowerOfTwo) {
      // An int32 bias at the scale of the accumulator.
      problem.steps.push_back(
          Add{Rational(input * weight * (static_cast<long>(random() % 999)))});
    } else {
      problem.steps.push_back(Add{RandomFloat(&random, -1, 1)});
    }
    problem.steps.push_back(Relu{});
    problem.quantization.scale = output;
    problem.quantization.code_low = 0;
    problem.quantization.code_high = (1 << code_bits) - 1;
    problem.quantization.zero_point = 0;
    problems.push_back(std::move(problem));
  }
  return problems;
}

void Channel(benchmark::State& state, Scales scales, int code_bits) {
  const int count = code_bits == 8 ? 1000 : 20;
  const std::vector<ChannelProblem> problems =
      Channels(count, scales, code_bits);
  RequantResult result;
  for (auto _ : state) result = ChooseRequant(problems);
  double tried = 0, ties = 0, by_form[kRequantFormCount] = {};
  for (const ChannelStatistics& s : result.statistics) {
    tried += s.candidates_tried;
    ties += s.tie_reachable ? 1 : 0;
    by_form[static_cast<int>(s.cheapest)] += 1;
  }
  state.counters["candidates"] = tried / count;
  state.counters["tie_share"] = ties / count;
  for (int form = 0; form < kRequantFormCount; ++form) {
    if (by_form[form] == 0) continue;
    state.counters[std::string(Name(RequantForm{form}))] =
        by_form[form] / count;
  }
}
BENCHMARK_CAPTURE(Channel, float_8, Scales::kFloat, 8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Channel, power_of_two_8, Scales::kPowerOfTwo, 8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Channel, batch_norm_8, Scales::kBatchNorm, 8)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Channel, float_16, Scales::kFloat, 16)
    ->Unit(benchmark::kMillisecond);

void Sum(benchmark::State& state, bool ties) {
  TwoInputProblem problem;
  problem.a.scale = ties ? Fraction(1, 16) : FromDouble(0.02534567f);
  problem.b.scale = ties ? Fraction(1, 32) : FromDouble(0.03587654f);
  problem.quantization.scale = ties ? Fraction(1, 8) : FromDouble(0.03661234f);
  TwoInputResult result;
  for (auto _ : state) result = ChooseTwoInput(problem);
  state.SetLabel(std::string(Name(result.plan->form)));
}
BENCHMARK_CAPTURE(Sum, float, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Sum, power_of_two, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fold::exact
