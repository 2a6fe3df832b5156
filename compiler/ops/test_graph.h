// Graphs for the tests of this folder and of those above it, in the text form.
#ifndef FOLD_COMPILER_OPS_TEST_GRAPH_H_
#define FOLD_COMPILER_OPS_TEST_GRAPH_H_

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "compiler/ir/text.h"
#include "compiler/ops/ops.h"

namespace fold {

inline Graph GraphOf(std::string_view text) {
  Graph graph;
  ParseError error;
  EXPECT_TRUE(Parse(text, Ops(), &graph, &error))
      << error.line << ": " << error.message << "\n"
      << error.caret;
  return graph;
}

// The node that makes the value of this name.
inline NodeId MakerOf(const Graph& graph, const std::string& name) {
  const ValueId value = graph.FindValue(name);
  EXPECT_TRUE(value.valid()) << name;
  return value.valid() ? graph.value(value).producer : NodeId();
}

}  // namespace fold

#endif  // FOLD_COMPILER_OPS_TEST_GRAPH_H_
