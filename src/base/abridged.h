// Text from a user's file inside a sentence.
#pragma once

#include <string>
#include <string_view>

namespace lathe {

// The text itself, or its beginning with " .." where it has more than `most` bytes. No UTF-8 character is
// cut.
std::string abridged(std::string_view text, size_t most = 100);
// The text with control characters and bytes of no UTF-8 character as \x1b: what anyone wrote may stand in a
// sentence for a terminal then.
std::string printable(std::string_view text);

}  // namespace lathe
