#include "compiler/api/fork_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "compiler/api/job_events.h"
#include "compiler/sandbox/walls.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/foldd/v1/job.pb.h"

namespace fold {
namespace {

using ::testing::HasSubstr;
namespace v1 = foldd::v1;

void Sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

// What the jobs of these tests do, by their first argument.
int TestProgram(int argc, char** argv) {
  std::string what = argc > 1 ? argv[1] : "";
  if (what == "exit") return std::stoi(argv[2]);
  if (what == "signal") raise(std::stoi(argv[2]));
  if (what == "sleep") Sleep(60'000);
  if (what == "spin") {
    volatile int64_t turns = 0;
    for (;;) {
      int64_t next = turns + 1;
      turns = next;
    }
  }
  if (what == "allocate") {
    std::vector<std::unique_ptr<std::vector<char>>> all;
    for (;;) all.push_back(std::make_unique<std::vector<char>>(1 << 24, 'x'));
  }
  if (what == "throw") throw std::runtime_error("thrown");
  if (what == "big-file") {
    std::string block(1 << 16, 'x');
    int fd = open("big", O_CREAT | O_WRONLY, 0600);
    while (write(fd, block.data(), block.size()) > 0) {
    }
    return 9;
  }
  if (what == "look") {
    std::ofstream out("seen");
    for (int fd = 0; fd < 256; ++fd) {
      if (fcntl(fd, F_GETFD) >= 0 && fd > kJobProgressFd) {
        char path[256] = {};
        std::string link = "/proc/self/fd/" + std::to_string(fd);
        (void)!readlink(link.c_str(), path, sizeof(path) - 1);
        if (std::string(path).find("seen") == std::string::npos) {
          out << "fd " << fd << " " << path << "\n";
        }
      }
    }
    for (char** e = environ; e != nullptr && *e != nullptr; ++e) {
      out << "env " << *e << "\n";
    }
    out << "group " << (getpgrp() == getpid()) << "\n";
    std::printf("to stdout\n");
    std::fprintf(stderr, "to stderr\n");
    return 0;
  }
  if (what == "progress") {
    JobEventWriter(kJobProgressFd).Progress("fold", 1, 2);
    return 0;
  }
  return 1;
}

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class ForkServerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "fork_server_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    server_ = fork();
    if (server_ == 0) {
      close(fds[0]);
      // Descriptors and variables that a job must not see.
      (void)!open("/etc/passwd", O_RDONLY);
      setenv("SECRET", "1", 1);
      _exit(RunForkServer(fds[1], "test-compiler", TestProgram));
    }
    close(fds[1]);
    socket_ = fds[0];
    v1::FromForkServer hello = Receive();
    ASSERT_EQ(hello.hello().compiler_id(), "test-compiler");
    walls_ = hello.hello().walls_size();
  }

  void TearDown() override {
    if (socket_ >= 0) close(socket_);
    int status = 0;
    if (server_ > 0) waitpid(server_, &status, 0);
  }

  void Send(const v1::ToForkServer& message, int fd = -1) {
    std::string bytes = message.SerializeAsString();
    iovec data = {bytes.data(), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header = {};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    if (fd >= 0) {
      header.msg_control = control;
      header.msg_controllen = sizeof(control);
      cmsghdr* rights = CMSG_FIRSTHDR(&header);
      rights->cmsg_level = SOL_SOCKET;
      rights->cmsg_type = SCM_RIGHTS;
      rights->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
    }
    ASSERT_GT(sendmsg(socket_, &header, MSG_NOSIGNAL), 0);
  }

  v1::ToForkServer Job(int64_t id, const std::vector<std::string>& words) {
    v1::ToForkServer message;
    message.set_job(id);
    v1::StartJob* start = message.mutable_start();
    start->add_arguments("program");
    for (const auto& word : words) start->add_arguments(word);
    start->set_directory(folder_);
    v1::JobLimits* limits = start->mutable_limits();
    limits->set_memory_bytes(512 << 20);
    limits->set_cpu_seconds(20);
    limits->set_wall_milliseconds(20'000);
    limits->set_file_bytes(1 << 20);
    limits->set_open_files(64);
    return message;
  }

  v1::FromForkServer Receive() {
    v1::FromForkServer message;
    pollfd ready = {socket_, POLLIN, 0};
    if (poll(&ready, 1, 30'000) <= 0) return message;
    char buffer[4096];
    ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
    if (got > 0) message.ParseFromArray(buffer, static_cast<int>(got));
    return message;
  }

  // Runs a job to its end.
  v1::JobExit Run(const v1::ToForkServer& job, int fd = -1) {
    Send(job, fd);
    v1::FromForkServer message = Receive();
    if (message.has_started()) message = Receive();
    EXPECT_EQ(message.job(), job.job());
    EXPECT_TRUE(message.has_exit());
    return message.exit();
  }

  std::string folder_;
  pid_t server_ = -1;
  int socket_ = -1;
  int walls_ = 0;
};

TEST_F(ForkServerTest, TheHelloHasAllWalls) {
  EXPECT_EQ(walls_, static_cast<int>(kWallCount));
}

TEST_F(ForkServerTest, InputsAreReadOnly) {
  std::ofstream(folder_ + "/input") << "text";
  EXPECT_EQ(Run(Job(1, {"exit", "0"})).exit_code(), 0);
  struct stat status = {};
  ASSERT_EQ(stat((folder_ + "/input").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0400u);
}

TEST_F(ForkServerTest, ReportsExitCodesAndUsage) {
  v1::JobExit exit = Run(Job(1, {"exit", "3"}));
  EXPECT_EQ(exit.cause(), v1::EXITED);
  EXPECT_EQ(exit.exit_code(), 3);
  EXPECT_GT(exit.peak_memory_bytes(), 0);
  EXPECT_EQ(Run(Job(2, {"exit", "0"})).exit_code(), 0);
}

TEST_F(ForkServerTest, ReportsASignal) {
  v1::JobExit exit = Run(Job(1, {"signal", std::to_string(SIGUSR1)}));
  EXPECT_EQ(exit.cause(), v1::SIGNALED);
  EXPECT_EQ(exit.signal(), SIGUSR1);
  exit = Run(Job(2, {"signal", std::to_string(SIGKILL)}));
  EXPECT_EQ(exit.cause(), v1::SIGNALED);
  EXPECT_EQ(exit.signal(), SIGKILL);
  EXPECT_EQ(Run(Job(3, {"exit", "0"})).cause(), v1::EXITED);
}

TEST_F(ForkServerTest, KillsOnRequest) {
  Send(Job(7, {"sleep"}));
  ASSERT_TRUE(Receive().has_started());
  v1::ToForkServer kill;
  kill.set_job(7);
  kill.mutable_kill();
  Send(kill);
  v1::FromForkServer message = Receive();
  EXPECT_EQ(message.job(), 7);
  EXPECT_EQ(message.exit().cause(), v1::KILLED);
  Send(kill);  // a job that is no more: nothing happens
  EXPECT_EQ(Run(Job(8, {"exit", "0"})).cause(), v1::EXITED);
}

TEST_F(ForkServerTest, HoldsTheWallLimit) {
  v1::ToForkServer job = Job(1, {"sleep"});
  job.mutable_start()->mutable_limits()->set_wall_milliseconds(100);
  auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(Run(job).cause(), v1::WALL_LIMIT);
  EXPECT_LT(std::chrono::steady_clock::now() - before,
            std::chrono::seconds(10));
}

TEST_F(ForkServerTest, HoldsTheCpuLimit) {
  v1::ToForkServer job = Job(1, {"spin"});
  job.mutable_start()->mutable_limits()->set_cpu_seconds(1);
  EXPECT_EQ(Run(job).cause(), v1::CPU_LIMIT);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ForkServerTest, HoldsTheMemoryLimit) {
  EXPECT_EQ(Run(Job(1, {"allocate"})).cause(), v1::MEMORY_LIMIT);
  EXPECT_THAT(Read(folder_ + "/stderr"), HasSubstr("out of memory"));
}
#endif

TEST_F(ForkServerTest, HoldsTheFileLimit) {
  EXPECT_EQ(Run(Job(1, {"big-file"})).cause(), v1::FILE_LIMIT);
  struct stat status;
  ASSERT_EQ(stat((folder_ + "/big").c_str(), &status), 0);
  EXPECT_LE(status.st_size, 1 << 20);
}

TEST_F(ForkServerTest, AnExceptionIsAnInternalError) {
  v1::JobExit exit = Run(Job(1, {"throw"}));
  EXPECT_EQ(exit.cause(), v1::EXITED);
  EXPECT_EQ(exit.exit_code(), 5);
  EXPECT_THAT(Read(folder_ + "/stderr"), HasSubstr("thrown"));
}

TEST_F(ForkServerTest, AJobSeesNothingOfTheParent) {
  EXPECT_EQ(Run(Job(1, {"look"})).exit_code(), 0);
  EXPECT_EQ(Read(folder_ + "/seen"), "group 1\n");
  EXPECT_EQ(Read(folder_ + "/stdout"), "to stdout\n");
  EXPECT_EQ(Read(folder_ + "/stderr"), "to stderr\n");
}

TEST_F(ForkServerTest, AFolderThatIsNotThereIsAStartThatFailed) {
  v1::ToForkServer job = Job(1, {"exit", "0"});
  job.mutable_start()->set_directory(folder_ + "/none");
  EXPECT_EQ(Run(job).cause(), v1::START_FAILED);
}

TEST_F(ForkServerTest, ProgressComesThroughThePipe) {
  int fds[2];
  ASSERT_EQ(pipe2(fds, O_CLOEXEC), 0);
  EXPECT_EQ(Run(Job(1, {"progress"}), fds[1]).exit_code(), 0);
  close(fds[1]);
  char buffer[256];
  ssize_t got = read(fds[0], buffer, sizeof(buffer));
  ASSERT_GT(got, 0);
  // All ends of the pipe are closed once the job is over.
  char more;
  EXPECT_EQ(read(fds[0], &more, 1), 0);
  close(fds[0]);
  JobEventParser parser;
  parser.Append(std::string_view(buffer, static_cast<size_t>(got)));
  v1::JobEvent event;
  ASSERT_TRUE(parser.Next(&event));
  EXPECT_EQ(event.progress().pass_name(), "fold");
}

TEST_F(ForkServerTest, JobsRunSideBySide) {
  for (int id = 1; id <= 5; ++id) Send(Job(id, {"sleep"}));
  for (int id = 1; id <= 5; ++id) ASSERT_TRUE(Receive().has_started());
  for (int id = 1; id <= 5; ++id) {
    v1::ToForkServer kill;
    kill.set_job(id);
    kill.mutable_kill();
    Send(kill);
    EXPECT_EQ(Receive().job(), id);
  }
}

TEST_F(ForkServerTest, GarbageIsIgnored) {
  ASSERT_GT(send(socket_, "\xff\xff\xff", 3, 0), 0);
  EXPECT_EQ(Run(Job(1, {"exit", "4"})).exit_code(), 4);
}

TEST_F(ForkServerTest, JobsDieWithTheParentsConnection) {
  Send(Job(1, {"sleep"}));
  v1::FromForkServer started = Receive();
  pid_t pid = started.started().pid();
  ASSERT_GT(pid, 0);
  close(socket_);
  socket_ = -1;
  int status = 0;
  ASSERT_EQ(waitpid(server_, &status, 0), server_);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_NE(kill(pid, 0), 0);
  server_ = -1;
}

TEST_F(ForkServerTest, JobsDieWhenTheParentIsKilled) {
  Send(Job(1, {"sleep"}));
  pid_t pid = Receive().started().pid();
  ASSERT_GT(pid, 0);
  kill(server_, SIGKILL);
  waitpid(server_, nullptr, 0);
  server_ = -1;
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    gone = kill(pid, 0) != 0;
    if (!gone) {
      // A zombie that its new parent has not yet reaped is gone as well.
      std::string stat = Read("/proc/" + std::to_string(pid) + "/stat");
      gone = stat.empty() || stat.find(") Z ") != std::string::npos;
    }
    Sleep(10);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace fold
