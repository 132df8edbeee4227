// Text from a user's file inside a sentence.
#pragma once

#include <string>
#include <string_view>

namespace lathe {

// The text itself, or its beginning with " .." where it has more than `most` bytes. No UTF-8 character is
// cut.
std::string abridged(std::string_view text, size_t most = 100);

}  // namespace lathe
