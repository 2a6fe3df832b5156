#include "runtime/tools/npz.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <fstream>
#include <iterator>

namespace fold::tools {
namespace {

std::string Path(const std::string& name) { return testing::TempDir() + name; }

std::vector<char> Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

Array Bytes(std::vector<uint8_t> values) {
  Array array;
  array.descr = "|u1";
  array.shape = {static_cast<int64_t>(values.size())};
  array.bytes = std::move(values);
  return array;
}

TEST(Npz, ReadsBackNamesAsOnnxHasThem) {
  Arrays arrays;
  arrays["serving_default_input:0"] = Bytes({1, 2, 3});
  arrays["/model/conv/Conv_output_0"] = Bytes({4});
  arrays["x.npy"] = Bytes({5});
  Array scalar = Bytes({9});
  scalar.shape = {};
  arrays["scalar"] = scalar;
  std::string error;
  ASSERT_TRUE(WriteNpz(Path("names.npz"), arrays, &error)) << error;
  Arrays back;
  ASSERT_TRUE(ReadNpz(Path("names.npz"), &back, &error)) << error;
  ASSERT_EQ(back.size(), 4u);
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(back[name].bytes, array.bytes) << name;
    EXPECT_EQ(back[name].shape, array.shape) << name;
  }
}

TEST(Npz, TheSameArraysGiveTheSameBytes) {
  const Arrays arrays = {{"a", Bytes({1, 2})}, {"b", Bytes({3})}};
  std::string error;
  ASSERT_TRUE(WriteNpz(Path("one.npz"), arrays, &error)) << error;
  ASSERT_TRUE(WriteNpz(Path("two.npz"), arrays, &error)) << error;
  EXPECT_EQ(Content(Path("one.npz")), Content(Path("two.npz")));
}

TEST(Npz, SaysWhatIsWrong) {
  Arrays arrays;
  std::string error;
  EXPECT_FALSE(ReadNpz(Path("no such file"), &arrays, &error));
  EXPECT_NE(error.find("no such file"), std::string::npos);
  std::ofstream(Path("text.npz")) << "this is no archive";
  EXPECT_FALSE(ReadNpz(Path("text.npz"), &arrays, &error));

  int code = 0;
  zip_t* archive =
      zip_open(Path("bad.npz").c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  ASSERT_NE(archive, nullptr);
  zip_source_t* source = zip_source_buffer(archive, "junk", 4, 0);
  zip_file_add(archive, "broken.npy", source, 0);
  zip_close(archive);
  EXPECT_FALSE(ReadNpz(Path("bad.npz"), &arrays, &error));
  EXPECT_NE(error.find("array 'broken': not a .npy array"), std::string::npos)
      << error;
  EXPECT_FALSE(WriteNpz(Path("no/such/folder.npz"), arrays, &error));
}

}  // namespace
}  // namespace fold::tools
