#include "client/cmd/compile_inputs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "compiler/api/report_file.h"
#include "compiler/api/target_file.h"

namespace fold {
namespace {

namespace fs = std::filesystem;
namespace v1 = foldd::v1;

constexpr size_t kMaxTableBytes = size_t{3} << 20;
// A request with its model must fit into one message of any server.
constexpr int64_t kInlineBytes = 2 << 20;

// The model of a folder, and the other files in it.
std::string ReadFolder(const std::string& folder, std::string* model,
                       std::vector<std::string>* others) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename();
    if (name[0] == '.' || !at->is_regular_file(error)) continue;
    if (at->path().extension() != ".onnx") {
      others->push_back(at->path());
    } else if (model->empty()) {
      *model = at->path();
    } else {
      return "'" + folder +
             "' has more than one .onnx: name the model, and "
             "its other files with --external";
    }
  }
  if (error) return "cannot read '" + folder + "': " + error.message();
  if (model->empty()) return "'" + folder + "' has no .onnx";
  std::sort(others->begin(), others->end());
  return "";
}

std::string AddExternal(const std::string& path, CompileInputs* inputs) {
  LocalBlob blob;
  std::string error = ReadLocalBlob(path, &blob);
  if (!error.empty()) return error;
  std::string name = fs::path(path).filename();
  if (!IsExternalFileName(name)) {
    return "'" + path + "': a file with external data cannot be called '" +
           name + "'";
  }
  v1::ExternalFile* file = inputs->request.add_external_files();
  file->set_location(name);
  *file->mutable_digest() = blob.digest;
  inputs->blobs.push_back(std::move(blob));
  return "";
}

std::string ReadModel(const std::string& path, CompileInputs* inputs) {
  LocalBlob model;
  std::string error = ReadLocalBlob(path, &model);
  if (!error.empty()) return error;
  if (model.digest.size_bytes() == 0) {
    return "error[model_unreadable]: '" + path + "' is empty and no ONNX model";
  }
  if (model.digest.size_bytes() <= kInlineBytes) {
    return ReadWholeFile(path, kInlineBytes, inputs->request.mutable_model());
  }
  *inputs->request.mutable_model_digest() = model.digest;
  inputs->blobs.push_back(std::move(model));
  return "";
}

std::string ReadTable(const std::string& path, v1::CompileRequest* request) {
  std::string error =
      ReadWholeFile(path, kMaxTableBytes, request->mutable_encodings());
  if (error.empty() && request->encodings().empty()) {
    return "error[bad_encoding_table]: '" + path + "' is empty and no table";
  }
  return error;
}

}  // namespace

std::string ReadCompileInputs(const CompileFlags& flags,
                              const std::vector<std::string>& external,
                              CompileInputs* inputs) {
  v1::CompileRequest* request = &inputs->request;
  std::string model = flags.model_path;
  std::vector<std::string> others;
  std::error_code ignored;
  std::string error;
  if (fs::is_directory(model, ignored)) {
    model.clear();
    error = ReadFolder(flags.model_path, &model, &others);
  }
  others.insert(others.end(), external.begin(), external.end());
  if (error.empty()) error = ReadModel(model, inputs);
  for (const std::string& path : others) {
    if (error.empty()) error = AddExternal(path, inputs);
  }
  if (error.empty() && !flags.encodings_path.empty()) {
    error = ReadTable(flags.encodings_path, request);
  }
  if (error.empty() && flags.target_path.empty()) {
    request->set_target_name(flags.target_name);
  } else if (error.empty()) {
    error = ReadTargetFile(flags.target_path, request->mutable_target());
  }
  *request->mutable_options() = flags.options;
  return error;
}

}  // namespace fold
