#include "compiler/api/job_events.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace fold {
namespace {

TEST(JobEvents, WhatIsWrittenIsRead) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  JobEventWriter writer(fds[1], "00-ab-cd-01");
  writer.Progress("fold", 2, 9);
  foldd::v1::Diagnostic diagnostic;
  diagnostic.set_code("bad_scale");
  writer.Diagnostic(diagnostic);
  close(fds[1]);
  JobEventParser parser;
  std::vector<foldd::v1::JobEvent> events;
  char byte;
  while (read(fds[0], &byte, 1) == 1) {  // in the smallest pieces
    parser.Append(std::string_view(&byte, 1));
    foldd::v1::JobEvent event;
    while (parser.Next(&event)) events.push_back(event);
  }
  close(fds[0]);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].progress().pass_name(), "fold");
  EXPECT_EQ(events[0].progress().pass_index(), 2);
  EXPECT_EQ(events[0].progress().pass_total(), 9);
  EXPECT_EQ(events[1].diagnostic().code(), "bad_scale");
  EXPECT_EQ(events[0].traceparent(), "00-ab-cd-01");
  EXPECT_EQ(events[1].traceparent(), "00-ab-cd-01");
  EXPECT_FALSE(parser.broken());
}

TEST(JobEvents, AReaderThatWentAwayIsNoError) {
  signal(SIGPIPE, SIG_IGN);
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  close(fds[0]);
  JobEventWriter writer(fds[1]);
  writer.Progress("a", 0, 1);
  writer.Progress("b", 0, 1);
  close(fds[1]);
  JobEventWriter(-1).Progress("c", 0, 1);
}

TEST(JobEvents, NonsenseBreaksTheParserForGood) {
  JobEventParser parser;
  foldd::v1::JobEvent event;
  parser.Append("\xff\xff\xff\x7f");
  EXPECT_FALSE(parser.Next(&event));
  EXPECT_TRUE(parser.broken());
  parser.Append(std::string("\0\0\0\0", 4));
  EXPECT_FALSE(parser.Next(&event));

  JobEventParser other;
  other.Append(std::string("\x02\0\0\0\xff\xff", 6));
  EXPECT_FALSE(other.Next(&event));
  EXPECT_TRUE(other.broken());
}

}  // namespace
}  // namespace fold
