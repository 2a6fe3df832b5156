#include "tests/pipeline/matrix_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "onnx/checker.h"
#include "onnx/defs/printer.h"

namespace fold::pipeline {
namespace {

// Nodes that read the initializer of the constant's codes.
int ReadersOfCodes(const onnx::ModelProto& model) {
  std::string codes;
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name()[0] == 'w') codes = tensor.name();
  }
  int readers = 0;
  for (const auto& node : model.graph().node()) {
    readers += static_cast<int>(
        std::count(node.input().begin(), node.input().end(), codes));
  }
  return readers;
}

TEST(MatrixModel, SharingIsWhatItSays) {
  Combination c;
  c.source = Source::kQLinear;
  EXPECT_EQ(ReadersOfCodes(ModelOf(c)), 1);
  c.sharing = Sharing::kTwoConsumers;
  EXPECT_EQ(ReadersOfCodes(ModelOf(c)), 2);
  c.sharing = Sharing::kAlsoOutput;
  EXPECT_EQ(ModelOf(c).graph().output_size(), 2);
  c.source = Source::kQdq;
  c.sharing = Sharing::kTwoConsumers;  // of one DequantizeLinear
  EXPECT_EQ(ReadersOfCodes(ModelOf(c)), 1);
  EXPECT_EQ(ModelOf(c).graph().output_size(), 2);
  c.sharing = Sharing::kTwoScales;
  EXPECT_EQ(ReadersOfCodes(ModelOf(c)), 2);
}

TEST(MatrixModel, PlacesAreWhatTheySay) {
  Combination c;
  c.place = Place::kGemmLeftBothTransposed;
  const std::string gemm = onnx::ProtoToString(ModelOf(c).graph());
  EXPECT_NE(gemm.find("Gemm <transA: int = 1, transB: int = 1>"),
            std::string::npos)
      << gemm;
  c.place = Place::kTransposeOfConstant;
  c.source = Source::kQLinear;
  const std::string turned = onnx::ProtoToString(ModelOf(c).graph());
  EXPECT_LT(turned.find("Transpose"), turned.find("QLinearMatMul")) << turned;
}

// All are ONNX that the onnx library's checker takes.
TEST(MatrixModel, EveryOneIsSound) {
  for (const Combination& c : PartWithAllPairs()) {
    const onnx::ModelProto model = ModelOf(c);
    if (c.source != Source::kQdq) continue;  // has no schema there
    EXPECT_NO_THROW(onnx::checker::check_model(model)) << NameOf(c);
  }
}

}  // namespace
}  // namespace fold::pipeline
