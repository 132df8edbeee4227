// Identifiers for tensors and variables: their own names where the language allows, made unique.
#pragma once

#include <map>
#include <set>
#include <string>

namespace lathe::c_like {

class Names {
 public:
  // Identifiers that are never given away.
  explicit Names(std::set<std::string> reserved) : used_(std::move(reserved)) {}

  // The identifier of an object (a tensor's or variable's node), made from `wish` when first asked for.
  const std::string& of(const void* object, const std::string& wish);
  // An identifier that nothing else has.
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> used_;
  std::map<const void*, std::string> known_;
  std::map<std::string, int> next_;  // the number to try next for a name that is taken
};

}  // namespace lathe::c_like
