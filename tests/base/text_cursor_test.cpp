#include "base/text_cursor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace lathe {
namespace {

TextCursor cursor(std::string_view text) { return {text, "file"}; }

template <class T>
std::string error_of(const Result<T>& result) {
  return result.has_value() ? "no error" : result.error().to_string();
}

TEST(TextCursor, SkipsBlanksAndComments) {
  TextCursor text = cursor("  # a comment\n\t x # another");
  EXPECT_FALSE(text.at_end());
  EXPECT_EQ(text.peek(), 'x');
  EXPECT_TRUE(text.accept("x"));
  EXPECT_TRUE(text.at_end());
  EXPECT_EQ(text.peek(), '\0');
}

TEST(TextCursor, LinesEndBeforeTheirComments) {
  TextCursor text = cursor("x y \t# a comment\nz");
  for (const char* name : {"x", "y"}) {
    EXPECT_FALSE(text.at_line_end());
    EXPECT_EQ(text.identifier(), name);
  }
  EXPECT_TRUE(text.at_line_end());
  EXPECT_EQ(text.position(), 3u);  // it consumes nothing
  EXPECT_EQ(text.identifier(), "z");
  EXPECT_TRUE(text.at_line_end());
  EXPECT_TRUE(cursor("\nx").at_line_end());
  EXPECT_TRUE(cursor("\r\nx").at_line_end());
}

TEST(TextCursor, AcceptConsumesOnlyWhatMatches) {
  TextCursor text = cursor("->x");
  EXPECT_FALSE(text.accept("=>"));
  EXPECT_EQ(text.position(), 0u);
  EXPECT_TRUE(text.accept("->"));
  EXPECT_EQ(text.position(), 2u);
  EXPECT_FALSE(text.accept("xy"));
}

TEST(TextCursor, AcceptWordTakesWholeWordsOnly) {
  TextCursor text = cursor("summary sum(r)");
  EXPECT_FALSE(text.accept_word("sum"));
  EXPECT_TRUE(text.accept_word("summary"));
  EXPECT_TRUE(text.accept_word("sum"));
  EXPECT_TRUE(text.accept("("));
}

TEST(TextCursor, ReadsNames) {
  TextCursor text = cursor("conv.out_0 9x");
  EXPECT_TRUE(text.at_identifier());
  EXPECT_EQ(text.identifier(), "conv.out_0");
  EXPECT_FALSE(text.at_identifier());
  EXPECT_EQ(error_of(text.identifier()), "file:1:12: expected a name");
}

TEST(TextCursor, ReadsIntegers) {
  TextCursor text = cursor("12 -3 +4 -9223372036854775808 9223372036854775807");
  EXPECT_EQ(text.integer(), 12);
  EXPECT_EQ(text.integer(), -3);
  EXPECT_EQ(text.integer(), 4);
  EXPECT_EQ(text.integer(), INT64_MIN);
  EXPECT_EQ(text.integer(), INT64_MAX);
}

TEST(TextCursor, RefusesWhatIsNoInteger) {
  EXPECT_EQ(error_of(cursor("").integer()), "file:1:1: expected an integer");
  EXPECT_EQ(error_of(cursor(" x").integer()), "file:1:2: expected an integer");
  EXPECT_EQ(error_of(cursor("+-4").integer()), "file:1:1: expected an integer");
  EXPECT_EQ(error_of(cursor("9223372036854775808").integer()), "file:1:1: the integer does not fit 64 bits");
}

TEST(TextCursor, ReadsNumbers) {
  TextCursor text = cursor("1.5 -2e-3 inf -inf nan 7");
  EXPECT_EQ(text.number(), 1.5);
  EXPECT_EQ(text.number(), -2e-3);
  EXPECT_EQ(text.number(), INFINITY);
  EXPECT_EQ(text.number(), -INFINITY);
  EXPECT_TRUE(std::isnan(text.number().value()));
  EXPECT_EQ(text.number(), 7.0);
}

TEST(TextCursor, RefusesWhatIsNoNumber) {
  EXPECT_EQ(error_of(cursor("x").number()), "file:1:1: expected a number");
  EXPECT_EQ(error_of(cursor("1e999").number()), "file:1:1: the number does not fit a double");
}

TEST(TextCursor, ReadsQuotedStrings) {
  EXPECT_EQ(cursor(R"("a \"b\" \\ # c")").quoted(), R"(a "b" \ # c)");
  EXPECT_EQ(cursor(R"("")").quoted(), "");
  EXPECT_EQ(error_of(cursor("a").quoted()), "file:1:1: expected a quoted string");
  EXPECT_EQ(error_of(cursor("\"ab").quoted()), "file:1:4: the quoted string has no end");
}

TEST(TextCursor, ErrorsNameLineAndColumn) {
  TextCursor text = cursor("a\n# comment\n  b )");
  ASSERT_TRUE(text.accept("a"));
  ASSERT_TRUE(text.accept("b"));
  EXPECT_EQ(error_of(text.expect("(")), "file:3:5: expected '('");
  EXPECT_TRUE(text.expect(")").has_value());
  EXPECT_EQ(text.error("too short").error().kind, ErrorKind::parse);
}

TEST(TextCursor, AListGoesOnOrEnds) {
  TextCursor text = cursor("a, b c");
  ASSERT_TRUE(text.accept("a"));
  EXPECT_TRUE(text.expect_comma("]").has_value());
  ASSERT_TRUE(text.accept("b"));
  EXPECT_EQ(error_of(text.expect_comma("]")), "file:1:6: expected ',' or ']'");
}

TEST(TextCursor, RewindsToAnEarlierPlace) {
  TextCursor text = cursor("a b");
  const size_t start = text.position();
  ASSERT_TRUE(text.accept("a"));
  text.rewind(start);
  EXPECT_EQ(text.identifier(), "a");
}

}  // namespace
}  // namespace lathe
