#include "graph/loops.h"

#include <gtest/gtest.h>

#include "graph/reference.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

const StepLoop kOuter{"outer", 3}, kInner{"inner", 2};

class Builder {
 public:
  TensorId input(const char* name, const Shape& shape) { return *builder_.input(name, {DType::f32, shape}); }
  TensorId operator()(const char* name, GraphOp op, std::vector<TensorId> inputs) {
    const Result<TensorId> id = builder_.node(name, std::move(op), std::move(inputs), name);
    EXPECT_TRUE(id) << id.error().to_string();
    return *id;
  }
  Graph finish(std::initializer_list<TensorId> outputs) {
    for (const TensorId id : outputs) EXPECT_TRUE(builder_.output(id));
    return builder_.build();
  }
  GraphBuilder& builder() { return builder_; }

 private:
  GraphBuilder builder_{"g"};
};

const ZipOp kAdd{ZipFunction::add};

// s = s + x[step] + w, and all s.
Graph running_sums(bool backwards, int64_t columns = 16) {
  Builder add;
  const TensorId x = add.input("x", {3, columns}), s = add.input("s", {columns}),
                 w = add.input("w", {columns});
  const TensorId twice = add("twice", kAdd, {w, w});
  const TensorId part = add("part", TakeStepOp{kOuter, backwards}, {x});
  const TensorId state = add("state", StepStateOp{kOuter, 0}, {s});
  const TensorId sum = add("sum", kAdd, {add("moved", kAdd, {part, twice}), state});
  const TensorId all = add("all", StackStepsOp{kOuter, backwards}, {sum});
  const TensorId last = add("last", LastStateOp{kOuter, 0}, {sum});
  return add.finish({all, last});
}

TEST(Loops, ANodeBelongsToTheLoopsWhoseEntriesItDependsOn) {
  const Graph graph = running_sums(false);
  const LoopNest nest = loops_of(graph).value();
  ASSERT_EQ(nest.loops.size(), 1U);
  EXPECT_EQ(nest.loops[0].loop, kOuter);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    EXPECT_EQ(nest.of_node[n].has_value(), graph.nodes[n].name != "twice") << graph.nodes[n].name;
}

TEST(Loops, TheReferenceRunsABodyOnceForEachStep) {
  const std::vector<Values> inputs{{{3, 1}, {1, 2, 3}}, {{1}, {100}}, {{1}, {5}}};
  const std::vector<Values> forwards = evaluate_graph(running_sums(false, 1), inputs).value();
  EXPECT_EQ(forwards[0].data, (std::vector<double>{111, 123, 136}));
  EXPECT_EQ(forwards[1].data, (std::vector<double>{136}));
  const std::vector<Values> backwards = evaluate_graph(running_sums(true, 1), inputs).value();
  EXPECT_EQ(backwards[0].data, (std::vector<double>{136, 125, 113}));
  EXPECT_EQ(backwards[1].data, (std::vector<double>{136}));
}

TEST(Loops, PrintsTheLoopOfEachBorder) {
  EXPECT_EQ(to_string(running_sums(true)),
            "graph g\n"
            "  input x f32[3,16]\n"
            "  input s f32[16]\n"
            "  input w f32[16]\n"
            "  twice f32[16] = Add() of w, w\n"
            "  part f32[16] = TakeStep(loop 'outer', 3 steps, backwards) of x\n"
            "  state f32[16] = StepState(loop 'outer', 3 steps, state 0) of s\n"
            "  moved f32[16] = Add() of part, twice\n"
            "  sum f32[16] = Add() of moved, state\n"
            "  all f32[3,16] = StackSteps(loop 'outer', 3 steps, backwards) of sum\n"
            "  last f32[16] = LastState(loop 'outer', 3 steps, state 0) of sum\n"
            "  output all, last\n");
}

// A graph of two loops whose nodes take turns.
TEST(Loops, NodesOfOneLoopComeToStandBehindEachOther) {
  Builder add;
  const TensorId x = add.input("x", {3, 16}), y = add.input("y", {2, 16});
  const TensorId a = add("a", TakeStepOp{kOuter}, {x});
  const TensorId b = add("b", TakeStepOp{kInner}, {y});
  const TensorId c = add("c", StackStepsOp{kInner}, {add("d", kAdd, {b, b})});
  const TensorId e = add("e", ReduceOp{ReduceFunction::sum, {0}, false}, {c});
  const TensorId f = add("f", StackStepsOp{kOuter}, {add("g", kAdd, {a, e})});
  const Graph whole = with_whole_loops(add.finish({f})).value();
  std::string order;
  for (const GraphNode& node : whole.nodes) order += node.name;
  EXPECT_EQ(order, "bdceagf");
  EXPECT_TRUE(verify(whole));
}

TEST(Loops, AnInnerLoopStandsWhereItsOperandsAre) {
  Builder add;
  const TensorId x = add.input("x", {3, 2, 16}), s = add.input("s", {16});
  const TensorId row = add("row", TakeStepOp{kOuter}, {x});
  const TensorId part = add("part", TakeStepOp{kInner}, {row});
  const TensorId state = add("state", StepStateOp{kInner, 0}, {s});
  const TensorId last = add("last", LastStateOp{kInner, 0}, {add("sum", kAdd, {part, state})});
  const TensorId all = add("all", StackStepsOp{kOuter}, {last});
  const Graph graph = add.finish({all});
  const LoopNest nest = loops_of(graph).value();
  ASSERT_EQ(nest.loops.size(), 2U);
  EXPECT_EQ(nest.loops[1].parent, std::optional<size_t>(0));
  EXPECT_EQ(nest.of_node[1], std::optional<size_t>(1));
  EXPECT_TRUE(nest.is_within(1, 0));
  EXPECT_FALSE(nest.is_within(0, 1));
  EXPECT_EQ(nest.child_towards(std::nullopt, 1), 0U);
  EXPECT_TRUE(verify(graph));
}

TEST(Loops, RefusesWhatIsNoNest) {
  Builder add;
  const TensorId x = add.input("x", {3, 16}), y = add.input("y", {2, 16});
  const TensorId both =
      add("both", kAdd, {add("a", TakeStepOp{kOuter}, {x}), add("b", TakeStepOp{kInner}, {y})});
  EXPECT_EQ(loops_of(add.finish({both})).error().message, "loop 'outer' overlaps another one");
  Builder other;
  const TensorId z = other.input("z", {3, 16});
  const TensorId part = other("a", TakeStepOp{kOuter}, {z});
  const TensorId more = other("b", StackStepsOp{{"outer", 2}}, {part});
  EXPECT_EQ(loops_of(other.finish({more})).error().message, "loop 'outer' has 3 steps and 2");
}

TEST(Loops, VerifyWantsStatesToGoOnAndOutputsOutside) {
  Builder add;
  const TensorId s = add.input("s", {16});
  const TensorId state = add("state", StepStateOp{kOuter, 0}, {s});
  const TensorId sum = add("sum", kAdd, {state, state});
  EXPECT_EQ(verify(add.finish({sum})).error().message,
            "state 0 of loop 'outer' does not go on as what it begins with");
  Graph graph = running_sums(false);
  graph.outputs.push_back(graph.nodes[4].output);
  EXPECT_EQ(verify(graph).error().message, "output 'sum' stands in a loop");
}

// Each state and part lies in rows of 64 bytes, an output behind the loop is a copy.
TEST(SettleLoops, GivesWhatCrossesTheBorderAPlaceOfItsOwn) {
  Builder add;
  const TensorId x = add.input("x", {3, 5});
  const TensorId zero =
      *add.builder().constant("zero", {DType::f32, {5}}, to_bytes(DType::f32, std::vector<double>(5, 0)));
  const TensorId part = add("part", TakeStepOp{kOuter}, {x});
  const TensorId state = add("state", StepStateOp{kOuter, 0}, {zero});
  const TensorId sum = add("sum", kAdd, {part, state});
  const TensorId all = add("all", StackStepsOp{kOuter}, {state});
  const TensorId last = add("last", LastStateOp{kOuter, 0}, {sum});
  const Graph settled = settle_loops(add.finish({all, last}));
  EXPECT_TRUE(verify(settled)) << verify(settled).error().to_string();
  EXPECT_EQ(
      to_string(settled),
      "graph g\n"
      "  input x f32[3,5]\n"
      "  constant zero f32[5]\n"
      "  x.rows f32[3,5] = Reshape([3,5]) of x\n"
      "  x.rows.aligned f32[3,16] = Pad(before [0,0], after [0,11], constant 0) of x.rows\n"
      "  zero.copy f32[5] = Copy() of zero\n"
      "  x.rows.aligned.step f32[16] = TakeStep(loop 'outer', 3 steps) of x.rows.aligned\n"
      "  x.rows.aligned.step.part f32[5] = Slice(starts [0], steps [1], extents [5]) of x.rows.aligned.step\n"
      "  part f32[5] = Reshape([5]) of x.rows.aligned.step.part\n"
      "  state f32[5] = StepState(loop 'outer', 3 steps, state 0) of zero.copy\n"
      "  sum f32[5] = Add() of part, state\n"
      "  state.copy f32[5] = Copy(loop 'outer', 3 steps) of state\n"
      "  state.copy.rows f32[3,16] = StackSteps(loop 'outer', 3 steps, rows of 16) of state.copy\n"
      "  last.last f32[5] = LastState(loop 'outer', 3 steps, state 0) of sum\n"
      "  state.copy.rows.parts f32[3,5] = Slice(starts [0,0], steps [1,1], extents [3,5]) of "
      "state.copy.rows\n"
      "  all f32[3,5] = Reshape([3,5]) of state.copy.rows.parts\n"
      "  last f32[5] = Copy() of last.last\n"
      "  output all, last\n");
}

}  // namespace
}  // namespace lathe
