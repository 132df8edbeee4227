// A prefetch spread over an inner loop: what the iterations of one panel fetch is the next panel, each cache
// line of it, whether there are fewer turns than lines, as many, or more.

#include <algorithm>
#include <set>

#include "schedule/golden.h"

namespace lathe::testing {
namespace {

Task product() { return task_of("C[i:20, j:96] = sum(r:6) A[i, r] * B[r, j]"); }

Result<Program> scheduled(const std::string& steps) { return apply_trace(product(), steps_of(steps)); }

// (panel, row of B, line of 16 elements) of every fetch, and how often fetches ran, with `j.0` at `panel`.
struct Fetches {
  std::set<std::pair<int64_t, int64_t>> lines;  // row, line in the row
  int64_t count = 0;
};

void run(const Stmt& stmt, Substitution values, Fetches& fetches) {
  if (const Seq* seq = as<Seq>(stmt)) {
    for (const Stmt& child : seq->statements) run(child, values, fetches);
  } else if (const For* loop = as<For>(stmt)) {
    if (std::ranges::find(values, loop->var, &Substitution::value_type::first) != values.end()) {
      return run(loop->body, values, fetches);
    }
    for (int64_t i = 0; i < constant_extent(*loop); ++i) {
      Substitution inner = values;
      inner.emplace_back(loop->var, Affine(i));
      run(loop->body, inner, fetches);
    }
  } else if (const Prefetch* fetch = as<Prefetch>(stmt)) {
    const Affine row = substitute(fetch->index[0], values);
    const Affine column = substitute(fetch->index[1], values);
    ASSERT_TRUE(row.is_constant() && column.is_constant());
    ASSERT_EQ(column.constant() % 16, 0);
    fetches.lines.emplace(row.constant(), column.constant() / 16);
    ++fetches.count;
  }
}

Fetches fetches_of_panel(const Program& program, const std::string& loop, int64_t panel) {
  Fetches fetches;
  for_each(program.main, [&](const StmtNode& node) {
    const For* found = std::get_if<For>(&node.node);
    if (found == nullptr || found->var.name() != loop) return;
    run(found->body, {{found->var, Affine(panel)}}, fetches);
  });
  return fetches;
}

std::string spread(int rows) {
  return "split C j [32]\nsplit C i [" + std::to_string(rows) +
         "]\nreorder C j.0 i.0 r i.1 j.1\nprefetch C B j.0 distance=1 at=r\n";
}

class PrefetchShare : public ::testing::TestWithParam<int> {};

TEST_P(PrefetchShare, CoversTheNextPanel) {
  const auto program = scheduled(spread(GetParam()));
  ASSERT_TRUE(program) << program.error().to_string();
  for (int64_t panel : {0, 1}) {
    const Fetches fetches = fetches_of_panel(*program, "j.0", panel);
    std::set<std::pair<int64_t, int64_t>> wanted;
    for (int64_t row = 0; row < 6; ++row) {
      for (int64_t line = 0; line < 2; ++line) wanted.emplace(row, 2 * (panel + 1) + line);
    }
    EXPECT_EQ(fetches.lines, wanted);
    const int64_t turns = (20 + GetParam() - 1) / GetParam();
    EXPECT_EQ(fetches.count, 6 * std::max<int64_t>(turns, 2 / turns * turns));
  }
}
// Tiles of so many rows: 20, 10, 5, 4 and 1 turns for the two lines of a step, and a single turn.
INSTANTIATE_TEST_SUITE_P(RowsOfATile, PrefetchShare, ::testing::Values(1, 2, 4, 5, 10, 20));

TEST(Prefetch, WithoutAtTheLoopItselfFetches) {
  const auto program = scheduled("split C j [32]\nreorder C j.0 i r j.1\nprefetch C B r distance=2\n");
  ASSERT_TRUE(program) << program.error().to_string();
  const Fetches fetches = fetches_of_panel(*program, "j.0", 1);
  EXPECT_EQ(fetches.lines.size(), 6u);
  EXPECT_TRUE(
      fetches.lines.contains({7, 2}));  // two iterations ahead of the last: beyond B, which never faults
}

// The line of the element that the loop's iteration after the next one begins with.
TEST(Prefetch, BeforeTheLoopsBody) {
  expect_steps(product(), "prefetch C B r distance=2", R"(
input A: f32[20, 6] [0][1]
input B: f32[6, 96] [0][1]
output C: f32[20, 96] [0][1]
main {
  for i in 20 {
    for j in 96 {
      for r in 6 {
        prefetch B[r + 2, j]
        block C {
          i: 20 = i
          j: 96 = j
          reduce r: 6 = r
          C[i, j] init sum= A[i, r] * B[r, j]
        }
      }
    }
  }
}
)");
}

// Loops further in begin at 0; the tile's part of the index goes on.
TEST(Prefetch, TheBeginningOfATile) {
  expect_steps(product(), "split C j [32]; reorder C i j.0 r j.1; prefetch C B j.0 distance=1", R"(
input A: f32[20, 6] [0][1]
input B: f32[6, 96] [0][1]
output C: f32[20, 96] [0][1]
main {
  for i in 20 {
    for j.0 in 3 {
      prefetch B[0, 32*j.0 + 32]
      for r in 6 {
        for j.1 in 32 {
          block C {
            i: 20 = i
            j: 96 = 32*j.0 + j.1
            reduce r: 6 = r
            C[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
    }
  }
}
)");
}

// The next panel has 3 rows of 2 lines, and 12 iterations read this one: two after each other share a line.
TEST(Prefetch, SharedAmongInnerIterations) {
  expect_steps(task_of("C[i:4, j:64] = sum(r:3) A[i, r] * B[r, j]"),
               "split C j [32]; reorder C j.0 i r j.1; prefetch C B j.0 distance=1 at=r", R"(
input A: f32[4, 3] [0][1]
input B: f32[3, 64] [0][1]
output C: f32[4, 64] [0][1]
main {
  for j.0 in 2 {
    for i in 4 {
      for r in 3 {
        prefetch B[((3*i + r)/4)%3, 32*j.0 + 16*(((3*i + r)/2)%2) + 32]
        for j.1 in 32 {
          block C {
            i: 4 = i
            j: 64 = 32*j.0 + j.1
            reduce r: 3 = r
            C[i, j] init sum= A[i, r] * B[r, j]
          }
        }
      }
    }
  }
}
)");
}

// The fetch goes into the Alloc that opens the body. The panel has room for whole lines.
TEST(Prefetch, InsideOfAnAlloc) {
  expect_steps(task_of("C[i:4, j:16] = sum(r:3) A[i, r] * B[r, j]", {"B"}),
               "cache_read C B P at=prepare scope=workspace layout=[1/16][0][1%16]; "
               "cache_write C c at=i scope=registers; prefetch C P i distance=1",
               R"(
input A: f32[4, 3] [0][1]
constant B: f32[3, 16] [0][1]
output C: f32[4, 16] [0][1]
prepared P: f32[3, 16] [1/16][0][1%16]
prepare {
  for d0 in 3 {
    for d1 in 16 {
      block P {
        d0: 3 = d0
        d1: 16 = d1
        P[d0, d1] = B[d0, d1]
      }
    }
  }
}
main {
  for i in 4 {
    alloc c: f32[4, 16] registers [0][1] {
      prefetch P[0, 0]
      for j in 16 {
        for r in 3 {
          block C {
            i: 4 = i
            j: 16 = j
            reduce r: 3 = r
            c[i, j] init sum= A[i, r] * P[r, j]
          }
        }
      }
      for i_2 in 1 {
        for j in 16 {
          block c.out {
            i: 4 = i
            j: 16 = j
            C[i, j] = c[i, j]
          }
        }
      }
    }
  }
}
)");
}

constexpr const char* kTriangle = R"(
input A: f32[4, 4] [0][1]
output O: f32[4, 4] [0][1]
main {
  for i in 4 {
    for j in i + 1 {
      block O {
        i: 4 = i
        j: 4 = j
        O[i, j] = A[i, j]
      }
    }
  }
}
)";

TEST(Prefetch, Refused) {
  expect_illegal(product(), "prefetch C X i distance=1", "block 'C' does not read 'X'");
  expect_illegal(product(), "prefetch C B x distance=1", "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(product(), "prefetch C B i distance=1 at=x",
                 "block 'C' has no loop 'x'; its loops are i, j, r");
  expect_illegal(product(), "reorder C j i r; prefetch C B r distance=1 at=i",
                 "loop 'i' does not lie in loop 'r'");
  expect_illegal(product(), "cache_read C A a at=i scope=registers; prefetch C a i distance=1",
                 "'a' lies in registers, where there is nothing to fetch");
  expect_illegal(program_of(kTriangle), "prefetch O A i distance=1", "loop 'j' has no constant extent");
}

}  // namespace
}  // namespace lathe::testing
