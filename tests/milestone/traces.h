// Schedules written by hand for the kinds of program that the compiler was first built for, as trace text.
// They are the yardstick for what the loop IR can say: tests run them on small shapes through every form of
// the program, bench/milestone at full size for speed. Blocks are named as src/ops names them.
#pragma once

#include <cstdint>
#include <string>

namespace lathe::milestone {

// The register tile of a product: `rows` scalars against `vectors` vectors of `lanes`.
struct RegisterTile {
  int lanes = 8;
  int rows = 6;
  int vectors = 2;
  int columns() const { return lanes * vectors; }
};
// The tile for vectors of so many f32: 6 x 2 of 8 lanes in 16 registers, 12 x 2 of 16 lanes in 32.
RegisterTile register_tile(int lanes);

// C = A * B, B constant. K in blocks with a packed block of A (`row_tiles` tiles high) and B in panels; the
// partial sums of a tile stay in registers over a block and in C between blocks.
std::string matmul(const RegisterTile& tile, int row_tiles, int64_t k_block);

// The same with all of K in the registers' loop, `steps` at a time, and A where it is, B in panels that are
// read once for `row_tiles` tiles of rows: for caches that hold so many whole rows of A.
std::string matmul_in_place(const RegisterTile& tile, int row_tiles, int steps);

// O = convolution of stride 1 over I.pad, channels innermost, weights in panels. With `epilogue` the sums are
// O.conv, and O (an element-wise compute) follows each register tile.
std::string direct_convolution(const RegisterTile& tile, bool epilogue);

// O as Winograd's F(4, 3) on groups of `group` tiles; the products take `rows` tiles of a group at a time.
std::string winograd_convolution(const RegisterTile& tile, int group, int rows);

// A depthwise convolution of stride 1, `tile.rows` pixels by one vector of channels; the padded input is made
// for `block_rows` rows of the output at a time. With `relu` the sums are O.conv.
std::string depthwise(const RegisterTile& tile, int block_rows, bool relu);

// O = softmax(Q * transposed K), one head after the other, `tile.rows` rows of scores at a time.
std::string batched_matmul_softmax(const RegisterTile& tile);

// A transposed convolution of few output channels by phases, vectors along the row.
std::string transposed_by_phases(const RegisterTile& tile, int channels, int vectors);

}  // namespace lathe::milestone
