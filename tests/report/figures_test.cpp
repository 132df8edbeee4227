#include "report/figures.h"

#include <gtest/gtest.h>

#include <limits>

namespace lathe {
namespace {

TEST(Figures, NoTextIsMarkup) {
  EXPECT_EQ(escaped(R"(<b> & "c" 'd')"), "&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped("größe µ"), "größe µ");
  EXPECT_EQ(escaped(std::string("a\0b\nc\x7f", 6)), "a b c ");
  EXPECT_EQ(escaped("a\xff"), "a\xEF\xBF\xBD");
}

TEST(Figures, TimesHaveTheUnitThatSuitsThem) {
  EXPECT_EQ(time_text(12.3456), "12.3 s");
  EXPECT_EQ(time_text(1), "1.00 s");
  EXPECT_EQ(time_text(0.9996), "1.00 s");
  EXPECT_EQ(time_text(0.9994), "999 ms");
  EXPECT_EQ(time_text(1.5e-3), "1.50 ms");
  EXPECT_EQ(time_text(123.4e-6), "123 µs");
  EXPECT_EQ(time_text(2e-9), "2.00 ns");
  EXPECT_EQ(time_text(1e-12), "0.001 ns");
  EXPECT_EQ(time_text(86400), "86,400 s");
}

TEST(Figures, NumbersHaveThreeDigitsOrMore) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.00012345), "0.000123");
  EXPECT_EQ(short_number(0.128), "0.128");
  EXPECT_EQ(short_number(0.9996), "1.00");
  EXPECT_EQ(short_number(9.994), "9.99");
  EXPECT_EQ(short_number(9.996), "10.0");
  EXPECT_EQ(short_number(99.96), "100");
  EXPECT_EQ(short_number(1260.4), "1,260");
  EXPECT_EQ(short_number(-1234567), "-1,234,567");
  EXPECT_EQ(short_number(std::numeric_limits<double>::infinity()), "-");
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(123), "123");
  EXPECT_EQ(count_text(1234), "1,234");
}

TEST(Figures, DatesAreThoseOfUtc) {
  EXPECT_EQ(date_text(0), "1970-01-01 00:00");
  EXPECT_EQ(date_text(1'700'000'000'123), "2023-11-14 22:13");
  EXPECT_EQ(date_text(-5), "1970-01-01 00:00");
  EXPECT_EQ(date_text(std::numeric_limits<int64_t>::max()), "9999-12-31 23:59");
}

TEST(Figures, TheExactValueStandsBesideTheText) {
  EXPECT_EQ(time_figure("seconds", 1.2345678e-05),
            R"(<data data-field="seconds" value="1.2345678e-05">12.3 µs</data>)");
  EXPECT_EQ(number_figure("gflops", 0.1), R"(<data data-field="gflops" value="0.1">0.1</data>)");
  EXPECT_EQ(figure("trials", int64_t{1234}), R"(<data data-field="trials" value="1234">1,234</data>)");
  EXPECT_EQ(time_figure("seconds", std::nullopt), "–");
  EXPECT_EQ(number_figure("gflops", std::nullopt), "–");
}

}  // namespace
}  // namespace lathe
