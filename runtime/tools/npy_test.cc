#include "runtime/tools/npy.h"

#include <gtest/gtest.h>

namespace fold::tools {
namespace {

std::vector<uint8_t> File(const std::string& header,
                          const std::vector<uint8_t>& data, int version = 1) {
  std::string text = "\x93NUMPY";
  text.push_back(static_cast<char>(version));
  text.push_back(0);
  text.push_back(static_cast<char>(header.size() & 0xff));
  text.push_back(static_cast<char>(header.size() >> 8));
  if (version > 1) text += std::string(2, '\0');
  text += header;
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string ErrorOf(const std::vector<uint8_t>& file) {
  Array array;
  std::string error;
  return ParseNpy(file.data(), file.size(), &array, &error) ? "ok" : error;
}

TEST(Npy, ReadsBackWhatItWrites) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 1, 1, 1, 1, 6}}) {
    Array array;
    array.descr = "<i2";
    array.shape = shape;
    array.bytes.resize(2 * Elements(shape));
    for (size_t i = 0; i < array.bytes.size(); ++i) {
      array.bytes[i] = static_cast<uint8_t>(i * 7);
    }
    const std::vector<uint8_t> file = WriteNpy(array);
    EXPECT_EQ((file.size() - array.bytes.size()) % 64, 0u);
    Array back;
    std::string error;
    ASSERT_TRUE(ParseNpy(file.data(), file.size(), &back, &error)) << error;
    EXPECT_EQ(back.descr, array.descr);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.bytes, array.bytes);
  }
}

// A header as numpy 1.24 writes it, byte for byte.
TEST(Npy, WritesNumpysHeader) {
  Array array;
  array.descr = "<f4";
  array.shape = {1, 3};
  array.bytes.resize(12);
  const std::vector<uint8_t> file = WriteNpy(array);
  const std::string want =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  EXPECT_EQ(std::string(file.begin() + 10, file.begin() + 10 + want.size()),
            want);
  EXPECT_EQ(file[8] + 256 * file[9] + 10, 128);
  EXPECT_EQ(file[127], '\n');
}

TEST(Npy, ReadsOtherVersionsAndSpellings) {
  Array array;
  std::string error;
  for (int version : {1, 2, 3}) {
    const auto file =
        File("{'shape': (2L,), 'fortran_order': False, 'descr': '|u1'}", {5, 6},
             version);
    ASSERT_TRUE(ParseNpy(file.data(), file.size(), &array, &error)) << error;
    EXPECT_EQ(array.shape, std::vector<int64_t>{2});
    EXPECT_EQ(array.bytes, (std::vector<uint8_t>{5, 6}));
  }
}

TEST(Npy, TurnsFortranOrder) {
  Array array;
  std::string error;
  const auto file =
      File("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
           {1, 4, 2, 5, 3, 6});
  ASSERT_TRUE(ParseNpy(file.data(), file.size(), &array, &error)) << error;
  EXPECT_EQ(array.bytes, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, RefusesWhatItCannotRead) {
  const std::string good =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_EQ(ErrorOf(File(good, {1, 2})), "ok");
  EXPECT_EQ(ErrorOf(File(good, {1})), "data do not fill the shape (2,)");
  EXPECT_EQ(ErrorOf(File(good, {1, 2, 3})), "data do not fill the shape (2,)");
  EXPECT_EQ(ErrorOf(File(good, {1, 2}, 4)), "not a .npy array");
  EXPECT_EQ(ErrorOf({1, 2, 3}), "not a .npy array");
  EXPECT_EQ(ErrorOf(File("{'descr': '>f4', 'fortran_order': False, "
                         "'shape': (1,), }",
                         {0, 0, 0, 0})),
            "element type '>f4' is not supported");
  EXPECT_EQ(ErrorOf(File("{'descr': [('a', '<f4')], 'fortran_order': False, "
                         "'shape': (1,), }",
                         {0, 0, 0, 0})),
            "a .npy header that is not understood");
  EXPECT_EQ(ErrorOf(File("{'descr': '|u1', 'fortran_order': False, 'shape': "
                         "(-1,), }",
                         {})),
            "a .npy header that is not understood");
  EXPECT_NE(ErrorOf(File("{'descr': '<f8', 'fortran_order': False, 'shape': "
                         "(4294967296, 4294967296, 8), }",
                         {})),
            "ok");
  std::vector<uint8_t> cut = File(good, {1, 2});
  for (size_t size = 0; size < cut.size(); ++size) {
    EXPECT_NE(ErrorOf(std::vector<uint8_t>(cut.begin(), cut.begin() + size)),
              "ok");
  }
}

TEST(Npy, Descr) {
  for (const char* descr :
       {"<f2", "<f4", "<f8", "|i1", "|u1", "<i2", "<u8", "|b1"}) {
    EXPECT_EQ(DescrBytes(descr), static_cast<size_t>(descr[2] - '0')) << descr;
  }
  for (const char* descr :
       {"", "<f1", "<b2", "<c8", ">i2", "<U4", "|i2", "<f16"}) {
    EXPECT_EQ(DescrBytes(descr), 0u) << descr;
  }
}

}  // namespace
}  // namespace fold::tools
