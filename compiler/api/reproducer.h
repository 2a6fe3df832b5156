// A reproducer bundle: one tar file with everything that a compile which
// crashed had, so that `foldc replay` runs it again anywhere.
//   inputs/PATH      the files of the job's folder when it started
//   reproducer.json  foldd.v1.Reproducer: command line, end, walls, digests
// The same crash gives the same bytes: no times, users or hosts are in it.
// Bundles travel: whoever reads one trusts nothing in it.
#ifndef FOLD_COMPILER_API_REPRODUCER_H_
#define FOLD_COMPILER_API_REPRODUCER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/foldd/v1/job.pb.h"

namespace fold {

// A file of a job's folder, as it was before the job ran.
struct InputFile {
  std::string path;  // relative to the folder
  dev_t device = 0;
  ino_t inode = 0;
  int64_t size_bytes = 0;
};

// All plain files of a folder and of those below it, by name; links to plain
// files count as these. Call it before the job starts: what the job does to
// its folder is not trusted.
std::vector<InputFile> ListInputs(const std::string& folder);

// Writes the bundle `path` of these inputs and of what `about` says; fills in
// its `files` and `left_out` (a file that is not the one that was listed, or
// one with which the inputs would be more than `limit_bytes`). Returns what
// went wrong, or "".
std::string WriteReproducer(const std::string& folder,
                            const std::vector<InputFile>& inputs,
                            int64_t limit_bytes, foldd::v1::Reproducer about,
                            const std::string& path);

// Unpacks the inputs of the bundle `path` into the empty folder `folder`, and
// checks each against its digest. Nothing is written outside of it, no links
// are made. Returns what is wrong with the bundle, or "".
std::string UnpackReproducer(const std::string& path, const std::string& folder,
                             foldd::v1::Reproducer* about);

// Whether `path` is relative and stays below where it starts.
bool IsSafePath(std::string_view path);

}  // namespace fold

#endif  // FOLD_COMPILER_API_REPRODUCER_H_
