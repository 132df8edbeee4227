#include "session/commands/search_parts.h"

#include <utility>

#include "cost/all.h"
#include "search/all.h"

namespace lathe {

Status SearchParts::check_strategy(const std::string& text) const {
  return owns_strategy(text) ? Status() : lathe::check_strategy(text);
}

Result<std::unique_ptr<Strategy>> SearchParts::make_strategy(const std::string& text, SearchSpace space,
                                                             uint64_t seed) const {
  const auto own = strategies.find(text);
  return own != strategies.end() ? own->second(std::move(space), seed)
                                 : lathe::make_strategy(text, std::move(space), seed);
}

Result<std::unique_ptr<CostModel>> SearchParts::make_cost_model(const std::string& text) const {
  const auto own = cost_models.find(text);
  return own != cost_models.end() ? own->second() : lathe::make_cost_model(text);
}

}  // namespace lathe
