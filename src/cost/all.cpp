#include "cost/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "cost/gbt.h"
#include "cost/none.h"

namespace lathe {
namespace {

struct Entry {
  const char* name;
  std::unique_ptr<CostModel> (*make)();
};
constexpr std::array kModels{Entry{"gbt", make_gbt}, Entry{"gbt-regression", make_gbt_regression},
                             Entry{"none", make_no_cost_model}};

}  // namespace

std::vector<std::string> cost_model_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kModels) names.emplace_back(entry.name);
  return names;
}

Result<std::unique_ptr<CostModel>> make_cost_model(std::string_view name) {
  for (const Entry& entry : kModels) {
    if (name == entry.name) return entry.make();
  }
  return fail(ErrorKind::invalid_argument, fmt::format("there is no cost model '{}'; legal names are {}",
                                                       name, fmt::join(cost_model_names(), ", ")));
}

}  // namespace lathe
