#include "runtime/numerics/code_type.h"

#include <gtest/gtest.h>

#include <vector>

namespace fold {
namespace {

constexpr CodeType kTypes[] = {CodeType::kU8,  CodeType::kS8,  CodeType::kU16,
                               CodeType::kS16, CodeType::kU32, CodeType::kS32};

TEST(CodeType, StoresWhatItLoads) {
  for (CodeType type : kTypes) {
    for (int64_t code : {LowestCode(type), HighestCode(type), int64_t{1}}) {
      std::vector<uint8_t> bytes(3 * CodeBytes(type), 0x77);
      StoreCode(type, bytes.data(), 1, code);
      EXPECT_EQ(LoadCode(type, bytes.data(), 1), code);
      EXPECT_EQ(bytes.front(), 0x77);
      EXPECT_EQ(bytes.back(), 0x77);
      int64_t codes[1];
      LoadCodes(type, bytes.data(), 1, 1, 1, codes);
      EXPECT_EQ(codes[0], code);
    }
  }
}

TEST(CodeType, ManyCodesWithStride) {
  for (CodeType type : kTypes) {
    std::vector<uint8_t> bytes(20 * CodeBytes(type));
    int64_t codes[20];
    for (int i = 0; i < 20; ++i) codes[i] = LowestCode(type) + 5 * i;
    StoreCodes(type, bytes.data(), 0, 20, codes);
    int64_t some[5];
    LoadCodes(type, bytes.data(), 2, 4, 4, some);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(some[i], codes[2 + 4 * i]);
    LoadCodes(type, bytes.data(), 19, -4, 4, some);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(some[i], codes[19 - 4 * i]);
  }
}

}  // namespace
}  // namespace fold
