#include "compiler/import/external_data.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compiler/import/labels.h"
#include "compiler/import/tensor_reader.h"

namespace fold::importer {
namespace {

// Where a tensor says that its data is.
struct Place {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// Reads the entries into `place`. Returns "" or what is wrong with them.
std::string ReadPlace(const onnx::TensorProto& tensor, Place* place) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") {
      place->location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      const std::optional<uint64_t> number = ParseNumber(entry.value());
      if (!number) {
        return entry.key() + " '" + Readable(entry.value(), 40) +
               "' is not a number";
      }
      if (entry.key() == "offset") {
        place->offset = *number;
      } else {
        place->length = number;
      }
    }
  }
  return place->location.empty() ? "has no location" : "";
}

// "" if `location` is a plain file name. A leading "./" is what some exporters
// write before one.
std::string CheckName(std::string_view location) {
  const bool plain = location != "." && location != ".." &&
                     location.find_first_of("/\\:") == std::string::npos &&
                     location.find('\0') == std::string::npos;
  if (plain) return "";
  return "location '" + Readable(location) +
         "' is not the name of a file beside the model";
}

std::string Load(onnx::TensorProto* tensor, const ImportOptions& options) {
  Place place;
  std::string fault = ReadPlace(*tensor, &place);
  if (!fault.empty()) return fault;
  std::string_view name = place.location;
  if (name.substr(0, 2) == "./") name.remove_prefix(2);
  fault = CheckName(name);
  if (!fault.empty()) return fault;
  const auto needed = static_cast<uint64_t>(RawByteCount(*tensor));
  if (place.length && *place.length != needed) {
    return "length is " + std::to_string(*place.length) +
           " where type and shape need " + std::to_string(needed) + " bytes";
  }
  std::optional<std::span<const uint8_t>> file;
  if (options.external_files) file = options.external_files(name);
  if (!file) {
    return "file '" + Readable(name) + "' was not given with the model";
  }
  if (place.offset > file->size() || needed > file->size() - place.offset) {
    return "bytes " + std::to_string(place.offset) + " + " +
           std::to_string(needed) + " lie outside '" + Readable(name) +
           "', which has " + std::to_string(file->size());
  }
  const auto bytes = file->subspan(place.offset, needed);
  tensor->mutable_raw_data()->assign(bytes.begin(), bytes.end());
  tensor->clear_external_data();
  tensor->clear_data_location();
  return "";
}

}  // namespace

bool LoadExternalData(onnx::TensorProto* tensor, const std::string& name,
                      const ImportOptions& options, Diagnostics* sink) {
  if (tensor->data_location() != onnx::TensorProto::EXTERNAL) return true;
  const std::string fault = Load(tensor, options);
  if (fault.empty()) return true;
  return sink->Add(DiagnosticCode::external_data, Readable(name), fault);
}

}  // namespace fold::importer
