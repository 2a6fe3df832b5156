// SHA-256 of bytes, whole or in pieces: the name of every blob and action.
#ifndef FOLD_COMPILER_API_SHA256_H_
#define FOLD_COMPILER_API_SHA256_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace fold {

class Sha256 {
 public:
  Sha256();
  void Update(std::string_view bytes);
  // 64 lower-case hexadecimal digits. Call once, last.
  std::string Finish();

 private:
  // The state of the hash, kept apart from the library's own type.
  alignas(8) unsigned char state_[128];
};

std::string Sha256Hex(std::string_view bytes);

// Whether `text` is 64 lower-case hexadecimal digits.
bool IsSha256Hex(std::string_view text);

}  // namespace fold

#endif  // FOLD_COMPILER_API_SHA256_H_
