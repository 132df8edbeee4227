#include "space/rules/product/register_tile.h"

#include <gtest/gtest.h>

#include "target/all.h"

namespace lathe {
namespace {

// Accumulators, the vectors that are loaded and a broadcast have room.
TEST(RegisterTile, FitsTheRegisters) {
  for (const char* name : {"x86-avx2", "x86-avx512"}) {
    const CpuTarget target = generic_target(name).cpu();
    for (int64_t vectors = 1; vectors < 40; ++vectors) {
      for (const int64_t rows : {1, 2, 5, 7, 14, 49, 196}) {
        for (const RegisterTile& tile : preferred_register_tiles(target, vectors, rows, false)) {
          EXPECT_LE(tile.rows * tile.vectors + tile.vectors + 1, target.vector_registers);
          EXPECT_LE(tile.rows, rows);
          EXPECT_LE(tile.vectors, vectors);
        }
      }
    }
  }
}

TEST(RegisterTile, OneResultWhereNothingElseHasRoom) {
  const std::vector<RegisterTile> tiles =
      preferred_register_tiles(generic_target("x86-avx2").cpu(), 3, 6, false, /*taps=*/64);
  ASSERT_EQ(tiles.size(), 1u);
  EXPECT_EQ(tiles[0].rows * tiles[0].vectors, 1);
}

// Those of other numbers of vectors that take hardly longer, none of them twice.
TEST(RegisterTile, AlternativesHaveOtherNumbersOfVectors) {
  const auto tiles = preferred_register_tiles(generic_target("x86-avx512").cpu(), 32, 196, false);
  ASSERT_GT(tiles.size(), 1u);
  for (size_t i = 1; i < tiles.size(); ++i) EXPECT_NE(tiles[i].vectors, tiles[0].vectors);
  CostConstants strict;
  strict.about_as_good = 1;
  EXPECT_EQ(preferred_register_tiles(generic_target("x86-avx512").cpu(), 32, 196, false, 0, 4, strict).size(),
            1u);
}

TEST(RegisterTile, VectorsAloneComeInStreams) {
  EXPECT_EQ(preferred_streams(64).streams * preferred_streams(64).vectors, 8);
  EXPECT_EQ(preferred_streams(1).streams, 1);
}

RegisterTile best(const char* name, int64_t vectors, int64_t rows, bool rows_left_are_whole = false,
                  int64_t taps = 0, int64_t most_vectors = 4, const CostConstants& costs = {}) {
  return preferred_register_tiles(generic_target(name).cpu(), vectors, rows, rows_left_are_whole, taps,
                                  most_vectors, costs)
      .front();
}

// Sixteen registers hold six rows of two vectors, both vectors and a broadcast; of 32, twelve rows.
TEST(RegisterTile, OfLargeProductsFillsTheRegisters) {
  EXPECT_EQ(best("x86-avx2", 64, 600).vectors, 2);
  EXPECT_EQ(best("x86-avx2", 64, 600).rows, 6);
  EXPECT_EQ(best("x86-avx512", 64, 600).vectors, 2);
  EXPECT_EQ(best("x86-avx512", 64, 600).rows, 12);
}

// Fourteen rows are too many for 32 registers but where nothing is left over.
TEST(RegisterTile, FourteenRowsAreTakenWhereTheyLeaveNoRest) {
  EXPECT_EQ(best("x86-avx512", 2, 14 * 14).rows, 14);
  EXPECT_LE(best("x86-avx512", 2, 14 * 14 + 1).rows, 13);
}

// Of eight rows two tiles of four are less than one of six and one of two, which waits for the latency of its
// multiply-adds. A last tile that computes as many rows as the others costs as much as they.
TEST(RegisterTile, WhatIsLeftOverCounts) {
  EXPECT_EQ(best("x86-avx2", 2, 6).rows, 6);
  EXPECT_EQ(best("x86-avx2", 2, 8).rows, 4);
  CpuTarget target = generic_target("x86-avx2").cpu();
  target.fma_per_cycle = 2;
  target.fma_latency_cycles = 4;
  CostConstants costs;
  costs.tile_start = 0;
  costs.single_vector = 100;
  const auto rows = [&](bool rows_left_are_whole) {
    return preferred_register_tiles(target, 2, 11, rows_left_are_whole, 0, 4, costs).front().rows;
  };
  EXPECT_EQ(rows(false), 6) << "six and five: 12 + 10 cycles, where 4, 4 and 3 are three times 8";
  EXPECT_EQ(rows(true), 4) << "twice six, with one in vain, are 24 cycles as well";
}

TEST(RegisterTile, HasNoMoreVectorsThanItIsLet) {
  for (const int64_t most : {1, 2, 3}) {
    for (const RegisterTile& tile :
         preferred_register_tiles(generic_target("x86-avx512").cpu(), 32, 196, false, 0, most))
      EXPECT_LE(tile.vectors, most);
  }
}

// Rows that share the loads of a window need no broadcast beside each accumulator, but the taps' registers.
TEST(RegisterTile, TapsTakeRegistersInPlaceOfTheBroadcast) {
  const CpuTarget target = generic_target("x86-avx2").cpu();
  for (const int64_t taps : {2, 3, 6}) {
    for (const RegisterTile& tile : preferred_register_tiles(target, 8, 64, false, taps))
      EXPECT_LE(tile.vectors * (tile.rows + taps), target.vector_registers) << taps;
  }
  EXPECT_EQ(best("x86-avx2", 1, 13, false, 3).rows, 13);
}

TEST(RegisterTile, TheBestComesFirst) {
  const auto tiles = preferred_register_tiles(generic_target("x86-avx512").cpu(), 7, 256, false);
  CostConstants all;
  all.about_as_good = 1000;
  const auto every = preferred_register_tiles(generic_target("x86-avx512").cpu(), 7, 256, false, 0, 4, all);
  ASSERT_EQ(every.size(), 4U) << "one of each number of vectors";
  ASSERT_LE(tiles.size(), every.size());
  for (size_t i = 0; i < tiles.size(); ++i) {
    EXPECT_EQ(tiles[i].vectors, every[i].vectors);
    EXPECT_EQ(tiles[i].rows, every[i].rows);
  }
}

struct Streams {
  int64_t vectors_there, vectors, streams;
};

TEST(RegisterTile, StreamsAreAsManyAsDivideThePanels) {
  for (const Streams& c :
       {Streams{8, 2, 4}, {7, 2, 4}, {3, 2, 2}, {4, 1, 4}, {1, 1, 1}, {12, 1, 4}, {5, 4, 2}, {9, 4, 1}}) {
    const RegisterTile tile = preferred_streams(c.vectors_there);
    EXPECT_EQ(tile.vectors, c.vectors) << c.vectors_there;
    EXPECT_EQ(tile.streams, c.streams) << c.vectors_there;
    EXPECT_EQ(tile.rows, 1);
  }
}

}  // namespace
}  // namespace lathe
