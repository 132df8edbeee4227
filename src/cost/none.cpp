#include "cost/none.h"

namespace lathe {
namespace {

class None : public CostModel {
 public:
  Status fit(const FeatureMatrix&, std::span<const double>, std::span<const int>) override { return {}; }
  Result<Prediction> predict(const FeatureMatrix&) const override {
    return fail(ErrorKind::invalid_argument, "the cost model 'none' does not predict");
  }
  bool fitted() const override { return false; }
};

}  // namespace

std::unique_ptr<CostModel> make_no_cost_model() { return std::make_unique<None>(); }

}  // namespace lathe
