#include "compiler/sandbox/syscall_filter.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "compiler/sandbox/privileges.h"
#include "compiler/sandbox/probe.h"
#include "compiler/sandbox/sanitized.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace fold {
namespace {

// What comes of a call behind the filter: "done", the error's name, or what
// ended the process.
std::string Behind(const std::function<long()>& call) {
  SyscallFilter filter;
  std::string error = filter.Build();
  if (!error.empty()) return error;
  return TryInChild([&] {
    std::string fault = SetNoNewPrivileges();
    if (fault.empty()) fault = filter.Install();
    if (!fault.empty()) return fault;
    errno = 0;
    long done = call();
    return std::string(done >= 0 ? "done" : strerrorname_np(errno));
  });
}

long Number(int64_t call) { return syscall(call, 0, 0, 0, 0, 0, 0); }

TEST(SyscallFilter, LetsACompileWork) {
  EXPECT_EQ(Behind([] {
              char name[] = "filter_test_XXXXXX";
              int fd = mkstemp(name);
              (void)!write(fd, "x", 1);
              (void)fsync(fd);
              unlink(name);
              return fd;
            }),
            "done");
  EXPECT_EQ(Behind([] {
              void* memory = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return memory == MAP_FAILED ? -1L : 0L;
            }),
            "done");
  EXPECT_EQ(Behind([] { return fcntl(0, F_GETFL); }), "done");
}

TEST(SyscallFilter, RefusesTheRestWithAnError) {
  EXPECT_EQ(Behind([] { return socket(AF_INET, SOCK_STREAM, 0); }), "EPERM");
  EXPECT_EQ(Behind([] { return socket(AF_UNIX, SOCK_STREAM, 0); }), "EPERM");
  EXPECT_EQ(Behind([] { return fork(); }), "EPERM");
  EXPECT_EQ(Behind([] { return mkdir("filter_test_folder", 0700); }), "EPERM");
  EXPECT_EQ(Behind([] { return symlink("/", "filter_test_link"); }), "EPERM");
  EXPECT_EQ(Behind([] { return chmod(".", 0777); }), "EPERM");
  EXPECT_EQ(Behind([] { return Number(SYS_clone3); }), "ENOSYS");
  EXPECT_EQ(Behind([] { return memfd_create("x", 0); }), "EPERM");
  // A number that no kernel has yet.
  EXPECT_EQ(Behind([] { return Number(4000); }), "EPERM");
}

TEST(SyscallFilter, SignalsReachTheProcessAlone) {
  EXPECT_EQ(Behind([] { return kill(getppid(), 0); }), "EPERM");
  EXPECT_EQ(
      Behind([] { return syscall(SYS_tgkill, getppid(), getppid(), SIGTERM); }),
      "EPERM");
  // By way of a descriptor that has something to say.
  EXPECT_EQ(Behind([] { return fcntl(0, F_SETOWN, getppid()); }), "EPERM");
  EXPECT_EQ(Behind([] { return fcntl(0, F_SETFL, O_ASYNC); }), "EPERM");
  EXPECT_THAT(Behind([] { return raise(SIGUSR1); }),
              testing::HasSubstr("User defined signal 1"));
}

TEST(SyscallFilter, EndsWhatIsNoCompile) {
  for (int64_t call :
       {SYS_execve, SYS_ptrace, SYS_unshare, SYS_setns, SYS_mount, SYS_bpf,
        SYS_perf_event_open, SYS_keyctl, SYS_io_uring_setup, SYS_userfaultfd,
        SYS_process_vm_readv, SYS_open_by_handle_at}) {
    EXPECT_EQ(Behind([&] { return Number(call); }), "ended by Bad system call")
        << call;
  }
}

TEST(SyscallFilter, ArgumentsDecide) {
  if (!kSanitized) {
    EXPECT_EQ(Behind([] {
                void* memory = mmap(nullptr, 4096, PROT_READ | PROT_EXEC,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                return memory == MAP_FAILED ? -1L : 0L;
              }),
              "EPERM");
  }
  EXPECT_EQ(Behind([] { return open("/dev/null", O_RDONLY | O_TRUNC); }),
            "EPERM");
  EXPECT_EQ(Behind([] { return open("/dev/null", O_WRONLY | O_TRUNC); }),
            "done");
  EXPECT_EQ(Behind([] { return open("/dev/null", O_RDONLY); }), "done");
  EXPECT_EQ(Behind([] {
              return syscall(SYS_prlimit64, getppid(), 7, nullptr, nullptr);
            }),
            "EPERM");
}

#if defined(__x86_64__)
TEST(SyscallFilter, OtherArchitecturesNumbersEndIt) {
  // getpid by the 32-bit gate: ended by the filter, or, in a kernel without
  // that gate, by the kernel.
  EXPECT_THAT(Behind([]() -> long {
                int number = 20;
                asm volatile("int $0x80" : "+a"(number) : : "memory");
                return number;
              }),
              testing::HasSubstr("ended by"));
  constexpr int64_t kX32Bit = 0x40000000;
  EXPECT_EQ(Behind([] { return Number(kX32Bit + SYS_getpid); }),
            "ended by Bad system call");
}
#endif

TEST(SyscallFilter, CannotBeInstalledUnbuilt) {
  EXPECT_NE(SyscallFilter().Install(), "");
}

}  // namespace
}  // namespace fold
