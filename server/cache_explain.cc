// CacheAdmin::Explain: why an action is answered or not.
#include <algorithm>

#include "compiler/api/sha256.h"
#include "server/action_parts.h"
#include "server/cache_admin.h"

namespace fold {
namespace {

namespace v1 = foldd::v1;
namespace reapi = build::bazel::remote::execution::v2;

constexpr int kMaxNear = 5;

std::string ModelOf(const CompileAction& action) {
  auto parts = PartsOf(action);
  return parts["model"];
}

void AddParts(const CompileAction& action,
              v1::ExplainActionResponse* response) {
  for (const auto& [name, value] : PartsOf(action)) {
    v1::KeyPart* part = response->add_parts();
    part->set_name(name);
    part->set_value(value);
  }
}

}  // namespace

void CacheAdmin::Judge(const Key& action, v1::ExplainActionResponse* response) {
  response->set_action_digest(action.hash);
  ActionName name = {action.hash, -1, action.instance};
  if (auto recalled = parts_.results->Recalled(name)) {
    response->set_verdict(v1::ExplainActionResponse::RECALLED);
    response->set_recall_note(recalled->message);
    return;
  }
  if (!parts_.store->Touch(action)) {
    response->set_verdict(v1::ExplainActionResponse::NO_ENTRY);
    return;
  }
  std::vector<std::string> missing;
  for (const Key& key : WithBlobs(action, &missing)) {
    auto note = parts_.recalls->Find(key);
    if (!note) continue;
    response->set_verdict(v1::ExplainActionResponse::RECALLED);
    response->set_recall_note("the artifact " + key.hash +
                              " is recalled: " + *note);
    return;
  }
  for (std::string& blob : missing) {
    response->add_missing_blobs(std::move(blob));
  }
  response->set_verdict(response->missing_blobs_size() > 0
                            ? v1::ExplainActionResponse::MISSING_BLOB
                        : parts_.results->Find(name)
                            ? v1::ExplainActionResponse::ANSWERED
                            : v1::ExplainActionResponse::NO_RESULT);
}

std::optional<CompileAction> CacheAdmin::ReadAction(
    const std::string& hash, const std::string& instance) {
  auto read = [&](const std::string& blob, google::protobuf::Message* into) {
    absl::StatusOr<Bytes> bytes =
        parts_.store->Get({Space::kBlob, blob, instance});
    return bytes.ok() && into->ParseFromString(**bytes);
  };
  CompileAction out;
  if (!read(hash, &out.action) ||
      !read(out.action.command_digest().hash(), &out.command) ||
      !read(out.action.input_root_digest().hash(), &out.input_root)) {
    return std::nullopt;
  }
  out.digest.set_hash(hash);
  return out;
}

void CacheAdmin::FindNear(const CompileAction& asked,
                          const std::string& instance,
                          v1::ExplainActionResponse* response) {
  std::vector<v1::NearAction> all;
  v1::ManifestList list = parts_.results->Manifests(ModelOf(asked), instance);
  for (const v1::Manifest& manifest : list.manifests()) {
    if (manifest.action_digest() == asked.digest.hash()) continue;
    auto kept = ReadAction(manifest.action_digest(), instance);
    if (!kept) continue;
    v1::NearAction near;
    near.set_action_digest(manifest.action_digest());
    near.set_target(manifest.target());
    for (const PartDifference& one : ComparePartsOf(asked, *kept)) {
      auto* difference = near.add_differences();
      difference->set_part(one.part);
      difference->set_asked(one.asked);
      difference->set_kept(one.kept);
    }
    all.push_back(std::move(near));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const v1::NearAction& a, const v1::NearAction& b) {
                     return a.differences_size() < b.differences_size();
                   });
  if (all.size() > kMaxNear) all.resize(kMaxNear);
  for (v1::NearAction& near : all) *response->add_near() = std::move(near);
}

std::optional<Failure> CacheAdmin::Explain(
    const CompileAction& action, const std::string& instance,
    v1::ExplainActionResponse* response) {
  Judge({Space::kAction, action.digest.hash(), instance}, response);
  AddParts(action, response);
  if (response->verdict() != v1::ExplainActionResponse::ANSWERED) {
    FindNear(action, instance, response);
  }
  return std::nullopt;
}

std::optional<Failure> CacheAdmin::Explain(
    const std::string& action_hash, const std::string& instance,
    v1::ExplainActionResponse* response) {
  if (!IsInstanceName(instance) || !IsSha256Hex(action_hash)) {
    return Failure{"BAD_REQUEST",
                   "action_digest is not 64 hexadecimal digits, or "
                   "instance_name is no name"};
  }
  if (auto action = ReadAction(action_hash, instance)) {
    return Explain(*action, instance, response);
  }
  Judge({Space::kAction, action_hash, instance}, response);
  return std::nullopt;
}

}  // namespace fold
