#include "space/rules/register_tile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lathe {

std::vector<int64_t> widths_of_tiles(int64_t vectors_there) {
  constexpr int64_t kUsual = 4;
  std::vector<int64_t> widths;
  for (int64_t vectors = 1; vectors <= std::min(kUsual, vectors_there); ++vectors) widths.push_back(vectors);
  for (const int64_t wide : {5, 7}) {
    const bool only_it_divides = vectors_there % wide == 0 && vectors_there % 2 != 0 && vectors_there % 3 != 0;
    if (only_it_divides) widths.push_back(wide);
  }
  return widths;
}

// A tile of few accumulators waits for the latency of its multiply-adds, and what is left over of an axis is
// a tile of its own (kernels.md 0): the ones with the least time for an element.
std::vector<RegisterTile> preferred_register_tiles(const Target& target, int64_t vectors_there,
                                                   int64_t rows_there, bool rows_left_are_whole, int64_t taps,
                                                   int64_t most_vectors) {
  constexpr double kHardlyLonger = 1.06;
  // 14 rows of two vectors are as many accumulators as 32 registers take, and a compiler may spill some: they
  // are worth it where they leave no rest (10 % on an image of 14 x 14).
  constexpr int64_t kMostRows = 14;
  const int64_t most_rows = rows_there % kMostRows == 0 ? kMostRows : kMostRows - 1;
  const auto tile_time = [&](int64_t rows, int64_t vectors) {
    return static_cast<double>(
               std::max<int64_t>(rows * vectors, target.fma_per_cycle * target.fma_latency_cycles)) +
           1.0;
  };
  std::vector<std::pair<double, RegisterTile>> best;  // of each number of vectors, its time first
  for (const int64_t vectors : widths_of_tiles(vectors_there)) {
    if (vectors > most_vectors) break;
    const int64_t others = taps != 0 ? taps * vectors : 1 + vectors;
    const int64_t most = (target.vector_registers - others) / vectors;
    // One vector a row needs a broadcast for every multiply-add. Of equals the one of fewer vectors counts.
    const double loads = (vectors == 1 && taps == 0 ? 1.15 : 1.0) + 0.001 * static_cast<double>(vectors);
    const int64_t panels = (vectors_there + vectors - 1) / vectors;
    std::pair<double, RegisterTile> tile{std::numeric_limits<double>::infinity(), {.vectors = vectors}};
    for (int64_t rows = 1; rows <= std::min({most, most_rows, rows_there}); ++rows) {
      const int64_t whole_tiles = rows_there / rows;
      const int64_t rows_left = rows_there % rows;
      const double row_time =
          static_cast<double>(whole_tiles) * tile_time(rows, vectors) +
          (rows_left != 0 ? tile_time(rows_left_are_whole ? rows : rows_left, vectors) : 0);
      const double time = row_time * static_cast<double>(panels) * loads;
      if (time < tile.first * 0.999) tile = {time, {.vectors = vectors, .rows = rows}};
    }
    if (std::isfinite(tile.first)) best.push_back(tile);
  }
  std::ranges::stable_sort(best, {}, &std::pair<double, RegisterTile>::first);
  std::vector<RegisterTile> tiles;
  for (const auto& [time, tile] : best) {
    if (time <= best.front().first * kHardlyLonger) tiles.push_back(tile);
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
