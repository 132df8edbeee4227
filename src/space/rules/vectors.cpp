#include "space/rules/vectors.h"

#include <algorithm>
#include <bit>
#include <set>

#include "expr/function_costs.h"
#include "expr/walk.h"

namespace lathe {

VectorTile vector_tile(int64_t extent, int64_t most_lanes, int64_t wanted) {
  VectorTile tile;
  tile.lanes = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(most_lanes, extent))));
  tile.vectors = std::min(extent / tile.lanes, wanted);
  while (extent % tile.lanes == 0 && extent % tile.size() != 0) --tile.vectors;
  return tile;
}

int64_t preferred_vectors(const Analysis& analysis, int64_t extent) {
  int64_t best = 1;
  const auto cost = [&](int64_t wanted) {
    const VectorTile tile = vector_tile(extent, analysis.lanes(), wanted);
    return static_cast<double>(ceil_div(extent, tile.size())) *
           (static_cast<double>(tile.vectors) + analysis.costs.loop_cycles);
  };
  for (const int64_t wanted : {2, 4}) {
    if (extent >= 2 && cost(wanted) < cost(best)) best = wanted;
  }
  return best;
}

std::vector<int64_t> vector_counts(const Analysis& analysis, const Compute& compute) {
  int64_t most = 1;
  for (size_t i = 0; i < compute.spatial_count(); ++i)
    most = std::max(most, ceil_div(compute.axes[i].extent, analysis.lanes()));
  const double length = static_cast<double>(size_of(compute.body)) + multiply_adds_of_point(compute.body);
  const auto of_length = static_cast<int64_t>(std::clamp(analysis.costs.long_body / length, 1.0, 8.0));
  return powers_of_two(std::min(of_length, most));
}

int64_t largest_divisor(int64_t number, int64_t most) {
  int64_t divisor = std::max<int64_t>(std::min(number, most), 1);
  while (number % divisor != 0) --divisor;
  return divisor;
}

std::vector<int64_t> powers_of_two(int64_t limit) {
  std::vector<int64_t> values = {1};
  while (values.back() * 2 <= limit) values.push_back(values.back() * 2);
  return values;
}

std::vector<int64_t> sizes_of_parts(int64_t extent) {
  std::set<int64_t> sizes;
  for (int64_t parts = 1; parts <= std::min<int64_t>(extent, 64); parts += parts < 16 ? 1 : parts / 8)
    sizes.insert(ceil_div(extent, parts));
  return {sizes.begin(), sizes.end()};
}

}  // namespace lathe
