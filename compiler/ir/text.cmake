# The text form: Print and Parse.
fold_cc_library(compiler_text
  SRCS parser.cc printer.cc text_format.cc text_lexer.cc text_reader.cc
  DEPS compiler_ir)
fold_cc_test(text_test
  SRCS parser_test.cc printer_test.cc text_format_test.cc text_lexer_test.cc
       text_reader_test.cc text_test.cc
  DEPS compiler_text)
fold_cc_fuzz(text_fuzz SRCS text_fuzz.cc DEPS compiler_text)
