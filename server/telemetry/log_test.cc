#include "server/telemetry/log.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"

namespace fold {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class LogTest : public testing::Test {
 protected:
  void SetUp() override { Use(LogFormat::kJson); }
  void TearDown() override { spdlog::set_default_logger(before_); }

  void Use(LogFormat format) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out_, true);
    auto logger = std::make_shared<spdlog::logger>("test", sink);
    logger->set_formatter(MakeLogFormatter(format));
    spdlog::set_default_logger(logger);
  }
  std::string Line() {
    std::string text = out_.str();
    out_.str("");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    return text;
  }
  json Object() { return json::parse(Line()); }

  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::ostringstream out_;
};

TEST_F(LogTest, ALineIsOneObject) {
  spdlog::warn("port {}", 7);
  json line = Object();
  EXPECT_EQ(line["level"], "warn");
  EXPECT_EQ(line["message"], "port 7");
  EXPECT_THAT(line["time"].get<std::string>(),
              testing::MatchesRegex("[0-9-]{10}T[0-9:]{8}\\.[0-9]{6}Z"));
  EXPECT_EQ(line.size(), 3u);
}

TEST_F(LogTest, ScopesGiveTheirFieldsToEachLineOfTheThread) {
  {
    LogScope outer({{"action_digest", "aa"}, {"n", int64_t{1}}});
    {
      LogScope inner({{"action_digest", "bb"}, {"empty", ""}, {"x", 0.5}});
      spdlog::info("inside");
      json line = Object();
      EXPECT_EQ(line["action_digest"], "bb");
      EXPECT_EQ(line["n"], 1);
      EXPECT_EQ(line["x"], 0.5);
      EXPECT_FALSE(line.contains("empty"));
    }
    spdlog::info("between");
    EXPECT_EQ(Object()["action_digest"], "aa");
    std::thread([] { spdlog::info("elsewhere"); }).join();
    EXPECT_FALSE(Object().contains("action_digest"));
  }
  spdlog::info("outside");
  EXPECT_FALSE(Object().contains("action_digest"));
}

TEST_F(LogTest, WhatComesFromOutsideIsEscapedAndCut) {
  std::string name = "node\n{\"level\":\"error\"}\x1b[31m\xff";
  LogScope scope({{"node", name}, {"long", std::string(1000, 'y')}});
  spdlog::info("{}", name);
  std::string text = Line();
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  json line = json::parse(text);
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["node"], "node\n{\"level\":\"error\"}\x1b[31m\xef\xbf\xbd");
  EXPECT_EQ(line["message"], line["node"]);
  EXPECT_EQ(line["long"], std::string(253, 'y') + "...");
}

TEST_F(LogTest, NoCharacterIsCutInHalf) {
  std::string umlauts = "x";
  for (int i = 0; i < 200; ++i) umlauts += "\xc3\xbc";
  LogScope scope({{"text", umlauts}});
  spdlog::info("m");
  std::string text = Object()["text"];
  EXPECT_LE(text.size(), 256u);
  EXPECT_THAT(text, Not(HasSubstr("\xef\xbf\xbd")));
  EXPECT_THAT(text, testing::EndsWith("\xc3\xbc..."));
}

TEST_F(LogTest, AMessageIsCutToo) {
  spdlog::info("{}", std::string(10'000, 'm'));
  EXPECT_EQ(Object()["message"].get<std::string>().size(), 2048u);
}

TEST_F(LogTest, TokensAreNotShown) {
  LogScope scope({{"header", "authorization: Bearer s3cret.abc, x=1"},
                  {"late", std::string(250, 'a') + " bearer hidden"}});
  spdlog::info("got 'BEARER topsecret' and bearer {}", "again");
  std::string text = Line();
  for (const char* secret : {"s3cret", "abc", "hidden", "topsecret", "again"}) {
    EXPECT_THAT(text, Not(HasSubstr(secret))) << secret;
  }
  EXPECT_THAT(text, HasSubstr("Bearer ***, x=1"));
}

TEST_F(LogTest, TextHasTheSameOnOneLine) {
  Use(LogFormat::kText);
  LogScope scope({{"node", "a\nb"}, {"n", int64_t{3}}});
  spdlog::error("bad\nthing");
  EXPECT_THAT(Line(), testing::MatchesRegex(
                          ".*Z error bad\\\\nthing node=\"a\\\\nb\" n=3\n"));
}

TEST_F(LogTest, ACallIsOneLineWithItsFields) {
  CallLog call;
  call.service = "foldd.v1.Compiler";
  call.method = "Compile";
  call.code = "RESOURCE_EXHAUSTED";
  call.reason = "QUEUE_FULL";
  call.principal = "ci";
  call.peer = "ipv4:127.0.0.1:5";
  call.instance = "main";
  call.request_id = "r-1";
  call.action_digest = "aa";
  call.trace = NewTrace(true);
  call.duration_milliseconds = 12.5;
  call.request_bytes = 3;
  call.response_bytes = 4;
  LogCall(call);
  json line = Object();
  line.erase("time");
  EXPECT_EQ(line, (json{{"level", "info"},
                        {"message", "call"},
                        {"service", "foldd.v1.Compiler"},
                        {"method", "Compile"},
                        {"code", "RESOURCE_EXHAUSTED"},
                        {"reason", "QUEUE_FULL"},
                        {"principal", "ci"},
                        {"peer", "ipv4:127.0.0.1:5"},
                        {"instance", "main"},
                        {"request_id", "r-1"},
                        {"action_digest", "aa"},
                        {"trace_id", call.trace.trace_id},
                        {"span_id", call.trace.span_id},
                        {"duration_ms", 12.5},
                        {"request_bytes", 3},
                        {"response_bytes", 4}}));
}

TEST_F(LogTest, ACallThatWeFailedIsAWarning) {
  for (const char* code : {"UNKNOWN", "INTERNAL", "DATA_LOSS"}) {
    CallLog call;
    call.code = code;
    LogCall(call);
    EXPECT_EQ(Object()["level"], "warn") << code;
  }
}

TEST(LogFormatTest, IsChosenByItsName) {
  EXPECT_EQ(ChooseLogFormat("text"), LogFormat::kText);
  EXPECT_EQ(ChooseLogFormat("json"), LogFormat::kJson);
  // Tests have a pipe or file there, and no terminal, or one by hand.
  LogFormat automatic = ChooseLogFormat("auto");
  EXPECT_EQ(automatic, isatty(2) == 1 ? LogFormat::kText : LogFormat::kJson);
}

}  // namespace
}  // namespace fold
