#include "server/cache/recall_list.h"

#include "server/cache/disk_layout.h"

namespace fold {
namespace {

constexpr size_t kMaxNoteBytes = 1024;

}  // namespace

absl::Status RecallList::Add(const Key& key, const std::string& note) {
  return marks_.Put(FlatName(key), note.substr(0, kMaxNoteBytes));
}

absl::Status RecallList::Remove(const Key& key) {
  return marks_.Erase(FlatName(key));
}

std::optional<std::string> RecallList::Find(const Key& key) const {
  return marks_.Find(FlatName(key));
}

std::vector<std::pair<Key, std::string>> RecallList::All() const {
  std::vector<std::pair<Key, std::string>> out;
  for (auto& [name, note] : marks_.All()) {
    if (auto key = ParseFlatName(name)) out.emplace_back(*key, note);
  }
  return out;
}

}  // namespace fold
