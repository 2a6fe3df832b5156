# Compiler launcher and sanitizers, for every target of the project.
find_program(FOLD_CCACHE ccache)
if(FOLD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${FOLD_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FOLD_CCACHE})
endif()
if(FOLD_SANITIZE_ADDRESS)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(FOLD_SANITIZE_THREAD)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
# A job that crashes in a test must end by its signal, as it would elsewhere.
string(CONCAT _signals "handle_segv=0:handle_sigbus=0:handle_abort=0:"
  "handle_sigill=0:handle_sigfpe=0")
set(FOLD_TEST_ENVIRONMENT "FOLD_BIN=${CMAKE_BINARY_DIR}/bin")
set(FOLD_TEST_SECONDS 300)
if(FOLD_SANITIZE_ADDRESS OR FOLD_SANITIZE_THREAD)
  # Ten times slower and more: fewer networks are drawn, fewer bits flipped, and
  # everything has longer.
  list(APPEND FOLD_TEST_ENVIRONMENT "FOLD_NETWORKS=200" "FOLD_FLIP_STEP=20")
  set(FOLD_TEST_SECONDS 1200)
endif()
if(FOLD_SANITIZE_ADDRESS)
  # Memory that cannot be had is an error to handle, as it is elsewhere.
  list(APPEND FOLD_TEST_ENVIRONMENT
    "ASAN_OPTIONS=${_signals}:allocator_may_return_null=1:malloc_context_size=8"
    "UBSAN_OPTIONS=print_stacktrace=1:${_signals}")
endif()
if(FOLD_SANITIZE_THREAD)
  string(CONCAT _suppressions "ignore_noninstrumented_modules=1:suppressions="
    "${CMAKE_SOURCE_DIR}/tests/sanitizers/tsan.supp")
  list(APPEND FOLD_TEST_ENVIRONMENT "TSAN_OPTIONS=${_signals}:${_suppressions}")
endif()
if(FOLD_FUZZ)
  # Every library tells libFuzzer which of its branches were taken; without
  # that the fuzzers would guess blindly.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
