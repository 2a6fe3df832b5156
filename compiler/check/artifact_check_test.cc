#include "compiler/check/artifact_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>
#include <set>

#include "compiler/check/small_network_fixture.h"

namespace fold::check {
namespace {

using format::RequantForm;

CheckReport Check(const format::ArtifactT& artifact, const std::string& model) {
  CheckReport report;
  std::string why;
  const std::vector<uint8_t> bytes = Pack(artifact);
  const std::span<const uint8_t> onnx(
      reinterpret_cast<const uint8_t*>(model.data()), model.size());
  if (!CheckArtifact(bytes, onnx, {}, &report, &why)) {
    report.lines.push_back({"reader", Verdict::kWrong, why});
  }
  return report;
}

// The formulas once more, as plainly as can be.
std::optional<int64_t> Plain(const format::RequantT& r, size_t channel,
                             int64_t acc) {
  const auto at = [channel](const auto& v) -> int64_t {
    return v.empty() ? 0 : v[v.size() == 1 ? 0 : channel];
  };
  __extension__ typedef __int128 Wide;
  Wide y = 0;
  if (r.form == RequantForm::THRESHOLDS) {
    int64_t passed = 0;
    for (uint32_t i = 0; i < r.threshold_count; ++i) {
      passed += r.thresholds[channel * r.threshold_count + i] <= acc;
    }
    y = at(r.first_codes) + (at(r.decreasing) != 0 ? -passed : passed);
  } else {
    const Wide sum = static_cast<Wide>(acc) * at(r.multipliers) + at(r.addends);
    if (sum != static_cast<int64_t>(sum)) return std::nullopt;
    if (r.form == RequantForm::MUL64) {
      y = sum >> at(r.shifts);
    } else {
      const Wide d = at(r.divisors);
      Wide low = sum / d;
      if (low * d > sum) --low;
      const Wide rest = 2 * (sum - low * d);
      y = low + (rest > d || (rest == d && low % 2 != 0) ? 1 : 0) + r.zero;
    }
  }
  return static_cast<int64_t>(std::clamp<Wide>(y, r.lo, std::max(r.lo, r.hi)));
}

// Whether two requantizations differ on any reachable accumulator; `shift` is
// added to the accumulators of the second.
bool Differ(const format::RequantT& x, const format::RequantT& y,
            const std::vector<Range>& reachable, int64_t shift = 0) {
  for (size_t c = 0; c < reachable.size(); ++c) {
    for (int64_t a = reachable[c].low; a <= reachable[c].high; ++a) {
      if (Plain(x, c, a) != Plain(y, c, a + shift)) return true;
    }
  }
  return false;
}

// The same with all channels but one taken out.
std::vector<Range> OneChannel(std::vector<Range> reachable, size_t channel) {
  for (size_t c = 0; c < reachable.size(); ++c) {
    if (c != channel) reachable[c] = {1, 0};
  }
  return reachable;
}

class ArtifactCheckTest : public testing::Test {
 protected:
  ArtifactCheckTest() : model_(net_.ModelBytes()) {}

  void ExpectPasses() {
    const CheckReport report = Check(net_.artifact, model_);
    EXPECT_TRUE(report.passed()) << report.Text();
  }

  static const char* Environment(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : otherwise;
  }
  bool Skip() { return turn_++ % step_ != 0; }

  // The checker must say WRONG if and only if the change matters.
  void Expect(bool matters, const std::string& what) {
    const CheckReport report = Check(net_.artifact, model_);
    const bool wrong = report.Count(Verdict::kWrong) > 0;
    ++(matters ? caught_ : idle_);
    EXPECT_EQ(wrong, matters) << what << "\n" << report.Text();
  }

  format::RequantT* RequantOf(const std::string& name) {
    format::OpParametersUnion& p = FindOp(&net_.artifact, name)->parameters;
    if (auto* conv = p.AsConvParameters()) return conv->requant.get();
    if (auto* full = p.AsFullyConnectedParameters()) return full->requant.get();
    return p.AsPoolParameters()->requant.get();
  }

  // Changes a field of one channel (-1: of all).
  template <typename T>
  void Flip(const std::string& op, T* field, T value, int64_t channel) {
    const T old = *field;
    if (old == value || Skip()) return;
    const format::RequantT before = *RequantOf(op);
    std::vector<Range> reachable = net_.reachable[op];
    if (channel >= 0) reachable = OneChannel(std::move(reachable), channel);
    *field = value;
    Expect(Differ(before, *RequantOf(op), reachable),
           op + " " + std::to_string(old) + " -> " + std::to_string(value));
    *field = old;
  }

  template <typename T>
  void FlipBits(const std::string& op, std::vector<T>* fields,
                const std::vector<int>& bits) {
    for (size_t c = 0; c < fields->size(); ++c) {
      for (const int bit : bits) {
        T& field = (*fields)[c];
        Flip(op, &field, static_cast<T>(field ^ T{1} << bit),
             static_cast<int64_t>(c));
      }
    }
  }

  void FlipThresholds(const std::string& op) {
    format::RequantT* r = RequantOf(op);
    for (size_t i = 0; i < r->thresholds.size(); i += 37) {
      const int64_t t = r->thresholds[i];
      const auto channel = static_cast<int64_t>(i / r->threshold_count);
      if (t == INT64_MAX) continue;
      const bool last = (i + 1) % r->threshold_count == 0;
      if (last || r->thresholds[i + 1] > t) {
        Flip(op, &r->thresholds[i], t + 1, channel);
      }
      if (i % r->threshold_count == 0 || r->thresholds[i - 1] < t) {
        Flip(op, &r->thresholds[i], t - 1, channel);
      }
    }
  }

  void FlipRequant(const std::string& op) {
    format::RequantT* r = RequantOf(op);
    FlipBits(op, &r->multipliers, {0, 12, 29});
    FlipBits(op, &r->addends, {0, 18, 40});
    FlipBits(op, &r->shifts, {0});
    FlipBits(op, &r->divisors, {3, 4, 5});
    FlipBits(op, &r->first_codes, {0, 4});
    FlipBits(op, &r->decreasing, {0});
    FlipThresholds(op);
    Flip(op, &r->lo, r->lo + 1, -1);
    Flip(op, &r->hi, r->hi - 1, -1);
    if (r->form != RequantForm::REMAINDER) return;
    Flip(op, &r->zero, r->zero + 1, -1);
    Flip(op, &r->zero, r->zero - 1, -1);
  }

  uint8_t* ConstantOf(const std::string& op, size_t input, size_t* bytes) {
    const int32_t number = FindOp(&net_.artifact, op)->inputs[input];
    const format::TensorT& tensor = *net_.artifact.tensors[number];
    *bytes = tensor.bytes;
    return net_.artifact.constants.data() + tensor.offset;
  }

  // Every weight byte, padding included, must be the file's.
  void FlipWeights(const std::string& op, size_t step) {
    size_t size = 0;
    uint8_t* bytes = ConstantOf(op, 1, &size);
    for (size_t i = 0; i < size; i += step) {
      if (Skip()) continue;
      const uint8_t old = bytes[i];
      bytes[i] = static_cast<uint8_t>(old ^ 1 << i % 8);
      Expect(true, op + " weight byte " + std::to_string(i));
      bytes[i] = old;
    }
  }

  SmallNetwork net_ = MakeSmallNetwork();
  std::string model_;
  // One change of so many is tried.
  const int step_ = std::max(1, std::atoi(Environment("FOLD_FLIP_STEP", "1")));
  int turn_ = 0;
  int caught_ = 0;
  int idle_ = 0;
};

TEST_F(ArtifactCheckTest, AcceptsARightArtifact) {
  const CheckReport report = Check(net_.artifact, model_);
  EXPECT_TRUE(report.passed()) << report.Text();
  EXPECT_EQ(report.Count(Verdict::kFloat), 0);
  EXPECT_NE(report.Text().find("0 unchecked, 0 wrong"), std::string::npos);
}

TEST_F(ArtifactCheckTest, CatchesEveryFlipOfARequantizationThatMatters) {
  for (const char* op : {"conv", "depthwise", "mean", "gemm"}) FlipRequant(op);
  std::cout << caught_ << " flips that change a reachable result caught, "
            << idle_ << " that change none accepted\n";
  EXPECT_GT(caught_ * step_, 60);
  EXPECT_GT(idle_, 0);
}

TEST_F(ArtifactCheckTest, CatchesEveryFlipOfAWeight) {
  FlipWeights("conv", 5);
  FlipWeights("depthwise", 3);
  FlipWeights("gemm", 13);
  FlipWeights("raw", 11);
  std::cout << caught_ << " flipped weight bytes caught\n";
}

TEST_F(ArtifactCheckTest, CatchesCorrectionsThatMatter) {
  for (const std::string op : {"conv", "gemm"}) {
    size_t size = 0;
    uint8_t* bytes = ConstantOf(op, 2, &size);
    const format::RequantT& r = *RequantOf(op);
    for (size_t c = 0; c < size / 4; ++c) {
      for (const int bit : {0, 9, 17}) {
        if (Skip()) continue;
        const int sign = bytes[c * 4 + bit / 8] >> bit % 8 & 1 ? -1 : 1;
        const bool matters = Differ(r, r, OneChannel(net_.reachable[op], c),
                                    int64_t{sign} << bit);
        bytes[c * 4 + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
        Expect(matters, op + " correction " + std::to_string(c));
        bytes[c * 4 + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      }
    }
  }
}

TEST_F(ArtifactCheckTest, CatchesEveryReachableTableEntry) {
  size_t size = 0;
  uint8_t* bytes = ConstantOf("table", 1, &size);
  const Range reach = net_.reachable["table"][0];
  for (size_t i = 0; i < size; i += 5) {
    const int64_t code = static_cast<int64_t>(i) - 128;
    bytes[i] ^= 1;
    Expect(code >= reach.low && code <= reach.high,
           "table entry " + std::to_string(i));
    bytes[i] ^= 1;
  }
  EXPECT_GT(caught_, 20);
}

TEST_F(ArtifactCheckTest, CatchesChangesOfAnAddition) {
  auto* p = FindOp(&net_.artifact, "add")->parameters.AsAdd2Parameters();
  const auto codes = [p] {
    std::vector<int64_t> all;
    for (int64_t a = -128; a < 128; ++a) {
      for (int64_t b = 3; b < 256; ++b) {
        const int64_t t = a * p->a_multiplier + b * p->b_multiplier + p->addend;
        all.push_back(std::clamp<int64_t>(t >> p->shift, p->lo, p->hi));
      }
    }
    return all;
  };
  const std::vector<int64_t> before = codes();
  for (int64_t* field : {&p->a_multiplier, &p->b_multiplier, &p->addend}) {
    for (int bit = 0; bit < 42; bit += 6) {
      *field ^= int64_t{1} << bit;
      Expect(codes() != before, "add bit " + std::to_string(bit));
      *field ^= int64_t{1} << bit;
    }
  }
  p->shift ^= 1;
  Expect(true, "shift");
  p->shift ^= 1;
  EXPECT_GE(caught_, 5);
  ExpectPasses();
}

TEST_F(ArtifactCheckTest, CatchesTheBoundary) {
  auto* q =
      FindOp(&net_.artifact, "quantize")->parameters.AsQuantizeParameters();
  const double scale = q->scales[0];
  q->scales[0] = std::nextafter(scale, 1);
  Expect(true, "scale");
  q->scales[0] = scale;
  ++q->zero_points[0];
  Expect(true, "zero");
  --q->zero_points[0];
  q->lo = 1;
  Expect(true, "low");
  q->lo = 0;
  auto* d = FindOp(&net_.artifact, "dequantize_z")
                ->parameters.AsDequantizeParameters();
  d->scales[1] = std::nextafter(d->scales[1], 0);
  Expect(true, "output scale");
}

TEST_F(ArtifactCheckTest, CatchesWindowsAndZeroPoints) {
  auto* conv = FindOp(&net_.artifact, "conv")->parameters.AsConvParameters();
  for (int32_t* field : {&conv->input_zero, &conv->pad_top, &conv->pad_left}) {
    --*field;
    Expect(true, "conv");
    ++*field;
  }
  auto* mean = FindOp(&net_.artifact, "mean")->parameters.AsPoolParameters();
  ++mean->input_zero;
  Expect(true, "mean zero");
  --mean->input_zero;
  mean->row_classes[1] = 0;
  Expect(true, "mean classes");
  mean->row_classes[1] = 1;
  auto* max = FindOp(&net_.artifact, "max")->parameters.AsPoolParameters();
  max->pad_top = 1;
  Expect(true, "max");
  max->pad_top = 0;
  ExpectPasses();
}

TEST_F(ArtifactCheckTest, CatchesWiring) {
  format::OpT* add = FindOp(&net_.artifact, "add");
  std::swap(add->inputs[0], add->inputs[1]);
  Expect(true, "swapped operands");
  std::swap(add->inputs[0], add->inputs[1]);
  format::TapT& tap = *net_.artifact.taps[0];
  tap.permutation = {0, 2, 1, 3};
  tap.shape = {1, 3, 3, 3};
  Expect(true, "tap");
  tap.permutation = {0, 2, 3, 1};
  auto* q =
      FindOp(&net_.artifact, "quantize")->parameters.AsQuantizeParameters();
  q->permutation = {0, 3, 2, 1};
  Expect(true, "transposed picture");
  q->permutation = {0, 2, 3, 1};
  ExpectPasses();
}

TEST_F(ArtifactCheckTest, CatchesOverlapsInTheArena) {
  format::ArtifactT& artifact = net_.artifact;
  const auto tensor = [&](const std::string& name) {
    for (const auto& t : artifact.tensors) {
      if (t->name == name && t->storage == format::Storage::ARENA) {
        return t.get();
      }
    }
    return static_cast<format::TensorT*>(nullptr);
  };
  // c_q is read by max after depthwise has written d_q.
  const uint64_t old = tensor("d_q")->offset;
  tensor("d_q")->offset = tensor("c_q")->offset;
  Expect(true, "d_q over c_q");
  tensor("d_q")->offset = old;
  // x_q is dead by then: no fault.
  tensor("d_q")->offset = tensor("x_q")->offset;
  Expect(false, "d_q over x_q");
}

TEST_F(ArtifactCheckTest, SaysWhatItDoesNotKnow) {
  FindOp(&net_.artifact, "conv");
  for (const auto& t : net_.artifact.tensors) {
    if (t->name == "c_q") t->name = "nobody";
  }
  const CheckReport report = Check(net_.artifact, model_);
  EXPECT_GT(report.Count(Verdict::kUnchecked), 0) << report.Text();
  EXPECT_FALSE(report.passed());
}

TEST_F(ArtifactCheckTest, RefusesFilesThatAreNone) {
  CheckReport report;
  std::string why;
  const std::vector<uint8_t> garbage(100, 7);
  EXPECT_FALSE(CheckArtifact(garbage, garbage, {}, &report, &why));
  EXPECT_FALSE(why.empty());
  EXPECT_FALSE(CheckArtifact(Pack(net_.artifact), garbage, {}, &report, &why));
}

}  // namespace
}  // namespace fold::check
