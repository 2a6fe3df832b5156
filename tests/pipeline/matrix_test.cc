// The matrix, compiled and run against exact rational evaluation. By default a
// part of the rows in which every two columns meet in every way that the whole
// has.
//   FOLD_MATRIX=all     every row
//   FOLD_MATRIX=NAME    the rows whose name has this in it
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "tests/pipeline/combination.h"
#include "tests/pipeline/matrix_model.h"
#include "tests/regress/compiled.h"

namespace fold::pipeline {
namespace {

using regress::CompileModel;
using regress::Describe;
using regress::Ideals;

std::vector<Combination> Chosen() {
  const char* environment = std::getenv("FOLD_MATRIX");
  if (environment == nullptr) return PartWithAllPairs();
  const std::string wish = environment;
  std::vector<Combination> chosen = AllCombinations();
  if (wish == "all") return chosen;
  chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                              [&](const Combination& c) {
                                return NameOf(c).find(wish) ==
                                       std::string::npos;
                              }),
               chosen.end());
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

// Rows of these columns are float islands by their nature or so far.
std::string WhyAnIsland(const Combination& c) {
  if (c.division == Division::kOfConstant) return "c/x";
  if (c.place >= Place::kAddRight) {
    return c.scales == Scales::kPerTensor ? "sums and products"
                                          : "sums and products with scales "
                                            "along an axis";
  }
  return std::string(c.place == Place::kMatMulLeft ||
                             (c.place >= Place::kGemmLeft &&
                              c.place <= Place::kGemmLeftBothTransposed)
                         ? "constant on the left"
                         : "constant on the right") +
         (c.scales == Scales::kPerTensor ? ", one scale"
          : IsAlongChannels(c)           ? ", scales along the channels"
                                         : ", scales along the sum") +
         (c.sharing == Sharing::kAlsoOutput ? ", also an output" : "");
}

struct Counts {
  int exact = 0, integer_only = 0;
  std::map<std::string, std::vector<std::string>> refused, islands, wrong;
};

void RunOne(const Combination& combination, Counts* counts) {
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
  if (!result.report.artifact.integer_only) {
    counts->islands[WhyAnIsland(combination)].push_back(name);
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
  for (const Combination& combination : chosen) RunOne(combination, &counts);
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

}  // namespace
}  // namespace fold::pipeline
