// Orders of the passes: each is refused with its reason, or the artifact
// computes the same integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>
#include <set>

#include "compiler/passes/pass.h"
#include "compiler/passes/pipeline.h"
#include "tests/regress/compiled.h"
#include "tests/regress/network_drawer.h"

namespace fold::regress {
namespace {

using Order = std::vector<std::string>;

// Conv, BatchNormalization with a folded constant, Relu and an Identity; a Pad
// with zeros before it; a Clip ahead of the first QuantizeLinear; codes below 8
// bits.
constexpr char kConvolution[] = R"(
g (float[1, 2, 4, 4] x) => (int8[1, 2, 4, 4] y)
<float s = {0.25}, int8 z = {-3}, float sw = {0.125}, int8 zw = {0},
 float so = {0.5}, int8 zo = {1}, float lo = {-8}, float hi = {9},
 int8 qlo = {-100}, int8 qhi = {90},
 int8[2, 2, 3, 3] w = {1, -2, 3, 0, 5, -6, 7, 8, 9, -1, 2, -3, 4, 5, -6, 7, 0,
                       9, 2, -2, 3, 1, 5, 6, -7, 8, 9, -4, 2, 3, 0, -5, 6, 7, 8,
                       9},
 int64[8] pads = {0, 0, 1, 1, 0, 0, 1, 1}, float[2] g = {1, -0.5},
 float[2] b = {0.25, 1}, float[2] m = {0.5, -1}, float[2] v = {1, 4}>
{
  c = Clip(x, lo, hi)
  q0 = QuantizeLinear(c, s, z)
  q = Clip(q0, qlo, qhi)
  d = DequantizeLinear(q, s, z)
  wd = DequantizeLinear(w, sw, zw)
  p = Pad(d, pads)
  a = Conv<kernel_shape = [3, 3]>(p, wd)
  g2 = Identity(g)
  n = BatchNormalization(a, g2, b, m, v)
  i = Identity(n)
  r = Relu(i)
  y = QuantizeLinear(r, so, zo)
  lost = Relu(i)
})";

// QLinear operators, a branch that two operators read, a sum.
constexpr char kBranches[] = R"(
g (uint8[1, 2, 3, 3] x) => (uint8[1, 2, 3, 3] y)
<float s = {0.25}, uint8 z = {7}, float t = {0.5}, uint8 u = {100},
 float sw = {0.125}, int8 zw = {0}, int8[2, 2, 1, 1] w = {3, -5, 7, 2},
 int32[2] b = {100, -50}, float two = {2}>
{
  c = QLinearConv(x, s, z, w, sw, zw, t, u, b)
  d = DequantizeLinear(c, t, u)
  e = DequantizeLinear(x, s, z)
  m = Mul(e, two)
  k = Relu(m)
  kq = QuantizeLinear(k, s, z)
  kd = DequantizeLinear(kq, s, z)
  a = Add(d, kd)
  q = QuantizeLinear(a, t, u)
  y = com.microsoft.QLinearAdd(q, t, u, c, t, u, s, z)
})";

// Movement ahead of the first QuantizeLinear and a requantization that changes
// nothing.
constexpr char kMovement[] = R"(
g (float[2, 3, 2] x) => (int8[3, 4] y)
<float s = {0.25}, int8 z = {-3}, int64[2] to = {3, 4}, float sw = {0.125},
 int8 zw = {0}, int8[4, 4] w = {1, 2, 3, 4, -1, -2, -3, -4, 5, 6, 7, 8, 0, 0, 1,
                                2}, float so = {1}>
{
  f = Relu(x)
  t = Transpose<perm = [1, 0, 2]>(f)
  r = Reshape(t, to)
  q = QuantizeLinear(r, s, z)
  d = DequantizeLinear(q, s, z)
  q2 = QuantizeLinear(d, s, z)
  d2 = DequantizeLinear(q2, s, z)
  wd = DequantizeLinear(w, sw, zw)
  m = MatMul(d2, wd)
  y = QuantizeLinear(m, so, z)
})";

struct Case {
  onnx::ModelProto model;
  Ideals inputs, ideals;
};

struct Counts {
  int accepted = 0, refused = 0;
  int all() const { return accepted + refused; }
};

class PassOrder : public testing::Test {
 protected:
  static std::vector<Case> Cases() {
    std::vector<Case> cases;
    for (const char* text : {kConvolution, kBranches, kMovement}) {
      cases.push_back({ModelOf(text), {}, {}});
    }
    for (const uint32_t seed : {3u, 8u, 21u}) {
      cases.push_back({NetworkDrawer(seed).Draw(), {}, {}});
    }
    for (Case& c : cases) {
      std::mt19937 engine(7);
      c.inputs =
          InputsOf(c.model, [&](onnx::TensorProto_DataType type, int64_t) {
            const int drawn = static_cast<int>(engine() % 1024);
            if (type == onnx::TensorProto::INT8) return drawn % 256 - 128.0;
            if (type == onnx::TensorProto::UINT8) return drawn % 256 + 0.0;
            return drawn / 32.0 - 16;
          });
      c.ideals = c.inputs;
      EXPECT_EQ(EvaluateIdeal(c.model, &c.ideals), "");
    }
    return cases;
  }

  // Compiles in this order and holds what it gives against the ideal.
  static void Try(const Case& c, const Order& order, Counts* counts) {
    std::string text;
    for (const std::string& pass : order) text += pass + ",";
    SCOPED_TRACE(text);
    CompileOptions options;
    options.passes = order;
    const CompileResult result = CompileModel(c.model, options);
    if (result.exit_code == 0) {
      ++counts->accepted;
      ExpectSame(result, c.inputs, c.ideals,
                 result.report.artifact.integer_only ? 0 : 1);
      return;
    }
    ++counts->refused;
    ASSERT_FALSE(result.report.diagnostics.empty());
    const Diagnostic& last = result.report.diagnostics.back();
    EXPECT_EQ(last.code, DiagnosticCode::pass_order) << Describe(result);
    // The pass, the stage that it needs, the stage reached, and what is amiss.
    EXPECT_FALSE(last.node.empty());
    EXPECT_NE(last.message.find("requires stage "), std::string::npos);
    EXPECT_NE(last.message.find("graph is "), std::string::npos);
    const bool says_why =
        last.message.find("; node '") != std::string::npos ||
        last.message.find("; no pass that brings it") != std::string::npos;
    EXPECT_TRUE(says_why) << last.message;
  }

  static void TryAll(const std::vector<Case>& cases,
                     const std::set<Order>& orders, Counts* counts) {
    for (const Case& c : cases) {
      for (const Order& order : orders) {
        Try(c, order, counts);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }

  static void Print(const char* what, const Counts& counts) {
    std::cout << what << ": " << counts.accepted << " accepted, "
              << counts.refused << " refused\n";
  }
};

// The passes between two stages, where the standard order has them.
struct Group {
  size_t begin, end;
};

std::vector<Group> GroupsOf(const Order& order) {
  std::vector<Group> groups;
  const auto key = [&](size_t i) { return FindPass(order[i])->requires_stage; };
  for (size_t i = 0; i < order.size(); ++i) {
    // remove_dead needs little, and stands among those around it.
    if (groups.empty() ||
        (order[i] != "remove_dead" && key(i) != key(groups.back().begin))) {
      groups.push_back({i, i});
    }
    groups.back().end = i + 1;
  }
  return groups;
}

// Permutations of each group of passes that stand between the same stages.
TEST_F(PassOrder, IndependentPasses) {
  const Order standard = StandardPipeline();
  const std::vector<Case> cases = Cases();
  Counts total;
  std::mt19937 engine(1);
  for (const Group& group : GroupsOf(standard)) {
    std::set<Order> orders;
    constexpr size_t kMostOrders = 24;
    Order order = standard;
    const auto begin = order.begin() + static_cast<long>(group.begin);
    const auto end = order.begin() + static_cast<long>(group.end);
    size_t all = 1;
    for (long n = 2; n <= end - begin; ++n) all *= static_cast<size_t>(n);
    while (orders.size() < std::min(all, kMostOrders)) {
      orders.insert(order);
      for (auto at = end - 1; at > begin; --at) {
        std::swap(*at, *(begin + engine() % (at - begin + 1)));
      }
    }
    if (all == 1) continue;
    Counts counts;
    TryAll(cases, orders, &counts);
    Print(("within " + *begin).c_str(), counts);
    total.accepted += counts.accepted;
    total.refused += counts.refused;
  }
  Print("permutations of independent passes", total);
  EXPECT_GE(total.accepted * 3, total.all());
}

TEST_F(PassOrder, NeighboursSwapped) {
  const Order standard = StandardPipeline();
  std::set<Order> orders;
  for (size_t i = 0; i + 1 < standard.size(); ++i) {
    Order order = standard;
    std::swap(order[i], order[i + 1]);
    orders.insert(order);
  }
  Counts counts;
  TryAll(Cases(), orders, &counts);
  Print("neighbours swapped", counts);
  EXPECT_GT(counts.accepted, 0);
  EXPECT_GT(counts.refused, 0);
}

// Whole orders, drawn: most put a pass ahead of its stage. Those that begin as
// the standard one does get further.
TEST_F(PassOrder, WholeOrders) {
  std::set<Order> orders;
  std::mt19937 engine(2);
  for (int i = 0; i < 40; ++i) {
    Order order = StandardPipeline();
    const size_t kept = i % 2 ? 0 : engine() % order.size();
    for (size_t at = order.size() - 1; at > kept; --at) {
      std::swap(order[at], order[kept + engine() % (at - kept + 1)]);
    }
    orders.insert(order);
  }
  Counts counts;
  TryAll(Cases(), orders, &counts);
  Print("whole orders", counts);
  EXPECT_GT(counts.refused, 0);
}

}  // namespace
}  // namespace fold::regress
