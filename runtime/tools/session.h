// An artifact mapped from a file, with the buffers for one run of it.
#ifndef RUNTIME_TOOLS_SESSION_H_
#define RUNTIME_TOOLS_SESSION_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/include/fold/runtime.h"
#include "runtime/tools/npz.h"
#include "runtime/tools/thread_pool.h"

namespace fold::tools {

class Session {
 public:
  Session() = default;
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Maps and checks the file and makes the buffers; inputs are zeros.
  bool Open(const std::string& path, int threads, std::string* error);

  // Every input of the signature from the array of its name; the error names
  // the input that is missing or has another type or shape.
  bool SetInputs(const Arrays& arrays, std::string* error);

  // Runs once. With `taps`, adds every tap's value to it.
  bool Run(Arrays* taps, std::string* error);

  // Every output under its name.
  Arrays Outputs() const;

  const fold_model& model() const { return model_; }
  // The signature and memory in a few lines.
  std::string Summary() const;

 private:
  struct Buffer {
    fold_value value;
    std::unique_ptr<uint64_t[]> storage;
  };

  bool Map(const std::string& path, std::string* error);
  bool MakeBuffers(std::string* error);
  static void OnTap(void* context, uint32_t index, const void* stored);

  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  fold_model model_ = {};
  std::vector<Buffer> inputs_;
  std::vector<Buffer> outputs_;
  void* arena_ = nullptr;
  std::unique_ptr<ThreadPool> pool_;
  int threads_ = 1;
};

}  // namespace fold::tools

#endif  // RUNTIME_TOOLS_SESSION_H_
