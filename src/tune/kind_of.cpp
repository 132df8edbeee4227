#include "tune/kind_of.h"

#include <algorithm>
#include <charconv>

#include "expr/print.h"

namespace lathe {
namespace {

// A printed Dag in two parts.
struct Parts {
  std::string kind;
  std::vector<double> sizes;
};

Parts parts_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  Parts parts;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_not_of(kDigits, at), text.size());
    const bool is_factor = end < text.size() && text[end] == '*';
    if (end == at) {
      parts.kind += text[at++];
      continue;
    }
    if (is_factor) {
      parts.kind.append(text, at, end - at);
    } else {
      double& size = parts.sizes.emplace_back();
      std::from_chars(text.data() + at, text.data() + end, size);
    }
    at = end;
  }
  return parts;
}

}  // namespace

std::string kind_of(const Dag& dag) { return kind_of(to_string(dag)); }
std::string kind_of(std::string_view dag) { return parts_of(dag).kind; }
std::vector<double> sizes_of(std::string_view dag) { return parts_of(dag).sizes; }

}  // namespace lathe
