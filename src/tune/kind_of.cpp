#include "tune/kind_of.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "expr/print.h"

namespace lathe {
namespace {

constexpr std::string_view kDigits = "0123456789";

// The printed Dag from `at` on begins with a size, or with a text that has none.
struct Part {
  std::string_view text;
  bool is_size = false;
};

Part part_at(std::string_view dag, size_t at) {
  const size_t digits = std::min(dag.find_first_not_of(kDigits, at), dag.size());
  if (digits == at) return {dag.substr(at, dag.find_first_of(kDigits, at) - at)};
  const bool is_factor = digits < dag.size() && dag[digits] == '*';
  return {dag.substr(at, digits - at), !is_factor};
}

}  // namespace

std::string kind_of(const Dag& dag) {
  const std::string text = to_string(dag);
  std::string kind;
  for (size_t at = 0; at < text.size();) {
    const Part part = part_at(text, at);
    if (!part.is_size) kind += part.text;
    at += part.text.size();
  }
  return kind;
}

std::optional<std::vector<double>> sizes_as_of_kind(std::string_view dag, std::string_view kind) {
  std::vector<double> sizes;
  for (size_t at = 0; at < dag.size();) {
    const Part part = part_at(dag, at);
    at += part.text.size();
    if (part.is_size) {
      std::from_chars(part.text.data(), part.text.data() + part.text.size(), sizes.emplace_back());
    } else if (kind.starts_with(part.text)) {
      kind.remove_prefix(part.text.size());
    } else {
      return std::nullopt;
    }
  }
  return kind.empty() ? std::optional(std::move(sizes)) : std::nullopt;
}

}  // namespace lathe
