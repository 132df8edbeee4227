// Copies that may stand beside the original.
#include "lower/blocks/instantiate.h"

#include "expr/print.h"
#include "loop/verify.h"
#include "lower/golden.h"

namespace lathe::testing {
namespace {

constexpr const char* kTile = R"(
input A: f32[64] [0]
output C: f32[64] [0]
main {
  for o in 4 {
    for i in min(8, -8*o + 29) {
      alloc T: f32[1] thread [0] {
        prefetch A[8*o + i + 16]
        if 8*o + i < 29 peel {
          store T[0] = A[8*o + i] * 2.0
          store C[8*o + i] = T[0]
        }
      }
    }
  }
}
)";

Program with_main(const Program& program, const Stmt& main) {
  Program result = program;
  result.main = main;
  return result;
}

// Everything that names a loop outside gets its value: extents, conditions, accesses, fetches.
TEST(Instantiate, AValueForALoop) {
  const Program program = parsed(kTile);
  const For& outer = *as<For>(program.main);
  const Stmt copy = instantiate(outer.body, {{{outer.var, Affine(3)}}, {}, {}});
  EXPECT_EQ("\n" + to_string(with_main(program, copy)), R"(
input A: f32[64] [0]
output C: f32[64] [0]
main {
  for i in min(8, 5) {
    alloc T: f32[1] thread [0] {
      prefetch A[i + 40]
      if i + 24 < 29 peel {
        store T[0] = A[i + 24] * 2.0
        store C[i + 24] = T[0]
      }
    }
  }
}
)");
}

// Loops and buffers inside are new, so that copies may stand side by side.
TEST(Instantiate, LoopsAndBuffersOfItsOwn) {
  const Program program = parsed(kTile);
  const Stmt copy = instantiate(program.main, {});
  EXPECT_EQ(to_string(with_main(program, copy)), to_string(program));
  for (size_t i = 0; i < 2; ++i) EXPECT_FALSE(all<For>(copy)[i].var == all<For>(program.main)[i].var);
  EXPECT_FALSE(all<Alloc>(copy)[0].tensor == all<Alloc>(program.main)[0].tensor);
  const Program both = with_main(program, make_seq({program.main, copy}));
  EXPECT_TRUE(verify(both).has_value());
  expect_same_result(program, both);
}

// A tensor of the outside in place of another, in stores, loads and fetches.
TEST(Instantiate, AnotherTensor) {
  const Program program = parsed(kTile);
  const Tensor from = program.arguments[0].tensor;
  const Tensor to("B", {64}, DType::f32);
  const Stmt copy = instantiate(program.main, {{}, {}, {{from, to}}});
  const std::string text = to_string(copy);
  EXPECT_EQ(text.find("A["), std::string::npos) << text;
  EXPECT_NE(text.find("prefetch B[8*o + i + 16]"), std::string::npos) << text;
  EXPECT_NE(text.find("store T[0] = B[8*o + i] * 2.0"), std::string::npos) << text;
}

// Terms of an atom by a value for so much of it: multiples follow, others and those inside of atoms stay.
TEST(Replace, MultiplesOfAnAtom) {
  const Var o("o");
  const Var i("i");
  const Var first("first");
  const Replacements replacements{{}, {{o.atom(), 8, Affine(first) + 1}}, {}};
  EXPECT_EQ(to_string(replace(Affine(o) * 8 + Affine(i), replacements)), "i + first + 1");
  EXPECT_EQ(to_string(replace(Affine(o) * 24 + 2, replacements)), "3*first + 5");
  EXPECT_EQ(to_string(replace(Affine(o) * 4, replacements)), "4*o");
  EXPECT_EQ(to_string(replace(floor_div(Affine(o) * 8, 3), replacements)), "(8*o)/3");
  // Atoms come before variables.
  const Replacements both{{{o, Affine(5)}}, {{o.atom(), 8, Affine(first)}}, {}};
  EXPECT_EQ(to_string(replace(Affine(o) * 8 + floor_div(Affine(o), 3) + Affine(i), both)), "i + first + 1");
}

// What an index is read from is replaced as well.
TEST(Replace, InsideOfIndirectIndices) {
  const Tensor places("P", {4}, DType::i32);
  const Tensor moved("Q", {4}, DType::i32);
  const Tensor a("A", {8}, DType::f32);
  const Var i("i");
  const Expr value = a(places(i));
  EXPECT_EQ(to_string(replace(value, {{{i, Affine(2)}}, {}, {{places, moved}}})), "A[Q[2]]");
}

// Without replacements an expression is the one that was given.
TEST(Replace, NothingIsShared) {
  const Tensor a("A", {8}, DType::f32);
  const Expr value = a(Var("i")) * 2.0 + 1.0;
  EXPECT_EQ(replace(value, Replacements()).get(), value.get());
  EXPECT_TRUE(Replacements().empty());
}

}  // namespace
}  // namespace lathe::testing
