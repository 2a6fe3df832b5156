// One broken rule at a time in tensors, signature and taps.
#include <gtest/gtest.h>

#include "runtime/format/test_artifact.h"

namespace fold::format {
namespace {

class CheckTensor : public ::testing::Test {
 protected:
  TestArtifact a = SmallNetwork();
  TensorT& tensor(int i) { return *a.artifact.tensors[i]; }
};

TEST_F(CheckTensor, TheNetworkIsValid) { EXPECT_TRUE(Accepts(&a)); }

TEST_F(CheckTensor, Type) {
  tensor(1).type = static_cast<ElementType>(13);
  EXPECT_TRUE(Refuses(&a, "unknown element type"));
}

TEST_F(CheckTensor, Dimensions) {
  tensor(1).shape = {1, 4, 5, 0};
  EXPECT_TRUE(Refuses(&a, "dimension 0"));
  tensor(1).shape = {1, 4, -5, 3};
  EXPECT_TRUE(Refuses(&a, "dimension -5"));
  tensor(1).shape = {int64_t{1} << 31, 1};
  EXPECT_TRUE(Refuses(&a, "dimension 2147483648"));
  tensor(1).shape = {INT32_MAX, INT32_MAX, INT32_MAX};
  EXPECT_TRUE(Refuses(&a, "too many elements"));
  // Each product before the last one is allowed, and the last one wraps to 0.
  tensor(1).shape = {int64_t{1} << 30, int64_t{1} << 10, int64_t{1} << 24};
  tensor(1).bytes = 0;
  EXPECT_TRUE(Refuses(&a, "too many elements"));
  tensor(1).shape = Dims(9, 1);
  EXPECT_TRUE(Refuses(&a, "9 dimensions"));
}

TEST_F(CheckTensor, Bytes) {
  tensor(1).bytes = 59;
  EXPECT_TRUE(Refuses(&a, "59 bytes do not fit its shape"));
  tensor(1).bytes = UINT64_MAX;
  EXPECT_TRUE(Refuses(&a, "do not fit its shape"));
}

TEST_F(CheckTensor, Place) {
  tensor(1).offset = 1u << 20;
  EXPECT_TRUE(Refuses(&a, "lies outside its storage"));
  tensor(1).offset = UINT64_MAX;
  EXPECT_TRUE(Refuses(&a, "lies outside its storage"));
  tensor(1).offset = 0;
  tensor(3).offset += 2;  // corrections: past the end, and unaligned
  EXPECT_TRUE(Refuses(&a, "lies outside its storage"));
  tensor(3).offset -= 4;
  EXPECT_TRUE(Refuses(&a, "not aligned to its elements"));
}

TEST_F(CheckTensor, Storage) {
  tensor(1).storage = static_cast<Storage>(9);
  EXPECT_TRUE(Refuses(&a, "unknown storage"));
  tensor(1).storage = Storage::INPUT;
  tensor(1).offset = 1;
  EXPECT_TRUE(Refuses(&a, "no such input"));
  tensor(1).storage = Storage::OUTPUT;
  EXPECT_TRUE(Refuses(&a, "no such output"));
}

TEST_F(CheckTensor, AliasOfABufferCoversItWhole) {
  tensor(1).storage = Storage::INPUT;
  EXPECT_TRUE(Refuses(&a, "not the size of its buffer"));
}

TEST_F(CheckTensor, Quantization) {
  tensor(1).quantization = std::make_unique<QuantizationT>();
  tensor(1).quantization->axis = 3;
  tensor(1).quantization->scales = {1, 2, 3};
  EXPECT_TRUE(Accepts(&a));
  tensor(1).quantization->scales = {1, 2};
  EXPECT_TRUE(Refuses(&a, "2 quantization parameters, not 3"));
  tensor(1).quantization->axis = 4;
  EXPECT_TRUE(Refuses(&a, "quantization axis 4"));
}

TEST_F(CheckTensor, Signature) {
  SignatureEntryT& x = *a.artifact.inputs[0];
  x.tensor = 99;
  EXPECT_TRUE(Refuses(&a, "x: no such tensor"));
  x.tensor = 1;
  EXPECT_TRUE(Refuses(&a, "x: tensor is stored elsewhere"));
  x.tensor = 0;
  x.type = ElementType::S32;
  EXPECT_TRUE(Refuses(&a, "x: type or size is not its tensor's"));
  x.type = ElementType::F32;
  x.shape = {59};
  EXPECT_TRUE(Refuses(&a, "x: type or size is not its tensor's"));
  x.shape = {60};
  EXPECT_TRUE(Accepts(&a));
}

TEST_F(CheckTensor, Taps) {
  TapT& tap = *a.artifact.taps[0];
  tap.permutation = {0, 2, 2, 1};
  EXPECT_TRUE(Refuses(&a, "x_quantized: not a permutation"));
  tap.permutation = {0, 1};
  EXPECT_TRUE(Refuses(&a, "x_quantized: not a permutation"));
  tap.permutation = {};
  tap.shape = {61};
  EXPECT_TRUE(Refuses(&a, "x_quantized: not its tensor's size"));
  tap.shape = {60};
  EXPECT_TRUE(Accepts(&a));
  tap.tensor = -1;
  EXPECT_TRUE(Refuses(&a, "x_quantized: no such tensor"));
}

}  // namespace
}  // namespace fold::format
