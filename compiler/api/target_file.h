// Reading target descriptors: those built into the program (the files of
// deploy/targets), and files.
#ifndef FOLD_COMPILER_API_TARGET_FILE_H_
#define FOLD_COMPILER_API_TARGET_FILE_H_

#include <span>
#include <string>
#include <string_view>

#include "proto/foldd/v1/target.pb.h"

namespace fold {

// A file of deploy/targets at the time of the build.
struct BuiltinTarget {
  std::string_view name;  // the file's name without ".textproto"
  std::string_view text;
};

// By name.
std::span<const BuiltinTarget> BuiltinTargets();

// Each function fills `target` and returns what went wrong, or "". None of
// them checks the descriptor's content: CheckTargetMessage does.

// A descriptor as textproto; errors have line and column.
std::string ParseTargetText(std::string_view text,
                            foldd::v1::TargetDescriptor* target);
// A file: serialized if it ends in ".binpb", textproto otherwise; at most
// 1 MiB.
std::string ReadTargetFile(const std::string& path,
                           foldd::v1::TargetDescriptor* target);
// A built-in target by name; the error suggests the nearest.
std::string FindBuiltinTarget(std::string_view name,
                              foldd::v1::TargetDescriptor* target);

}  // namespace fold

#endif  // FOLD_COMPILER_API_TARGET_FILE_H_
