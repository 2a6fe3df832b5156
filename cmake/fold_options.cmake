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
if(FOLD_FUZZ)
  # Every library tells libFuzzer which of its branches were taken; without
  # that the fuzzers would guess blindly.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
