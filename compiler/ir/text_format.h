// How names, strings, numbers and types are spelled in the text form: what the
// printer writes and the lexer reads.
#ifndef FOLD_COMPILER_IR_TEXT_FORMAT_H_
#define FOLD_COMPILER_IR_TEXT_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace fold {

// Tensors of at most this many elements are written as a list.
constexpr int64_t kMostListElements = 64;
// A text may claim at most this much memory with splat(…), all of them
// together; beyond it the printer writes hex.
constexpr int64_t kMostSplatBytes = int64_t{64} << 20;
// The rank of a shape in the text form.
constexpr size_t kMostRank = 64;

// True for names that need no quotes: letters, digits, `_` and `.`.
bool IsPlainName(std::string_view name);
// `text` in double quotes; `"`, `\` and every byte outside of printable ASCII
// are escaped (\" \\ \n \t \xHH).
std::string QuoteText(std::string_view text);
// `name`, in quotes if it is not plain.
std::string FormatName(std::string_view name);
// `("a","b")`
std::string QuotedList(const std::vector<std::string>& texts);

// The shortest digits that read back as the same number; "inf", "-inf", "nan".
std::string FormatReal(double value);
// The same, and never mistaken for an integer: "1.0".
std::string FormatMarkedReal(double value);
// "i8[2,3]"
std::string FormatElementAndShape(ElementType element, const Shape& shape);
// "i8[2,3] q(s=0.5 z=-3 src=\"…\")"
std::string FormatType(const TensorType& type);

// "[1,2]", "splat(0)" or "hex\"00ff\"", the first that says every byte.
// `splat_bytes_left` is what remains of kMostSplatBytes.
std::string FormatElements(const Tensor& tensor, int64_t* splat_bytes_left);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_TEXT_FORMAT_H_
