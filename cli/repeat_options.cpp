#include "cli/repeat_options.h"

#include <string_view>

namespace lathe::cli {
namespace {

bool is_shape(std::string_view word) {
  const size_t equals = word.rfind('=');
  return equals != std::string_view::npos && equals + 1 < word.size() &&
         word.find_first_not_of("0123456789,", equals + 1) == std::string_view::npos;
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
