// Static bearer tokens: how they are made and what is kept of them.
#ifndef FOLD_SERVER_ACCESS_TOKEN_H_
#define FOLD_SERVER_ACCESS_TOKEN_H_

#include <string>
#include <string_view>

namespace fold {

// A new token of 256 random bits, "foldd_" and 43 letters: the prefix lets
// scanners for leaked secrets find it. Empty if the system has no randomness.
std::string NewToken();

// What the tokens file has in a token's place: its SHA-256, in hexadecimal.
//
// A fast hash is right here, where it would be wrong for passwords: slow,
// salted hashes buy time against guessing, and there is nothing to guess in
// 256 (at the least 128) random bits: a search of 2^127 hashes is hopeless at
// any speed. A fast one keeps the check, which every call pays, below a
// microsecond, and gives strangers no way to burn the server's processors.
std::string TokenHash(std::string_view token);

// Whether two hashes are equal, in a time that does not tell where they differ.
bool SameHash(std::string_view a, std::string_view b);

}  // namespace fold

#endif  // FOLD_SERVER_ACCESS_TOKEN_H_
