// Draws small quantized networks: QuantizeLinear and DequantizeLinear around
// linear operators, sums, products, pools, activations and movement, with 8-bit
// types in any mix, any zero point, and scales that meet ties or do not.
#ifndef FOLD_TESTS_REGRESS_NETWORK_DRAWER_H_
#define FOLD_TESTS_REGRESS_NETWORK_DRAWER_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tests/regress/ideal.h"

namespace fold::regress {

class NetworkDrawer {
 public:
  // The same seed draws the same network on every machine.
  explicit NetworkDrawer(uint32_t seed) : engine_(seed) {}

  onnx::ModelProto Draw();

 private:
  // A real value: its name, its shape, and about how far it reaches from 0.
  struct Real {
    std::string name;
    Shape shape;
    double reach = 1;
    bool is_quantized = false;  // comes from a DequantizeLinear
  };

  int Below(int limit) { return static_cast<int>(engine_() % limit); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::string Name(const std::string& stem) {
    return stem + std::to_string(++names_);
  }

  onnx::NodeProto* AddNode(const std::string& op,
                           const std::vector<std::string>& inputs);
  std::string Floats(const std::string& stem, const Shape& shape,
                     const std::vector<float>& values);
  std::string Integers(const std::string& stem, int32_t type,
                       const Shape& shape, const std::vector<int64_t>& values);
  static void Set(onnx::NodeProto* node, const std::string& key, int64_t value);
  static void Set(onnx::NodeProto* node, const std::string& key,
                  const std::vector<int64_t>& values);

  float DrawScale(double about);
  Real Input();
  Real Quantized(const Real& value);
  // Quantized weights of this shape; `axis` of their scales where they have
  // more than one. Sets the reach of one weight.
  std::string Weights(const Shape& shape, int axis, double* reach);

  Real Step(const Real& x);
  Real Conv(const Real& x);
  Real Dense(const Real& x);
  Real Pair(const Real& x);
  Real Pool(const Real& x);
  Real Mean(const Real& x);
  Real Move(const Real& x);
  Real Pad(const Real& x);
  Real Join(const Real& x);
  Real Tail(const Real& x, bool linear);

  std::mt19937 engine_;
  int names_ = 0;
  onnx::GraphProto* graph_ = nullptr;
  std::vector<Real> values_;  // all that are quantized
};

}  // namespace fold::regress

#endif  // FOLD_TESTS_REGRESS_NETWORK_DRAWER_H_
