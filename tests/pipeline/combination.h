// One row of the matrix that crosses the stages on purpose: every way to say a
// quantization, with every place of a constant, every way to share it, every
// form of division behind it.
#ifndef FOLD_TESTS_PIPELINE_COMBINATION_H_
#define FOLD_TESTS_PIPELINE_COMBINATION_H_

#include <cstdint>
#include <string>
#include <vector>

namespace fold::pipeline {

// How the model says what is quantized. A further dialect is one more row here
// and one more writer (matrix_model.cc).
enum class Source : int { kQdq, kQLinear, kQuant, kCount };

// Where the constant stands, and who transposes.
enum class Place : int {
  kMatMulRight,
  kMatMulLeft,
  kGemmRight,
  kGemmRightTransposed,
  kGemmRightOtherTransposed,
  kGemmRightBothTransposed,
  kGemmLeft,
  kGemmLeftTransposed,
  kGemmLeftOtherTransposed,
  kGemmLeftBothTransposed,
  kTransposeOfConstant,
  kTransposeOfResult,
  kConv,
  kAddRight,
  kAddLeft,
  kMulRight,
  kMulLeft,
  kCount
};

enum class Division : int {
  kByConstant,
  kByChannel,
  kByReciprocal,  // Mul by 1/c
  kOfConstant,    // c/x
  kCount
};

enum class Sharing : int {
  kSingle,
  kTwoConsumers,
  kTwoScales,
  kAlsoOutput,
  kCount
};

enum class Scales : int { kPerTensor, kAxis0, kAxis1, kCount };

enum class ZeroPoints : int { kZero, kExtreme, kMiddle, kCount };

struct Combination {
  Source source = Source::kQdq;
  Place place = Place::kMatMulRight;
  Division division = Division::kByConstant;
  Sharing sharing = Sharing::kSingle;
  Scales scales = Scales::kPerTensor;
  ZeroPoints zero_points = ZeroPoints::kZero;
  bool signed_activations = false, signed_weights = false;
};

// "qdq matmul_left by_channel two_scales axis1 middle u8 i8".
std::string NameOf(const Combination& combination);

// All rows, in order.
std::vector<Combination> AllCombinations();

// A part of them in which every two columns meet in every way that they do in
// the whole; combination_test checks that.
std::vector<Combination> PartWithAllPairs();

// True if the dialect has a way to say this: QLinear operators take one scale,
// or one a result's channel, and QLinearAdd and QLinearMul one type.
bool IsSayable(const Combination& combination);

// True if the constant's scales lie along the result's channels, each of which
// so has one scale.
bool IsAlongChannels(const Combination& combination);

// The values of all columns, each as a number that no other column has.
std::vector<int> Columns(const Combination& combination);

}  // namespace fold::pipeline

#endif  // FOLD_TESTS_PIPELINE_COMBINATION_H_
