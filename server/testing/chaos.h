// For tests: what breaks a server while its clients work. It is killed,
// stopped and started again on the same data folder, its jobs and their parent
// are killed, its disk is filled, and what it keeps there is damaged.
#ifndef FOLD_SERVER_TESTING_CHAOS_H_
#define FOLD_SERVER_TESTING_CHAOS_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "server/testing/server_process.h"

namespace fold {

class Chaos {
 public:
  // Calls that can be cancelled under way. Registered for as long as they live.
  class Cancellable {
   public:
    Cancellable(Chaos* chaos, grpc::ClientContext* context);
    ~Cancellable();
    bool cancelled() const { return cancelled_; }

   private:
    friend class Chaos;
    Chaos* const chaos_;
    grpc::ClientContext* const context_;
    std::atomic<bool> cancelled_{false};
  };

  // `own_disk`: the data folder is a small file system, which may be filled.
  Chaos(ServerOptions options, uint32_t seed, bool own_disk);

  // Starts the server. The thread that does it must outlive it.
  bool Start();
  // The server as it is; one that was killed answers nothing.
  std::shared_ptr<ServerProcess> server() const;
  // One fault, chosen at random; from the thread that called Start.
  void Step();
  // Takes all of the disk; gives it back.
  void FillDisk();
  void FreeDisk();
  // Kills the server and starts it again.
  void Restart(int signal);
  // Repairs what can be repaired, and starts a server if there is none.
  bool Calm();

  // Changes when the server goes or comes; odd while it is away.
  int epoch() const { return epoch_; }
  // Whether any byte was damaged so far.
  bool damaged() const { return damaged_; }
  // Whether the disk was full at some time.
  bool filled() const { return filled_; }
  // How often what was done, by its name.
  const std::map<std::string, int>& counts() const { return counts_; }
  // What a server did that it must not do, e.g. end with an error.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  void KillJob(int signal);
  void KillParent();
  void StopParent();
  void StopServer();
  void CancelCalls();
  void FillForAWhile();
  void DamageBlob();
  int Random(int limit);

  const ServerOptions options_;
  const bool own_disk_;
  std::mt19937 random_;
  mutable std::mutex mutex_;
  std::shared_ptr<ServerProcess> server_;
  std::set<Cancellable*> calls_;
  std::atomic<int> epoch_{1};
  std::atomic<bool> damaged_{false};
  std::atomic<bool> filled_{false};
  std::map<std::string, int> counts_;
  std::vector<std::string> faults_;
};

// Gives this process a mount namespace of its own with a file system of so
// many bytes on `folder`; before there are threads. False: not allowed here.
bool MountSmallDisk(const std::string& folder, int64_t bytes);

}  // namespace fold

#endif  // FOLD_SERVER_TESTING_CHAOS_H_
