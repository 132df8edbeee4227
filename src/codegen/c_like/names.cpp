#include "codegen/c_like/names.h"

#include <cctype>

namespace lathe::c_like {

const std::string& Names::of(const void* object, const std::string& wish) {
  const auto known = known_.find(object);
  if (known != known_.end()) return known->second;
  return known_.emplace(object, fresh(wish)).first->second;
}

std::string Names::fresh(const std::string& wish) {
  std::string name;
  for (char c : wish) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name.insert(0, "v");
  std::string unique = name;
  int& number = next_.try_emplace(name, 2).first->second;
  for (; !used_.insert(unique).second; ++number) unique = name + "_" + std::to_string(number);
  return unique;
}

}  // namespace lathe::c_like
