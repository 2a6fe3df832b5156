// NumPy arrays in memory, and the .npy form of them: format versions 1 to 3,
// little-endian, of the element types that .fold artifacts have.
// Source of the format: the NumPy Enhancement Proposal 1 ("A Simple File Format
// for NumPy Arrays").
#ifndef RUNTIME_TOOLS_NPY_H_
#define RUNTIME_TOOLS_NPY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fold::tools {

// Row-major. `descr` is NumPy's type string: "<f4", "|i1", …
struct Array {
  std::string descr;
  std::vector<int64_t> shape;  // empty: a scalar
  std::vector<uint8_t> bytes;
};

// Elements of `shape`, or -1 if that overflows or a dimension is negative.
int64_t Elements(const std::vector<int64_t>& shape);

// "(1, 3, 8)" as Python prints it.
std::string ShapeText(const std::vector<int64_t>& shape);

// Bytes of one element of a type string; 0 for one that is not supported.
size_t DescrBytes(const std::string& descr);

// False with `error` filled in if `data` is no array of a supported type or is
// cut short. Fortran order is turned into row-major.
bool ParseNpy(const uint8_t* data, size_t size, Array* array,
              std::string* error);

std::vector<uint8_t> WriteNpy(const Array& array);

}  // namespace fold::tools

#endif  // RUNTIME_TOOLS_NPY_H_
