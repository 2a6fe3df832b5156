#include "runtime/tools/npz.h"

#include <zip.h>

#include <utility>
#include <vector>

namespace fold::tools {
namespace {

// An array that unpacks to more than this is refused.
constexpr uint64_t kMaxEntryBytes = uint64_t{1} << 32;

std::string OpenError(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

bool ReadEntry(zip_t* archive, uint64_t index, std::string* name,
               std::vector<uint8_t>* bytes, std::string* error) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0 ||
      (stat.valid & ZIP_STAT_NAME) == 0 || (stat.valid & ZIP_STAT_SIZE) == 0) {
    *error = "damaged entry";
    return false;
  }
  *name = stat.name;
  if (stat.size > kMaxEntryBytes) {
    *error = *name + ": too large";
    return false;
  }
  zip_file_t* file = zip_fopen_index(archive, index, 0);
  if (file == nullptr) {
    *error = *name + ": " + zip_strerror(archive);
    return false;
  }
  bytes->resize(stat.size);
  const zip_int64_t got = zip_fread(file, bytes->data(), stat.size);
  zip_fclose(file);
  if (got < 0 || static_cast<uint64_t>(got) != stat.size) {
    *error = *name + ": cut short";
    return false;
  }
  return true;
}

// The array of the entry NAME.npy, as NAME.
bool ReadArray(std::string name, const std::vector<uint8_t>& bytes,
               Arrays* arrays, std::string* error) {
  const std::string suffix = ".npy";
  if (name.size() >= suffix.size() &&
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
    name.resize(name.size() - suffix.size());
  }
  std::string why;
  if (ParseNpy(bytes.data(), bytes.size(), &(*arrays)[name], &why)) return true;
  *error = "array '" + name + "': " + why;
  return false;
}

bool ReadAll(zip_t* archive, Arrays* arrays, std::string* error) {
  const zip_int64_t entries = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    std::string name;
    std::vector<uint8_t> bytes;
    if (!ReadEntry(archive, static_cast<uint64_t>(i), &name, &bytes, error) ||
        !ReadArray(std::move(name), bytes, arrays, error)) {
      return false;
    }
  }
  return true;
}

bool AddEntry(zip_t* archive, const std::string& name,
              const std::vector<uint8_t>& bytes) {
  zip_source_t* source =
      zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  if (source == nullptr) return false;
  const zip_int64_t index =
      zip_file_add(archive, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    return false;
  }
  const auto at = static_cast<uint64_t>(index);
  // 1980-01-01 00:00, the first date that a zip file can hold.
  return zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) == 0 &&
         zip_file_set_dostime(archive, at, 0, 0x21, 0) == 0;
}

}  // namespace

bool ReadNpz(const std::string& path, Arrays* arrays, std::string* error) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, &code);
  if (archive == nullptr) {
    *error = path + ": " + OpenError(code);
    return false;
  }
  const bool good = ReadAll(archive, arrays, error);
  zip_discard(archive);
  if (!good) *error = path + ": " + *error;
  return good;
}

bool WriteNpz(const std::string& path, const Arrays& arrays,
              std::string* error) {
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (archive == nullptr) {
    *error = path + ": " + OpenError(code);
    return false;
  }
  const auto fail = [&](const std::string& what) {
    *error = path + ": " + what;
    zip_discard(archive);
    return false;
  };
  // libzip reads the entries' bytes when it closes the archive.
  std::vector<std::vector<uint8_t>> entries;
  entries.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    entries.push_back(WriteNpy(array));
    if (!AddEntry(archive, name, entries.back())) {
      return fail(name + ": " + zip_strerror(archive));
    }
  }
  return zip_close(archive) == 0 || fail(zip_strerror(archive));
}

}  // namespace fold::tools
