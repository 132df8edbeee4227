// Poolings, channels first.
#pragma once

#include <string>
#include <vector>

#include "ops/window.h"

namespace lathe {

// The largest element of every window; what is padded counts as -infinity. x: [N, C, spatial].
Tensor max_pool(DagBuilder& builder, std::string name, const Tensor& x, const std::vector<int64_t>& kernel,
                const Window& window);
// The sum of every window; what is padded counts as 0.
Tensor sum_pool(DagBuilder& builder, std::string name, const Tensor& x, const std::vector<int64_t>& kernel,
                const Window& window);
// The mean over all spatial dimensions, which stay with extent 1, as two computes: NAME.sum and NAME.
Tensor global_average_pool(DagBuilder& builder, const std::string& name, const Tensor& x);

}  // namespace lathe
