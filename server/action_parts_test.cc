#include "server/action_parts.h"

#include <functional>

#include "gtest/gtest.h"

namespace fold {
namespace {

ActionInputs Inputs() {
  ActionInputs inputs;
  inputs.model = DigestOf("model");
  inputs.target.set_name("t");
  inputs.compiler_id = "c1";
  return inputs;
}

TEST(ActionParts, EveryPartOfTheKeyIsToldApart) {
  CompileAction base = BuildAction(Inputs());
  EXPECT_TRUE(ComparePartsOf(base, base).empty());
  const std::pair<std::string, std::function<void(ActionInputs&)>> changes[] = {
      {"model", [](ActionInputs& in) { in.model = DigestOf("other"); }},
      {"target", [](ActionInputs& in) { in.target.set_name("u"); }},
      {"encodings", [](ActionInputs& in) { in.encodings = DigestOf("e"); }},
      {"options", [](ActionInputs& in) { in.options.set_taps(true); }},
      {"compiler", [](ActionInputs& in) { in.compiler_id = "c2"; }},
      {"timeout", [](ActionInputs& in) { in.timeout_seconds = 1; }},
      {"salt", [](ActionInputs& in) { in.salt = "s"; }},
  };
  for (const auto& [part, change] : changes) {
    ActionInputs inputs = Inputs();
    change(inputs);
    CompileAction other = BuildAction(inputs);
    EXPECT_NE(other.digest.hash(), base.digest.hash()) << part;
    auto differences = ComparePartsOf(base, other);
    ASSERT_EQ(differences.size(), 1u) << part;
    EXPECT_EQ(differences[0].part, part);
    EXPECT_NE(differences[0].asked, differences[0].kept);
  }
}

TEST(ActionParts, OptionsAreToldByTheirWords) {
  ActionInputs with = Inputs(), without = Inputs();
  with.options.set_taps(true);
  with.options.set_verify(foldd::v1::VERIFY_OFF);
  auto differences = ComparePartsOf(BuildAction(with), BuildAction(without));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].asked, "--taps --verify=off");
  EXPECT_EQ(differences[0].kept, "--verify=end");
}

}  // namespace
}  // namespace fold
