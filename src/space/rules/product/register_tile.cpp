#include "space/rules/product/register_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe {

// A tile of few accumulators waits for the latency of its multiply-adds, and what is left over of an axis,
// rows or vectors, is a tile of its own (kernels.md 0): the ones with the least time for an element.
std::vector<RegisterTile> preferred_register_tiles(const CpuTarget& target, int64_t vectors_there,
                                                   int64_t rows_there, bool rows_left_are_whole, int64_t taps,
                                                   int64_t most_vectors, const CostConstants& costs) {
  // 14 rows of two vectors are as many accumulators as 32 registers take, and a compiler may spill some: they
  // are worth it where they leave no rest (10 % on an image of 14 x 14).
  const int64_t without_rest = whole(costs.tile_rows_without_rest);
  const int64_t most_rows = rows_there % without_rest == 0 ? without_rest : whole(costs.tile_rows);
  const auto tile_time = [&](int64_t rows, int64_t vectors) {
    return static_cast<double>(
               std::max<int64_t>(rows * vectors, target.fma_per_cycle * target.fma_latency_cycles)) +
           costs.tile_start;
  };
  // One vector a row needs a broadcast for every multiply-add.
  const auto panel_time = [&](int64_t rows, int64_t vectors) {
    if (vectors == 0) return 0.0;
    const int64_t whole_tiles = rows_there / rows;
    const int64_t rows_left = rows_left_are_whole && rows_there % rows != 0 ? rows : rows_there % rows;
    const double row_time = static_cast<double>(whole_tiles) * tile_time(rows, vectors) +
                            (rows_left != 0 ? tile_time(rows_left, vectors) : 0);
    return row_time * (vectors == 1 && taps == 0 ? costs.single_vector : 1.0);
  };
  std::vector<std::pair<double, RegisterTile>> best;  // of each number of vectors, its time first
  for (int64_t vectors = 1; vectors <= std::min(most_vectors, vectors_there); ++vectors) {
    const int64_t others = taps != 0 ? taps * vectors : 1 + vectors;
    const int64_t most = (target.vector_registers - others) / vectors;
    const int64_t whole_panels = vectors_there / vectors;
    std::pair<double, RegisterTile> tile{std::numeric_limits<double>::infinity(), {.vectors = vectors}};
    for (int64_t rows = 1; rows <= std::min({most, most_rows, rows_there}); ++rows) {
      // Of equals the one of fewer vectors counts.
      const double time = (static_cast<double>(whole_panels) * panel_time(rows, vectors) +
                           panel_time(rows, vectors_there % vectors)) *
                          (1 + costs.fewer_vectors * static_cast<double>(vectors));
      if (time < tile.first * 0.999) tile = {time, {.vectors = vectors, .rows = rows}};
    }
    if (std::isfinite(tile.first)) best.push_back(tile);
  }
  std::ranges::stable_sort(best, {}, &std::pair<double, RegisterTile>::first);
  std::vector<RegisterTile> tiles;
  for (const auto& [time, tile] : best) {
    if (time <= best.front().first * costs.about_as_good) tiles.push_back(tile);
  }
  if (tiles.empty()) tiles.emplace_back();  // a window of more taps than there are registers
  return tiles;
}

// Nothing is read twice, and memory sets the pace: it is read fastest from several places at once.
RegisterTile preferred_streams(int64_t vectors_there) {
  for (const auto& [vectors, streams] : {std::pair{2, 4}, {4, 2}, {1, 8}, {1, 4}, {2, 2}}) {
    const int64_t panels = (vectors_there + vectors - 1) / vectors;
    if (panels % streams == 0) return {.vectors = vectors, .streams = streams};
  }
  return {.vectors = std::min<int64_t>(4, vectors_there)};
}

}  // namespace lathe
