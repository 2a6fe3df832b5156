// Models for the tests of this folder, in the textual syntax of the onnx
// library: <ir_version: 8, opset_import: ["" : 17]> g (float[1,4] x) => …
#ifndef FOLD_COMPILER_IMPORT_TEST_MODEL_H_
#define FOLD_COMPILER_IMPORT_TEST_MODEL_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/import/onnx_importer.h"
#include "compiler/ir/graph.h"
#include "onnx/defs/parser.h"
#include "onnx/onnx_pb.h"

namespace fold::importer {

inline onnx::ModelProto ParseModel(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text);
  const auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

// A model of opset `version` with this graph.
inline onnx::ModelProto ParseGraph(const std::string& graph, int version = 17) {
  return ParseModel(
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(version) +
      ", \"com.microsoft\" : 1]>\n" + graph);
}

// The node named `name`.
inline onnx::NodeProto* NodeNamed(onnx::ModelProto* model,
                                  const std::string& name) {
  for (auto& node : *model->mutable_graph()->mutable_node()) {
    if (node.name() == name) return &node;
  }
  ADD_FAILURE() << "no node " << name;
  return nullptr;
}

// The result of one import.
struct Imported {
  bool good = false;
  Graph graph;
  Diagnostics sink;

  // Every diagnostic, a line each.
  std::string Text() const {
    std::string text;
    for (const auto& d : sink.all()) text += FormatDiagnostic(d) + "\n";
    return text;
  }
  const Node& node(size_t index) const {
    return graph.node(graph.order().at(index));
  }
};

inline Imported ImportBytes(const std::string& bytes,
                            const ImportOptions& options = {}) {
  Imported result;
  result.good =
      ImportOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                 options, &result.graph, &result.sink);
  EXPECT_EQ(result.good, !result.sink.has_error());
  if (result.good) {
    EXPECT_EQ(CheckStructure(result.graph), "");
  }
  return result;
}

inline Imported Import(const onnx::ModelProto& model,
                       const ImportOptions& options = {}) {
  return ImportBytes(model.SerializeAsString(), options);
}

// The import fails, and its first diagnostic has this code, names this node
// and says this.
inline void ExpectRefused(const Imported& result, DiagnosticCode code,
                          const std::string& node,
                          const std::string& message = "") {
  ASSERT_FALSE(result.good);
  ASSERT_FALSE(result.sink.all().empty());
  const Diagnostic& first = result.sink.all()[0];
  EXPECT_EQ(KindOf(first.code).name, std::string(KindOf(code).name))
      << result.Text();
  EXPECT_EQ(first.node, node) << result.Text();
  EXPECT_NE(first.message.find(message), std::string::npos) << result.Text();
}

}  // namespace fold::importer

#endif  // FOLD_COMPILER_IMPORT_TEST_MODEL_H_
