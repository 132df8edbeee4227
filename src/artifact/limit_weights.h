// Brings a network's programs within the limit of its weights (CompileModelOptions::weights_limit).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "artifact/compile_model.h"

namespace lathe {

// What the tasks of a network's largest sizes keep of weights, and may keep.
class WeightsBudget {
 public:
  // `factor`: CompileModelOptions::weights_limit.
  WeightsBudget(const Network& network, double factor);

  // Bytes of all constants.
  int64_t constants() const { return constants_; }
  // Bytes of weights at most.
  int64_t limit() const { return limit_; }
  // How often that task's program keeps its own: each set of constants is prepared once.
  int64_t sets(size_t task) const { return sets_[task]; }
  // Bytes that it keeps in all.
  int64_t bytes(const std::vector<CompiledTask>& compiled) const;

 private:
  std::vector<int64_t> sets_;
  int64_t constants_ = 0;
  int64_t limit_ = 0;
};

// `compiled` has one program for each task of the network; those that give way are replaced, not compared
// with anything. Their times are what the records say, or else the analytic model, on the scale of the
// records. The options' note is told what it cost, and where the limit cannot be met.
Status limit_weights(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled);

}  // namespace lathe
