// The four obligations of a product whose constant goes to the right, each with
// mutations that its own checker alone notices.
#include "compiler/passes/constant_product.h"

#include <gtest/gtest.h>

#include <functional>

namespace fold {
namespace {

// A constant of `shape` with elements that all differ (as far as 8 bits go).
Tensor Numbered(const Shape& shape, ElementType type = ElementType::i8) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < ElementCount(shape); ++i) {
    values.push_back(type == ElementType::u4 ? i % 16 : i * 7 % 251 - 125);
  }
  return *MakeIntegerTensor(type, shape, values);
}

Encoding PerTensor() {
  Encoding e;
  e.scales = {0.5};
  e.zero_points = {3};
  return e;
}

Encoding PerAxis(int axis, int64_t count) {
  Encoding e;
  e.axis = axis;
  for (int64_t i = 0; i < count; ++i) {
    e.scales.push_back(0.5 + static_cast<double>(i));
    e.zero_points.push_back(i);
  }
  return e;
}

// A scale for each block of 2 along `axis` of `shape`, all different.
Encoding Blocked(int axis, const Shape& shape) {
  Shape blocks = shape;
  blocks[axis] = (shape[axis] + 1) / 2;
  Encoding e = PerAxis(axis, ElementCount(blocks));
  e.block = 2;
  return e;
}

struct Case {
  LeftProduct left;
  Tensor constant;
  Encoding encoding;

  RightProduct Turned() const { return TurnProduct(left, constant, encoding); }
};

Case CaseOf(const Shape& constant, const Shape& value, const Encoding& encoding,
            ElementType type = ElementType::i8) {
  return {{constant, value}, Numbered(constant, type), encoding};
}

// The faults of data, shape, encoding and index, "" where there is none.
std::vector<std::string> Faults(const Case& c, const RightProduct& right) {
  return {DataFault(c.constant, right), ShapeFault(c.left, right),
          EncodingFault(c.left, c.encoding, right), IndexFault(c.left, right)};
}

const std::vector<std::string> kNone = {"", "", "", ""};

// A checker alone, of the four, has something to say, and it begins so.
void ExpectOnly(size_t checker, const std::string& fault, const Case& c,
                const RightProduct& right) {
  const auto faults = Faults(c, right);
  for (size_t i = 0; i < faults.size(); ++i) {
    if (i != checker) {
      EXPECT_EQ(faults[i], "");
      continue;
    }
    EXPECT_EQ(faults[i].substr(0, fault.size()), fault);
  }
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Shape& value : {Shape{4, 5}, Shape{4, 1}, Shape{4}, Shape{2, 4, 5},
                             Shape{3, 2, 4, 5}}) {
    cases.push_back(CaseOf({3, 4}, value, PerTensor()));
    cases.push_back(CaseOf({3, 4}, value, PerAxis(0, 3)));
    cases.push_back(CaseOf({3, 4}, value, PerAxis(1, 4)));
    cases.push_back(CaseOf({3, 4}, value, Blocked(0, {3, 4})));
    cases.push_back(CaseOf({3, 4}, value, Blocked(1, {3, 4})));
    cases.push_back(CaseOf({3, 4}, value, PerAxis(0, 3), ElementType::u4));
    cases.push_back(CaseOf({4}, value, PerTensor()));
    cases.push_back(CaseOf({4}, value, PerAxis(0, 4)));
    cases.push_back(CaseOf({4}, value, Blocked(0, {4})));
  }
  for (const Shape& value : {Shape{4, 5}, Shape{2, 4, 5}, Shape{6, 1, 4, 5}}) {
    cases.push_back(CaseOf({2, 3, 4}, value, PerTensor()));
    cases.push_back(CaseOf({2, 3, 4}, value, PerAxis(0, 2)));
    cases.push_back(CaseOf({2, 3, 4}, value, PerAxis(1, 3)));
    cases.push_back(CaseOf({2, 3, 4}, value, Blocked(2, {2, 3, 4})));
    cases.push_back(CaseOf({2, 3, 4}, value, Blocked(1, {2, 3, 4})));
  }
  return cases;
}

TEST(ConstantProduct, HoldsForShapesAndEncodings) {
  for (const Case& c : AllCases()) {
    EXPECT_EQ(Faults(c, c.Turned()), kNone)
        << c.left.constant.size() << " " << c.left.value.size();
  }
}

// The real number behind a code of the constant, the encoding read apart from
// the code under test: blocks of a matrix alone.
double RealAt(const Tensor& tensor, const Encoding& e, int64_t row,
              int64_t column) {
  const int64_t columns = tensor.shape[1];
  int64_t parameter = 0;
  if (e.axis >= 0) {
    const int64_t along = e.axis == 0 ? row : column;
    parameter = along;
    if (e.block > 0 && e.axis == 0) {
      parameter = along / e.block * columns + column;
    } else if (e.block > 0) {
      const int64_t blocks = (columns + e.block - 1) / e.block;
      parameter = row * blocks + along / e.block;
    }
  }
  return static_cast<double>(tensor.integer(row * columns + column) -
                             e.zero_point(parameter)) *
         e.scale(parameter);
}

// Products of real numbers, both ways, entry by entry.
TEST(ConstantProduct, GivesTheSameProducts) {
  for (const Encoding& e : {PerTensor(), PerAxis(0, 3), PerAxis(1, 4),
                            Blocked(0, {3, 4}), Blocked(1, {3, 4})}) {
    const Case c = CaseOf({3, 4}, {4, 5}, e);
    const RightProduct right = c.Turned();
    const Tensor value = Numbered({4, 5});
    for (int64_t m = 0; m < 3; ++m) {
      for (int64_t n = 0; n < 5; ++n) {
        double left = 0, turned = 0;
        for (int64_t k = 0; k < 4; ++k) {
          const double x = value.real(k * 5 + n);
          left += RealAt(c.constant, e, m, k) * x;
          turned += x * RealAt(*right.constant, *right.encoding, k, m);
        }
        ASSERT_EQ(left, turned) << m << " " << n;
      }
    }
  }
}

TEST(ConstantProduct, DataAloneNoticesOtherElements) {
  const Case c = CaseOf({3, 4}, {4, 5}, PerAxis(0, 3));
  RightProduct right = c.Turned();
  Tensor copied = c.constant;  // not transposed, only called so
  copied.shape = right.constant->shape;
  right.constant = std::make_shared<Tensor>(copied);
  ExpectOnly(0, "data: element (1,0) is not the old (0,1)", c, right);
  right = c.Turned();
  Tensor changed = *right.constant;
  changed.bytes.back() ^= 1;
  right.constant = std::make_shared<Tensor>(changed);
  ExpectOnly(0, "data: element (3,2)", c, right);
  Tensor wider = *MakeIntegerTensor(ElementType::i16, changed.shape,
                                    std::vector<int64_t>(12, 1));
  right.constant = std::make_shared<Tensor>(wider);
  ExpectOnly(0, "data: the element type", c, right);
}

TEST(ConstantProduct, ShapeAloneNoticesOtherShapes) {
  // The elements lie where they should and the matrix is called [M, K] still.
  const Case c = CaseOf({3, 4}, {4, 5}, PerTensor());
  RightProduct right = c.Turned();
  Tensor misnamed = *right.constant;
  misnamed.shape = {3, 4};
  right.constant = std::make_shared<Tensor>(misnamed);
  ExpectOnly(1, "shape: the constant is [3,4], not [4,3]", c, right);
  const std::pair<Shape RightProduct::*, std::string> shapes[] = {
      {&RightProduct::value, "shape: the value is [5,1,4], not [5,4]"},
      {&RightProduct::product, "shape: the product is [5,1,3], not [5,3]"},
      {&RightProduct::result, "shape: the result is [3,1,5], not [3,5]"}};
  for (const auto& [member, fault] : shapes) {
    right = c.Turned();
    (right.*member).insert((right.*member).begin() + 1, 1);
    ExpectOnly(1, fault, c, right);
  }
  const Case wrong = CaseOf({3, 4}, {6, 5}, PerTensor());
  ExpectOnly(1, "shape: the operands do not fit", wrong, wrong.Turned());
}

TEST(ConstantProduct, EncodingAloneNoticesOtherNumbers) {
  const Case c = CaseOf({4, 4}, {4, 4}, PerAxis(0, 4));
  const std::vector<std::function<void(Encoding&)>> mutations = {
      [](Encoding& e) { e.axis = 0; },  // copied and not remapped
      [](Encoding& e) { std::swap(e.scales[1], e.scales[2]); },
      [](Encoding& e) { e.zero_points[3] += 1; },
      [](Encoding& e) { e.scales.resize(3); },
      [](Encoding& e) { e.code_high = 7; },
      [](Encoding& e) { e.rounding = Rounding::kFloor; }};
  for (const auto& mutation : mutations) {
    RightProduct right = c.Turned();
    mutation(*right.encoding);
    ExpectOnly(2, "encoding: ", c, right);
  }
  RightProduct right = c.Turned();
  right.encoding.reset();  // a constant of the storage type alone
  ExpectOnly(2, "encoding: it is lost or invented", c, right);
  // Blocked scales whose axis is remapped and whose order is not.
  const Case blocked = CaseOf({4, 4}, {4, 4}, Blocked(1, {4, 4}));
  right = blocked.Turned();
  right.encoding->scales = blocked.encoding.scales;
  ExpectOnly(2, "encoding: element 2 stands for another number", blocked,
             right);
}

// Square matrices, whose shapes say nothing.
TEST(ConstantProduct, IndexAloneNoticesOtherOrders) {
  const Case c = CaseOf({4, 4}, {4, 4, 4}, PerAxis(0, 4));
  RightProduct right = c.Turned();
  right.value_permutation = {0, 1, 2};
  ExpectOnly(3, "index: row n", c, right);
  right = c.Turned();
  right.value_permutation = {1, 2, 0};
  ExpectOnly(3, "index: row n", c, right);
  right = c.Turned();
  right.product_permutation = {};
  ExpectOnly(3, "index: result (m,n)", c, right);
  right = c.Turned();
  right.product_permutation = {2, 1, 0};
  ExpectOnly(3, "index: result (m,n)", c, right);
  const Case vector = CaseOf({4, 4}, {4}, PerTensor());
  right = vector.Turned();
  right.product_permutation = {0};
  ExpectOnly(3, "index: a vector is transposed", vector, right);
  const Case row = CaseOf({4}, {4, 4}, PerTensor());
  right = row.Turned();
  right.product_permutation = {1, 0};
  ExpectOnly(3, "index: the product with a vector", row, right);
}

}  // namespace
}  // namespace fold
