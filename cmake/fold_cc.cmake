# fold_cc_library, _binary, _test, _bench, _fuzz: targets that mirror the rooms.
set(FOLD_WARNINGS -Wall -Wextra -Wpedantic -Werror=return-type -Wno-unused-parameter
    -Wno-missing-field-initializers
    # gcc 12 sees uninitialized std::variant members where there are none.
    -Wno-maybe-uninitialized)

function(_fold_target name)
  cmake_parse_arguments(A "" "" "DEPS;COPTS" ${ARGN})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
  target_compile_options(${name} PRIVATE ${FOLD_WARNINGS} ${A_COPTS})
  target_link_libraries(${name} PUBLIC ${A_DEPS})
endfunction()

# fold_cc_library(NAME SRCS a.cc… [DEPS targets…] [COPTS flags…]): a static
# library; without SRCS, an interface one.
function(fold_cc_library name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS;COPTS" ${ARGN})
  if(A_SRCS)
    add_library(${name} STATIC ${A_SRCS})
    _fold_target(${name} DEPS ${A_DEPS} COPTS ${A_COPTS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    target_link_libraries(${name} INTERFACE ${A_DEPS})
  endif()
endfunction()

function(fold_cc_binary name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS;COPTS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  _fold_target(${name} DEPS ${A_DEPS} COPTS ${A_COPTS})
endfunction()

# fold_cc_test(NAME SRCS… DEPS… [ARGS…] [LABELS full]): GoogleTest with its main.
function(fold_cc_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SRCS;DEPS;COPTS;ARGS;LABELS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  _fold_target(${name} DEPS ${A_DEPS} GTest::gmock GTest::gtest_main COPTS ${A_COPTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT ${FOLD_TEST_SECONDS})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${A_TIMEOUT} LABELS "${A_LABELS}"
    ENVIRONMENT "${FOLD_TEST_ENVIRONMENT}")
endfunction()

function(fold_cc_bench name)
  cmake_parse_arguments(A "" "" "SRCS;DEPS;COPTS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  _fold_target(${name} DEPS ${A_DEPS} benchmark::benchmark_main COPTS ${A_COPTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endfunction()

# A libFuzzer target, built in the fuzz preset alone; `fuzzers` is all of them.
if(FOLD_FUZZ)
  add_custom_target(fuzzers)
endif()
function(fold_cc_fuzz name)
  if(NOT FOLD_FUZZ)
    return()
  endif()
  cmake_parse_arguments(A "" "" "SRCS;DEPS;COPTS" ${ARGN})
  add_executable(${name} ${A_SRCS})
  _fold_target(${name} DEPS ${A_DEPS} COPTS ${A_COPTS} -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${name})
endfunction()
