#include "server/action_blobs.h"

#include <map>

#include "compiler/api/action.h"
#include "compiler/api/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using ::testing::ElementsAre;

class ActionBlobsTest : public testing::Test {
 protected:
  // Names as they were added, in the order of the visit.
  std::vector<std::string> Visit(const reapi::ActionResult& result) {
    std::vector<std::string> seen;
    status_ = VisitNamedBlobs(
        result, "team",
        [this](const SizedKey& tree) -> absl::StatusOr<std::string> {
          if (!trees_.contains(tree.key.hash)) {
            return absl::NotFoundError("no tree");
          }
          return trees_[tree.key.hash];
        },
        [&](const SizedKey& blob) {
          EXPECT_EQ(blob.key.instance, "team");
          EXPECT_EQ(blob.key.space, Space::kBlob);
          seen.push_back(names_[blob.key.hash]);
          return absl::OkStatus();
        });
    return seen;
  }
  reapi::Digest Named(const std::string& text) {
    reapi::Digest digest = DigestOf(text);
    names_[digest.hash()] = text;
    return digest;
  }
  std::map<std::string, std::string> names_, trees_;
  absl::Status status_;
};

TEST_F(ActionBlobsTest, VisitsEverythingThatIsNamed) {
  reapi::Tree tree;
  *tree.mutable_root()->add_files()->mutable_digest() = Named("in root");
  *tree.add_children()->add_files()->mutable_digest() = Named("in child");
  std::string bytes = tree.SerializeAsString();
  reapi::ActionResult result;
  *result.add_output_files()->mutable_digest() = Named("file");
  *result.add_output_files()->mutable_digest() = DigestOf("");  // always there
  *result.add_output_directories()->mutable_tree_digest() = DigestOf(bytes);
  names_[Sha256Hex(bytes)] = "tree";
  trees_[Sha256Hex(bytes)] = bytes;
  *result.mutable_stdout_digest() = Named("out");
  *result.mutable_stderr_digest() = Named("err");
  EXPECT_THAT(Visit(result),
              ElementsAre("file", "tree", "in root", "in child", "out", "err"));
  EXPECT_TRUE(status_.ok());
  trees_.clear();
  Visit(result);
  EXPECT_TRUE(absl::IsNotFound(status_));
  trees_[Sha256Hex(bytes)] = "\xff\xff";
  Visit(result);
  EXPECT_TRUE(absl::IsInvalidArgument(status_));
}

TEST_F(ActionBlobsTest, RefusesWhatIsNoDigest) {
  for (auto [hash, size] :
       std::vector<std::pair<std::string, int64_t>>{{"", 3},
                                                    {"../../etc/passwd", 3},
                                                    {std::string(64, 'A'), 3},
                                                    {Sha256Hex("x"), -1},
                                                    {Sha256Hex("x"), 0},
                                                    {Sha256Hex(""), 1}}) {
    reapi::ActionResult result;
    auto* digest = result.add_output_files()->mutable_digest();
    digest->set_hash(hash);
    digest->set_size_bytes(size);
    Visit(result);
    EXPECT_TRUE(absl::IsInvalidArgument(status_)) << hash << " " << size;
  }
}

TEST_F(ActionBlobsTest, ATreeIsBounded) {
  reapi::ActionResult result;
  auto* digest = result.add_output_directories()->mutable_tree_digest();
  digest->set_hash(Sha256Hex("x"));
  digest->set_size_bytes(int64_t{1} << 40);
  Visit(result);
  EXPECT_TRUE(absl::IsInvalidArgument(status_));
}

}  // namespace
}  // namespace fold
