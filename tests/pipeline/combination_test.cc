#include "tests/pipeline/combination.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace fold::pipeline {
namespace {

using Pairs = std::set<std::pair<int, int>>;

Pairs PairsOf(const std::vector<Combination>& combinations) {
  Pairs pairs;
  for (const Combination& combination : combinations) {
    const std::vector<int> columns = Columns(combination);
    for (size_t i = 0; i < columns.size(); ++i) {
      for (size_t k = i + 1; k < columns.size(); ++k) {
        pairs.insert({columns[i], columns[k]});
      }
    }
  }
  return pairs;
}

TEST(Combination, ThePartHasAllPairs) {
  const auto all = AllCombinations(), part = PartWithAllPairs();
  EXPECT_LT(part.size() * 10, all.size());
  EXPECT_EQ(PairsOf(all), PairsOf(part));
}

TEST(Combination, NamesAreDistinct) {
  std::set<std::string> names;
  const auto all = AllCombinations();
  for (const Combination& combination : all) {
    EXPECT_TRUE(IsSayable(combination));
    names.insert(NameOf(combination));
  }
  EXPECT_EQ(names.size(), all.size());
  EXPECT_GT(all.size(), 10'000u);
}

TEST(Combination, WhatQLinearOperatorsCannotSay) {
  Combination c;
  c.source = Source::kQLinear;
  c.scales = Scales::kAxis0;
  EXPECT_FALSE(IsSayable(c));  // along the sum
  c.scales = Scales::kAxis1;
  EXPECT_TRUE(IsSayable(c));
  c.place = Place::kGemmRightTransposed;
  EXPECT_FALSE(IsSayable(c));
  c.scales = Scales::kAxis0;
  EXPECT_TRUE(IsSayable(c));
  c.place = Place::kAddLeft;
  EXPECT_FALSE(IsSayable(c));
  c.scales = Scales::kPerTensor;
  EXPECT_TRUE(IsSayable(c));
  c.signed_weights = true;
  EXPECT_FALSE(IsSayable(c));
  c.source = Source::kQdq;
  EXPECT_TRUE(IsSayable(c));
}

}  // namespace
}  // namespace fold::pipeline
