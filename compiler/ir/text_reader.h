// Reads the parts of the text form below a line: types, quantizations, tensor
// elements, attributes and steps. All return false after lexer.Fail.
#ifndef FOLD_COMPILER_IR_TEXT_READER_H_
#define FOLD_COMPILER_IR_TEXT_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/text_lexer.h"

namespace fold {

// `("a","b")`
bool ReadQuotedList(TextLexer& lexer, std::vector<std::string>* texts);

// "i8[2,3] q(s=[0.1,0.2] z=0 axis=0)". The element count fits 63 bits; the
// quantization has as many zero points as scales, and as many as its axis has
// indices.
bool ReadType(TextLexer& lexer, TensorType* type);

// A list, splat(…) or hex"…" for all elements of a tensor of this type and
// shape. `splat_bytes_left` is what remains of kMostSplatBytes.
bool ReadElements(TextLexer& lexer, ElementType type, const Shape& shape,
                  int64_t* splat_bytes_left, TensorPtr* tensor);

// `{key=value, …}`, the brace included.
bool ReadAttributes(TextLexer& lexer, int64_t* splat_bytes_left,
                    AttributeMap* attributes);

// `[batch_norm(1,2,3,4 eps=0.001), clip(0, inf)]`; operand numbers are below
// `operand_count`.
bool ReadSteps(TextLexer& lexer, size_t operand_count,
               std::vector<Step>* steps);

}  // namespace fold

#endif  // FOLD_COMPILER_IR_TEXT_READER_H_
