// foldc's main as a function.
#ifndef FOLD_COMPILER_TOOLS_COMPILE_MAIN_H_
#define FOLD_COMPILER_TOOLS_COMPILE_MAIN_H_

namespace fold {

// `foldc MODEL …`, `foldc verify …`, `foldc --fork-server FD`, `foldc --help`,
// `foldc --version`. Returns the exit code (design.md section 1).
int FoldcMain(int argc, char** argv);

}  // namespace fold

#endif  // FOLD_COMPILER_TOOLS_COMPILE_MAIN_H_
