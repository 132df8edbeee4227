// AutoTVM's relation features (section 4 and A.2.2): for each buffer curves that say how one number of the
// loops of a chain goes with another, whatever the loops are called and however many there are. A vector
// means the same for every operator, so that a model can go from one to another.
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "features/loop_context.h"

namespace lathe {

constexpr size_t kThresholds = 20;  // beta_t = 2^t; the paper leaves their number open

// R_t = the largest first number of the pairs whose second number is below 2^t; 0 where there is none.
std::array<double, kThresholds> relation_curve(std::span<const std::pair<double, double>> pairs);

// Of the buffers of a chain (loop_context.h), the written one first: reuse against touched, touched against
// reuse, touched against top-down, top-down against touched; as log2(1 + x). A buffer that it does not have
// is 0.
const std::vector<std::string>& relation_names();
std::vector<float> relation_features(const std::vector<LoopContext>& chain);

}  // namespace lathe
