// Compiles an ONNX model for x86-64 in this process, runs the artifact through
// the runtime's C interface, and holds what comes out against the ideal values.
#ifndef FOLD_TESTS_REGRESS_COMPILED_H_
#define FOLD_TESTS_REGRESS_COMPILED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "tests/regress/ideal.h"

namespace fold::regress {

// A model in the textual syntax of the onnx library, its graph alone; opset
// `version`, com.microsoft 1.
onnx::ModelProto ModelOf(const std::string& graph, int version = 17);

// `count` integers in [low, high], drawn from the seed, as the text of an
// initializer: "{3, -1, …}".
std::string DrawnList(uint32_t seed, int count, int low, int high);

// Compiled with every check between the passes, and with taps; for x86-64, or
// for another target that foldd knows by name.
CompileResult CompileModel(const onnx::ModelProto& model,
                           CompileOptions options = {},
                           const std::string& target = "x86-64");

// Diagnostics and refusals, for a failing test's message.
std::string Describe(const CompileResult& result);

struct Ran {
  std::string fault;  // "" if the artifact ran
  // Outputs by name as doubles (exact for all of their types).
  std::map<std::string, std::vector<double>> outputs;
  // Surviving quantized values by their ONNX names.
  std::map<std::string, std::vector<double>> taps;
};

// Runs with the inputs of `values`.
Ran RunArtifact(const std::vector<uint8_t>& artifact, const Ideals& values);

// Numbers for the inputs of a model.
using Source =
    std::function<double(const onnx::TensorProto_DataType& type, int64_t i)>;
// Inputs of the model's shapes from `source`, rounded to their type.
Ideals InputsOf(const onnx::ModelProto& model, const Source& source);

// Runs the artifact on `inputs` and holds every output and every tap against
// its ideal value, from which quantized values may differ by `steps` codes: a
// line for each value that is not right, at most a few of one tensor.
std::vector<std::string> Differences(const CompileResult& result,
                                     const Ideals& inputs, const Ideals& ideals,
                                     int steps = 0);

// The same, as failures of the running test.
void ExpectSame(const CompileResult& result, const Ideals& inputs,
                const Ideals& ideals, int steps = 0);

// Compiles and runs `model` on `inputs` and holds every output and every tap
// against its ideal value; adds a failure to the running test where one
// differs. Returns the compile's result for further questions.
CompileResult ExpectIdeal(const onnx::ModelProto& model, const Ideals& inputs,
                          const std::string& target = "x86-64");
// With inputs drawn from the seed: several times, in [-range, range] where
// they are float, over all codes where they are integers.
CompileResult ExpectIdeal(const onnx::ModelProto& model, uint32_t seed = 1,
                          double range = 4);

// The independent checker finds nothing wrong and nothing that it does not
// understand in what was compiled from `model`.
void ExpectChecked(const CompileResult& result, const onnx::ModelProto& model);

// The compile fails, and its first error has this code and names this node.
void ExpectRefusal(const onnx::ModelProto& model, DiagnosticCode code,
                   const std::string& node);

// Kind and sources of the first operator that is a float island, "" if none.
std::string FirstIsland(const CompileResult& result);

// True if an operator of the report has this kind.
bool HasKind(const CompileResult& result, const std::string& kind);

}  // namespace fold::regress

#endif  // FOLD_TESTS_REGRESS_COMPILED_H_
