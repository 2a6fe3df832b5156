// Tries something in a child process, so that the caller stays as it is.
#ifndef FOLD_COMPILER_SANDBOX_PROBE_H_
#define FOLD_COMPILER_SANDBOX_PROBE_H_

#include <functional>
#include <string>

namespace fold {

// Runs `attempt` in a forked child and gives back what it returns; what ended
// the child, if it did not come to its end within ten seconds. The calling
// process must have one thread.
std::string TryInChild(const std::function<std::string()>& attempt);

}  // namespace fold

#endif  // FOLD_COMPILER_SANDBOX_PROBE_H_
