#include "server/config.h"

#include <fstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

using ::testing::HasSubstr;

std::string Parse(std::vector<std::string> line, Config* config) {
  bool help = false;
  return ParseServerLine(line, config, &help);
}

TEST(Config, FlagsWinOverTheFileWhereverItStands) {
  std::string path = testing::TempDir() + "config_test.json";
  std::ofstream(path) << R"({"workers": 3, "queue_length": 7,
                             "listen": "127.0.0.1:1"})";
  Config config;
  ASSERT_EQ(Parse({"--workers", "5", "--config", path}, &config), "");
  EXPECT_EQ(config.workers, 5);
  EXPECT_EQ(config.queue_length, 7);
  EXPECT_EQ(config.listen, "127.0.0.1:1");
  EXPECT_EQ(config.http, Config().http);
}

TEST(Config, SaysWhatIsWrong) {
  Config config;
  EXPECT_THAT(Parse({"--worker", "5"}, &config), HasSubstr("'--workers'"));
  EXPECT_THAT(Parse({"--workers", "0"}, &config), HasSubstr("from 1"));
  EXPECT_THAT(Parse({"extra"}, &config), HasSubstr("'extra'"));
  EXPECT_THAT(Parse({"--config", "/no/such"}, &config),
              HasSubstr("cannot open"));
  EXPECT_THAT(Parse({"--log-level", "loud"}, &config), HasSubstr("'loud'"));
  EXPECT_THAT(
      Parse({"--log-level", "info", "--sandbox-minimum", "most"}, &config),
      HasSubstr("'most' is none of none, limits, seccomp, full"));
  config = Config();
  EXPECT_THAT(Parse({"--quota-compiles", "0"}, &config), HasSubstr("-1"));
  EXPECT_THAT(Parse({"--http-metrics-open", "1"}, &config),
              HasSubstr("true or false"));
  EXPECT_EQ(Parse({"--quota-compiles=-1", "--log-level=info"}, &config), "");
  for (const char* ratio : {"", "x", "0.5x", "-0.1", "1.1", "nan"}) {
    EXPECT_THAT(Parse({"--trace-ratio", ratio}, &config),
                HasSubstr("from 0 to 1"))
        << ratio;
  }
}

TEST(Config, TheFileIsChecked) {
  const std::pair<const char*, const char*> files[] = {
      {"{", "not valid JSON"},
      {"[]", "one JSON object"},
      {R"({"worker": 1})", "did you mean 'workers'"},
      {R"({"workers": "2"})", "whole number"},
      {R"({"workers": 0})", "from 1 to 1024"},
      {R"({"workers": 1.5})", "whole number"},
      {R"({"cache_bytes": 18446744073709551615})", "too large"},
      {R"({"data": 1})", "must be a string"},
      {R"({"log_level": "x"})", "none of"},
      {R"({"tls_client_auth": "maybe"})", "none, request, require"},
      {R"({"unmapped_certificate_role": ""})", "none, read, compile"},
      {R"({"http_metrics_open": "true"})", "must be true or false"},
      {R"({"quota_compiles": 0})", "from 1 to"},
      {R"({"quota_compiles": -2})", "nor -1 (unlimited)"},
      {R"({"workers": -1})", "from 1 to"},
      {R"({"log_format": "xml"})", "none of text, json, auto"},
      {R"({"trace_ratio": 1.5})", "from 0 to 1"},
      {R"({"trace_ratio": "1"})", "must be a number"},
      {R"({"otlp_file": "f", "otlp_endpoint": "http://h"})", "one of them"},
  };
  for (const auto& [text, word] : files) {
    Config config;
    EXPECT_THAT(ParseConfigJson(text, &config), HasSubstr(word)) << text;
  }
}

// Changes every field through its JSON form and reads all of them back.
TEST(Config, EveryFieldRoundTrips) {
  Config config;
  config.listen = "a:1";
  config.salt = "x";
  config.workers = 9;
  config.job_open_files = 99;
  config.http_metrics_open = true;
  config.quota_compiles = 3;
  config.trace_ratio = 0.25;
  Config back;
  ASSERT_EQ(ParseConfigJson(ConfigJson(config), &back), "");
  EXPECT_EQ(ConfigJson(back), ConfigJson(config));
  EXPECT_EQ(back.job_open_files, 99);
  EXPECT_TRUE(back.http_metrics_open);
  EXPECT_EQ(back.quota_compiles, 3);
  EXPECT_EQ(back.trace_ratio, 0.25);
  ASSERT_EQ(Parse({"--trace-ratio", "0.125"}, &back), "");
  EXPECT_EQ(back.trace_ratio, 0.125);
}

TEST(Config, HelpNamesEveryFieldWithItsDefault) {
  std::string help = ServerHelp();
  EXPECT_THAT(help, HasSubstr("--listen ADDRESS:PORT"));
  EXPECT_THAT(help, HasSubstr("127.0.0.1:50051"));
  EXPECT_THAT(help, HasSubstr("--job-memory-bytes"));
  EXPECT_THAT(help, HasSubstr("--config FILE"));
}

// The example for operators lists every field with its default.
TEST(Config, TheShippedExampleIsTheDefaults) {
  std::ifstream file("deploy/server.example.json");
  ASSERT_TRUE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  Config defaults;
  defaults.workers = 2;
  EXPECT_EQ(text.str(), ConfigJson(defaults));
}

}  // namespace
}  // namespace fold
