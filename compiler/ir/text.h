// The text form of a graph: Print and Parse, nothing else. docs/ir.md has the
// grammar.
#ifndef FOLD_COMPILER_IR_TEXT_H_
#define FOLD_COMPILER_IR_TEXT_H_

#include <span>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/ir/migration.h"
#include "compiler/ir/op_info.h"

namespace fold {

// The whole graph, deterministic: definition order, shortest round-trip
// numbers. Parse(Print(g)) gives a graph that prints the same.
std::string Print(const Graph& graph, const OpTable& ops);

// The sheets of applied rewrites, a line for each item, in order; `graph` is
// the graph after them. Not read by Parse.
std::string PrintSheets(const Graph& graph,
                        std::span<const MigrationSheet> sheets);

struct ParseError {
  int line = 0, column = 0;  // from 1
  std::string message;
  std::string caret;  // the source line and a caret under the place
};

// Returns true and fills `graph`, or false and fills `error`. Never crashes on
// any input; nesting and sizes are bounded.
bool Parse(std::string_view text, const OpTable& ops, Graph* graph,
           ParseError* error);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_TEXT_H_
