// Reports as text and as files.
#ifndef FOLD_COMPILER_API_REPORT_FILE_H_
#define FOLD_COMPILER_API_REPORT_FILE_H_

#include <string>
#include <string_view>

#include "proto/foldd/v1/report.pb.h"

namespace fold {

// protobuf JSON with proto field names and defaults, indented, with a newline
// at its end. artifact and run are always there.
std::string ReportJson(const foldd::v1::CompileReport& report);

// Writes a report: serialized if `path` ends in ".binpb", JSON otherwise.
// Returns what went wrong, or "".
std::string WriteReportFile(const std::string& path,
                            const foldd::v1::CompileReport& report);

// Reads what WriteReportFile writes. Fields that this build does not know are
// passed over. Returns what went wrong, or "".
std::string ReadReportFile(const std::string& path,
                           foldd::v1::CompileReport* report);

// Writes `path` whole or not at all: aside, synced, renamed. Devices and pipes
// are written in place. Returns what went wrong, or "".
std::string WriteFileAtomically(const std::string& path,
                                std::string_view bytes);

// Whether what went wrong is that the disk, or a quota of it, is full.
bool IsDiskFull(std::string_view fault);

// Reads a file of at most `limit` bytes. Returns what went wrong, or "".
std::string ReadWholeFile(const std::string& path, size_t limit,
                          std::string* bytes);

}  // namespace fold

#endif  // FOLD_COMPILER_API_REPORT_FILE_H_
