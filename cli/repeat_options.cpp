#include "cli/repeat_options.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace lathe::cli {
namespace {

// Such as NAME=1,3,224,224, NAME=1..16,3 or NAME=tokens:1..512.
bool is_shape(std::string_view word) {
  const size_t equals = word.rfind('=');
  if (equals == std::string_view::npos || equals + 1 == word.size()) return false;
  const auto is_of_shape = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_,.:").contains(c);
  };
  return std::isdigit(static_cast<unsigned char>(word.back())) != 0 &&
         std::ranges::all_of(word.substr(equals + 1), is_of_shape);
}

bool is_value(std::string_view word) {
  return !word.starts_with('-') && (word.ends_with(".npy") || is_shape(word));
}

}  // namespace

std::vector<std::string> repeat_options(const std::vector<std::string>& words) {
  std::vector<std::string> result;
  std::string name;        // of the option whose values may go on; empty: none
  bool has_value = false;  // whether it has its first, which may be any word
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      result.insert(result.end(), words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      return result;
    }
    const std::string start = word.substr(0, word.find('='));
    if (start == "--input" || start == "--output") {
      name = start;
      has_value = start != word;
    } else if (!name.empty() && !has_value) {
      has_value = true;
    } else if (!name.empty() && is_value(word)) {
      result.push_back(name);
    } else {
      name.clear();
    }
    result.push_back(word);
  }
  return result;
}

}  // namespace lathe::cli
