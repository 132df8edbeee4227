// When the last tile of a loop may start earlier, and compute again what the tile before it did.
#include "lower/blocks/overlap.h"

#include <fmt/format.h>

#include <algorithm>

#include "lower/golden.h"

namespace lathe::testing {
namespace {

// Whether the loop `o` of a program may, whose body is given, by the first condition in it.
bool overlaps(const std::string& body, const std::string& around = "") {
  const Program program = parsed(fmt::format(R"(
input A: f32[64] [0]
input B: f32[64] [0]
output C: f32[64] [0]
main {{
  {0} for o in 3 {{
    {1}
  }}
  {2}
}}
)",
                                             around, body, around.empty() ? "" : "}"));
  const std::vector<For> loops = all<For>(program.main);
  const auto loop = std::ranges::find(loops, "o", [](const For& l) { return l.var.name(); });
  const std::vector<If> branches = all<If>(loop->body);
  Known inside;
  inside.enter(*loop);
  return can_overlap(*loop, branches.front().conditions.front(), inside);
}

constexpr const char* kIf = "if 8*o + i < 20 overlap";

std::string tile(const std::string& stores) {
  return fmt::format("for i in 8 {{ {} {{ {} }} }}", kIf, stores);
}

// A tile that only writes may be written twice.
TEST(CanOverlap, WhatOnlyWrites) {
  EXPECT_TRUE(overlaps(tile("store C[8*o + i] = A[8*o + i] * 2.0")));
  EXPECT_TRUE(overlaps(tile("store C[16*o + 2*i] = A[8*o + i + 1]")));
}

// Two nests under the same condition, with loops of their own; one that is cut elsewhere is another.
TEST(CanOverlap, SiblingsUnderTheSameCondition) {
  const std::string first = tile("store C[8*o + i] = 0.0");
  EXPECT_TRUE(overlaps(first + " for k in 8 { if 8*o + k < 20 overlap { store C[8*o + k] = 1.0 } }"));
  EXPECT_FALSE(overlaps(first + " for k in 8 { if 8*o + k < 21 overlap { store C[8*o + k] = 1.0 } }"));
  EXPECT_FALSE(overlaps(first + " for k in 8 { if 4*o + k < 20 overlap { store C[8*o + k] = 1.0 } }"));
  EXPECT_FALSE(overlaps(first + " for k in 4 { if 8*o + k < 20 overlap { store C[8*o + k] = 1.0 } }"));
  EXPECT_FALSE(overlaps(first + " for k in 8 { if 8*o + k < 20 peel { store C[8*o + k] = 1.0 } }"));
}

// What stands outside of the condition runs in the last tile as it is.
TEST(CanOverlap, UnguardedStores) {
  EXPECT_FALSE(overlaps(tile("store C[8*o + i] = 0.0") + " store C[40 + o] = 1.0"));
  EXPECT_FALSE(overlaps(tile("store C[8*o + i] = 0.0") + " store C[50] = 1.0"));
}

// The start need not be a multiple of the tile: all that hangs on the loop must follow in its multiples.
TEST(CanOverlap, OtherUsesOfTheLoop) {
  EXPECT_FALSE(overlaps(tile("store C[8*o + i] = A[o]")));
  EXPECT_FALSE(overlaps(tile("store C[4*o + i] = 0.0")));
  EXPECT_FALSE(overlaps(tile("store C[8*o + i] = A[(8*o + i) / 3]")));
  EXPECT_FALSE(overlaps(tile("store C[8*o + i] = select(o < 1, A[i], 0.0)")));
  EXPECT_TRUE(overlaps(tile("store C[8*o + i] = select(8*o < 9, A[i], 0.0)")));
}

// Fetches follow the loop, too.
TEST(CanOverlap, Fetches) {
  EXPECT_TRUE(overlaps("prefetch A[8*o + 16] " + tile("store C[8*o + i] = A[8*o + i]")));
  EXPECT_FALSE(overlaps("prefetch A[o] " + tile("store C[8*o + i] = A[8*o + i]")));
}

// Updates would be made twice, but for those of what the tile itself has started.
TEST(CanOverlap, Updates) {
  EXPECT_FALSE(overlaps(tile("store C[8*o + i] = C[8*o + i] + A[8*o + i]")));
  EXPECT_TRUE(
      overlaps(tile("store C[8*o + i] = 0.0") + " " + tile("store C[8*o + i] = C[8*o + i] + A[8*o + i]")));
  EXPECT_FALSE(
      overlaps(tile("store C[8*o + i] = C[8*o + i] + A[8*o + i]") + " " + tile("store C[8*o + i] = 0.0")));
}

// A buffer of the tile's own is new in each; one around holds what the tile before left.
TEST(CanOverlap, Buffers) {
  const std::string body = tile("store T[i] = T[i] + A[8*o + i]");
  EXPECT_TRUE(overlaps("alloc T: f32[8] thread [0] { " + body + " }"));
  EXPECT_FALSE(overlaps(body, "alloc T: f32[8] thread [0] {"));
}

// Conditions that cut the tile in another way: then it is never whole.
TEST(CanOverlap, OtherConditions) {
  EXPECT_FALSE(overlaps(fmt::format("for i in 8 {{ {}, i < 7 {{ store C[8*o + i] = 0.0 }} }}", kIf)));
  EXPECT_TRUE(
      overlaps(fmt::format("for k in 2 {{ for i in 8 {{ {}, k < 1 {{ store C[8*o + i] = 0.0 }} }} }}", kIf)));
  EXPECT_FALSE(overlaps("for i in min(8, 20 - 8*o) { if 8*o + i < 20 overlap { store C[8*o + i] = 0.0 } }"));
}

}  // namespace
}  // namespace lathe::testing
