// A network for any size of a dimension up to that of its graph: it is given how many places count, and what
// combines places takes the first ones alone.
#pragma once

#include "base/result.h"
#include "network/follow_size.h"

namespace lathe {

// The graph at that size with one more input behind its own, of that name: one i64, how many places of the
// dimension count, from `least_size` to `size`. Behind the places that count inputs may hold anything, and
// outputs do. Sums, products and softmax take nothing, 0 or -infinity in place of what does not count, so
// that no NaN comes of it either. An Error names the node that combines places in another way.
Result<Graph> with_count(const FollowedSize& followed, int64_t size, const std::string& count_name);

}  // namespace lathe
