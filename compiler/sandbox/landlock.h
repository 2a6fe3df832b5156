// Landlock: the kernel's file (and, in newer kernels, TCP and signal) rules
// that a process sets for itself, without privileges.
#ifndef FOLD_COMPILER_SANDBOX_LANDLOCK_H_
#define FOLD_COMPILER_SANDBOX_LANDLOCK_H_

#include <string>
#include <vector>

namespace fold {

// Versions of the kernel's interface that bring more than files.
inline constexpr int kLandlockNetworkAbi = 4;
inline constexpr int kLandlockScopeAbi = 6;

// The version of the kernel's interface; 0 with `why` if there is none.
int LandlockAbi(std::string* why);

struct LandlockRules {
  // The folder in which the process may read, make, write and remove plain
  // files, "" for none. Neither folders, links, devices, sockets nor programs.
  std::string writable_folder;
  // Files, and folders with all below them, that it may read.
  std::vector<std::string> readable;
};

// Confines this process for good, to what `abi` offers: no other file is
// opened, no program run, no TCP port bound or connected to, no signal and no
// abstract socket reaches a process outside. Needs no_new_privs. Returns what
// went wrong, or "".
std::string RestrictWithLandlock(int abi, const LandlockRules& rules);

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_LANDLOCK_H_
