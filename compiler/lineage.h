// Migration sheets and graphs as the report tells them: by names alone, so that
// a reader follows them without the graph.
#ifndef FOLD_COMPILER_LINEAGE_H_
#define FOLD_COMPILER_LINEAGE_H_

#include "compiler/ir/graph.h"
#include "compiler/ir/migration.h"
#include "compiler/report.h"

namespace fold {

// `graph` is the one that the sheet's rewrite was made in, at any time after.
SheetSummary SummarizeSheet(const Graph& graph, const MigrationSheet& sheet);

GraphSummary SummarizeGraph(const Graph& graph);

}  // namespace fold

#endif  // FOLD_COMPILER_LINEAGE_H_
