// `foldc verify`: the independent checker as a command.
#ifndef COMPILER_CHECK_VERIFY_MAIN_H_
#define COMPILER_CHECK_VERIFY_MAIN_H_

namespace fold::check {

// ARTIFACT MODEL.onnx [--shape NAME=1,3,8,8]... [--quiet]
// argv[0] is skipped (the program's or the subcommand's name). Prints one
// line an op and a summary (with --quiet: only what is not verified, and the
// summary). Returns 0: everything verified or a float island; 8: a difference
// or something unchecked; 3: a file that cannot be used; 2: usage.
int VerifyMain(int argc, char** argv);

}  // namespace fold::check

#endif  // COMPILER_CHECK_VERIFY_MAIN_H_
