#include "cost/transfer.h"

#include <cmath>
#include <utility>
#include <vector>

#include "base/check.h"

namespace lathe {
namespace {

class Transfer : public CostModel {
 public:
  Transfer(std::shared_ptr<const CostModel> global, std::unique_ptr<CostModel> local,
           const TransferOptions& options)
      : global_(std::move(global)), local_(std::move(local)), options_(options) {
    LATHE_CHECK(global_->fitted() && global_->wants() == local_->wants());
  }

  FeatureKind wants() const override { return local_->wants(); }
  bool fitted() const override { return true; }

  // A margin of the caller's is added to the global model's.
  Status fit(const CostSamples& samples, std::span<const double> margin) override {
    weight_ = transfer_weight(samples.size(), options_);
    std::vector<double> all(static_cast<size_t>(samples.size()), 0);
    if (weight_ > 0 && samples.size() > 0) {
      LATHE_TRY(const Prediction prediction, global_->predict(samples.features));
      for (size_t i = 0; i < all.size(); ++i) all[i] = weight_ * prediction.mean[i];
    }
    for (size_t i = 0; i < margin.size(); ++i) all[i] += margin[i];
    return local_->fit(samples, all);
  }

  Result<Prediction> predict(const FeatureSet& candidates) const override {
    if (!local_->fitted()) return global_->predict(candidates);
    LATHE_TRY(Prediction sum, local_->predict(candidates));
    if (weight_ == 0) return sum;
    LATHE_TRY(const Prediction global, global_->predict(candidates));
    for (size_t i = 0; i < sum.mean.size(); ++i) {
      sum.mean[i] += weight_ * global.mean[i];
      sum.stddev[i] = std::hypot(sum.stddev[i], weight_ * global.stddev[i]);
    }
    return sum;
  }

 private:
  std::shared_ptr<const CostModel> global_;
  std::unique_ptr<CostModel> local_;
  TransferOptions options_;
  double weight_ = 1;
};

}  // namespace

double transfer_weight(int64_t candidates, const TransferOptions& options) {
  if (options.half_life <= 0) return 1;
  const double weight = std::exp2(-static_cast<double>(candidates) / options.half_life);
  return weight < options.least_weight ? 0 : weight;
}

std::unique_ptr<CostModel> make_transfer(std::shared_ptr<const CostModel> global,
                                         std::unique_ptr<CostModel> local, const TransferOptions& options) {
  return std::make_unique<Transfer>(std::move(global), std::move(local), options);
}

}  // namespace lathe
