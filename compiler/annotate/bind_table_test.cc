// Binding by name and by place, and everything that does not match.
#include "compiler/annotate/bind_table.h"

#include "compiler/annotate/annotate.h"
#include "compiler/annotate/table_reader.h"
#include "compiler/ops/test_graph.h"

namespace fold {
namespace {

constexpr char kNetwork[] =
    "fir 1 imported\n"
    "graph @g(%x: f32[1,2,3]) -> %y {\n"
    "%w = const f32[2,2,1] splat(1)\n"
    "%b = const f32[2] splat(1)\n"
    "%c = conv(%x, %w, %b) : f32[1,2,3] name \"conv\"\n"
    "%r = relu(%c) : f32[1,2,3] alias (\"relu_out\") name \"relu\"\n"
    "%k = const f32[3,4] splat(1)\n"
    "%y = matmul(%r, %k) : f32[1,2,4] name \"mm\"\n}";

std::string Entry(const std::string& name, const std::string& scale = "[0.5]",
                  const std::string& offset = "[0]",
                  const std::string& more = "") {
  return R"({"name": ")" + name + R"(", "dtype": "INT", "bw": 8, "scale": )" +
         scale + R"(, "offset": )" + offset + more + "}";
}

std::string File(const std::string& activations,
                 const std::string& parameters) {
  return R"({"version": "1.0.0", "activation_encodings": [)" + activations +
         R"(], "param_encodings": [)" + parameters + "]}";
}

// Annotates `graph` and binds the table; what was said comes into `said`.
Graph Bound(const std::string& text, const std::string& json,
            Diagnostics* said) {
  Graph graph = GraphOf(text);
  EncodingTable table;
  EXPECT_TRUE(Annotate(graph, said));
  EXPECT_TRUE(ReadEncodingTable(json, &table, said));
  const bool good = BindEncodingTable(graph, table, said);
  EXPECT_EQ(good, !said->has_error());
  return graph;
}

std::string EncodingNamed(const Graph& graph, const std::string& name) {
  const auto& encoding = graph.value(graph.FindValue(name)).type.encoding;
  return encoding ? FormatEncoding(*encoding) + " " + encoding->source : "";
}

void ExpectSaid(const Diagnostics& said, DiagnosticCode code,
                const std::string& where, const std::string& message) {
  for (const Diagnostic& diagnostic : said.all()) {
    if (diagnostic.code == code && diagnostic.node == where &&
        diagnostic.message.find(message) != std::string::npos) {
      return;
    }
  }
  ADD_FAILURE() << where << ": " << message << " was not said";
  for (const Diagnostic& diagnostic : said.all()) {
    ADD_FAILURE() << FormatDiagnostic(diagnostic);
  }
}

TEST(BindTable, ByTensorNameAndAlias) {
  Diagnostics said;
  const Graph graph =
      Bound(kNetwork,
            File(Entry("x") + "," + Entry("relu_out", "[0.25]", "[-7]"),
                 Entry("w", "[1, 2]", "[-128, -128]",
                       R"(, "enc_type": "PER_CHANNEL", "is_sym": true)") +
                     "," +
                     Entry("k", "[1, 2, 3, 4]", "[0, 0, 0, 0]",
                           R"(, "enc_type": "PER_CHANNEL")")),
            &said);
  EXPECT_TRUE(said.all().empty());
  EXPECT_EQ(EncodingNamed(graph, "x"),
            "s=0.5 z=0 codes=[0,255] activation_encodings 'x'");
  EXPECT_EQ(EncodingNamed(graph, "r"),
            "s=0.25 z=7 codes=[0,255] activation_encodings 'relu_out'");
  EXPECT_EQ(EncodingNamed(graph, "w"),
            "s=[1,2] z=[0,0] axis=0 codes=[-128,127] param_encodings 'w'");
  EXPECT_EQ(EncodingNamed(graph, "k"),
            "s=[1,2,3,4] z=[0,0,0,0] axis=1 codes=[0,255] param_encodings 'k'");
  // The supergroup's inner tensor and the bias need none.
  EXPECT_EQ(EncodingNamed(graph, "c"), "");
  EXPECT_EQ(EncodingNamed(graph, "b"), "");
}

std::string Places(const std::string& places) {
  return R"({"version": "0.6.1", "activation_encodings": {)" + places + "}}";
}
constexpr char kPlaced[] = R"({"bitwidth": 8, "offset": 0, "scale": 0.5})";

TEST(BindTable, ByNodeAndPlace) {
  Diagnostics said;
  const std::string one = std::string(R"("0": )") + kPlaced;
  const Graph graph = Bound(kNetwork,
                            Places(R"("conv": {"input": {)" + one +
                                   R"(}}, "relu": {"output": {)" + one + "}}"),
                            &said);
  EXPECT_TRUE(said.all().empty());
  EXPECT_EQ(EncodingNamed(graph, "x"),
            "s=0.5 z=0 codes=[0,255] activation_encodings 'conv' input 0");
  EXPECT_EQ(EncodingNamed(graph, "r"),
            "s=0.5 z=0 codes=[0,255] activation_encodings 'relu' output 0");
}

// An entry for one reader would change what the others read.
TEST(BindTable, AnInputBelongsToAllOfItsReaders) {
  const std::string two =
      "fir 1 imported\ngraph @g(%x: f32[2]) -> (%a, %b) {\n"
      "%a = relu(%x) : f32[2] name \"a\"\n%b = relu(%x) : f32[2] name \"b\"\n}";
  const std::string place = std::string(R"({"input": {"0": )") + kPlaced + "}}";
  Diagnostics one;
  Bound(two, Places(R"("a": )" + place), &one);
  ExpectSaid(one, DiagnosticCode::unmatched_encoding,
             "activation_encodings 'a' input 0", "others read it too");
  Diagnostics both;
  Bound(two, Places(R"("a": )" + place + R"(, "b": )" + place), &both);
  EXPECT_TRUE(both.all().empty());
}

TEST(BindTable, NamesThatMatchNothing) {
  Diagnostics said;
  Bound(kNetwork,
        File(Entry("relu_oyt") + "," + Entry("x"),
             Entry("r") + "," + Entry("w") + "," + Entry("k")),
        &said);
  ExpectSaid(said, DiagnosticCode::unmatched_encoding,
             "activation_encodings 'relu_oyt'", "did you mean 'relu_out'?");
  ExpectSaid(said, DiagnosticCode::unmatched_encoding, "param_encodings 'r'",
             "no parameter");
  // Nothing quantizes what the matmul reads.
  ExpectSaid(said, DiagnosticCode::unmatched_encoding, "mm", "reads 'r'");
  Diagnostics nodes;
  const std::string place = std::string(R"({"input": {"7": )") + kPlaced + "}}";
  Bound(kNetwork, Places(R"("con": )" + place + R"(, "mm": )" + place), &nodes);
  ExpectSaid(nodes, DiagnosticCode::unmatched_encoding,
             "activation_encodings 'con' input 7", "did you mean 'conv'?");
  ExpectSaid(nodes, DiagnosticCode::unmatched_encoding,
             "activation_encodings 'mm' input 7", "does not have");
}

TEST(BindTable, TensorsThatTheTableForgets) {
  Diagnostics said;
  Bound(kNetwork, File(Entry("x"), Entry("w") + "," + Entry("kk")), &said);
  ExpectSaid(said, DiagnosticCode::unmatched_encoding, "mm",
             "reads 'k', which no entry quantizes; did you mean 'kk'?");
  ExpectSaid(said, DiagnosticCode::unmatched_encoding, "mm", "reads 'r'");
}

TEST(BindTable, FloatEntriesCoverAndBindNothing) {
  Diagnostics said;
  const Graph graph =
      Bound(kNetwork,
            File(Entry("x") + R"(, {"name": "r", "dtype": "FLOAT", "bw": 16})",
                 Entry("w") + R"(, {"name": "k", "dtype": "FLOAT", "bw": 16})"),
            &said);
  EXPECT_FALSE(said.has_error());
  ExpectSaid(said, DiagnosticCode::float_encoding, "--encodings",
             "2 entries are float and bind nothing: activation_encodings 'r'");
  EXPECT_EQ(EncodingNamed(graph, "k"), "");
}

TEST(BindTable, TheTableAgainstItself) {
  Diagnostics same;
  Bound(kNetwork, File(Entry("x") + "," + Entry("x") + "," + Entry("r"), ""),
        &same);
  EXPECT_TRUE(same.all().empty());
  Diagnostics said;
  Bound(
      kNetwork,
      File(Entry("r") + "," + Entry("x") + "," + Entry("relu_out", "[2]"), ""),
      &said);
  ExpectSaid(said, DiagnosticCode::conflicting_encoding, "r",
             "is quantized with s=2 z=0 codes=[0,255] by activation_encodings "
             "'relu_out' and with s=0.5 z=0 codes=[0,255] by "
             "activation_encodings 'r'");
}

std::string Fake(const std::string& clip) {
  return "fir 1 imported\ngraph @g(%x: f32[2]) -> %y {\n"
         "%s = const f32[] [0.5]\n%z = const i8[] [-128]\n"
         "%q = quantize_linear(%x, %s, %z) : i8[2] name \"q1\"\n" +
         clip + "%y = dequantize_linear(" + (clip.empty() ? "%q" : "%p") +
         ", %s, %z) : f32[2] name \"dq1\"\n}";
}

// The same grid, though the table counts its codes from 0 and the model from
// -128.
TEST(BindTable, TheTableAgainstTheModel) {
  for (const char* name : {"x", "y"}) {
    Diagnostics same;
    Bound(Fake(""), File(Entry(name), ""), &same);
    EXPECT_TRUE(same.all().empty());
    Diagnostics said;
    Bound(Fake(""), File(Entry(name, "[0.25]"), ""), &said);
    ExpectSaid(said, DiagnosticCode::conflicting_encoding, name,
               name == std::string("x") ? "node 'q1'" : "node 'dq1'");
    // A Clip on the codes leaves fewer of them than the table says.
    Diagnostics narrow;
    Bound(Fake("%hi = const i8[] [0]\n%p = clip(%q, _, %hi) : i8[2]\n"),
          File(Entry(name), ""), &narrow);
    ExpectSaid(narrow, DiagnosticCode::conflicting_encoding, name,
               "codes=[-128,0]");
  }
}

TEST(BindTable, CodesAreNoFloatTensor) {
  Diagnostics said;
  Bound(Fake(""), File(Entry("q"), ""), &said);
  ExpectSaid(said, DiagnosticCode::unmatched_encoding,
             "activation_encodings 'q'", "of type i8");
}

TEST(BindTable, ScalesThatFitNoAxis) {
  Diagnostics said;
  const std::string three = R"(, "enc_type": "PER_CHANNEL")";
  Bound(kNetwork,
        File("", Entry("w", "[1, 2, 3]", "[0, 0, 0]", three) + "," +
                     Entry("k", "[1, 2, 3]", "[0, 0, 0]",
                           three + R"(, "axis": 0)")),
        &said);
  ExpectSaid(said, DiagnosticCode::bad_axis, "param_encodings 'w'",
             "3 scales, which do not fit axis 0 of 'w'");
  Diagnostics out;
  Bound(kNetwork,
        File("", Entry("w") + "," +
                     Entry("k", "[1]", "[0]", three + R"(, "axis": 2)")),
        &out);
  ExpectSaid(out, DiagnosticCode::bad_axis, "param_encodings 'k'", "axis 2");
  Diagnostics nobody;
  Bound(kNetwork, File(Entry("x", "[1]", "[0]", three) + "," + Entry("r"), ""),
        &nobody);
  ExpectSaid(nobody, DiagnosticCode::bad_axis, "activation_encodings 'x'",
             "no linear operator");
}

}  // namespace
}  // namespace fold
