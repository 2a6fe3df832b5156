#include "compiler/lower/lowering.h"

#include "compiler/lower/test_lowering.h"

namespace fold {
namespace {

class LoweringTest : public testing::Test {
 protected:
  ValueId Value(const char* name) const { return graph_.FindValue(name); }

  Graph graph_ = GraphOf(R"(fir 1 fused
graph @g(%x: u8[1,3,2,4] q(s=[1,2,3] z=0 axis=1), %p: u8[1,3,1,1] q(s=1 z=0)) -> %y {
  %k = const i8[2] [5,6]
  %f = const f32[2] [0.5,0.25]
  %w = const i8[4,3,1,1] q(s=1 z=0) splat(1)
  %y = conv(%p, %w) : u8[1,4,1,1] q(s=1 z=0)
})");
  TargetDescriptor target_ = AnyTarget();
  LowerOptions options_;
  Program program_;
  Diagnostics sink_;
  Lowering lowering_{graph_, target_, options_, &program_, &sink_};
};

TEST_F(LoweringTest, EqualConstantsAreStoredOnce) {
  const std::vector<int8_t> numbers = {1, 2, 3};
  const std::vector<int8_t> others = {1, 2, 4};
  const int a =
      lowering_.AddConstantOf("a", format_::ElementType::S8, {3}, numbers);
  const int b =
      lowering_.AddConstantOf("b", format_::ElementType::S8, {1, 3}, numbers);
  const int c =
      lowering_.AddConstantOf("c", format_::ElementType::S8, {3}, others);
  const auto& tensors = program_.artifact.tensors;
  EXPECT_EQ(tensors[a]->offset, tensors[b]->offset);
  EXPECT_NE(tensors[a]->offset, tensors[c]->offset);
  EXPECT_EQ(tensors[c]->offset % 64, 0u);
  EXPECT_EQ(tensors[c]->storage, format_::Storage::CONSTANT);
  EXPECT_EQ(program_.artifact.constants.size(), 64u + 3);
}

TEST_F(LoweringTest, AValueIsTransposedOnceForAllThatWantItSo) {
  const ValueId x = Value("x");
  lowering_.AddValue(x, IdentityPerm(4));
  const Perm last = ChannelsLast(4);
  const int moved = lowering_.Want(x, last);
  EXPECT_EQ(lowering_.Want(x, last), moved);
  ASSERT_EQ(program_.artifact.ops.size(), 1u);
  const auto& op = *program_.artifact.ops[0];
  EXPECT_EQ(op.opcode, format_::Opcode::TRANSPOSE);
  EXPECT_EQ(op.parameters.AsTransposeParameters()->permutation, last);
  const auto& tensor = *program_.artifact.tensors[moved];
  EXPECT_EQ(tensor.shape, (Shape{1, 2, 4, 3}));
  // The axis of the scales goes with the data.
  EXPECT_EQ(tensor.quantization->axis, 3);
  EXPECT_EQ(program_.artifact.tensors[0]->quantization->axis, 1);
}

TEST_F(LoweringTest, DimensionsOfOneMoveForNothing) {
  const ValueId p = Value("p");
  const int tensor = lowering_.AddValue(p, IdentityPerm(4));
  const int other = lowering_.Want(p, ChannelsLast(4));
  EXPECT_TRUE(program_.artifact.ops.empty());
  EXPECT_EQ(program_.alias_of[other], tensor);
  EXPECT_EQ(program_.artifact.tensors[other]->shape, (Shape{1, 1, 1, 3}));
}

TEST_F(LoweringTest, ConstantsAreMadeWhenWanted) {
  const int codes = lowering_.Want(Value("k"), IdentityPerm(1));
  EXPECT_EQ(program_.artifact.tensors[codes]->type, format_::ElementType::S8);
  const int reals = lowering_.Want(Value("f"), IdentityPerm(1));
  EXPECT_EQ(program_.artifact.tensors[reals]->type, format_::ElementType::F64);
  EXPECT_EQ(lowering_.Want(Value("f"), IdentityPerm(1)), reals);
}

TEST_F(LoweringTest, ValueThatIsNowhere) {
  EXPECT_EQ(lowering_.Want(Value("y"), IdentityPerm(4)), -1);
}

TEST_F(LoweringTest, LayoutThatTheReadersLike) {
  EXPECT_EQ(lowering_.PreferredLayout(Value("p")), ChannelsLast(4));
  EXPECT_EQ(lowering_.PreferredLayout(Value("y")), IdentityPerm(4));
}

TEST(LoweringNames, KernelsAndTypes) {
  EXPECT_EQ(KernelName(format_::Opcode::DEPTHWISE_CONV), "depthwise_conv");
  EXPECT_EQ(KernelName(format_::Opcode::F64_SOFTMAX), "f64_softmax");
  EXPECT_EQ(FormatType(ElementType::i4), format_::ElementType::S8);
  EXPECT_EQ(FormatType(ElementType::u16), format_::ElementType::U16);
  EXPECT_EQ(FormatType(ElementType::boolean), format_::ElementType::BOOL);
  for (ElementType type :
       {ElementType::f16, ElementType::f32, ElementType::f64, ElementType::i8,
        ElementType::u8, ElementType::i16, ElementType::i32, ElementType::u32,
        ElementType::i64, ElementType::u64}) {
    EXPECT_EQ(FormatSize(FormatType(type)), ElementSize(type));
  }
}

TEST(LoweringNames, Quantizations) {
  Encoding encoding;
  encoding.scales = {0.5, 0.25};
  encoding.zero_points = {1, -2};
  encoding.axis = 3;
  const format_::QuantizationT q = FormatQuantization(encoding);
  EXPECT_EQ(q.scales, encoding.scales);
  EXPECT_EQ(q.zero_points, encoding.zero_points);
  EXPECT_EQ(q.axis, 3);
}

}  // namespace
}  // namespace fold
