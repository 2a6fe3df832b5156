#include "runtime/tools/session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "runtime/format/test_artifact.h"

namespace fold::tools {
namespace {

std::string WriteFile(const std::string& name, const format::TestFile& file) {
  std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()),
             static_cast<std::streamsize>(file.size()));
  return path;
}

std::string Network() {
  return WriteFile("session_network.fold", format::SmallNetwork().Finish());
}

Arrays Inputs() {
  Array x;
  x.descr = "<f4";
  x.shape = {1, 3, 4, 5};
  x.bytes.resize(240);
  for (int i = 0; i < 60; ++i) {
    const float value = static_cast<float>(i % 13) - 5.0f;
    std::memcpy(&x.bytes[4 * i], &value, 4);
  }
  return {{"x", x}};
}

TEST(Session, RunsFromFileToArrays) {
  for (int threads : {1, 3}) {
    Session session;
    std::string error;
    ASSERT_TRUE(session.Open(Network(), threads, &error)) << error;
    ASSERT_TRUE(session.SetInputs(Inputs(), &error)) << error;
    Arrays taps;
    ASSERT_TRUE(session.Run(&taps, &error)) << error;
    const Arrays outputs = session.Outputs();
    ASSERT_EQ(outputs.size(), 1u);
    const Array& y = outputs.at("y");
    EXPECT_EQ(y.descr, "<f4");
    EXPECT_EQ(y.shape, (std::vector<int64_t>{1, 6, 4, 5}));
    // The output is the tapped code of the convolution times 0.25.
    const Array& conv = taps.at("conv");
    EXPECT_EQ(conv.descr, "|i1");
    EXPECT_EQ(conv.shape, y.shape);
    ASSERT_EQ(conv.bytes.size(), 120u);
    bool varied = false;
    for (size_t i = 0; i < 120; ++i) {
      float value;
      std::memcpy(&value, &y.bytes[4 * i], 4);
      EXPECT_EQ(value, 0.25f * static_cast<int8_t>(conv.bytes[i]));
      varied = varied || conv.bytes[i] != conv.bytes[0];
    }
    EXPECT_TRUE(varied);
    EXPECT_EQ(taps.at("x_quantized").bytes[0], 0);  // -5 / 0.5 + 10
    EXPECT_EQ(taps.at("x_quantized").bytes[7], 14);
  }
}

TEST(Session, NamesTheInputAtFault) {
  Session session;
  std::string error;
  ASSERT_TRUE(session.Open(Network(), 1, &error)) << error;
  EXPECT_FALSE(session.SetInputs({}, &error));
  EXPECT_EQ(error, "input 'x' is missing; wanted x: <f4 (1, 3, 4, 5)");
  Arrays wrong = Inputs();
  wrong["x"].shape = {1, 3, 20};
  EXPECT_FALSE(session.SetInputs(wrong, &error));
  EXPECT_EQ(error, "input 'x' is <f4 (1, 3, 20), not <f4 (1, 3, 4, 5)");
  wrong = Inputs();
  wrong["x"].descr = "<i4";
  EXPECT_FALSE(session.SetInputs(wrong, &error));
  EXPECT_EQ(error, "input 'x' is <i4 (1, 3, 4, 5), not <f4 (1, 3, 4, 5)");
}

TEST(Session, NamesTheFileAtFault) {
  Session session;
  std::string error;
  EXPECT_FALSE(session.Open(testing::TempDir() + "missing.fold", 1, &error));
  EXPECT_NE(error.find("missing.fold: No such file"), std::string::npos);
  const std::string empty = testing::TempDir() + "empty.fold";
  std::ofstream(empty).flush();
  EXPECT_FALSE(session.Open(empty, 1, &error));
  const std::string text = testing::TempDir() + "text.fold";
  std::ofstream(text) << "a text that is long enough to be looked at";
  EXPECT_FALSE(session.Open(text, 1, &error));
  EXPECT_NE(error.find("not a .fold artifact"), std::string::npos);
}

TEST(Session, RefusesMemoryThatNobodyHas) {
  format::TestArtifact a;
  const int x = a.Arena(format::ElementType::U8, {1 << 20, 1 << 19});
  const int y = a.Arena(format::ElementType::U8, {1 << 20, 1 << 18});
  format::SliceParametersT p;
  p.starts = {0, 0};
  p.steps = {1, 1};
  a.Add(format::Opcode::SLICE, p, {x}, y);
  Session session;
  std::string error;
  EXPECT_FALSE(session.Open(WriteFile("huge.fold", a.Finish()), 1, &error));
  EXPECT_NE(error.find("no memory for an arena of"), std::string::npos);
}

}  // namespace
}  // namespace fold::tools
