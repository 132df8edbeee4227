#include "cost/none.h"

namespace lathe {
namespace {

class None : public CostModel {
 public:
  FeatureKind wants() const override { return FeatureKind::summary; }
  Status fit(const CostSamples&, std::span<const double>) override { return {}; }
  Result<Prediction> predict(const FeatureSet&) const override {
    return fail(ErrorKind::invalid_argument, "the cost model 'none' does not predict");
  }
  bool fitted() const override { return false; }
};

}  // namespace

std::unique_ptr<CostModel> make_no_cost_model() { return std::make_unique<None>(); }

}  // namespace lathe
