#include "server/action_blobs.h"

#include "compiler/api/sha256.h"

namespace fold {
namespace {

namespace reapi = build::bazel::remote::execution::v2;

constexpr int64_t kMaxTreeBytes = 16 << 20;
constexpr int64_t kMaxBlobs = 100'000;

class Visitor {
 public:
  Visitor(const std::string& instance,
          const std::function<absl::Status(const SizedKey&)>& visit)
      : instance_(instance), visit_(visit) {}

  absl::Status Visit(const reapi::Digest& digest) {
    if (!status_.ok()) return status_;
    if (!IsDigest(digest)) {
      status_ = absl::InvalidArgumentError("'" + digest.hash().substr(0, 80) +
                                           "' is no digest");
    } else if (++count_ > kMaxBlobs) {
      status_ = absl::InvalidArgumentError("the result names too many blobs");
    } else {
      SizedKey blob = Sized(digest);
      if (!IsEmptyBlob(blob.key)) status_ = visit_(blob);
    }
    return status_;
  }

  absl::Status VisitDirectory(const reapi::Directory& directory) {
    for (const auto& file : directory.files()) {
      if (!Visit(file.digest()).ok()) break;
    }
    return status_;
  }

  absl::Status VisitTree(const reapi::Digest& digest,
                         const BlobSource& read_tree) {
    if (!Visit(digest).ok()) return status_;
    if (digest.size_bytes() > kMaxTreeBytes) {
      return status_ = absl::InvalidArgumentError("a tree is too large");
    }
    reapi::Tree tree;
    if (digest.size_bytes() > 0) {
      absl::StatusOr<std::string> bytes = read_tree(Sized(digest));
      if (!bytes.ok()) return status_ = bytes.status();
      if (!tree.ParseFromString(*bytes)) {
        return status_ = absl::InvalidArgumentError("a tree is no Tree");
      }
    }
    (void)VisitDirectory(tree.root());
    for (const auto& child : tree.children()) (void)VisitDirectory(child);
    return status_;
  }

 private:
  SizedKey Sized(const reapi::Digest& digest) const {
    return {{Space::kBlob, digest.hash(), instance_}, digest.size_bytes()};
  }

  const std::string& instance_;
  const std::function<absl::Status(const SizedKey&)>& visit_;
  int64_t count_ = 0;
  absl::Status status_;
};

}  // namespace

bool IsDigest(const reapi::Digest& digest) {
  return IsSha256Hex(digest.hash()) && digest.size_bytes() >= 0 &&
         (digest.size_bytes() == 0) ==
             IsEmptyBlob({Space::kBlob, digest.hash(), ""});
}

absl::Status VisitNamedBlobs(
    const reapi::ActionResult& result, const std::string& instance,
    const BlobSource& read_tree,
    const std::function<absl::Status(const SizedKey&)>& visit) {
  Visitor visitor(instance, visit);
  for (const auto& file : result.output_files()) {
    absl::Status status = visitor.Visit(file.digest());
    if (!status.ok()) return status;
  }
  for (const auto& folder : result.output_directories()) {
    absl::Status status = visitor.VisitTree(folder.tree_digest(), read_tree);
    if (!status.ok()) return status;
  }
  for (const auto* digest :
       {result.has_stdout_digest() ? &result.stdout_digest() : nullptr,
        result.has_stderr_digest() ? &result.stderr_digest() : nullptr}) {
    if (digest == nullptr) continue;
    absl::Status status = visitor.Visit(*digest);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace fold
