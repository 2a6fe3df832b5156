// Print and Parse against each other, on graphs drawn from a seed and on texts
// broken on purpose.
#include "compiler/ir/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "compiler/ir/text_test_ops.h"

namespace fold {
namespace {

const TextTestOps kOps;

// Draws graphs; the same seed gives the same graph on every machine.
class Drawer {
 public:
  explicit Drawer(uint32_t seed) : engine_(seed) {}

  Graph Draw() {
    Graph graph;
    graph.name = Text();
    graph.stage = static_cast<Stage>(Below(7));
    for (int i = Below(3); i >= 0; --i) {
      graph.inputs.push_back(graph.AddValue(Text(), Type(false)));
    }
    for (int i = Below(12); i >= 0; --i) AddConstant(&graph);
    for (int i = Below(8); i >= 0; --i) AddNode(&graph);
    for (int i = Below(4); i > 0; --i) {
      const ValueId id(Below(static_cast<int>(graph.value_count())));
      graph.outputs.push_back(id);
      graph.output_names.push_back(Below(2) ? graph.value(id).name : Text());
    }
    return graph;
  }

  int Below(int limit) { return static_cast<int>(engine_() % limit); }

 private:
  std::string Text() {
    const int length = Below(6);
    std::string text;
    for (int i = 0; i < length; ++i) {
      text += Below(4) ? static_cast<char>('a' + Below(26))
                       : static_cast<char>(Below(256));
    }
    return text;
  }

  double Real() {
    switch (Below(8)) {
      case 0:
        return std::numeric_limits<double>::infinity();
      case 1:
        return -std::numeric_limits<double>::infinity();
      case 2:
        return std::numeric_limits<double>::quiet_NaN();
      case 3:
        return Below(2) ? -0.0 : 5e-324;
      case 4:
        return Below(1000) - 500;
      default:
        return std::ldexp(engine_() - 2e9, Below(400) - 200);
    }
  }

  int64_t Integer() {
    const auto wide = static_cast<int64_t>(
        static_cast<uint64_t>(engine_()) << 32 | engine_());
    return Below(3) ? Below(512) - 256 : wide;
  }

  TensorType Type(bool constant) {
    TensorType type;
    type.element =
        static_cast<ElementType>(constant ? 1 + Below(15) : Below(16));
    for (int i = Below(4); i > 0; --i) type.shape.push_back(Below(7));
    if (Below(2)) type.encoding = DrawEncoding(type.shape);
    return type;
  }

  Encoding DrawEncoding(const Shape& shape) {
    Encoding encoding;
    size_t count = 1;
    if (!shape.empty() && Below(2)) {
      encoding.axis = Below(static_cast<int>(shape.size()));
      encoding.block = Below(3);
      const int64_t run = std::max<int64_t>(encoding.block, 1);
      count = (shape[encoding.axis] + run - 1) / run;
    }
    for (size_t i = 0; i < count; ++i) {
      encoding.scales.push_back(std::ldexp(engine_(), -Below(60)));
      encoding.zero_points.push_back(Integer());
    }
    if (Below(3) == 0) encoding.code_low = Integer();
    if (Below(3) == 0) encoding.code_high = Integer();
    if (Below(3) == 0) encoding.source = Text();
    return encoding;
  }

  TensorPtr DrawTensor(ElementType element, const Shape& shape) {
    auto tensor = std::make_shared<Tensor>();
    tensor->type = element;
    tensor->shape = shape;
    tensor->bytes.resize(tensor->size() * ElementSize(element));
    const int style = Below(3);  // zeros, small bytes, any bytes
    for (uint8_t& byte : tensor->bytes) {
      byte = style == 0 ? 0 : static_cast<uint8_t>(Below(style == 1 ? 2 : 256));
    }
    return tensor;
  }

  void AddConstant(Graph* graph) {
    const TensorType type = Type(true);
    const ValueId id = graph->AddConstant(
        Text(), DrawTensor(type.element, type.shape), type.encoding);
    if (Below(4) == 0) graph->mutable_value(id).aliases = {Text(), Text()};
  }

  Attribute DrawAttribute() {
    switch (Below(7)) {
      case 0:
        return Integer();
      case 1:
        return Real();
      case 2:
        return Text();
      case 3: {
        std::vector<int64_t> list(Below(3));
        for (int64_t& i : list) i = Integer();
        return list;
      }
      case 4: {
        std::vector<double> list(Below(3));
        for (double& d : list) d = Real();
        return list;
      }
      case 5: {
        std::vector<std::string> list(Below(3));
        for (std::string& s : list) s = Text();
        return list;
      }
      default: {
        const TensorType type = Type(true);
        return DrawTensor(type.element, type.shape);
      }
    }
  }

  Step DrawStep(int operand_count) {
    const auto any = [&] {
      return static_cast<uint32_t>(Below(operand_count));
    };
    switch (operand_count ? Below(5) : 4) {
      case 0:
        return {Step::Kind::kMultiply, {any()}};
      case 1:
        return {Step::Kind::kDivide, {any()}};
      case 2:
        return {Step::Kind::kAdd, {any()}};
      case 3:
        return {
            Step::Kind::kBatchNorm, {any(), any(), any(), any()}, 0, 0, Real()};
      default:
        return {Step::Kind::kClip, {}, Real(), Real(), 0};
    }
  }

  void AddNode(Graph* graph) {
    Node node;
    node.op = OpId{static_cast<uint16_t>(Below(3))};
    node.name = Text();
    const int known = static_cast<int>(graph->value_count());
    for (int i = Below(5); i > 0; --i) {
      node.operands.push_back(Below(5) ? ValueId(Below(known)) : ValueId());
    }
    for (int i = Below(3); i > 0; --i) {
      node.results.push_back(Below(8) ? graph->AddValue(Text(), Type(false))
                                      : ValueId());
    }
    for (int i = Below(4); i > 0; --i) {
      node.attributes[Text()] = DrawAttribute();
    }
    for (int i = Below(3); i > 0; --i) {
      node.steps.push_back(DrawStep(static_cast<int>(node.operands.size())));
    }
    for (int i = Below(3); i > 0; --i) node.provenance.Add(Text());
    graph->AddNode(std::move(node));
  }

  std::mt19937 engine_;
};

TEST(Text, RandomGraphsComeBack) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const Graph graph = Drawer(seed).Draw();
    ASSERT_EQ(CheckStructure(graph), "") << seed;
    const std::string text = Print(graph, kOps);
    Graph again;
    ParseError error;
    ASSERT_TRUE(Parse(text, kOps, &again, &error))
        << "seed " << seed << " " << error.line << ":" << error.column << ": "
        << error.message << "\n"
        << error.caret << "\n"
        << text;
    ASSERT_EQ(Print(again, kOps), text) << "seed " << seed;
    ASSERT_EQ(CheckStructure(again), "") << "seed " << seed;
  }
}

// What the text says is what the graph holds: constants and types return
// equal, not only alike in print.
TEST(Text, ConstantsComeBackBitForBit) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Graph graph = Drawer(seed).Draw();
    Graph again;
    ParseError error;
    ASSERT_TRUE(Parse(Print(graph, kOps), kOps, &again, &error));
    for (ValueId id : graph.outputs) {
      const Value& value = graph.value(id);
      const Value& other = again.value(again.FindValue(value.name));
      ASSERT_EQ(value.type, other.type) << "seed " << seed;
      ASSERT_EQ(value.aliases, other.aliases) << "seed " << seed;
      ASSERT_EQ(value.constant == nullptr, other.constant == nullptr);
      if (value.constant) {
        ASSERT_EQ(*value.constant, *other.constant) << "seed " << seed;
      }
    }
  }
}

TEST(Text, BrokenTextsNeverCrash) {
  int parsed = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    Drawer drawer(seed);
    std::string text = Print(drawer.Draw(), kOps);
    for (int i = drawer.Below(4); i >= 0; --i) {
      const int at = drawer.Below(static_cast<int>(text.size()));
      switch (drawer.Below(3)) {
        case 0:
          text[at] = static_cast<char>(drawer.Below(256));
          break;
        case 1:
          text.erase(at, 1 + drawer.Below(8));
          break;
        default:
          text.insert(at, text.substr(drawer.Below(at + 1), 6));
          break;
      }
    }
    Graph graph, again;
    ParseError error;
    if (!Parse(text, kOps, &graph, &error)) {
      EXPECT_GT(error.line, 0);
      EXPECT_GT(error.column, 0);
      EXPECT_FALSE(error.message.empty());
      continue;
    }
    ++parsed;
    EXPECT_EQ(CheckStructure(graph), "");
    const std::string printed = Print(graph, kOps);
    ASSERT_TRUE(Parse(printed, kOps, &again, &error)) << printed;
    EXPECT_EQ(Print(again, kOps), printed);
  }
  EXPECT_GT(parsed, 10);  // some breaks are harmless
}

}  // namespace
}  // namespace fold
