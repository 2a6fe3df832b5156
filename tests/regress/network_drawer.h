// Draws small quantized networks: QuantizeLinear and DequantizeLinear around
// linear operators, sums, products, pools, activations and movement, and
// QLinear operators among them, with 8-bit types in any mix, any zero point,
// and scales that meet ties or do not. Constants are shared: weights by
// several readers, with the same or another quantization, transposed, as an
// operand of a sum, as an output; scales by several tensors; all of them by an
// If's branch and the graph around it.
#ifndef FOLD_TESTS_REGRESS_NETWORK_DRAWER_H_
#define FOLD_TESTS_REGRESS_NETWORK_DRAWER_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/regress/ideal.h"
#include "tests/regress/model_builder.h"

namespace fold::regress {

class NetworkDrawer : private ModelBuilder {
 public:
  // The same seed draws the same network on every machine.
  explicit NetworkDrawer(uint32_t seed)
      : ModelBuilder("drawn"), engine_(seed) {}

  // To be called once.
  onnx::ModelProto Draw();

  // Constants that were read once more, in all draws of this object.
  int shared() const { return shared_; }

 private:
  // Names of a quantization's parameters.
  struct Scheme {
    std::string scale, zero;
    int32_t type = 0;
  };
  // A real value: its name, its shape, and about how far it reaches from 0.
  struct Real {
    std::string name;
    Shape shape;
    double reach = 1;
    bool is_quantized = false;  // comes from a DequantizeLinear
    std::string codes;          // of this value, "" if none
    Scheme scheme = {};
  };
  // Quantized constants, for another use.
  struct Stored {
    std::string codes, real;
    Shape shape;
    int axis = -1;  // of the scales; -1: one scale
    Scheme scheme;
    double reach = 1;
  };

  int Below(int limit) { return static_cast<int>(engine_() % limit); }
  bool Chance(int percent) { return Below(100) < percent; }

  float DrawScale(double about);
  // A scheme of one scale; `reach` is how far real values are from 0, and gets
  // how far codes can say.
  Scheme DrawScheme(int32_t type, double* reach);
  int32_t DrawType();
  Real Input(const Shape& shape);
  Real Quantized(const Real& value);
  // Quantized constants of this shape, their real values' name in `real`;
  // `axis` of their scales where they may have more than one.
  Stored Weights(const Shape& shape, int axis);
  // Constants that are in the network already; real is "" if none fit.
  Stored SharedWeights(const Shape& shape, int axis);
  Stored NewWeights(const Shape& shape, int axis);
  Scheme WeightScheme(const Shape& shape, int axis, int32_t type,
                      Stored* weights);

  Real Step(const Real& x);
  Real Conv(const Real& x);
  Real BatchNorm(const Real& x, int64_t channels);
  Real Dense(const Real& x);
  Real ConstantLeft(const Real& x);
  Real Pair(const Real& x);
  Real PairWithConstant(const Real& x);
  Real Pool(const Real& x);
  Real Mean(const Real& x);
  Real Move(const Real& x);
  Real Pad(const Real& x);
  Real Join(const Real& x);
  Real Tail(const Real& x, bool linear);
  // QLinear operators, on a value that has codes.
  Real QLinear(const Real& x);
  // The result of such a one as a real value.
  Real Dequantized(const std::string& codes, const Shape& shape,
                   const Scheme& scheme, double reach);

  void AddOutputs(const Real& last);
  // Moves a run of nodes into the branch of an If that is taken.
  void MoveIntoBranch();

  std::mt19937 engine_;
  int shared_ = 0;
  std::vector<Real> values_;     // all that are quantized
  std::vector<Stored> weights_;  // all that may be read again
};

}  // namespace fold::regress

#endif  // FOLD_TESTS_REGRESS_NETWORK_DRAWER_H_
