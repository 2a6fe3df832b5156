// The matrix, compiled and run against exact rational evaluation. By default a
// part of the rows in which every two columns meet in every way that the whole
// has.
//   FOLD_MATRIX=all     every row
//   FOLD_MATRIX=NAME    the rows whose name has this in it
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "tests/pipeline/combination.h"
#include "tests/pipeline/matrix_model.h"
#include "tests/regress/compiled.h"

namespace fold::pipeline {
namespace {

using regress::CompileModel;
using regress::Describe;
using regress::Ideals;

using Pair = std::pair<int, int>;

std::set<Pair> PairsOf(const Combination& combination) {
  const std::vector<int> columns = Columns(combination);
  std::set<Pair> pairs;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (size_t k = i + 1; k < columns.size(); ++k) {
      pairs.insert({columns[i], columns[k]});
    }
  }
  return pairs;
}

std::vector<Combination> Chosen() {
  constexpr size_t kStep = 13;  // shares no factor with a column's length
  const char* environment = std::getenv("FOLD_MATRIX");
  const std::string wish = environment ? environment : "";
  const std::vector<Combination> all = AllCombinations();
  std::vector<Combination> chosen;
  for (size_t i = 0; i < all.size(); ++i) {
    const bool take = wish.empty()  ? i % kStep == 0
                      : wish == "all" ? true
                                      : NameOf(all[i]).find(wish) !=
                                            std::string::npos;
    if (take) chosen.push_back(all[i]);
  }
  return chosen;
}

// Names and numbers of one row out of a message.
std::string Reason(const CompileResult& result, const onnx::ModelProto& model) {
  for (const Diagnostic& d : result.report.diagnostics) {
    if (d.severity() != Severity::kError) continue;
    std::string reason = std::string(KindOf(d.code).name) + " ";
    for (const auto& node : model.graph().node()) {
      if (node.name() == d.node) reason += node.op_type() + ": ";
    }
    for (char letter : d.message) {
      if (!std::isdigit(static_cast<unsigned char>(letter))) reason += letter;
    }
    return reason;
  }
  return "without an error";
}

// Random codes, then the ends of the codes, which the scale reaches beyond.
Ideals InputsFor(const onnx::ModelProto& model, int round) {
  std::mt19937 engine(round + 1);
  return regress::InputsOf(model, [&](auto, int64_t i) {
    const auto drawn = static_cast<double>(engine() % 1024);
    if (round == 0) return (drawn - 512) / 64;
    return (i + round) % 2 ? 100.0 : -100.0;
  });
}

struct Counts {
  int exact = 0, integer_only = 0;
  std::map<std::string, std::vector<std::string>> refused, islands, wrong;
};

void Run(const Combination& combination, Counts* counts) {
  const std::string name = NameOf(combination);
  const onnx::ModelProto model = ModelOf(combination);
  const CompileResult result = CompileModel(model);
  if (result.exit_code != 0) {
    counts->refused[Reason(result, model)].push_back(name);
    return;
  }
  for (int round = 0; round < 3; ++round) {
    const Ideals inputs = InputsFor(model, round);
    Ideals ideals = inputs;
    ASSERT_EQ(EvaluateIdeal(model, &ideals), "") << name;
    const auto differences = Differences(result, inputs, ideals);
    if (differences.empty()) continue;
    counts->wrong[differences[0] + "\n" + Describe(result)].push_back(name);
    return;
  }
  ++counts->exact;
  counts->integer_only += result.report.artifact.integer_only;
  if (result.report.artifact.integer_only) return;
  for (const OpSummary& op : result.report.ops) {
    if (op.exactness != Exactness::kFloat) continue;
    counts->islands[op.kind].push_back(name);
    return;
  }
}

void Print(const char* what,
           const std::map<std::string, std::vector<std::string>>& rows) {
  for (const auto& [reason, names] : rows) {
    std::cout << "  " << what << " " << names.size() << ": " << reason
              << "\n    as in: " << names.front() << "\n";
  }
}

TEST(Matrix, EveryCombinationIsExactOrRefused) {
  const std::vector<Combination> chosen = Chosen();
  Counts counts;
  for (const Combination& combination : chosen) Run(combination, &counts);
  size_t refused = 0;
  for (const auto& [reason, names] : counts.refused) {
    refused += names.size();
    // What needs nothing but sums and products of 8-bit codes is never refused.
    for (const char* op : {" Conv:", " MatMul:", " Gemm:", " Add:", " Mul:",
                           "QLinear", "QGemm"}) {
      EXPECT_EQ(reason.find(op), std::string::npos)
          << reason << " " << names.front();
    }
  }
  std::cout << "combinations " << chosen.size() << ", exact " << counts.exact
            << " (integer-only " << counts.integer_only << "), refused "
            << refused << "\n";
  Print("refused", counts.refused);
  Print("float island", counts.islands);
  for (const auto& [difference, names] : counts.wrong) {
    ADD_FAILURE() << names.size() << " wrong: " << names.front() << "\n"
                  << difference;
  }
  EXPECT_EQ(counts.exact + refused, chosen.size());
}

// The part that runs by default leaves out no meeting of two columns.
TEST(Matrix, EveryTwoColumnsMeet) {
  if (std::getenv("FOLD_MATRIX")) GTEST_SKIP() << "FOLD_MATRIX is set";
  std::set<Pair> all, part;
  for (const Combination& c : AllCombinations()) all.merge(PairsOf(c));
  for (const Combination& c : Chosen()) part.merge(PairsOf(c));
  EXPECT_GT(all.size(), 300u);
  EXPECT_EQ(all, part);
}

TEST(Matrix, NamesAreDistinct) {
  std::set<std::string> names;
  const auto all = AllCombinations();
  for (const Combination& c : all) names.insert(NameOf(c));
  EXPECT_EQ(names.size(), all.size());
}

}  // namespace
}  // namespace fold::pipeline
