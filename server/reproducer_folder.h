// Where the server keeps the reproducer bundles (compiler/api/reproducer.h) of
// compiles that crashed: one file a bundle, DIGEST.tar, bounded in number and
// bytes; the oldest goes first.
#ifndef FOLD_SERVER_REPRODUCER_FOLDER_H_
#define FOLD_SERVER_REPRODUCER_FOLDER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/api/reproducer_writer.h"
#include "proto/foldd/v1/job.pb.h"

namespace fold {

struct ReproducerLimits {
  int64_t count = 16;                // bundles; 0: none is made
  int64_t bytes = int64_t{1} << 30;  // of all bundles
};

class ReproducerFolder {
 public:
  // Called with a bundle's digest and path, and the instance whose model is in
  // it, once it is kept, in the thread that called Keep.
  using Publish =
      std::function<void(const std::string& digest, const std::string& path,
                         const std::string& instance)>;

  // Takes over the bundles that are in `folder`, newest first, and removes
  // what an earlier server left half-written there.
  static absl::StatusOr<std::unique_ptr<ReproducerFolder>> Open(
      std::string folder, ReproducerLimits limits, Publish publish = nullptr);

  // Makes a bundle of a job's inputs and keeps it; its digest, 64 hexadecimal
  // digits. Any thread.
  absl::StatusOr<std::string> Keep(const std::string& job_folder,
                                   const std::vector<InputFile>& inputs,
                                   const foldd::v1::Reproducer& about,
                                   const std::string& instance = "");

  int64_t count() const;
  int64_t bytes() const;

 private:
  struct Bundle {
    std::string digest;
    int64_t bytes = 0;
  };

  ReproducerFolder(std::string folder, ReproducerLimits limits,
                   Publish publish);
  absl::Status Load();
  std::string PathOf(const std::string& digest) const;
  // Called with the mutex held.
  void RemoveOldest();
  absl::Status Add(const std::string& part, const std::string& digest);

  const std::string folder_;
  const ReproducerLimits limits_;
  const Publish publish_;
  mutable std::mutex mutex_;
  int64_t next_ = 0;
  int64_t bytes_ = 0;
  std::deque<Bundle> bundles_;  // oldest first
};

}  // namespace fold

#endif  // FOLD_SERVER_REPRODUCER_FOLDER_H_
