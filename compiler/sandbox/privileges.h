// What a process may do beyond its user's rights, given up.
#ifndef FOLD_COMPILER_SANDBOX_PRIVILEGES_H_
#define FOLD_COMPILER_SANDBOX_PRIVILEGES_H_

#include <string>

namespace fold {

// Each returns what went wrong, or "".

// Nothing that this process executes gains powers.
std::string SetNoNewPrivileges();
// Gives up all capabilities: root obeys file modes then, like everybody.
std::string DropCapabilities();
// Nobody of the same user traces this process, reads its memory or has its
// core. Not in a sanitizer's build, whose runtime reads its own /proc files.
std::string HideMemory();

// Makes the process the first to end when the machine runs out of memory. Not
// a wall: it protects the others. Best effort.
void OfferToOutOfMemoryKiller();

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_PRIVILEGES_H_
