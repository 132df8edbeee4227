// How much each buffer holds, whatever its layout makes of it.
#include "lower/buffers/storage_sizes.h"

#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr const char* kBuffers = R"(
input A: f32[6, 3] [0/4][1][0%4]
constant W: f32[4] [0]
output C: f32[6] [0]
prepared P: f32[4] [0+2]
flat
main {
  alloc R: f32[8] registers [0] {
    alloc T: f32[5] thread [0] {
      store R[0] = 1.0
      store T[0] = R[0]
      store C[0] = T[0]
    }
  }
}
)";

class Storage : public ::testing::Test {
 protected:
  Storage() {
    for (const Alloc& alloc : all<Alloc>(program_.main)) sizes_.add(alloc);
  }

  Tensor argument(size_t i) const { return program_.arguments[i].tensor; }
  Tensor local(size_t i) const { return all<Alloc>(program_.main)[i].tensor; }
  bool holds(const Tensor& tensor, int64_t first, int64_t last) const {
    return sizes_.holds(tensor, Affine(first), Affine(last), Known());
  }

  const Program program_ = parsed(kBuffers);
  StorageSizes sizes_{program_};
};

// Blocks are rounded up, rows lie apart: the room that there is counts, not the shape.
TEST_F(Storage, RoomOfLayouts) {
  EXPECT_TRUE(holds(argument(0), 0, 23));
  EXPECT_FALSE(holds(argument(0), 0, 24));
  EXPECT_FALSE(holds(argument(0), -1, 0));
  EXPECT_TRUE(holds(argument(2), 5, 5));
  EXPECT_TRUE(holds(program_.prepared[0].tensor, 0, 5));
  EXPECT_FALSE(holds(program_.prepared[0].tensor, 0, 6));
}

TEST_F(Storage, AllocatedBuffers) {
  EXPECT_TRUE(holds(local(0), 0, 7));
  EXPECT_FALSE(holds(local(0), 0, 8));
  EXPECT_TRUE(holds(local(1), 0, 4));
  EXPECT_FALSE(holds(local(1), 0, 5));
  EXPECT_TRUE(sizes_.in_registers(local(0)));
  EXPECT_FALSE(sizes_.in_registers(local(1)));
  EXPECT_FALSE(sizes_.in_registers(argument(0)));
}

// A table is as large as its shape.
TEST_F(Storage, Tables) {
  const Tensor table("G", {2, 2}, DType::f32);
  EXPECT_TRUE(holds(table, 0, 3));
  EXPECT_FALSE(holds(table, 0, 4));
  EXPECT_FALSE(sizes_.in_registers(table));
}

// For every iteration, as far as is known.
TEST_F(Storage, OffsetsOfLoops) {
  const Var i("i");
  Known known;
  EXPECT_FALSE(sizes_.holds(argument(2), Affine(i), Affine(i), known));
  known.enter({i, {Affine(6)}, LoopKind::serial, nullptr});
  EXPECT_TRUE(sizes_.holds(argument(2), Affine(i), Affine(i), known));
  EXPECT_FALSE(sizes_.holds(argument(2), Affine(i), Affine(i) + 1, known));
  EXPECT_FALSE(sizes_.holds(argument(2), Affine(i) - 1, Affine(i), known));
  known.assume({Affine(i), 5});
  EXPECT_TRUE(sizes_.holds(argument(2), Affine(i), Affine(i) + 1, known));
}

}  // namespace
}  // namespace lathe::testing
