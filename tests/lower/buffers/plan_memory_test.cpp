// Where buffers lie: disjoint while they live together, shared places while they do not.
#include "lower/buffers/plan_memory.h"

#include "lower/programs.h"

namespace lathe::testing {
namespace {

Stmt store_to(const Tensor& tensor, const Affine& offset) {
  return make_stmt(Store{tensor, {offset}, Expr(1.0), 0, {}});
}

Stmt alloc(const Tensor& tensor, Scope scope, Stmt body) {
  return make_stmt(Alloc{tensor, scope, Layout::row_major(1), std::move(body)});
}

TEST(PlanMemory, StacksNestedBuffersAndReusesTheRoomOfSiblings) {
  const Tensor outer("outer", {10});  // 40 bytes: 64 with alignment
  const Tensor first("first", {100});
  const Tensor second("second", {20});
  const Var i("i");
  const auto nest = [&](const Tensor& t) {
    return alloc(t, Scope::workspace,
                 make_stmt(For{i, {Affine(20)}, LoopKind::serial, store_to(t, Affine(i))}));
  };
  Program program;
  program.main = alloc(outer, Scope::workspace, make_seq({store_to(outer, 0), nest(first), nest(second)}));
  const MemoryPlan plan = plan_memory(program);
  ASSERT_EQ(plan.places.size(), 3u);
  EXPECT_EQ(plan.find(outer)->offset, 0);
  EXPECT_EQ(plan.find(first)->offset, 64);
  EXPECT_EQ(plan.find(second)->offset, 64);
  EXPECT_EQ(plan.find(first)->bytes, 400);
  EXPECT_EQ(plan.shared_bytes, 64 + 448);
  EXPECT_EQ(plan.thread_bytes, 0);
}

TEST(PlanMemory, GivesEachThreadWhatAParallelLoopAllocates) {
  const Tensor shared("shared", {16});
  const Tensor own("own", {33});
  const Var i("i");
  const Var j("j");
  const Stmt inner = alloc(own, Scope::workspace,
                           make_stmt(For{j, {Affine(33)}, LoopKind::serial, store_to(own, Affine(j))}));
  Program program;
  program.main = alloc(
      shared, Scope::thread,
      make_stmt(For{i, {Affine(4)}, LoopKind::parallel, make_seq({inner, store_to(shared, Affine(i))})}));
  const MemoryPlan plan = plan_memory(program);
  EXPECT_EQ(plan.find(shared)->arena, Arena::workspace);
  EXPECT_EQ(plan.find(own)->arena, Arena::thread);
  EXPECT_EQ(plan.shared_bytes, 64);
  EXPECT_EQ(plan.thread_bytes, 192);
}

TEST(PlanMemory, RegistersDoNotCrossParallelLoops) {
  const Tensor outside("outside", {1});
  const Tensor inside("inside", {1});
  const Var i("i");
  const Stmt body = make_seq({store_to(outside, 0), alloc(inside, Scope::registers, store_to(inside, 0))});
  Program program;
  program.main = alloc(outside, Scope::registers, make_stmt(For{i, {Affine(4)}, LoopKind::parallel, body}));
  const MemoryPlan plan = plan_memory(program);
  EXPECT_EQ(plan.find(outside)->arena, Arena::workspace);
  EXPECT_EQ(plan.find(inside)->arena, Arena::registers);
}

TEST(PlanMemory, RegistersNeedConstantOffsets) {
  const Tensor constant("constant", {4});
  const Tensor variable("variable", {4});
  const Tensor large("large", {1 << 16});
  const Var i("i");
  Program program;
  program.main = make_seq({alloc(constant, Scope::registers, store_to(constant, 3)),
                           alloc(large, Scope::registers, store_to(large, 3)),
                           make_stmt(For{i,
                                         {Affine(4)},
                                         LoopKind::serial,
                                         alloc(variable, Scope::registers, store_to(variable, Affine(i)))})});
  const MemoryPlan plan = plan_memory(program);
  EXPECT_EQ(plan.find(constant)->arena, Arena::registers);
  EXPECT_EQ(plan.find(variable)->arena, Arena::workspace);
  EXPECT_EQ(plan.find(large)->arena, Arena::workspace);
}

// What is fetched at a place that is no constant lies in memory, too.
TEST(PlanMemory, FetchedBuffersLieInMemory) {
  const Tensor fetched("fetched", {4});
  const Var i("i");
  Program program;
  const Stmt body = make_seq({make_stmt(Prefetch{fetched, {Affine(i)}}), store_to(fetched, 3)});
  program.main = make_stmt(For{i, {Affine(4)}, LoopKind::serial, alloc(fetched, Scope::registers, body)});
  EXPECT_EQ(plan_memory(program).find(fetched)->arena, Arena::workspace);
}

TEST(PlanMemory, PrepareAndMainUseTheSameWorkspace) {
  const Tensor a("a", {16});
  const Tensor b("b", {32});
  const Var i("i");
  const auto nest = [&](const Tensor& t) {
    return alloc(t, Scope::workspace,
                 make_stmt(For{i, {Affine(16)}, LoopKind::serial, store_to(t, Affine(i))}));
  };
  Program program;
  program.prepare = nest(a);
  program.main = nest(b);
  const MemoryPlan plan = plan_memory(program);
  EXPECT_EQ(plan.find(a)->offset, 0);
  EXPECT_EQ(plan.find(b)->offset, 0);
  EXPECT_EQ(plan.shared_bytes, 128);
}

// Of a device: what is around kernels, what their threads share, what each has for itself.
TEST(PlanMemory, KernelsHaveTheirOwnArenas) {
  const Tensor around("around", {100});
  const Tensor shared("shared", {8});
  const Tensor own("own", {4});
  const Var t("t");
  const Stmt threads = make_stmt(For{t, {Affine(8)}, LoopKind::thread, store_to(shared, Affine(t))});
  Program program;
  program.main =
      alloc(around, Scope::workspace, alloc(shared, Scope::shared, alloc(own, Scope::registers, threads)));
  const MemoryPlan plan = plan_kernel_memory(program);
  EXPECT_EQ(plan.find(around)->arena, Arena::workspace);
  EXPECT_EQ(plan.find(shared)->arena, Arena::shared);
  EXPECT_EQ(plan.find(shared)->bytes, 32);
  EXPECT_EQ(plan.find(own)->arena, Arena::registers);
  EXPECT_EQ(plan.shared_bytes, 448);
  EXPECT_EQ(plan.thread_bytes, 0);
}

}  // namespace
}  // namespace lathe::testing
