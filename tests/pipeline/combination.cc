#include "tests/pipeline/combination.h"

namespace fold::pipeline {
namespace {

constexpr const char* kSources[] = {"qdq", "qlinear", "quant"};
constexpr const char* kPlaces[] = {
    "matmul_right",  "matmul_left",    "gemm_right",      "gemm_right_bt",
    "gemm_right_at", "gemm_right_abt", "gemm_left",       "gemm_left_at",
    "gemm_left_bt",  "gemm_left_abt",  "transpose_const", "transpose_result",
    "conv",          "add_right",      "add_left",        "mul_right",
    "mul_left"};
constexpr const char* kDivisions[] = {"by_constant", "by_channel",
                                      "by_reciprocal", "of_constant"};
constexpr const char* kSharings[] = {"single", "two_consumers", "two_scales",
                                     "also_output"};
constexpr const char* kScales[] = {"per_tensor", "axis0", "axis1"};
constexpr const char* kZeroPoints[] = {"zero", "extreme", "middle"};

template <typename E, size_t N>
constexpr bool IsComplete(const char* const (&)[N]) {
  return static_cast<size_t>(E::kCount) == N;
}
static_assert(IsComplete<Source>(kSources));
static_assert(IsComplete<Place>(kPlaces));
static_assert(IsComplete<Division>(kDivisions));
static_assert(IsComplete<Sharing>(kSharings));
static_assert(IsComplete<Scales>(kScales));
static_assert(IsComplete<ZeroPoints>(kZeroPoints));

// The axis of the constant along which the result's channels lie; -1: none.
int ChannelAxis(Place place) {
  switch (place) {
    case Place::kMatMulRight:
    case Place::kGemmRight:
    case Place::kGemmRightOtherTransposed:
    case Place::kTransposeOfResult:
      return 1;
    case Place::kGemmRightTransposed:
    case Place::kGemmRightBothTransposed:
    case Place::kTransposeOfConstant:
    case Place::kConv:
      return 0;
    default:
      return -1;
  }
}

template <typename E, typename Visit>
void ForAll(Visit visit) {
  for (int i = 0; i < static_cast<int>(E::kCount); ++i) {
    visit(static_cast<E>(i));
  }
}

}  // namespace

std::string NameOf(const Combination& c) {
  const auto at = [](const auto& names, auto value) {
    return std::string(names[static_cast<int>(value)]);
  };
  return at(kSources, c.source) + " " + at(kPlaces, c.place) + " " +
         at(kDivisions, c.division) + " " + at(kSharings, c.sharing) + " " +
         at(kScales, c.scales) + " " + at(kZeroPoints, c.zero_points) +
         (c.signed_activations ? " i8" : " u8") +
         (c.signed_weights ? " i8" : " u8");
}

bool IsSayable(const Combination& c) {
  if (c.source != Source::kQLinear) return true;
  const bool elementwise = c.place >= Place::kAddRight;
  if (elementwise && c.signed_activations != c.signed_weights) return false;
  return c.scales == Scales::kPerTensor || IsAlongChannels(c);
}

bool IsAlongChannels(const Combination& c) {
  return c.scales != Scales::kPerTensor &&
         static_cast<int>(c.scales) - 1 == ChannelAxis(c.place);
}

std::vector<Combination> AllCombinations() {
  std::vector<Combination> all;
  Combination c;
  ForAll<Source>([&](Source source) {
    ForAll<Place>([&](Place place) {
      ForAll<Division>([&](Division division) {
        ForAll<Sharing>([&](Sharing sharing) {
          ForAll<Scales>([&](Scales scales) {
            ForAll<ZeroPoints>([&](ZeroPoints zero_points) {
              for (int types = 0; types < 4; ++types) {
                c = {source, place,       division,         sharing,
                     scales, zero_points, (types & 1) != 0, (types & 2) != 0};
                if (IsSayable(c)) all.push_back(c);
              }
            });
          });
        });
      });
    });
  });
  return all;
}

std::vector<Combination> PartWithAllPairs() {
  constexpr size_t kStep = 13;  // shares no factor with a column's length
  const std::vector<Combination> all = AllCombinations();
  std::vector<Combination> part;
  for (size_t i = 0; i < all.size(); i += kStep) part.push_back(all[i]);
  return part;
}

std::vector<int> Columns(const Combination& c) {
  const int values[] = {
      static_cast<int>(c.source),   static_cast<int>(c.place),
      static_cast<int>(c.division), static_cast<int>(c.sharing),
      static_cast<int>(c.scales),   static_cast<int>(c.zero_points),
      c.signed_activations,         c.signed_weights};
  std::vector<int> columns;
  for (int value : values) {
    columns.push_back(static_cast<int>(columns.size()) * 100 + value);
  }
  return columns;
}

}  // namespace fold::pipeline
