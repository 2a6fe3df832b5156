#include "server/telemetry/telemetry.h"

#include <fstream>
#include <regex>
#include <sstream>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace fold {
namespace {

TEST(Telemetry, WithoutAnExporterNothingIsRecorded) {
  auto telemetry =
      Telemetry::Start({}, [](const std::string&, int64_t) { FAIL(); });
  ASSERT_TRUE(telemetry.ok());
  EXPECT_FALSE((*telemetry)->tracer()->records());
  EXPECT_TRUE((*telemetry)->Stop(std::chrono::milliseconds(0)));
}

TEST(Telemetry, WritesToItsFile) {
  std::string folder = testing::TempDir() + "telemetry_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  TelemetryOptions options;
  options.file = folder + "/traces.jsonl";
  options.version = "1.2";
  int64_t sent = 0;
  auto telemetry =
      Telemetry::Start(options, [&](const std::string& result, int64_t spans) {
        if (result == "sent") sent += spans;
      });
  ASSERT_TRUE(telemetry.ok()) << telemetry.status();
  StartSpan((*telemetry)->tracer(), "one", {}).End();
  EXPECT_TRUE((*telemetry)->Stop(std::chrono::milliseconds(20'000)));
  EXPECT_EQ(sent, 1);
  std::ifstream file(options.file);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  auto request = nlohmann::json::parse(line);
  auto attributes = request["resourceSpans"][0]["resource"]["attributes"];
  EXPECT_EQ(attributes[1]["value"]["stringValue"], "1.2");
  std::string id = attributes[2]["value"]["stringValue"];
  EXPECT_TRUE(std::regex_match(
      id, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                     "[0-9a-f]{12}")))
      << id;
}

TEST(Telemetry, SaysWhatCannotBeUsed) {
  auto ignore = [](const std::string&, int64_t) {};
  TelemetryOptions options;
  options.endpoint = "nonsense";
  EXPECT_FALSE(Telemetry::Start(options, ignore).ok());
  options = {};
  options.file = "/no/such/folder/file";
  EXPECT_FALSE(Telemetry::Start(options, ignore).ok());
}

}  // namespace
}  // namespace fold
