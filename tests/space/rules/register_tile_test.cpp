#include "space/rules/register_tile.h"

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

}  // namespace
}  // namespace lathe
