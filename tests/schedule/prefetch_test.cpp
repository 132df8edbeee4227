// A prefetch spread over an inner loop: what the iterations of one panel fetch is the next panel, each cache
// line of it, whether there are fewer turns than lines, as many, or more.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "expr/parse.h"
#include "loop/walk.h"
#include "schedule/apply.h"
#include "target/target.h"

namespace lathe {
namespace {

Result<Program> scheduled(const std::string& steps) {
  LATHE_TRY(const Dag dag, parse_dag("C[i:20, j:96] = sum(r:6) A[i, r] * B[r, j]"));
  LATHE_TRY(const Task task, make_task("prefetch", dag, generic_target(Isa::avx2), 1));
  LATHE_TRY(const Trace trace, parse_trace(steps));
  // The text form keeps every field.
  LATHE_TRY(const Trace again, parse_trace(to_string(trace)));
  return apply_trace(task, again);
}

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

class PrefetchShare : public testing::TestWithParam<int> {};

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
INSTANTIATE_TEST_SUITE_P(RowsOfATile, PrefetchShare, testing::Values(1, 2, 4, 5, 10, 20));

TEST(Prefetch, WithoutAtTheLoopItselfFetches) {
  const auto program = scheduled("split C j [32]\nreorder C j.0 i r j.1\nprefetch C B r distance=2\n");
  ASSERT_TRUE(program) << program.error().to_string();
  const Fetches fetches = fetches_of_panel(*program, "j.0", 1);
  EXPECT_EQ(fetches.lines.size(), 6u);
  EXPECT_TRUE(
      fetches.lines.contains({7, 2}));  // two iterations ahead of the last: beyond B, which never faults
}

TEST(Prefetch, TheSpreadingLoopLiesInside) {
  const auto program = scheduled("split C j [32]\nreorder C j.0 i r j.1\nprefetch C B r distance=1 at=i\n");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::illegal_schedule);
  EXPECT_NE(program.error().message.find("loop 'i' does not lie in loop 'r'"), std::string::npos)
      << program.error().to_string();
}

TEST(Prefetch, OfRegistersIsRefused) {
  const Result<Program> program =
      scheduled("cache_read C A a at=i scope=registers\nprefetch C a i distance=1\n");
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().message.find("'a' lies in registers, where there is nothing to fetch"),
            std::string::npos)
      << program.error().message;
}

}  // namespace
}  // namespace lathe
