#include "runtime/tools/session.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace fold::tools {
namespace {

// NumPy's type string; BF16, which NumPy lacks, as its 16 bits.
const char* DescrOf(fold_type type) {
  static constexpr const char* kDescr[] = {"|u1", "|i1", "<u2", "<i2", "<u4",
                                           "<i4", "<u8", "<i8", "<f4", "<f8",
                                           "|b1", "<f2", "<u2"};
  return kDescr[type];
}

std::vector<int64_t> ShapeOf(const fold_value& value) {
  return std::vector<int64_t>(value.shape, value.shape + value.rank);
}

Array ArrayOf(const fold_value& value) {
  Array array;
  array.descr = DescrOf(value.type);
  array.shape = ShapeOf(value);
  array.bytes.resize(value.bytes);
  return array;
}

std::string Describe(const fold_value& value) {
  return std::string(value.name) + ": " + DescrOf(value.type) + " " +
         ShapeText(ShapeOf(value));
}

struct TapSink {
  const fold_model* model;
  Arrays* arrays;
};

}  // namespace

Session::~Session() {
  std::free(arena_);
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

bool Session::Map(const std::string& path, std::string* error) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (file < 0 || fstat(file, &status) != 0) {
    *error = path + ": " + std::strerror(errno);
    if (file >= 0) close(file);
    return false;
  }
  mapped_bytes_ = static_cast<size_t>(status.st_size);
  void* mapped = mapped_bytes_ == 0 ? MAP_FAILED
                                    : mmap(nullptr, mapped_bytes_, PROT_READ,
                                           MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) {
    *error = path + ": cannot be mapped";
    return false;
  }
  mapped_ = mapped;
  return true;
}

bool Session::MakeBuffers(std::string* error) {
  const auto fill = [&](uint32_t count, auto describe,
                        std::vector<Buffer>* buffers) {
    for (uint32_t i = 0; i < count; ++i) {
      Buffer buffer;
      describe(&model_, i, &buffer.value);
      buffer.storage.reset(new (std::nothrow)
                               uint64_t[buffer.value.bytes / 8 + 1]());
      if (buffer.storage == nullptr) {
        *error = std::string(buffer.value.name) + ": no memory for " +
                 std::to_string(buffer.value.bytes) + " bytes";
        return false;
      }
      buffers->push_back(std::move(buffer));
    }
    return true;
  };
  if (!fill(fold_input_count(&model_), fold_input, &inputs_) ||
      !fill(fold_output_count(&model_), fold_output, &outputs_)) {
    return false;
  }
  const size_t alignment = fold_arena_alignment(&model_);
  const size_t bytes = (fold_arena_bytes(&model_) / alignment + 1) * alignment;
  arena_ = std::aligned_alloc(alignment, bytes);
  if (arena_ == nullptr) {
    *error = "no memory for an arena of " + std::to_string(bytes) + " bytes";
    return false;
  }
  return true;
}

bool Session::Open(const std::string& path, int threads, std::string* error) {
  if (!Map(path, error)) return false;
  fold_error why;
  if (fold_open(mapped_, mapped_bytes_, &model_, &why) != FOLD_OK) {
    *error = path + ": " + why.message;
    return false;
  }
  threads_ = threads;
  if (threads > 1) pool_ = std::make_unique<ThreadPool>(threads);
  return MakeBuffers(error);
}

bool Session::SetInputs(const Arrays& arrays, std::string* error) {
  for (Buffer& buffer : inputs_) {
    const std::string name = buffer.value.name;
    const auto found = arrays.find(name);
    if (found == arrays.end()) {
      *error =
          "input '" + name + "' is missing; wanted " + Describe(buffer.value);
      return false;
    }
    const Array& array = found->second;
    if (array.descr != DescrOf(buffer.value.type) ||
        array.shape != ShapeOf(buffer.value)) {
      *error = "input '" + name + "' is " + array.descr + " " +
               ShapeText(array.shape) + ", not " + DescrOf(buffer.value.type) +
               " " + ShapeText(ShapeOf(buffer.value));
      return false;
    }
    std::memcpy(buffer.storage.get(), array.bytes.data(), array.bytes.size());
  }
  return true;
}

void Session::OnTap(void* context, uint32_t index, const void* stored) {
  const TapSink& sink = *static_cast<const TapSink*>(context);
  fold_value value;
  fold_tap(sink.model, index, &value);
  Array array = ArrayOf(value);
  fold_read_tap(sink.model, index, stored, array.bytes.data());
  (*sink.arrays)[value.name] = std::move(array);
}

bool Session::Run(Arrays* taps, std::string* error) {
  std::vector<const void*> inputs;
  std::vector<size_t> input_bytes;
  for (const Buffer& buffer : inputs_) {
    inputs.push_back(buffer.storage.get());
    input_bytes.push_back(buffer.value.bytes);
  }
  std::vector<void*> outputs;
  std::vector<size_t> output_bytes;
  for (const Buffer& buffer : outputs_) {
    outputs.push_back(buffer.storage.get());
    output_bytes.push_back(buffer.value.bytes);
  }
  TapSink sink = {&model_, taps};
  fold_run_options options = {};
  options.arena = arena_;
  options.arena_bytes = fold_arena_bytes(&model_);
  options.inputs = inputs.data();
  options.input_bytes = input_bytes.data();
  options.input_count = static_cast<uint32_t>(inputs.size());
  options.outputs = outputs.data();
  options.output_bytes = output_bytes.data();
  options.output_count = static_cast<uint32_t>(outputs.size());
  if (pool_ != nullptr) {
    options.parallel_for = ThreadPool::ParallelFor;
    options.parallel_context = pool_.get();
    options.workers = static_cast<uint32_t>(threads_);
  }
  if (taps != nullptr) {
    options.tap = OnTap;
    options.tap_context = &sink;
  }
  fold_error why;
  if (fold_run(&model_, &options, &why) == FOLD_OK) return true;
  *error = why.message;
  return false;
}

Arrays Session::Outputs() const {
  Arrays arrays;
  for (const Buffer& buffer : outputs_) {
    Array array = ArrayOf(buffer.value);
    std::memcpy(array.bytes.data(), buffer.storage.get(), array.bytes.size());
    arrays[buffer.value.name] = std::move(array);
  }
  return arrays;
}

std::string Session::Summary() const {
  std::string text = std::string("target ") + fold_target(&model_) +
                     "\ncompiler " + fold_compiler(&model_) + "\narena " +
                     std::to_string(fold_arena_bytes(&model_)) + " bytes\n";
  for (const Buffer& buffer : inputs_) {
    text += "input " + Describe(buffer.value) + "\n";
  }
  for (const Buffer& buffer : outputs_) {
    text += "output " + Describe(buffer.value) + "\n";
  }
  return text + "taps " + std::to_string(fold_tap_count(&model_)) + "\n";
}

}  // namespace fold::tools
