// What the primitives share: finding blocks and loops, putting trees back, moving nests and buffers.
#include "schedule/primitive.h"

#include "expr/print.h"
#include "schedule/golden.h"

namespace lathe::testing {
namespace {

constexpr const char* kTwo = R"(
input A: f32[4, 3] [0][1]
output C: f32[4] [0]
output D: f32[4] [0]
main {
  alloc T: f32[4] workspace [0] {
    for i in 4 {
      block T {
        i: 4 = i
        T[i] = A[i, 0]
      }
    }
    for i in 4 {
      for r in 3 {
        block C {
          i: 4 = i
          reduce r: 3 = r
          C[i] init sum= A[i, r] * T[i]
        }
      }
    }
    for i in 4 {
      block D {
        i: 4 = i
        D[i] = 2.0
      }
    }
  }
}
)";

Program two() { return program_of(kTwo); }
Located at(const Program& program, const std::string& block) { return locate(program, block).value(); }

void expect_refused(const Status& status, const std::string& sentence) {
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::illegal_schedule);
  EXPECT_EQ(status.error().message, sentence);
}

// In main, or else in `prepare`, with all that is above.
TEST(Locate, Blocks) {
  const Program program = two();
  const Located located = at(program, "C");
  EXPECT_EQ(located.block->name, "C");
  EXPECT_FALSE(located.in_prepare);
  EXPECT_EQ(located.path.size(), 5u);  // alloc, seq, two loops, block
  EXPECT_EQ(located.path.front(), program.main);
  Program preparing = program;
  std::swap(preparing.main, preparing.prepare);
  EXPECT_TRUE(at(preparing, "C").in_prepare);
  EXPECT_EQ(locate(program, "X").error().message, "there is no block 'X'");
  EXPECT_EQ(locate(Program(), "X").error().message, "there is no block 'X'");
}

// The innermost loop of a name counts; a name that is none's is answered by those that are there.
TEST(Locate, Loops) {
  const Program nested =
      scheduled(task_of("T[i:4] = A[i] + 1.0\nO[i:4] = T[i] * 2.0"), "compute_at T O i scope=thread");
  const Located located = at(nested, "T");
  const size_t inner = located.loop("i").value();
  EXPECT_EQ(constant_extent(located.loop_at(inner)), 1);
  EXPECT_EQ(at(two(), "C").loop("j").error().message, "block 'C' has no loop 'j'; its loops are i, r");
  const Program single = program_of(R"(
output O: f32[1] [0]
main {
  block O {
    i: 1 = 0
    O[i] = 1.0
  }
}
)");
  EXPECT_EQ(at(single, "O").loop("i").error().message, "block 'O' has no loop 'i'; its loops are none");
}

TEST(Primitive, ReduceLoops) {
  const Program program = scheduled(task_of("C[i:4] = sum(r:6, s:2) A[i, r, s]"),
                                    "split C r [2]; reorder C r.0 i s r.1; fuse C i s");
  const Located located = at(program, "C");
  std::vector<std::string> names;
  for (size_t position : reduce_loops(located)) names.push_back(located.loop_at(position).var.name());
  EXPECT_EQ(names, (std::vector<std::string>{"r.0", "i_s", "r.1"}));
  EXPECT_TRUE(drives_reduce_axis(*located.block, located.loop_at(located.loop("i_s").value()).var));
  // Down to the loop before the mixed one, and to that.
  EXPECT_TRUE(check_unmixed(located, located.loop("r.0").value()).has_value());
  expect_refused(check_unmixed(located, located.loop("r.1").value()),
                 "loop 'i_s' drives a spatial and a reduce axis of block 'C'");
}

// The chain of loops down to the block alone, which ends where something stands beside it.
TEST(Primitive, OwnNest) {
  const Program program = scheduled(task_of("C[i:4] = sum(r:6) A[i, r]\nD[i:4] = C[i] + 1.0"),
                                    "reverse_compute_at D C i scope=thread");
  const Located producer = at(program, "C");
  EXPECT_EQ(own_nest(producer), producer.path[producer.loop("r").value()].get());
  const Program alone = scheduled(task_of("C[i:4] = sum(r:6) A[i, r]"), "");
  EXPECT_EQ(own_nest(at(alone, "C")), alone.main.get());
}

TEST(Primitive, Checks) {
  const Program program = two();
  const Block& writer = *at(program, "C").block;
  EXPECT_TRUE(check_sole_writer(program, writer).has_value());
  EXPECT_TRUE(check_intermediate(program, *at(program, "T").block).has_value());
  expect_refused(check_intermediate(program, writer), "block 'C' writes 'C', which is no intermediate");
  EXPECT_TRUE(check_new_name(program, "X").has_value());
  expect_refused(check_new_name(program, "T"), "there is a 'T' already");
  EXPECT_TRUE(check_point_wise_output(writer).has_value());
  Block other = writer;
  other.name = "E";
  other.output_index[0] += 1;
  expect_refused(check_point_wise_output(other), "block 'E' does not write its output point by point");
  expect_refused(check_sole_writer(program, other), "block 'C' writes 'C' as block 'E' does");
  // A name of a block in `prepare` is taken, too, and so is what a block of another name writes.
  Program preparing = program;
  std::swap(preparing.main, preparing.prepare);
  expect_refused(check_new_name(preparing, "C"), "there is a 'C' already");
  const Program cached = scheduled(task_of("O[i:4] = A[i]"), "cache_write O o at=i scope=thread");
  expect_refused(check_new_name(cached, "o"), "there is a 'o' already");
  expect_refused(check_new_name(cached, "o.out"), "there is a 'o.out' already");
}

TEST(Primitive, WhatTouchesATensor) {
  const Program program = two();
  const Tensor local = at(program, "T").block->output;
  const Seq& nests = *as<Seq>(as<Alloc>(program.main)->body);
  EXPECT_TRUE(touches(nests.statements[0], local));  // writes it
  EXPECT_TRUE(touches(nests.statements[1], local));  // reads it
  EXPECT_FALSE(touches(nests.statements[2], local));
  EXPECT_TRUE(reads(*at(program, "C").block, local));
  EXPECT_FALSE(reads(*at(program, "T").block, local));
  EXPECT_EQ(find_alloc(program, local)->tensor, local);
  EXPECT_EQ(find_alloc(program, program.arguments[0].tensor), nullptr);
}

std::string names_of(const Stmt& stmt) {
  std::string names;
  for (const Block* block : blocks_of(stmt)) names += block->name;
  return names;
}

// First, last and before the first use, inside the Allocs that open a body.
TEST(Primitive, StatementsBesideOthers) {
  const Program program = two();
  const Tensor local = at(program, "T").block->output;
  Block marked = *at(program, "D").block;
  marked.name = "X";
  const Stmt mark = make_stmt(std::move(marked));
  EXPECT_EQ(names_of(prepend(program.main, mark)), "XTCD");
  EXPECT_EQ(names_of(append(program.main, mark)), "TCDX");
  EXPECT_NE(as<Alloc>(prepend(program.main, mark)), nullptr);
  EXPECT_NE(as<Alloc>(append(program.main, mark)), nullptr);
  const Stmt& nests = as<Alloc>(program.main)->body;
  EXPECT_EQ(names_of(insert_before_use(program.main, local, mark)), "XTCD");
  EXPECT_EQ(names_of(insert_before_use(nests, at(program, "D").block->output, mark)), "TCXD");
  EXPECT_EQ(names_of(insert_before_use(nests, Tensor("other", {1}, DType::f32), mark)), "XTCD");
  const Stmt& single = as<Seq>(nests)->statements[0];
  EXPECT_EQ(names_of(insert_before_use(single, local, mark)), "XT");
}

// Null takes a nest away; an Alloc goes and its body stays.
TEST(Primitive, TakingAway) {
  const Program program = two();
  const Located located = at(program, "D");
  const Program without = with_replaced(program, false, own_nest(located), nullptr);
  EXPECT_EQ(names_of(without.main), "TC");
  const Tensor local = at(program, "T").block->output;
  const Program bare = without_alloc(program, local);
  EXPECT_EQ(bare.main, as<Alloc>(program.main)->body);
  EXPECT_EQ(without_alloc(bare, local).main, bare.main);
}

// The loads of one tensor, wherever they stand in the value.
TEST(Primitive, RedirectLoads) {
  const Program program = two();
  const Tensor to("X", {4, 3}, DType::f32);
  const Block block = redirect_loads(*at(program, "C").block, program.arguments[0].tensor, to);
  EXPECT_EQ(to_string(block.value), "X[i, r] * T[i]");
}

// A buffer moves to where all that touches it is; else it stays.
TEST(Primitive, SinkAlloc) {
  const Program fused =
      scheduled(task_of("T[i:4] = A[i] + 1.0\nO[i:4] = T[i] * 2.0"), "compute_at T O i scope=thread");
  const Located consumer = at(fused, "O");
  const Tensor local = at(fused, "T").block->output;
  const StmtNode* loop = consumer.path[consumer.loop("i").value()].get();
  const auto is_below = [&](const Program& program) {
    return as<For>(program.main) != nullptr && find_alloc(program, local) != nullptr;
  };
  EXPECT_TRUE(is_below(fused));
  // The loop is one that it lies in already: nothing to do.
  EXPECT_EQ(sink_alloc(fused, local, loop, Scope::thread).main, fused.main);
  // A tensor that is not allocated, and one that is used beside the loop.
  EXPECT_EQ(sink_alloc(fused, fused.arguments[0].tensor, loop, Scope::thread).main, fused.main);
  const Program apart = two();
  const Located reader = at(apart, "C");
  const StmtNode* beside = reader.path[reader.loop("i").value()].get();
  EXPECT_EQ(sink_alloc(apart, at(apart, "T").block->output, beside, Scope::thread).main, apart.main);
}

std::string guards(const Affine& binding, int64_t extent, const Ranges& ranges) {
  Block block;
  block.axes.push_back({spatial("x", extent), binding, Tail::guard});
  guard_domain(block, 0, ranges);
  std::string text = to_string(block.axes[0].binding) + ":";
  for (const Conjunct& conjunct : block.predicate) text += " " + to_string(conjunct);
  return text;
}

// Conditions where the loops' ranges do not keep a binding in the axis' domain, at either end.
TEST(Primitive, GuardDomain) {
  const Var i("i");
  Ranges ranges;
  ranges.set_extent(i, 4);
  EXPECT_EQ(guards(Affine(i), 4, ranges), "i:");
  EXPECT_EQ(guards(Affine(i), 3, ranges), "i: i < 3 axis 0");
  EXPECT_EQ(guards(Affine(i) - 1, 4, ranges), "i - 1: -i + 1 < 1 axis 0");
  EXPECT_EQ(guards(Affine(i) * 2 - 2, 4, ranges), "2*i - 2: 2*i - 2 < 4 axis 0 -2*i + 2 < 1 axis 0");
  // Simplified first.
  EXPECT_EQ(guards(floor_div(Affine(i), 4) + modulo(Affine(i), 4), 4, ranges), "i:");
  // Of a variable that nothing is known of both ends.
  EXPECT_EQ(guards(Affine(Var("n")), 4, ranges), "n: n < 4 axis 0 -n < 1 axis 0");
}

// Sides run from their base; other axes run whole; conditions of its own follow the axes that they name.
TEST(Primitive, MakeNest) {
  const Program program = two();
  Block block = *at(program, "C").block;
  const Var old = block.axes[0].binding.as_var().value();
  block.predicate = {{Affine(old) * 2, 5}, {Affine(old), 3, 0}, {Affine(old), 2, -1, Tail::guard, true}};
  const Var tile("tile");
  Ranges fixed;
  fixed.set_extent(tile, 2);
  const Stmt nest = make_nest(block, {{0, Affine(tile) * 3, 3}}, fixed);
  EXPECT_EQ("\n" + to_string(nest), R"(
for i in 3 {
  for r in 3 {
    block C where 3*tile + i < 4 axis 0, 6*tile + 2*i < 5 {
      i: 4 = 3*tile + i
      reduce r: 3 = r
      C[i] init sum= A[i, r] * T[i]
    }
  }
}
)");
}

}  // namespace
}  // namespace lathe::testing
