#include "runtime/tools/npy.h"

#include <cstdlib>
#include <cstring>

namespace fold::tools {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicBytes = 6;

// The text after `key:` in a header dictionary, or null.
const char* FindValue(const std::string& header, const char* key) {
  const size_t at = header.find(key);
  if (at == std::string::npos) return nullptr;
  const size_t colon = header.find(':', at + std::strlen(key));
  if (colon == std::string::npos) return nullptr;
  const char* value = header.c_str() + colon + 1;
  while (*value == ' ') ++value;
  return value;
}

bool ParseShape(const char* text, std::vector<int64_t>* shape) {
  if (text == nullptr || *text != '(') return false;
  ++text;
  while (true) {
    while (*text == ' ' || *text == ',') ++text;
    if (*text == ')') return true;
    char* end = nullptr;
    const long long dimension = std::strtoll(text, &end, 10);
    if (end == text || dimension < 0 || shape->size() >= 32) return false;
    shape->push_back(dimension);
    text = *end == 'L' ? end + 1 : end;
  }
}

bool ParseHeader(const std::string& header, Array* array, bool* fortran) {
  const char* descr = FindValue(header, "'descr'");
  const char* order = FindValue(header, "'fortran_order'");
  if (descr == nullptr || order == nullptr || *descr != '\'') return false;
  const char* end = std::strchr(descr + 1, '\'');
  if (end == nullptr) return false;
  array->descr.assign(descr + 1, end);
  *fortran = std::strncmp(order, "True", 4) == 0;
  return ParseShape(FindValue(header, "'shape'"), &array->shape);
}

// From column-major to row-major.
void Reorder(size_t element, Array* array) {
  const std::vector<uint8_t> from = array->bytes;
  const size_t rank = array->shape.size();
  const size_t count = from.size() / element;
  std::vector<int64_t> index(rank, 0);
  for (size_t i = 0; i < count; ++i) {
    size_t at = 0;
    size_t stride = 1;
    for (size_t d = 0; d < rank; ++d) {
      at += static_cast<size_t>(index[d]) * stride;
      stride *= static_cast<size_t>(array->shape[d]);
    }
    std::memcpy(&array->bytes[i * element], &from[at * element], element);
    for (size_t d = rank; d-- > 0 && ++index[d] == array->shape[d];) {
      index[d] = 0;
    }
  }
}

// Where the header's text begins, and how long it is; 0 if the file is short.
size_t HeaderAt(const uint8_t* data, size_t size, size_t* length) {
  if (size < 10 || std::memcmp(data, kMagic, kMagicBytes) != 0) return 0;
  *length = data[8] | static_cast<size_t>(data[9]) << 8;
  if (data[6] == 1) return 10;
  if (data[6] > 3 || size < 12) return 0;
  *length |= static_cast<size_t>(data[10]) << 16;
  *length |= static_cast<size_t>(data[11]) << 24;
  return 12;
}

}  // namespace

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t elements = 1;
  for (int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(elements, dimension, &elements))
      return -1;
  }
  return elements;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

size_t DescrBytes(const std::string& descr) {
  if (descr.size() != 3) return 0;
  const bool one = descr[2] == '1';
  if (descr[0] != '<' && descr[0] != (one ? '|' : '<')) return 0;
  const std::string kinds = "fiub";
  if (kinds.find(descr[1]) == std::string::npos) return 0;
  const int bytes = descr[2] - '0';
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return 0;
  if (descr[1] == 'b' && bytes != 1) return 0;
  if (descr[1] == 'f' && bytes == 1) return 0;
  return static_cast<size_t>(bytes);
}

bool ParseNpy(const uint8_t* data, size_t size, Array* array,
              std::string* error) {
  *array = Array();
  size_t length = 0;
  const size_t at = HeaderAt(data, size, &length);
  if (at == 0 || length > size - at) {
    *error = "not a .npy array";
    return false;
  }
  const std::string header(reinterpret_cast<const char*>(data) + at, length);
  bool fortran = false;
  if (!ParseHeader(header, array, &fortran)) {
    *error = "a .npy header that is not understood";
    return false;
  }
  const size_t element = DescrBytes(array->descr);
  if (element == 0) {
    *error = "element type '" + array->descr + "' is not supported";
    return false;
  }
  const int64_t elements = Elements(array->shape);
  const size_t left = size - at - length;
  if (elements < 0 || static_cast<uint64_t>(elements) > left / element ||
      static_cast<size_t>(elements) * element != left) {
    *error = "data do not fill the shape " + ShapeText(array->shape);
    return false;
  }
  array->bytes.assign(data + at + length, data + size);
  if (fortran && array->shape.size() > 1) Reorder(element, array);
  return true;
}

std::vector<uint8_t> WriteNpy(const Array& array) {
  std::string header =
      "{'descr': '" + array.descr +
      "', 'fortran_order': False, 'shape': " + ShapeText(array.shape) + ", }";
  // Magic, version, length and header end on a multiple of 64.
  const size_t used = 10 + header.size() + 1;
  header.append((64 - used % 64) % 64, ' ');
  header.push_back('\n');
  std::vector<uint8_t> bytes(kMagic, kMagic + kMagicBytes);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<uint8_t>(header.size() & 0xff));
  bytes.push_back(static_cast<uint8_t>(header.size() >> 8));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  return bytes;
}

}  // namespace fold::tools
