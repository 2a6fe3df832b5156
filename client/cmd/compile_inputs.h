// What a compile sends: a model, its files with external data, and how they
// travel.
#ifndef FOLD_CLIENT_CMD_COMPILE_INPUTS_H_
#define FOLD_CLIENT_CMD_COMPILE_INPUTS_H_

#include <string>
#include <vector>

#include "client/blob_transfer.h"
#include "compiler/api/compile_flags.h"
#include "proto/foldd/v1/compiler_service.pb.h"

namespace fold {

struct CompileInputs {
  foldd::v1::CompileRequest request;
  // What the request names by digest.
  std::vector<LocalBlob> blobs;
};

// Reads the files of a line. The model may be a folder with one *.onnx, whose
// other files are its external data; `external` are more of them. Small models
// travel in the request, all else by digest. Returns what went wrong, or "".
std::string ReadCompileInputs(const CompileFlags& flags,
                              const std::vector<std::string>& external,
                              CompileInputs* inputs);

}  // namespace fold

#endif  // FOLD_CLIENT_CMD_COMPILE_INPUTS_H_
