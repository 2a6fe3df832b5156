// Whether this build runs under a sanitizer, whose runtime needs more than a
// compile does: its own rows of syscalls.def, address space without a limit,
// and a look at /proc and at the program's files.
#ifndef FOLD_COMPILER_SANDBOX_SANITIZED_H_
#define FOLD_COMPILER_SANDBOX_SANITIZED_H_

namespace fold {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_SANITIZED_H_
