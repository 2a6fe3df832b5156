#include "compiler/ir/text_reader.h"

#include <gtest/gtest.h>

#include "compiler/ir/text_format.h"

namespace fold {
namespace {

// The message of the failure, or what was read, printed again.
std::string TypeOf(std::string_view text) {
  TextLexer lexer(text);
  TensorType type;
  return ReadType(lexer, &type) ? FormatType(type) : lexer.error().message;
}

std::string ElementsOf(std::string_view text, ElementType type,
                       const Shape& shape) {
  TextLexer lexer(text);
  TensorPtr tensor;
  int64_t budget = kMostSplatBytes;
  if (!ReadElements(lexer, type, shape, &budget, &tensor)) {
    return lexer.error().message;
  }
  EXPECT_EQ(tensor->type, type);
  EXPECT_EQ(tensor->shape, shape);
  EXPECT_EQ(tensor->bytes.size(),
            static_cast<size_t>(tensor->size() * ElementSize(type)));
  budget = kMostSplatBytes;
  return FormatElements(*tensor, &budget);
}

TEST(TextReader, ReadsWhatTheFormatterWrites) {
  for (const char* text :
       {"f32[]", "i8[0]", "u64[2,3]",
        "i8[2,3] q(s=[0.1,0.2] z=[1,2] axis=0 codes=[-7,7] src=\"a\\\"b\")",
        "i4[5] q(s=[0.1,0.2,0.3] z=[0,0,0] axis=0 block=2)",
        "i8[1] q(s=0.5 z=0 codes=[,15])", "i8[1] q(s=0.5 z=0 codes=[3,])"}) {
    EXPECT_EQ(TypeOf(text), text);
  }
}

TEST(TextReader, OneZeroPointStandsForAll) {
  EXPECT_EQ(TypeOf("i8[2] q(axis=0 s=[0.1,0.2] z=3)"),
            "i8[2] q(s=[0.1,0.2] z=[3,3] axis=0)");
  EXPECT_EQ(TypeOf("i8[2] q(s=0.1)"), "i8[2] q(s=0.1 z=0)");
}

TEST(TextReader, RefusesWrongTypes) {
  EXPECT_EQ(TypeOf("i9[1]"), "there is no such element type");
  EXPECT_EQ(TypeOf("i8"), "expected '['");
  EXPECT_EQ(TypeOf("i8[-1]"), "a dimension is not negative");
  EXPECT_EQ(TypeOf("i8[4294967296,4294967296]"),
            "the shape has too many elements");
  EXPECT_EQ(TypeOf("i8[0,4294967296,4294967296]"),
            "the shape has too many elements");
  EXPECT_EQ(TypeOf("i8[1] q(z=0)"), "needs 1 scales, has 0");
  EXPECT_EQ(TypeOf("i8[1] q(s=1 s=2)"), "this is said twice");
  EXPECT_EQ(TypeOf("i8[1] q(s=1 t=2)"),
            "expected s, z, axis, block, codes, rounding or src");
  EXPECT_EQ(TypeOf("i8[2] q(s=[1,2] z=0)"), "needs 1 scales, has 2");
  EXPECT_EQ(TypeOf("i8[3] q(s=[1,2] z=0 axis=0)"), "needs 3 scales, has 2");
  EXPECT_EQ(TypeOf("i8[2] q(s=[1,2] z=0 axis=1)"),
            "the axis is not one of the shape's");
  EXPECT_EQ(TypeOf("i8[2] q(s=[1,2] z=[1,2,3] axis=0)"),
            "scales and zero points differ in number");
  EXPECT_EQ(TypeOf("i8[2] q(s=1 z=0 axis=-1)"), "the axis is out of range");
  std::string deep = "i8[1";
  for (int i = 0; i < 64; ++i) deep += ",1";
  EXPECT_EQ(TypeOf(deep + "]"), "too many axes");
}

TEST(TextReader, ReadsElements) {
  EXPECT_EQ(ElementsOf("[-128, 127]", ElementType::i8, {2}), "[-128,127]");
  EXPECT_EQ(ElementsOf("[18446744073709551615]", ElementType::u64, {1}),
            "[18446744073709551615]");
  EXPECT_EQ(ElementsOf("[0.1, 1, inf, nan]", ElementType::f32, {4}),
            "[0.1,1,inf,nan]");
  EXPECT_EQ(ElementsOf("[0.1]", ElementType::f64, {1}), "[0.1]");
  EXPECT_EQ(ElementsOf("[65504, 0.33325195]", ElementType::f16, {2}),
            "[65504,0.33325195]");
  EXPECT_EQ(ElementsOf("splat(2)", ElementType::i32, {2}), "[2,2]");
  EXPECT_EQ(ElementsOf("splat(2)", ElementType::i32, {8, 9}), "splat(2)");
  EXPECT_EQ(ElementsOf("hex\"0100ff7f\"", ElementType::i16, {2}), "[1,32767]");
}

TEST(TextReader, RefusesWrongElements) {
  EXPECT_EQ(ElementsOf("[128]", ElementType::i8, {1}),
            "this number does not fit the type i8");
  EXPECT_EQ(ElementsOf("[8]", ElementType::i4, {1}),
            "this number does not fit the type i4");
  EXPECT_EQ(ElementsOf("[2]", ElementType::boolean, {1}),
            "this number does not fit the type boolean");
  EXPECT_EQ(ElementsOf("[0.5]", ElementType::i8, {1}), "expected an integer");
  EXPECT_EQ(ElementsOf("[-1]", ElementType::u64, {1}),
            "this number is out of range");
  EXPECT_EQ(ElementsOf("[1,2]", ElementType::i8, {3}),
            "these are 2 elements, the shape has 3");
  EXPECT_EQ(ElementsOf("hex\"00\"", ElementType::i16, {1}),
            "these are 1 bytes, the type has 1 elements of 2");
  EXPECT_EQ(ElementsOf("[]", ElementType::undefined, {0}),
            "a tensor of this type has no elements to store");
  EXPECT_EQ(ElementsOf("splat(1)", ElementType::i8, {1000000, 1000000}),
            "the text's splats are too large together");
}

TEST(TextReader, AttributesKeepTheirKind) {
  TextLexer lexer(
      "{a=1, b=1.0, c=\"t\", d=[1,2], e=[1.0,2], f=[\"x\"], g=[], h=reals[], "
      "i=strings[], j=tensor i8[2] [1,2], \"k l\"=nan, m=none}");
  AttributeMap map;
  int64_t budget = kMostSplatBytes;
  ASSERT_TRUE(ReadAttributes(lexer, &budget, &map)) << lexer.error().message;
  EXPECT_EQ(map["a"], Attribute(int64_t{1}));
  EXPECT_EQ(map["b"], Attribute(1.0));
  EXPECT_EQ(map["c"], Attribute(std::string("t")));
  EXPECT_EQ(map["d"], Attribute(std::vector<int64_t>{1, 2}));
  EXPECT_EQ(map["e"], Attribute(std::vector<double>{1, 2}));
  EXPECT_EQ(map["f"], Attribute(std::vector<std::string>{"x"}));
  EXPECT_EQ(map["g"], Attribute(std::vector<int64_t>()));
  EXPECT_EQ(map["h"], Attribute(std::vector<double>()));
  EXPECT_EQ(map["i"], Attribute(std::vector<std::string>()));
  EXPECT_EQ(std::get<TensorPtr>(map["j"])->integer(1), 2);
  EXPECT_TRUE(std::holds_alternative<double>(map["k l"]));
  EXPECT_EQ(std::get<TensorPtr>(map["m"]), nullptr);
}

TEST(TextReader, RefusesWrongAttributes) {
  const auto fault = [](std::string_view text) {
    TextLexer lexer(text);
    AttributeMap map;
    int64_t budget = kMostSplatBytes;
    EXPECT_FALSE(ReadAttributes(lexer, &budget, &map)) << text;
    return lexer.error().message;
  };
  EXPECT_EQ(fault("{a=1, a=2}"), "this attribute is said twice");
  EXPECT_EQ(fault("{a=}"), "expected a number, a text, a list or a tensor");
  EXPECT_EQ(fault("{a=[1,\"x\"]}"), "expected a number");
  EXPECT_EQ(fault("{a=tensor i8[1] q(s=1) [1]}"),
            "an attribute has no quantization");
  EXPECT_EQ(fault("{a=1"), "expected '}'");
}

TEST(TextReader, StepsHaveTheirOperands) {
  const auto read = [](std::string_view text) -> std::string {
    TextLexer lexer(text);
    std::vector<Step> steps;
    if (ReadSteps(lexer, 7, &steps)) return "read";
    return lexer.error().message;
  };
  EXPECT_EQ(read("[batch_norm(3,4,5,6 eps=1e-05), clip(0, inf), add(0)]"),
            "read");
  EXPECT_EQ(read("[multiply(7)]"), "the node has no operand of this number");
  EXPECT_EQ(read("[divide(1,2)]"), "this step has another number of operands");
  EXPECT_EQ(read("[batch_norm(1,2,3 eps=1)]"),
            "this step has another number of operands");
  EXPECT_EQ(read("[relu()]"), "there is no such step");
}

}  // namespace
}  // namespace fold
