#include "tune/kind_of.h"

#include <algorithm>

#include "expr/print.h"

namespace lathe {

std::string kind_of(const Dag& dag) {
  const std::string text = to_string(dag);
  constexpr const char* kDigits = "0123456789";
  std::string kind;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    const bool is_factor = end < text.size() && text[end] == '*';
    if (end == at) {
      kind += text[at++];
      continue;
    }
    if (is_factor) kind.append(text, at, end - at);
    at = end;
  }
  return kind;
}

}  // namespace lathe
