// The register tile that a product should have, by the machine's registers and latencies alone. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/cost_constants.h"
#include "target/target.h"

namespace lathe {

struct RegisterTile {
  int64_t vectors = 1;  // V: side by side, of one panel
  int64_t rows = 1;     // R
  int64_t streams = 1;  // panels read side by side, where the tile has no rows
};

// For so many vectors and rows of results. `rows_left_are_whole`: a last tile that is smaller computes as
// many rows as the others. `taps`: registers for each vector where rows share the loads of a window, else 0.
// Tiles have `most_vectors` at most. The best first; then those of other numbers of vectors that take hardly
// longer. Never empty: where nothing has room, one of a single result.
std::vector<RegisterTile> preferred_register_tiles(const CpuTarget& target, int64_t vectors_there,
                                                   int64_t rows_there, bool rows_left_are_whole,
                                                   int64_t taps = 0, int64_t most_vectors = 4,
                                                   const CostConstants& costs = {});
// For vectors alone, as of a matrix times a vector.
RegisterTile preferred_streams(int64_t vectors_there);

}  // namespace lathe
