#include "compiler/ir/text_reader.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "compiler/ir/text_format.h"

namespace fold {
namespace {

// Reads items separated by commas until `close`, which is read too.
template <typename Item>
bool ReadList(TextLexer& lexer, std::string_view close, Item item) {
  if (lexer.Take(close)) return true;
  do {
    if (!item()) return false;
  } while (lexer.Take(","));
  return lexer.Expect(close);
}

double OneNan(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

bool ReadShape(TextLexer& lexer, Shape* shape) {
  const size_t start = lexer.at();
  int64_t count = 1;
  const bool read = lexer.Expect("[") && ReadList(lexer, "]", [&] {
                      const size_t at = lexer.at();
                      int64_t size = 0;
                      if (!lexer.Integer(&size)) return false;
                      if (size < 0)
                        return lexer.Fail(at, "a dimension is not negative");
                      if (shape->size() == kMostRank)
                        return lexer.Fail(at, "too many axes");
                      shape->push_back(size);
                      return true;
                    });
  if (!read) return false;
  // With a zero among them the product is zero; the others must fit even so.
  for (int64_t size : *shape) {
    if (size == 0) continue;
    if (count > std::numeric_limits<int64_t>::max() / 8 / size) {
      return lexer.Fail(start, "the shape has too many elements");
    }
    count *= size;
  }
  return true;
}

// A number or a list of numbers, each read by `item`.
template <typename Item>
bool ReadOneOrList(TextLexer& lexer, Item item) {
  return lexer.Take("[") ? ReadList(lexer, "]", item) : item();
}

bool ReadCodes(TextLexer& lexer, Encoding* encoding) {
  int64_t code = 0;
  if (!lexer.Expect("[")) return false;
  if (lexer.PeekNumber()) {
    if (!lexer.Integer(&code)) return false;
    encoding->code_low = code;
  }
  if (!lexer.Expect(",")) return false;
  if (lexer.PeekNumber()) {
    if (!lexer.Integer(&code)) return false;
    encoding->code_high = code;
  }
  return lexer.Expect("]");
}

bool ReadRounding(TextLexer& lexer, Encoding* encoding) {
  const size_t at = lexer.at();
  std::string_view name;
  if (!lexer.Word("the name of a rounding", &name)) return false;
  const auto rounding = ParseRounding(name);
  if (!rounding) return lexer.Fail(at, "there is no such rounding");
  encoding->rounding = *rounding;
  return true;
}

bool ReadEncodingField(TextLexer& lexer, std::string_view key, size_t at,
                       Encoding* encoding) {
  if (key == "s") {
    return ReadOneOrList(lexer, [&] {
      double scale = 0;
      if (!lexer.Real(&scale)) return false;
      encoding->scales.push_back(OneNan(scale));
      return true;
    });
  }
  if (key == "z") {
    return ReadOneOrList(lexer, [&] {
      int64_t zero_point = 0;
      if (!lexer.Integer(&zero_point)) return false;
      encoding->zero_points.push_back(zero_point);
      return true;
    });
  }
  if (key == "codes") return ReadCodes(lexer, encoding);
  if (key == "rounding") return ReadRounding(lexer, encoding);
  if (key == "src") return lexer.Quoted(&encoding->source);
  int64_t value = 0;
  if (key == "axis") {
    if (!lexer.Integer(&value)) return false;
    if (value < 0 || value >= static_cast<int64_t>(kMostRank)) {
      return lexer.Fail(at, "the axis is out of range");
    }
    encoding->axis = static_cast<int>(value);
    return true;
  }
  if (key == "block") {
    if (!lexer.Integer(&value)) return false;
    if (value <= 0) return lexer.Fail(at, "the block is not positive");
    encoding->block = value;
    return true;
  }
  return lexer.Fail(at, "expected s, z, axis, block, codes, rounding or src");
}

// The entries that a quantization of this shape must have; nothing where the
// axis is in doubt. Blocks may have one each for every index of the other
// dimensions, as ONNX has them: those are *each.
std::optional<int64_t> EntryCount(const Encoding& encoding, const Shape& shape,
                                  int64_t* each) {
  *each = 1;
  if (encoding.axis < 0) return 1;
  if (encoding.axis >= static_cast<int>(shape.size())) return std::nullopt;
  const int64_t size = shape[encoding.axis];
  *each = size;
  if (encoding.block == 0) return size;
  const int64_t blocks = size / encoding.block + (size % encoding.block != 0);
  *each = size > 0 ? ElementCount(shape) / size * blocks : 0;
  return blocks;
}

bool ReadEncoding(TextLexer& lexer, const Shape& shape, Encoding* encoding) {
  const size_t start = lexer.at();
  std::string seen;
  while (!lexer.Take(")")) {
    const size_t at = lexer.at();
    std::string_view key;
    if (!lexer.Word("s, z, axis, block, codes, rounding or src", &key) ||
        !lexer.Expect("=")) {
      return false;
    }
    const std::string mark = "," + std::string(key) + ",";
    if (seen.find(mark) != std::string::npos) {
      return lexer.Fail(at, "this is said twice");
    }
    seen += mark;
    if (!ReadEncodingField(lexer, key, at, encoding)) return false;
  }
  auto& zeros = encoding->zero_points;
  if (zeros.empty()) zeros.push_back(0);
  if (zeros.size() == 1) zeros.resize(encoding->scales.size(), zeros[0]);
  int64_t each = 0;
  const auto count = EntryCount(*encoding, shape, &each);
  if (!count) return lexer.Fail(start, "the axis is not one of the shape's");
  if (zeros.size() != encoding->scales.size()) {
    return lexer.Fail(start, "scales and zero points differ in number");
  }
  const auto entries = static_cast<int64_t>(zeros.size());
  if (*count != entries && each != entries) {
    return lexer.Fail(start, "needs " + std::to_string(*count) +
                                 " scales, has " +
                                 std::to_string(zeros.size()));
  }
  return true;
}

// Collects elements of one type.
class Elements {
 public:
  Elements(TextLexer& lexer, ElementType type) : lexer_(lexer), type_(type) {}

  bool Read() {
    NumberToken token;
    if (!lexer_.Number(&token)) return false;
    if (type_ == ElementType::f64) return ReadReal<double>(token);
    if (IsFloat(type_)) return ReadReal<float>(token);
    if (type_ == ElementType::u64) {
      uint64_t value = 0;
      if (!lexer_.ToUnsigned(token, &value)) return false;
      integers_.push_back(static_cast<int64_t>(value));
      return true;
    }
    int64_t value = 0;
    if (!lexer_.ToInteger(token, &value)) return false;
    if (value < LowestCode(type_) || value > HighestCode(type_)) {
      return lexer_.Fail(token.at, "this number does not fit the type " +
                                       std::string(ElementTypeName(type_)));
    }
    integers_.push_back(value);
    return true;
  }

  int64_t size() const {
    return static_cast<int64_t>(reals_.size() + integers_.size());
  }

  TensorPtr Make(const Shape& shape) const {
    return IsFloat(type_) ? MakeRealTensor(type_, shape, reals_)
                          : MakeIntegerTensor(type_, shape, integers_);
  }

 private:
  template <typename T>
  bool ReadReal(const NumberToken& token) {
    T value = 0;
    const bool read = [&] {
      if constexpr (std::is_same_v<T, float>) {
        return lexer_.ToFloat(token, &value);
      } else {
        return lexer_.ToReal(token, &value);
      }
    }();
    if (read) reals_.push_back(OneNan(value));
    return read;
  }

  TextLexer& lexer_;
  ElementType type_;
  std::vector<double> reals_;
  std::vector<int64_t> integers_;
};

bool ReadSplat(TextLexer& lexer, ElementType type, const Shape& shape,
               int64_t* splat_bytes_left, TensorPtr* tensor) {
  const size_t start = lexer.at();
  Elements elements(lexer, type);
  if (!lexer.Expect("(") || !elements.Read() || !lexer.Expect(")")) {
    return false;
  }
  const int64_t count = ElementCount(shape), size = ElementSize(type);
  if (count > *splat_bytes_left / size) {
    return lexer.Fail(start, "the text's splats are too large together");
  }
  *splat_bytes_left -= count * size;
  const std::vector<uint8_t> one = elements.Make({})->bytes;
  auto made = std::make_shared<Tensor>();
  made->type = type;
  made->shape = shape;
  made->bytes.reserve(count * size);
  for (int64_t i = 0; i < count; ++i) {
    made->bytes.insert(made->bytes.end(), one.begin(), one.end());
  }
  *tensor = std::move(made);
  return true;
}

bool ReadHex(TextLexer& lexer, ElementType type, const Shape& shape,
             TensorPtr* tensor) {
  const size_t start = lexer.at();
  auto made = std::make_shared<Tensor>();
  made->type = type;
  made->shape = shape;
  if (!lexer.HexBytes(&made->bytes)) return false;
  const int64_t size = ElementSize(type);
  const auto bytes = static_cast<int64_t>(made->bytes.size());
  if (bytes % size != 0 || bytes / size != ElementCount(shape)) {
    return lexer.Fail(start, "these are " + std::to_string(bytes) +
                                 " bytes, the type has " +
                                 std::to_string(ElementCount(shape)) +
                                 " elements of " + std::to_string(size));
  }
  *tensor = std::move(made);
  return true;
}

// The numbers between brackets: integers if all of them are.
bool ReadNumbers(TextLexer& lexer, Attribute* attribute) {
  std::vector<NumberToken> tokens;
  bool integer = true;
  const bool read = ReadList(lexer, "]", [&] {
    tokens.emplace_back();
    if (!lexer.Number(&tokens.back())) return false;
    integer = integer && tokens.back().integer;
    return true;
  });
  if (!read) return false;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  for (const NumberToken& token : tokens) {
    if (integer) {
      if (!lexer.ToInteger(token, &integers.emplace_back())) return false;
    } else {
      if (!lexer.ToReal(token, &reals.emplace_back())) return false;
      reals.back() = OneNan(reals.back());
    }
  }
  if (integer) {
    *attribute = std::move(integers);
  } else {
    *attribute = std::move(reals);
  }
  return true;
}

bool ReadTexts(TextLexer& lexer, Attribute* attribute) {
  std::vector<std::string> texts;
  const bool read =
      ReadList(lexer, "]", [&] { return lexer.Quoted(&texts.emplace_back()); });
  *attribute = std::move(texts);
  return read;
}

bool ReadTensorAttribute(TextLexer& lexer, int64_t* splat_bytes_left,
                         Attribute* attribute) {
  const size_t at = lexer.at();
  TensorType type;
  TensorPtr tensor;
  if (!ReadType(lexer, &type)) return false;
  if (type.encoding) return lexer.Fail(at, "an attribute has no quantization");
  if (!ReadElements(lexer, type.element, type.shape, splat_bytes_left,
                    &tensor)) {
    return false;
  }
  *attribute = std::move(tensor);
  return true;
}

bool ReadAttribute(TextLexer& lexer, int64_t* splat_bytes_left,
                   Attribute* attribute) {
  const size_t at = lexer.at();
  if (lexer.Take("[")) {
    return lexer.Peek('"') ? ReadTexts(lexer, attribute)
                           : ReadNumbers(lexer, attribute);
  }
  if (lexer.PeekNumber()) {
    NumberToken token;
    if (!lexer.Number(&token)) return false;
    if (token.integer) return lexer.ToInteger(token, &attribute->emplace<0>());
    double value = 0;
    if (!lexer.ToReal(token, &value)) return false;
    *attribute = OneNan(value);
    return true;
  }
  if (lexer.Peek('"')) {
    return lexer.Quoted(&attribute->emplace<std::string>());
  }
  if (lexer.TakeWord("reals")) {
    *attribute = std::vector<double>();
    return lexer.Expect("[") && lexer.Expect("]");
  }
  if (lexer.TakeWord("strings")) {
    *attribute = std::vector<std::string>();
    return lexer.Expect("[") && lexer.Expect("]");
  }
  if (lexer.TakeWord("none")) {
    *attribute = TensorPtr();
    return true;
  }
  if (lexer.TakeWord("tensor")) {
    return ReadTensorAttribute(lexer, splat_bytes_left, attribute);
  }
  return lexer.Fail(at, "expected a number, a text, a list or a tensor");
}

std::optional<Step::Kind> FindStep(std::string_view name) {
  for (const auto kind :
       {Step::Kind::kMultiply, Step::Kind::kDivide, Step::Kind::kAdd,
        Step::Kind::kBatchNorm, Step::Kind::kClip, Step::Kind::kReciprocal}) {
    if (StepKindName(kind) == name) return kind;
  }
  return std::nullopt;
}

bool ReadStepOperands(TextLexer& lexer, size_t operand_count, Step* step) {
  do {
    const size_t at = lexer.at();
    int64_t number = 0;
    if (!lexer.Integer(&number)) return false;
    if (number < 0 || number >= static_cast<int64_t>(operand_count)) {
      return lexer.Fail(at, "the node has no operand of this number");
    }
    step->operands.push_back(static_cast<uint32_t>(number));
  } while (lexer.Take(","));
  return true;
}

bool ReadStep(TextLexer& lexer, size_t operand_count, Step* step) {
  const size_t at = lexer.at();
  std::string_view name;
  if (!lexer.Word("a step", &name)) return false;
  const auto kind = FindStep(name);
  if (!kind) return lexer.Fail(at, "there is no such step");
  step->kind = *kind;
  if (!lexer.Expect("(")) return false;
  if (*kind == Step::Kind::kClip) {
    if (!lexer.Real(&step->low) || !lexer.Expect(",") ||
        !lexer.Real(&step->high)) {
      return false;
    }
    step->low = OneNan(step->low);
    step->high = OneNan(step->high);
    return lexer.Expect(")");
  }
  if (!ReadStepOperands(lexer, operand_count, step)) return false;
  const bool batch_norm = *kind == Step::Kind::kBatchNorm;
  if (step->operands.size() != (batch_norm ? 4 : 1)) {
    return lexer.Fail(at, "this step has another number of operands");
  }
  if (batch_norm) {
    if (!lexer.ExpectWord("eps") || !lexer.Expect("=") ||
        !lexer.Real(&step->epsilon)) {
      return false;
    }
    step->epsilon = OneNan(step->epsilon);
  }
  return lexer.Expect(")");
}

}  // namespace

bool ReadQuotedList(TextLexer& lexer, std::vector<std::string>* texts) {
  return lexer.Expect("(") && ReadList(lexer, ")", [&] {
           return lexer.Quoted(&texts->emplace_back());
         });
}

bool ReadType(TextLexer& lexer, TensorType* type) {
  const size_t at = lexer.at();
  std::string_view name;
  if (!lexer.Word("an element type", &name)) return false;
  const auto element = ParseElementType(name);
  if (!element) return lexer.Fail(at, "there is no such element type");
  type->element = *element;
  if (!ReadShape(lexer, &type->shape)) return false;
  if (!lexer.TakeWord("q")) return true;
  return lexer.Expect("(") &&
         ReadEncoding(lexer, type->shape, &type->encoding.emplace());
}

bool ReadElements(TextLexer& lexer, ElementType type, const Shape& shape,
                  int64_t* splat_bytes_left, TensorPtr* tensor) {
  const size_t at = lexer.at();
  if (ElementSize(type) == 0) {
    return lexer.Fail(at, "a tensor of this type has no elements to store");
  }
  if (lexer.TakeWord("hex")) return ReadHex(lexer, type, shape, tensor);
  if (lexer.TakeWord("splat")) {
    return ReadSplat(lexer, type, shape, splat_bytes_left, tensor);
  }
  if (!lexer.Take("[")) {
    return lexer.Fail(at, "expected [elements], splat(element) or hex\"...\"");
  }
  Elements elements(lexer, type);
  if (!ReadList(lexer, "]", [&] { return elements.Read(); })) return false;
  if (elements.size() != ElementCount(shape)) {
    return lexer.Fail(at, "these are " + std::to_string(elements.size()) +
                              " elements, the shape has " +
                              std::to_string(ElementCount(shape)));
  }
  *tensor = elements.Make(shape);
  return true;
}

bool ReadAttributes(TextLexer& lexer, int64_t* splat_bytes_left,
                    AttributeMap* attributes) {
  return lexer.Expect("{") && ReadList(lexer, "}", [&] {
           const size_t at = lexer.at();
           std::string key;
           if (!lexer.Name(&key) || !lexer.Expect("=")) return false;
           if (attributes->count(key)) {
             return lexer.Fail(at, "this attribute is said twice");
           }
           return ReadAttribute(lexer, splat_bytes_left, &(*attributes)[key]);
         });
}

bool ReadSteps(TextLexer& lexer, size_t operand_count,
               std::vector<Step>* steps) {
  return lexer.Expect("[") && ReadList(lexer, "]", [&] {
           return ReadStep(lexer, operand_count, &steps->emplace_back());
         });
}

}  // namespace fold
