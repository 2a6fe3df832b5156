#include "compiler/ir/text_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace fold {
namespace {

std::string Elements(const Tensor& tensor, int64_t budget = kMostSplatBytes) {
  return FormatElements(tensor, &budget);
}

TEST(TextFormat, QuotesNamesThatAreNotPlain) {
  EXPECT_EQ(FormatName("conv1.weight_0"), "conv1.weight_0");
  EXPECT_EQ(FormatName("12"), "12");
  EXPECT_EQ(FormatName("a/b:0"), "\"a/b:0\"");
  EXPECT_EQ(FormatName(""), "\"\"");
}

TEST(TextFormat, EscapesEveryUnprintableByte) {
  EXPECT_EQ(QuoteText("a\"b\\c\nd\te\x01\x7f\xc3\xa4"),
            "\"a\\\"b\\\\c\\nd\\te\\x01\\x7f\\xc3\\xa4\"");
  EXPECT_EQ(QuoteText(std::string(1, '\0')), "\"\\x00\"");
}

TEST(TextFormat, RealsAreShortest) {
  EXPECT_EQ(FormatReal(0.1), "0.1");
  EXPECT_EQ(FormatReal(static_cast<double>(0.1f)), "0.10000000149011612");
  EXPECT_EQ(FormatReal(2), "2");
  EXPECT_EQ(FormatReal(-INFINITY), "-inf");
  EXPECT_EQ(FormatReal(-std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(TextFormat, MarkedRealsAreNoIntegers) {
  EXPECT_EQ(FormatMarkedReal(2), "2.0");
  EXPECT_EQ(FormatMarkedReal(-0.0), "-0.0");
  EXPECT_EQ(FormatMarkedReal(1e300), "1e+300");
  EXPECT_EQ(FormatMarkedReal(INFINITY), "inf");
}

TEST(TextFormat, TypesCarryEncodingAndSource) {
  TensorType type{ElementType::i8, {2, 3}, Encoding{{0.5}, {-3}}};
  EXPECT_EQ(FormatType(type), "i8[2,3] q(s=0.5 z=-3)");
  type.encoding->source = "q1";
  type.encoding->code_high = 7;
  EXPECT_EQ(FormatType(type), "i8[2,3] q(s=0.5 z=-3 codes=[,7] src=\"q1\")");
  EXPECT_EQ(FormatType({ElementType::f32, {}, std::nullopt}), "f32[]");
}

TEST(TextFormat, SmallTensorsAreLists) {
  EXPECT_EQ(Elements(*MakeIntegerTensor(ElementType::i8, {3}, {-1, 0, 127})),
            "[-1,0,127]");
  EXPECT_EQ(Elements(*MakeRealTensor(ElementType::f32, {2}, {0.1, -0.0})),
            "[0.1,-0]");
  EXPECT_EQ(Elements(*MakeRealTensor(ElementType::f16, {}, {1.5})), "[1.5]");
  EXPECT_EQ(Elements(*MakeIntegerTensor(ElementType::u64, {1}, {-1})),
            "[18446744073709551615]");
  EXPECT_EQ(Elements(*MakeIntegerTensor(ElementType::i8, {0}, {})), "[]");
}

TEST(TextFormat, BytesThatNumbersCannotSayAreHex) {
  auto tensor = std::make_shared<Tensor>();
  tensor->type = ElementType::f32;
  tensor->shape = {1};
  tensor->bytes = {1, 0, 0xc0, 0x7f};  // a NaN with a payload
  EXPECT_EQ(Elements(*tensor), "hex\"0100c07f\"");
  tensor->type = ElementType::boolean;
  tensor->shape = {4};
  EXPECT_EQ(Elements(*tensor), "hex\"0100c07f\"");
}

TEST(TextFormat, LargeTensorsAreSplatOrHex) {
  const std::vector<int64_t> alike(65, 3);
  const auto same = MakeIntegerTensor(ElementType::i16, {65}, alike);
  EXPECT_EQ(Elements(*same), "splat(3)");
  EXPECT_EQ(Elements(*same, 129).substr(0, 12), "hex\"03000300");
  std::vector<int64_t> other = alike;
  other[64] = 4;
  const auto text = Elements(*MakeIntegerTensor(ElementType::i8, {65}, other));
  EXPECT_EQ(text.size(), 65 * 2 + 5u);
  EXPECT_EQ(text.substr(text.size() - 5), "0304\"");
}

}  // namespace
}  // namespace fold
