// foldc: the compiler as a one-shot program, and what a job's process runs.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/tools/compile_main.h"

int main(int argc, char** argv) { return fold::FoldcMain(argc, argv); }
