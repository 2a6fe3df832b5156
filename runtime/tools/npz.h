// Archives of named NumPy arrays, as numpy.savez writes and numpy.load reads
// them: a zip file with one entry NAME.npy an array.
#ifndef RUNTIME_TOOLS_NPZ_H_
#define RUNTIME_TOOLS_NPZ_H_

#include <map>
#include <string>

#include "runtime/tools/npy.h"

namespace fold::tools {

using Arrays = std::map<std::string, Array>;

// False with `error` naming the file or the array at fault.
bool ReadNpz(const std::string& path, Arrays* arrays, std::string* error);

// Stored without compression and with a fixed date: the same arrays give the
// same bytes. Replaces the file.
bool WriteNpz(const std::string& path, const Arrays& arrays,
              std::string* error);

}  // namespace fold::tools

#endif  // RUNTIME_TOOLS_NPZ_H_
