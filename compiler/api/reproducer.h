// A reproducer bundle: one tar file with everything that a compile which
// crashed had, so that `foldc replay` runs it again anywhere.
//   inputs/PATH      the files of the job's folder when it started
//   reproducer.json  foldd.v1.Reproducer: command line, end, walls, digests
// This reads one; reproducer_writer.h writes it. They are apart because
// foldc, which reads alone, is linked statically, and libarchive's writers
// need what its readers of tar files do not.
// Bundles travel: whoever reads one trusts nothing in it.
#ifndef FOLD_COMPILER_API_REPRODUCER_H_
#define FOLD_COMPILER_API_REPRODUCER_H_

#include <string>
#include <string_view>

#include "proto/foldd/v1/job.pb.h"

namespace fold {

// Names in a bundle.
inline constexpr char kReproducerAbout[] = "reproducer.json";
inline constexpr std::string_view kReproducerInputs = "inputs/";

// Unpacks the inputs of the bundle `path` into the empty folder `folder`, and
// checks each against its digest. Nothing is written outside of it, no links
// are made. Returns what is wrong with the bundle, or "".
std::string UnpackReproducer(const std::string& path, const std::string& folder,
                             foldd::v1::Reproducer* about);

// Whether `path` is relative and stays below where it starts.
bool IsSafePath(std::string_view path);

}  // namespace fold

#endif  // FOLD_COMPILER_API_REPRODUCER_H_
