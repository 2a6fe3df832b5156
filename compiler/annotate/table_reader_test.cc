// What each format means, and that no fault of a table goes unsaid.
#include "compiler/annotate/table_reader.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace fold {
namespace {

EncodingTable TableOf(const std::string& json) {
  EncodingTable table;
  Diagnostics sink;
  EXPECT_TRUE(ReadEncodingTable(json, &table, &sink));
  for (const Diagnostic& diagnostic : sink.all()) {
    ADD_FAILURE() << FormatDiagnostic(diagnostic);
  }
  return table;
}

// A 0.6.1 file with one activation of this encoding.
std::string Old(const std::string& encoding) {
  return R"({"version": "0.6.1", "activation_encodings": {"x": [)" + encoding +
         R"(]}, "param_encodings": {}})";
}

// A 1.0.0 file with one parameter of these fields.
std::string New(const std::string& fields) {
  return R"({"version": "1.0.0", "param_encodings": [{"name": "w", )" + fields +
         "}]}";
}

constexpr char kOld[] =
    R"({"bitwidth": 8, "dtype": "int", "is_symmetric": "False",)"
    R"( "max": 1.4, "min": -1.15, "offset": -115, "scale": 0.01})";
constexpr char kNew[] =
    R"("enc_type": "PER_TENSOR", "dtype": "INT", "bw": 8, "is_sym": true,)"
    R"( "scale": [0.5], "offset": [-128.0])";

// real = (code + offset) * scale, with codes from 0.
TEST(TableReader, OldAsymmetric) {
  const EncodingTable table = TableOf(Old(kOld));
  ASSERT_EQ(table.entries.size(), 1u);
  const EncodingEntry& entry = table.entries[0];
  EXPECT_EQ(entry.kind, EncodingEntry::Kind::kActivation);
  EXPECT_EQ(entry.name, "x");
  EXPECT_FALSE(entry.per_channel);
  EXPECT_EQ(FormatEncoding(entry.encoding), "s=0.01 z=115 codes=[0,255]");
  EXPECT_EQ(entry.encoding.source, "activation_encodings 'x'");
}

TEST(TableReader, SymmetricCodesAreSigned) {
  const EncodingTable table = TableOf(New(kNew));
  EXPECT_EQ(FormatEncoding(table.entries[0].encoding),
            "s=0.5 z=0 codes=[-128,127]");
  EXPECT_EQ(table.entries[0].encoding.source, "param_encodings 'w'");
  // Unsigned symmetric: zero is the lowest code.
  const EncodingTable positive =
      TableOf(New(R"("dtype": "INT", "bw": 8, "is_sym": true, "scale": [0.5],)"
                  R"( "offset": [0])"));
  EXPECT_EQ(FormatEncoding(positive.entries[0].encoding),
            "s=0.5 z=0 codes=[0,255]");
}

// A strict symmetric grid has no code without an opposite.
TEST(TableReader, NarrowRanges) {
  const EncodingTable stated =
      TableOf(Old(R"({"bitwidth": 8, "is_symmetric": "True", "offset": -127,)"
                  R"( "scale": 0.5, "min": -63.5, "max": 63.5})"));
  EXPECT_EQ(FormatEncoding(stated.entries[0].encoding),
            "s=0.5 z=0 codes=[-127,127]");
  const EncodingTable implied =
      TableOf(New(R"("dtype": "INT", "bw": 4, "is_sym": true, "scale": [0.5],)"
                  R"( "offset": [-7])"));
  EXPECT_EQ(FormatEncoding(implied.entries[0].encoding),
            "s=0.5 z=0 codes=[-7,7]");
  const EncodingTable minimum =
      TableOf(Old(R"({"bitwidth": 8, "is_symmetric": "True", "offset": -128,)"
                  R"( "scale": 0.5, "min": -63.5, "max": 63.5})"));
  EXPECT_EQ(FormatEncoding(minimum.entries[0].encoding),
            "s=0.5 z=0 codes=[-127,127]");
}

TEST(TableReader, ChannelsInBothFormats) {
  const EncodingTable old = TableOf(
      R"({"version": "0.6.1", "param_encodings": {"w": [)"
      R"({"bitwidth": 8, "is_symmetric": "True", "offset": -128, "scale": 1},)"
      R"({"bitwidth": 8, "is_symmetric": "True", "offset": -128, "scale": 2})"
      R"(]}})");
  const EncodingTable modern = TableOf(
      New(R"("enc_type": "PER_CHANNEL", "dtype": "INT", "bw": 8,)"
          R"( "is_sym": true, "scale": [1, 2], "offset": [-128, -128])"));
  for (const EncodingTable& table : {old, modern}) {
    ASSERT_EQ(table.entries.size(), 1u);
    EXPECT_TRUE(table.entries[0].per_channel);
    EXPECT_EQ(table.entries[0].encoding.scales, (std::vector<double>{1, 2}));
    EXPECT_EQ(table.entries[0].encoding.zero_points,
              (std::vector<int64_t>{0, 0}));
  }
  const EncodingTable stated = TableOf(
      New(R"("enc_type": "PER_CHANNEL", "dtype": "INT", "bw": 8, "axis": -1,)"
          R"( "is_sym": false, "scale": [1], "offset": [-3])"));
  EXPECT_EQ(stated.entries[0].axis, -1);
}

TEST(TableReader, PlacesOfNodes) {
  const EncodingTable table =
      TableOf(R"({"version": "0.6.1", "activation_encodings": {"conv": {)"
              R"("input": {"0": )" +
              std::string(kOld) + R"(}, "output": {"1": [)" + kOld + "]}}}}");
  ASSERT_EQ(table.entries.size(), 2u);
  EXPECT_EQ(table.entries[0].port, EncodingEntry::Port::kInput);
  EXPECT_EQ(table.entries[0].place, 0);
  EXPECT_EQ(table.entries[1].port, EncodingEntry::Port::kOutput);
  EXPECT_EQ(table.entries[1].place, 1);
  EXPECT_EQ(table.entries[1].encoding.source,
            "activation_encodings 'conv' output 1");
}

TEST(TableReader, FloatEntriesAreNoEncodings) {
  const EncodingTable table =
      TableOf(Old(R"({"bitwidth": 16, "dtype": "float"})"));
  ASSERT_EQ(table.entries.size(), 1u);
  EXPECT_TRUE(table.entries[0].is_float);
  EXPECT_EQ(table.entries[0].bits, 16);
  EXPECT_TRUE(TableOf(New(R"("dtype": "FP", "bw": 16)")).entries[0].is_float);
}

TEST(TableReader, WideBiases) {
  const EncodingTable table = TableOf(
      New(R"("dtype": "INT", "bw": 32, "is_sym": true, "scale": [1e-7],)"
          R"( "offset": [-2147483648])"));
  EXPECT_EQ(FormatEncoding(table.entries[0].encoding),
            "s=1e-07 z=0 codes=[-2147483648,2147483647]");
}

struct Hostile {
  const char* what;
  std::string json;
  DiagnosticCode code;
  const char* where;
  const char* message;
};

constexpr auto kTable = DiagnosticCode::bad_encoding_table;
constexpr auto kScale = DiagnosticCode::bad_scale;
constexpr auto kZero = DiagnosticCode::bad_zero_point;
constexpr auto kType = DiagnosticCode::unsupported_type;

void ExpectNamed(std::initializer_list<Hostile> cases) {
  for (const Hostile& hostile : cases) {
    EncodingTable table;
    Diagnostics sink;
    EXPECT_FALSE(ReadEncodingTable(hostile.json, &table, &sink))
        << hostile.what;
    ASSERT_FALSE(sink.all().empty()) << hostile.what;
    const Diagnostic& said = sink.all()[0];
    EXPECT_STREQ(KindOf(said.code).name, KindOf(hostile.code).name)
        << hostile.what << ": " << said.message;
    EXPECT_EQ(said.node, hostile.where) << hostile.what;
    EXPECT_NE(said.message.find(hostile.message), std::string::npos)
        << hostile.what << ": " << said.message;
  }
}

TEST(TableReader, FaultsOfTheFileAreNamed) {
  ExpectNamed({
      {"no JSON", "{", kTable, "--encodings", "is not JSON at line 1"},
      {"a list", "[]", kTable, "", "and not an object"},
      {"no version", "{}", kTable, "version", "is missing"},
      {"2.0.0", R"({"version": "2.0.0"})", kTable, "version", "2.0.0"},
      {"no section", R"({"version": "1.0.0"})", kTable, "", "has neither"},
      {"section twice",
       R"({"version": "1.0.0", "param_encodings": [], "param_encodings": []})",
       kTable, "param_encodings", "twice"},
      {"old with a list", R"({"version": "0.6.1", "param_encodings": []})",
       kTable, "param_encodings", "not an object of names"},
      {"new with an object", R"({"version": "1.0.0", "param_encodings": {}})",
       kTable, "param_encodings", "not a list of entries"},
      {"nameless", R"({"version": "1.0.0", "param_encodings": [{}]})", kTable,
       "param_encodings[0]", "no object with a text 'name'"},
      {"no entry", Old("1"), kTable, "activation_encodings 'x'",
       "is a number and not an object"},
      {"an empty list", R"({"version": "0.6.1", "param_encodings": {"w": []}})",
       kTable, "param_encodings 'w'", "is an empty list"},
      {"a place that is none",
       R"({"version": "0.6.1", "activation_encodings": {"c": {"input": )"
       R"({"-1": {}}}}})",
       kTable, "activation_encodings 'c' input 0", "'-1' is no place"},
      {"ports of no places",
       R"({"version": "0.6.1", "activation_encodings": {"c": {"input": []}}})",
       kTable, "activation_encodings 'c' input 0", "not an object of places"},
      {"channels that differ",
       R"({"version": "0.6.1", "param_encodings": {"w": [)"
       R"({"bitwidth": 8, "offset": 0, "scale": 1},)"
       R"({"bitwidth": 4, "offset": 0, "scale": 1}]}})",
       kTable, "param_encodings 'w'", "channel 1 has another type"},
  });
}

TEST(TableReader, FaultsOfOldEntriesAreNamed) {
  const std::string old_fields =
      R"("bitwidth": 8, "is_symmetric": "False", "offset": 0, )";
  ExpectNamed({
      {"unknown field", Old(R"({"bitwidth": 8, "bits": 4})"), kTable,
       "activation_encodings 'x'", "field 'bits'"},
      {"field twice", Old(R"({"bitwidth": 8, "bitwidth": 8})"), kTable,
       "activation_encodings 'x'", "'bitwidth' twice"},
      {"missing scale", Old("{" + old_fields + R"("min": 0})"), kTable,
       "activation_encodings 'x'", "no field 'scale'"},
      {"text for a scale", Old("{" + old_fields + R"("scale": "1"})"), kTable,
       "activation_encodings 'x'", "'scale' is a text and not a number"},
      {"half an offset", Old(R"({"bitwidth": 8, "offset": -0.5, "scale": 1})"),
       kTable, "activation_encodings 'x'", "'offset' is not a whole number"},
      {"huge width", Old(R"({"bitwidth": 1e300, "offset": 0, "scale": 1})"),
       kTable, "activation_encodings 'x'", "'bitwidth' is not a whole"},
      {"neither true nor false",
       Old(R"({"bitwidth": 8, "is_symmetric": "maybe", "scale": 1})"), kTable,
       "activation_encodings 'x'", "neither true nor false"},
      {"another type", Old(R"({"bitwidth": 8, "dtype": "posit"})"), kTable,
       "activation_encodings 'x'", "'dtype' is 'posit'"},
      {"off the grid",
       Old("{" + old_fields + R"("scale": 1, "min": 0.5, "max": 255})"), kTable,
       "activation_encodings 'x'", "'min'"},
      {"beyond the grid",
       Old("{" + old_fields + R"("scale": 1, "min": 0, "max": 256})"), kTable,
       "activation_encodings 'x'", "'max'"},
      {"min above max",
       Old("{" + old_fields + R"("scale": 1, "min": 9, "max": 3})"), kTable,
       "activation_encodings 'x'", "greater than"},
      {"zero scale", Old("{" + old_fields + R"("scale": 0})"), kScale,
       "activation_encodings 'x'", "'scale' is 0"},
      {"negative scale", Old("{" + old_fields + R"("scale": -1})"), kScale,
       "activation_encodings 'x'", "'scale' is -1"},
      {"a scale beyond float32", Old("{" + old_fields + R"("scale": 1e300})"),
       kScale, "activation_encodings 'x'", "float32"},
      {"zero without a code",
       Old(R"({"bitwidth": 8, "offset": 11, "scale": 1})"), kZero,
       "activation_encodings 'x'", "'offset' is 11"},
      {"zero above the codes",
       Old(R"({"bitwidth": 8, "offset": -256, "scale": 1})"), kZero,
       "activation_encodings 'x'", "'offset' is -256"},
      {"one bit", Old(R"({"bitwidth": 1, "offset": 0, "scale": 1})"), kType,
       "activation_encodings 'x'", "has 1 bits"},
      {"a wide activation", Old(R"({"bitwidth": 32, "offset": 0, "scale": 1})"),
       kType, "activation_encodings 'x'", "has 32 bits"},
  });
}

TEST(TableReader, FaultsOfNewEntriesAreNamed) {
  const std::string channels = R"("dtype": "INT", "bw": 8, )";
  ExpectNamed({
      {"blocks",
       New(channels + R"("enc_type": "PER_BLOCK", "block_size": 2,)"
                      R"( "scale": [1], "offset": [0])"),
       kType, "param_encodings 'w'", "PER_BLOCK"},
      {"LPBQ", New(channels + R"("enc_type": "LPBQ", "compressed_bw": 4)"),
       kType, "param_encodings 'w'", "LPBQ"},
      {"another enc_type", New(channels + R"("enc_type": "PER_ROW")"), kTable,
       "param_encodings 'w'", "PER_ROW"},
      {"a block without blocks",
       New(channels + R"("block_size": 2, "scale": [1], "offset": [0])"),
       kTable, "param_encodings 'w'", "without blocks"},
      {"two scales for a tensor",
       New(channels + R"("scale": [1, 2], "offset": [0, 0])"), kTable,
       "param_encodings 'w'", "2 scales"},
      {"an offset too few",
       New(channels + R"("enc_type": "PER_CHANNEL", "scale": [1, 2],)"
                      R"( "offset": [0])"),
       kTable, "param_encodings 'w'", "1 offsets"},
      {"no scales", New(channels + R"("scale": [], "offset": [])"), kTable,
       "param_encodings 'w'", "0 scales"},
      {"null for a scale", New(channels + R"("scale": [null], "offset": [0])"),
       kTable, "param_encodings 'w'", "'scale[0]' is null"},
  });
}

TEST(TableReader, LongNamesAndManyFaultsAreBounded) {
  std::string json = R"({"version": "0.6.1", "param_encodings": {)";
  for (int i = 0; i < 1000; ++i) {
    json += (i == 0 ? "\"" : ", \"") + std::string(1000, 'n') +
            std::to_string(i) + "\": []";
  }
  EncodingTable table;
  Diagnostics sink;
  EXPECT_FALSE(ReadEncodingTable(json + "}}", &table, &sink));
  EXPECT_LE(sink.all().size(), 20u);
  EXPECT_LT(sink.all()[0].node.size(), 300u);
}

}  // namespace
}  // namespace fold
