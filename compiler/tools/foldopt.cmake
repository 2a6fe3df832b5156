# foldopt: passes on graphs in their text form.
fold_cc_binary(foldopt SRCS foldopt.cc
  DEPS compiler_passes compiler_ops compiler_text)
fold_cc_test(foldopt_test SRCS foldopt_test.cc)
add_dependencies(foldopt_test foldopt)
