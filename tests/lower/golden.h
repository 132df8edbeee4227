// One pass on a program's text: what comes out, as text, and that the interpreter sees no difference.
#pragma once

#include <string>

#include "loop/parse.h"
#include "loop/print.h"
#include "lower/programs.h"

namespace lathe::testing {

inline Program parsed(const std::string& text) {
  Result<Program> program = parse_program(text);
  EXPECT_TRUE(program.has_value()) << program.error().to_string();
  return *program;
}

inline Result<Program> as_result(Result<Program> program) { return program; }

// `after` as the printer writes it, with a line break before it.
template <class Pass>
void expect_golden(const Pass& pass, const std::string& before, const std::string& after) {
  const Program program = parsed(before);
  const Result<Program> result = as_result(pass(program));
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  const std::string text = to_string(*result);
  EXPECT_EQ("\n" + text, after);
  EXPECT_EQ(to_string(parsed(text)), text);
  expect_same_result(program, *result);
}

template <class Pass>
void expect_error(const Pass& pass, const std::string& before, const std::string& sentence) {
  const Result<Program> result = as_result(pass(parsed(before)));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().message, sentence);
}

}  // namespace lathe::testing
