// A store's folder in which one small file is any bytes: the first says which
// (the format, a pin, a recall), and for a mark the first line is its name.
// The store opens or refuses; what opens still keeps what is put.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/api/sha256.h"
#include "server/cache/disk_layout.h"
#include "server/cache/disk_store.h"
#include "server/cache/recall_list.h"

namespace {

namespace fs = std::filesystem;

class Place {
 public:
  Place() {
    std::string name =
        (fs::temp_directory_path() / "fold_layout_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
  }
  ~Place() {
    std::error_code error;
    fs::remove_all(root_, error);
  }
  std::string root() const { return root_; }

 private:
  std::string root_;
};

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

// Whether the system can have a file of that name in a folder.
bool IsFileName(std::string_view name) {
  return !name.empty() && name.size() < 256 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

void OpenAndUse(const std::string& root) {
  auto store = fold::DiskStore::Open({root, 1 << 20});
  if (!store.ok()) {
    if (store.status().message().empty()) std::abort();
    return;
  }
  for (const auto& pin : (*store)->Pins()) {
    if (fold::ParseFlatName(fold::FlatName(pin.name)) != pin.name) std::abort();
  }
  (void)fold::RecallList(root + "/recalls").All();
  const fold::Key key = {fold::Space::kBlob, fold::Sha256Hex("kept"), ""};
  const auto bytes = std::make_shared<const std::string>("kept");
  if (!(*store)->Put(key, bytes).ok()) std::abort();
  auto got = (*store)->Get(key);
  if (!got.ok() || **got != "kept") std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Place place;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  auto key = fold::ParseFlatName(rest);
  if (key && fold::FlatName(*key) != rest) std::abort();
  const std::string root = place.root() + "/store";
  fs::create_directories(root);
  if (data[0] == 'f') {
    Write(root + "/format", rest);
    OpenAndUse(root);
  } else {
    if (!fold::PrepareLayout(root).ok()) std::abort();
    const size_t line = rest.find('\n');
    const std::string_view name = rest.substr(0, line);
    if (IsFileName(name) && line != std::string_view::npos) {
      const char* folder = data[0] == 'p' ? "/pins/" : "/recalls/";
      Write(root + folder + std::string(name), rest.substr(line + 1));
    }
    OpenAndUse(root);
  }
  fs::remove_all(root);
  return 0;
}
