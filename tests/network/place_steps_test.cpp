#include "network/place_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/simplify.h"
#include "network/partition.h"

namespace lathe {
namespace {

const ZipOp kAdd{ZipFunction::add};

std::string describe(const Graph& graph, const LoopOfUses& loop) {
  const auto place = [&](const StepPlace& at) {
    return fmt::format("{}{:+}{:+}n", graph.tensors[at.base].name, at.offset, at.stride);
  };
  std::string text = fmt::format("{}: {} steps, uses {}..{}\n", loop.name, loop.steps, loop.first_use,
                                 loop.first_use + loop.use_count - 1);
  for (const auto* list : {&loop.moving, &loop.last})
    for (const MovingTensor& moving : *list)
      text += fmt::format("{} {}: {}, {}, {}\n", list == &loop.last ? "last" : "step",
                          graph.tensors[moving.tensor].name, place(moving.first), place(moving.even),
                          place(moving.odd));
  return text;
}

// h = h + x[step], all h, c = c * 2: h lies where it is stacked, c takes turns between two buffers.
TEST(PlaceSteps, AStateLiesWhereItIsStackedOrTakesTurns) {
  GraphBuilder builder("g");
  const StepLoop loop{"l", 4};
  const auto node = [&](const char* name, GraphOp op, std::vector<TensorId> inputs) {
    return *builder.node(name, std::move(op), std::move(inputs), name);
  };
  const TensorId x = *builder.input("x", {DType::f32, {4, 16}});
  const TensorId h0 = *builder.input("h0", {DType::f32, {16}}), c0 = *builder.input("c0", {DType::f32, {16}});
  const TensorId h = node("h", StepStateOp{loop, 0}, {h0}), c = node("c", StepStateOp{loop, 1}, {c0});
  const TensorId part = node("part", TakeStepOp{loop, true}, {x});
  const TensorId next = node("next", kAdd, {node("twice", kAdd, {c, c}), h});
  const TensorId cell = node("cell", kAdd, {next, part});
  const TensorId all = node("all", StackStepsOp{loop, false}, {next});
  const TensorId end = node("end", LastStateOp{loop, 0}, {next});
  const TensorId last = node("last", LastStateOp{loop, 1}, {cell});
  ASSERT_TRUE(builder.output(all));
  ASSERT_TRUE(builder.output(node("y", kAdd, {end, last})));
  const Graph graph = simplify(builder.build());
  const Partition parts = partition(graph).value();
  ASSERT_EQ(parts.loops.size(), 1U);
  EXPECT_EQ(describe(graph, parts.loops[0]),
            "l: 4 steps, uses 0..1\n"
            "step part: x+192-64n, x+192-64n, x+192-64n\n"
            "step next: all+0+64n, all+0+64n, all+0+64n\n"
            "step h: h0+0+0n, all-64+64n, all-64+64n\n"
            "step cell: cell+0+0n, cell+0+0n, c+0+0n\n"
            "step c: c0+0+0n, c+0+0n, cell+0+0n\n"
            "last end: h0+0+0n, all-64+64n, all-64+64n\n"
            "last last: c0+0+0n, c+0+0n, cell+0+0n\n");
  EXPECT_EQ(runs_of(parts, parts.uses[0]), 4);
  EXPECT_EQ(runs_of(parts, parts.uses.back()), 1);
}

TEST(PlaceSteps, RefusesALoopThatIsNotSettled) {
  GraphBuilder builder("g");
  const StepLoop loop{"l", 4};
  const TensorId s = *builder.input("s", {DType::f32, {16}});
  const TensorId state = *builder.node("state", StepStateOp{loop, 0}, {s}, "state");
  const TensorId last = *builder.node("last", LastStateOp{loop, 0}, {state}, "last");
  ASSERT_TRUE(builder.output(*builder.node("y", kAdd, {last, last}, "y")));
  EXPECT_EQ(partition(builder.build()).error().message,
            "loop 'l': 'state' is not written for what stands at the loop's border");
}

}  // namespace
}  // namespace lathe
