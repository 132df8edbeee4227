// What a block touches is there where it runs: said of every statement by its own name.
#include "schedule/check_scopes.h"

#include "schedule/golden.h"

namespace lathe::testing {
namespace {

void expect_scopes(const Program& program, const std::string& sentence) {
  const Status status = check_scopes(program);
  if (sentence.empty()) {
    EXPECT_TRUE(status.has_value()) << status.error().to_string();
    return;
  }
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::illegal_schedule);
  EXPECT_EQ(status.error().message, sentence);
}

// The program with its main replaced, so that what is not declared there any more keeps its name.
Program with_main(const Program& program, const Stmt& main) {
  Program result = program;
  result.main = main;
  return result;
}

Program chain(const std::string& steps) {
  return scheduled(task_of("table G[2] = {1.0, 0.5}\n"
                           "T[i:4, j:2] = W[i, j] * G[j]\nO[i:4, j:2] = T[i, j] + A[i, j]",
                           {"W"}),
                   steps);
}

// Arguments, buffers around, local ones, prepared ones and tables; loops around.
TEST(CheckScopes, WhatIsThere) {
  expect_scopes(chain(""), "");
  expect_scopes(chain("split O i [3]; compute_at T O i.0 scope=thread"), "");
  expect_scopes(chain("prepare T; prefetch O T i distance=1"), "");
  expect_scopes(Program(), "");
}

// A block outside of the Alloc that it writes to, or reads from.
TEST(CheckScopes, ABufferOutsideOfItsAlloc) {
  const Program program = chain("");
  const std::vector<Alloc> allocs = all<Alloc>(program.main);
  ASSERT_EQ(allocs.size(), 1u);
  expect_scopes(with_main(program, allocs[0].body),
                "block 'T' would use 'T' outside of the loop that it is local to");
  const Seq* nests = as<Seq>(allocs[0].body);
  ASSERT_NE(nests, nullptr);
  Alloc first_alone = allocs[0];
  first_alone.body = nests->statements[0];
  expect_scopes(with_main(program, make_seq({make_stmt(first_alone), nests->statements[1]})),
                "block 'O' would use 'T' outside of the loop that it is local to");
}

// A fetch of what is not there.
TEST(CheckScopes, APrefetch) {
  const Program program = chain("compute_at T O i scope=thread");
  const Tensor local = all<Alloc>(program.main)[0].tensor;
  const Stmt fetch = make_stmt(Prefetch{local, {Affine(0), Affine(0)}});
  expect_scopes(with_main(program, make_seq({program.main, fetch})),
                "a prefetch would use 'T' outside of the loop that it is local to");
}

// Main's buffers are not there in `prepare`.
TEST(CheckScopes, InPrepare) {
  Program program = chain("");
  program.prepare = as<Seq>(all<Alloc>(program.main)[0].body)->statements[0];
  expect_scopes(program, "block 'T' would use 'T' outside of the loop that it is local to");
}

// Bindings and conditions name loops around their block.
TEST(CheckScopes, ALoopThatIsNotAround) {
  const Program program = chain("split O j [2]; inline T");
  const std::vector<For> loops = all<For>(program.main);
  ASSERT_EQ(loops.size(), 3u);
  expect_scopes(with_main(program, loops[0].body), "block 'O' would leave loop 'i'");
  Block waiting = all<Block>(program.main)[0];
  waiting.axes.clear();
  waiting.predicate = {{Affine(loops[1].var), 1}};
  For outer = loops[0];
  outer.body = make_stmt(std::move(waiting));
  expect_scopes(with_main(program, make_stmt(std::move(outer))), "block 'O' would leave loop 'j.0'");
}

// Steps that move blocks are checked so after they were taken.
TEST(CheckScopes, AfterSteps) {
  expect_illegal(task_of("T[i:4] = W[i] * 2.0\nO[i:4] = T[i] + A[i]", {"W"}),
                 "compute_at T O i scope=thread; prepare T", "block 'T' would leave loop 'i'");
  expect_illegal(task_of("O[i:4, j:2] = A[i, j] * 2.0"),
                 "cache_read O A a at=j scope=thread; prefetch O a i distance=1",
                 "a prefetch would use 'a' outside of the loop that it is local to");
}

}  // namespace
}  // namespace lathe::testing
