#include "base/text_cursor.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cstdlib>

namespace lathe {
namespace {

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

}  // namespace

void TextCursor::skip_blanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++position_;
    } else if (c == '#') {
      while (position_ < text_.size() && text_[position_] != '\n') ++position_;
    } else {
      return;
    }
  }
}

bool TextCursor::at_end() {
  skip_blanks();
  return position_ >= text_.size();
}

bool TextCursor::at_line_end() const {
  const size_t place = text_.find_first_not_of(" \t\r", position_);
  return place == std::string_view::npos || text_[place] == '\n' || text_[place] == '#';
}

char TextCursor::peek() { return at_end() ? '\0' : text_[position_]; }

bool TextCursor::accept(std::string_view token) {
  skip_blanks();
  if (text_.substr(position_, token.size()) != token) return false;
  position_ += token.size();
  return true;
}

bool TextCursor::accept_word(std::string_view word) {
  skip_blanks();
  if (text_.substr(position_, word.size()) != word) return false;
  const size_t end = position_ + word.size();
  if (end < text_.size() && is_word(text_[end])) return false;
  position_ = end;
  return true;
}

Status TextCursor::expect(std::string_view token) {
  if (accept(token)) return {};
  return error(fmt::format("expected '{}'", token));
}

Status TextCursor::expect_comma(std::string_view close) {
  if (accept(",")) return {};
  return error(fmt::format("expected ',' or '{}'", close));
}

bool TextCursor::at_identifier() { return is_word_start(peek()); }

Result<std::string> TextCursor::identifier() {
  if (!at_identifier()) return error("expected a name");
  const size_t begin = position_;
  while (position_ < text_.size() && is_word(text_[position_])) ++position_;
  return std::string(text_.substr(begin, position_ - begin));
}

Result<int64_t> TextCursor::integer() {
  skip_blanks();
  const char* begin = text_.data() + position_;
  const char* end = text_.data() + text_.size();
  if (begin + 1 < end && *begin == '+' && begin[1] != '-') ++begin;
  int64_t value = 0;
  const auto [stop, code] = std::from_chars(begin, end, value);
  if (code == std::errc::result_out_of_range) return error("the integer does not fit 64 bits");
  if (code != std::errc()) return error("expected an integer");
  position_ = static_cast<size_t>(stop - text_.data());
  return value;
}

Result<double> TextCursor::number() {
  skip_blanks();
  const char* begin = text_.data() + position_;
  const char* end = text_.data() + text_.size();
  double value = 0;
  const auto [stop, code] = std::from_chars(begin, end, value);
  if (code == std::errc::result_out_of_range) return error("the number does not fit a double");
  if (code != std::errc()) return error("expected a number");
  position_ = static_cast<size_t>(stop - text_.data());
  return value;
}

Result<std::string> TextCursor::quoted() {
  if (!accept("\"")) return error("expected a quoted string");
  std::string value;
  while (position_ < text_.size() && text_[position_] != '"') {
    if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
    value += text_[position_++];
  }
  if (position_ >= text_.size()) return error("the quoted string has no end");
  ++position_;
  return value;
}

std::unexpected<Error> TextCursor::error(std::string message) const {
  size_t line = 1;
  size_t column = 1;
  for (size_t i = 0; i < position_ && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return fail(ErrorKind::parse, std::move(message), fmt::format("{}:{}:{}", name_, line, column));
}

}  // namespace lathe
