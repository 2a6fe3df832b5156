// Runs the compile of a reproducer bundle again: `foldc replay BUNDLE`.
#ifndef FOLD_COMPILER_API_REPLAY_H_
#define FOLD_COMPILER_API_REPLAY_H_

#include <span>
#include <string>

#include "compiler/api/fork_server.h"

namespace fold {

// `arguments` are those behind "replay": BUNDLE [--keep FOLDER] [--bare].
//
// Unpacks the bundle into a temporary folder and runs its command line there
// with `run`, behind the same walls and limits as a job, as far as they stand
// here. Ends as the compile does: its exit code is returned, and its signal
// ends this process. What it prints goes where this process prints; what the
// bundle and the replay differ in goes to stderr. --keep FOLDER unpacks into
// this new folder and leaves it there; --bare runs the compile in this process
// and without walls, for a debugger.
int ReplayMain(std::span<const std::string> arguments,
               const std::string& program, const std::string& compiler_id,
               const ProgramMain& run);

}  // namespace fold

#endif  // FOLD_COMPILER_API_REPLAY_H_
