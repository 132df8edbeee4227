#include "cost/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

#include "base/settings.h"
#include "cost/ensemble.h"
#include "cost/from_file.h"
#include "cost/gbt.h"
#include "cost/none.h"
#include "cost/tree_gru.h"

namespace lathe {
namespace {

using Made = Result<std::unique_ptr<CostModel>>;

struct Entry {
  const char* name;
  Made (*make)(const NamedSettings&);
  Made (*load)(const SavedModel&, const std::string& source) = nullptr;  // null: it cannot be kept
};

// The maker of a row that has options, from its defaults.
template <auto make, auto settings, auto defaults>
Made make_set(const NamedSettings& named) {
  LATHE_TRY(const auto options, with_settings(defaults(), settings(), named));
  return make(options);
}
// The same of one that lets nothing be set.
template <auto make>
Made make_plain(const NamedSettings& named) {
  if (!named.settings.empty())
    return fail(ErrorKind::invalid_argument, unknown_setting(named.name, named.settings[0].first, {}));
  return make();
}

GbtOptions of_ranks() { return {}; }
GbtOptions of_regression() { return {.objective = "regression"}; }
EnsembleOptions of_ensemble() { return {}; }
TreeGruOptions of_trees() { return {}; }
FromFileOptions of_file() { return {}; }

constexpr std::array kModels{
    Entry{"gbt", make_set<make_gbt, gbt_settings, of_ranks>, load_gbt},
    Entry{"gbt-regression", make_set<make_gbt, gbt_settings, of_regression>},
    Entry{"ensemble", make_set<make_ensemble, ensemble_settings, of_ensemble>},
    Entry{"tree-gru", make_set<make_tree_gru, tree_gru_settings, of_trees>, load_tree_gru},
    Entry{"tree-gru-context", make_set<make_tree_gru_context, tree_gru_settings, of_trees>, load_tree_gru},
    Entry{"transfer", make_set<make_transfer_from, transfer_settings, of_file>},
    Entry{"saved", make_set<make_saved, saved_settings, of_file>},
    Entry{"none", make_plain<make_no_cost_model>}};

}  // namespace

std::vector<std::string> cost_model_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kModels) names.emplace_back(entry.name);
  return names;
}

Result<std::unique_ptr<CostModel>> make_cost_model(std::string_view text) {
  LATHE_TRY(const NamedSettings named, parse_named(text));
  for (const Entry& entry : kModels) {
    if (named.name == entry.name) return entry.make(named);
  }
  return fail(ErrorKind::invalid_argument, fmt::format("there is no cost model '{}'; legal names are {}",
                                                       named.name, fmt::join(cost_model_names(), ", ")));
}

Result<std::unique_ptr<CostModel>> load_cost_model(std::string_view bytes, const std::string& source) {
  LATHE_TRY(const SavedModel saved, parse_saved_model(bytes, source));
  LATHE_TRY(const NamedSettings named, parse_named(saved.model));
  for (const Entry& entry : kModels)
    if (named.name == entry.name && entry.load != nullptr) return entry.load(saved, source);
  return fail(ErrorKind::parse, fmt::format("there is no cost model '{}' that can be kept", named.name),
              source);
}

}  // namespace lathe
