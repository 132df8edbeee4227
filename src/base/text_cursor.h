// A cursor over text for the hand-written parsers (expressions, loops, traces, targets): skips blanks and
// `#` comments, reads tokens, and makes parse errors that name line and column. Never throws.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lathe {

class TextCursor {
 public:
  // `text` must outlive the cursor; `name` is what an error calls the text (a file name or "expression").
  TextCursor(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  // Skips blanks, newlines and comments, then says whether the text is used up.
  bool at_end();
  // Whether nothing but spaces, tabs and a comment stands before the end of the line.
  bool at_line_end() const;
  // The next character after blanks, or 0 at the end.
  char peek();
  // True and consumed if the text goes on with `token` (after blanks).
  bool accept(std::string_view token);
  // The same for a whole word: `accept_word("sum")` does not match "summary".
  bool accept_word(std::string_view word);
  // An error unless the text goes on with `token`.
  Status expect(std::string_view token);
  // The comma between two elements of a list that `close` may end as well, which the Error says.
  Status expect_comma(std::string_view close);
  // Letters, digits, '_' and '.', starting with a letter or '_'.
  Result<std::string> identifier();
  // True if an identifier comes next.
  bool at_identifier();
  // A decimal integer with an optional sign, within int64.
  Result<int64_t> integer();
  // A decimal number with optional fraction and exponent, or inf / nan.
  Result<double> number();
  // A double-quoted string with \" and \\ escapes.
  Result<std::string> quoted();

  // A parse error at the present place.
  std::unexpected<Error> error(std::string message) const;
  size_t position() const { return position_; }
  void rewind(size_t position) { position_ = position; }

 private:
  void skip_blanks();
  std::string_view text_;
  std::string name_;
  size_t position_ = 0;
};

}  // namespace lathe
