// A reproducer bundle of any bytes is unpacked into its folder or refused;
// nothing is written beside the folder, and no links are made in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/api/reproducer.h"

namespace {

namespace fs = std::filesystem;

// A folder of this process, removed when it ends.
class Place {
 public:
  Place() {
    std::string name =
        (fs::temp_directory_path() / "fold_reproducer_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    root_ = name;
  }
  ~Place() {
    std::error_code error;
    fs::remove_all(root_, error);
  }
  fs::path operator/(const char* name) const { return root_ / name; }
  size_t Count() const {
    auto items = fs::directory_iterator(root_);
    return static_cast<size_t>(std::distance(begin(items), end(items)));
  }

 private:
  fs::path root_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Place place;
  const fs::path folder = place / "out";
  const fs::path bundle = place / "bundle.tar";
  std::ofstream(bundle, std::ios::binary)
      .write(reinterpret_cast<const char*>(data),
             static_cast<std::streamsize>(size));
  fs::create_directory(folder);
  foldd::v1::Reproducer about;
  (void)fold::UnpackReproducer(bundle, folder, &about);
  if (place.Count() != 2) std::abort();
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (!item.is_directory() && !item.is_regular_file()) std::abort();
    if (item.is_symlink()) std::abort();
  }
  // What it made may not be writable.
  for (const auto& item : fs::recursive_directory_iterator(folder)) {
    if (item.is_directory()) fs::permissions(item, fs::perms::owner_all);
  }
  fs::remove_all(folder);
  return 0;
}
