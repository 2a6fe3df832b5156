// For tests: runs a program on a machine that refuses some system calls, as a
// container's own filter does.
//   fewer_walls CALL[,CALL...] PROGRAM [ARGUMENT...]
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  std::istringstream calls(argv[1]);
  std::string call;
  while (std::getline(calls, call, ',')) {
    int number = seccomp_syscall_resolve_name(call.c_str());
    if (number == __NR_SCMP_ERROR ||
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0) != 0) {
      std::fprintf(stderr, "fewer_walls: no rule for %s\n", call.c_str());
      return 2;
    }
  }
  if (seccomp_load(filter) != 0) return 2;
  execv(argv[2], argv + 2);
  std::perror(argv[2]);
  return 127;
}
