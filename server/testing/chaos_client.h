// For tests: clients that work while a Chaos breaks their server, and judge
// all that they are answered.
#ifndef FOLD_SERVER_TESTING_CHAOS_CLIENT_H_
#define FOLD_SERVER_TESTING_CHAOS_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "proto/google/longrunning/operations.grpc.pb.h"
#include "server/testing/chaos.h"

namespace fold {

// Bytes that are a function of these.
struct ChaosBlob {
  uint32_t seed;
  size_t size;
};

// What all clients share.
struct ChaosWorld {
  Chaos* chaos = nullptr;
  std::string tail;  // of every artifact: its target and options
  std::atomic<bool> over{false};

  std::mutex mutex;
  std::vector<std::string> faults;        // what must not happen
  std::map<std::string, int> operations;  // acknowledged: name, script
  std::set<std::string> cancelled;        // those of them
  std::vector<ChaosBlob> blobs;           // that are there, or were
  std::map<std::string, int> ends;        // of calls, by reason
  std::map<std::string, int> calls;       // by kind

  // What the compile of a script gives.
  std::string Artifact(int script) const;
  void Fault(const std::string& text);
  void Count(const std::string& kind, const std::string& end);
};

// An operation that was acknowledged, as it is said to be now.
void JudgeOperation(ChaosWorld* world,
                    const google::longrunning::Operation& operation,
                    int script);

// Reads a blob that was acknowledged, or a part of it; it may be gone, but it
// is never another.
void ReadBlob(ChaosWorld* world, const ChaosBlob& blob, size_t offset,
              size_t limit);

class ChaosClient {
 public:
  ChaosClient(ChaosWorld* world, uint32_t seed)
      : world_(world), random_(seed) {}
  // One thing after another, chosen at random, until the world is over.
  void Run();

 private:
  int Pick();
  bool Compile(int script, const std::string& request_id, bool fresh);
  // Sent blindly again under one request id.
  void CompileUntilItIsDone();
  void StartOperation();
  void CancelOperation(const std::string& name);
  void WaitOperation(const std::string& name, int script);
  void UploadBlob();
  // Breaks off in the middle, sometimes. Whether all of it is there.
  bool WriteFrom(const std::string& name, const std::string& bytes,
                 size_t offset);
  void DownloadBlob();

  ChaosWorld* const world_;
  std::mt19937 random_;
};

}  // namespace fold

#endif  // FOLD_SERVER_TESTING_CHAOS_CLIENT_H_
