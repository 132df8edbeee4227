#include "cost/from_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/read_file.h"
#include "cost/all.h"
#include "cost/gbt.h"

namespace lathe {
namespace {

class Saved : public CostModel {
 public:
  explicit Saved(std::unique_ptr<CostModel> model) : model_(std::move(model)) {}

  FeatureKind wants() const override { return model_->wants(); }
  bool fitted() const override { return true; }
  Status fit(const CostSamples&, std::span<const double>) override { return {}; }
  Result<Prediction> predict(const FeatureSet& candidates) const override {
    return model_->predict(candidates);
  }
  Result<std::string> save() const override { return model_->save(); }

 private:
  std::unique_ptr<CostModel> model_;
};

Result<std::unique_ptr<CostModel>> read_model(const FromFileOptions& options) {
  if (options.model.empty())
    return fail(ErrorKind::invalid_argument, "no file of a cost model is named: set model=FILE");
  LATHE_TRY(const std::string bytes, read_regular_file(options.model));
  return load_cost_model(bytes, options.model);
}

}  // namespace

std::vector<Setting<FromFileOptions>> saved_settings() { return {{"model", &FromFileOptions::model}}; }

std::vector<Setting<FromFileOptions>> transfer_settings() {
  return {{"model", &FromFileOptions::model},
          {"half-life", &FromFileOptions::half_life, 0, 1e9},
          {"least-weight", &FromFileOptions::least_weight, 0, 1}};
}

Result<std::unique_ptr<CostModel>> make_saved(const FromFileOptions& options) {
  LATHE_TRY(std::unique_ptr<CostModel> model, read_model(options));
  return std::make_unique<Saved>(std::move(model));
}

Result<std::unique_ptr<CostModel>> make_transfer_from(const FromFileOptions& options) {
  LATHE_TRY(std::shared_ptr<const CostModel> global, read_model(options));
  const FeatureKind features = global->wants();
  const std::string& name = feature_kind_names()[static_cast<size_t>(features)];
  const std::vector<std::string> rows = row_kind_names();
  if (std::ranges::find(rows, name) == rows.end())
    return fail(ErrorKind::unsupported,
                fmt::format("the trees that learn beside a model do not take its features, '{}'", name),
                options.model);
  GbtOptions local;
  local.features = name;
  return make_transfer(std::move(global), make_gbt(local),
                       {.half_life = options.half_life, .least_weight = options.least_weight});
}

}  // namespace lathe
