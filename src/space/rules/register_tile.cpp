#include "space/rules/register_tile.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace lathe {

// A tile of few accumulators waits for the latency of its multiply-adds, and what is left over of an axis is
// a tile of its own (kernels.md 0): the one with the least time for an element.
RegisterTile preferred_register_tile(const Target& target, int64_t vectors_there, int64_t rows_there,
                                     bool rows_left_are_whole, int64_t taps, int64_t most_vectors) {
  const auto tile_time = [&](int64_t rows, int64_t vectors) {
    return static_cast<double>(
               std::max<int64_t>(rows * vectors, target.fma_per_cycle * target.fma_latency_cycles)) +
           1.0;
  };
  RegisterTile best;
  double best_time = std::numeric_limits<double>::infinity();
  for (int64_t vectors = 1; vectors <= std::min(most_vectors, vectors_there); ++vectors) {
    const int64_t others = taps != 0 ? taps * vectors : 1 + vectors;
    const int64_t most = (target.vector_registers - others) / vectors;
    for (int64_t rows = 1; rows <= std::min<int64_t>({most, 13, rows_there}); ++rows) {
      const int64_t whole_tiles = rows_there / rows;
      const int64_t rows_left = rows_there % rows;
      const double row_time =
          static_cast<double>(whole_tiles) * tile_time(rows, vectors) +
          (rows_left != 0 ? tile_time(rows_left_are_whole ? rows : rows_left, vectors) : 0);
      const int64_t panels = (vectors_there + vectors - 1) / vectors;
      const double time = row_time * static_cast<double>(panels);
      // One vector a row needs a broadcast for every multiply-add.
      const double loads = vectors == 1 && taps == 0 ? 1.15 : 1.0;
      if (time * loads < best_time * 0.999) {
        best_time = time * loads;
        best.vectors = vectors;
        best.rows = rows;
      }
    }
  }
  return best;
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
