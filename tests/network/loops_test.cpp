// Loops of a graph, task by task with all activations in one arena, beside the reference: random bodies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "graph/network_runner.h"
#include "graph/reference.h"
#include "graph/simplify.h"

namespace lathe {
namespace {

// Draws graphs of tensors [rows, columns], loops over some of them, and loops within these.
class GraphDrawer {
 public:
  explicit GraphDrawer(uint64_t seed) : rng_(seed), builder_("g") {
    const Shape extents{1, 2, 3, 16};
    shape_ = {pick(extents), pick(extents)};
    for (int i = 0; i < 2; ++i) outside_.push_back(input(shape_));
    outside_.push_back(constant(shape_));
  }

  Graph draw() {
    std::vector<TensorId> values = outside_;
    const int64_t loops = rng_.between(1, 2);
    for (int64_t i = 0; i < loops; ++i) {
      add_loop(values, 0);
      add_operator(values);
    }
    EXPECT_TRUE(builder_.output(values.back()));
    for (const TensorId id : stacks_) {
      const bool is_given = rng_.between(0, 2) > 0;
      EXPECT_TRUE(!is_given || builder_.output(id));
    }
    return builder_.build();
  }
  const std::vector<Values>& inputs() const { return inputs_; }

 private:
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(rng_.between(0, static_cast<int64_t>(list.size()) - 1))];
  }
  std::string fresh() { return "t" + std::to_string(count_++); }
  std::vector<double> numbers(const Shape& shape) {
    std::vector<double> data;
    for (int64_t i = 0; i < elements_of(shape); ++i) data.push_back(2 * rng_.uniform() - 1);
    return data;
  }
  TensorId input(const Shape& shape) {
    inputs_.push_back({shape, numbers(shape), DType::f32});
    for (double& value : inputs_.back().data) value = static_cast<float>(value);
    return *builder_.input(fresh(), {DType::f32, shape});
  }
  TensorId constant(const Shape& shape) {
    return *builder_.constant(fresh(), {DType::f32, shape}, to_bytes(DType::f32, numbers(shape)));
  }
  TensorId node(GraphOp op, std::vector<TensorId> inputs) {
    const std::string name = fresh();
    const Result<TensorId> id = builder_.node(name, std::move(op), std::move(inputs), name);
    EXPECT_TRUE(id) << id.error().to_string();
    return *id;
  }

  void add_operator(std::vector<TensorId>& values) {
    const TensorId a = pick(values), b = pick(values);
    switch (rng_.between(0, 6)) {
      case 0: return values.push_back(node(ZipOp{ZipFunction::add}, {a, b}));
      case 1: return values.push_back(node(ZipOp{ZipFunction::mul}, {a, b}));
      case 2: return values.push_back(node(MapOp{MapFunction::tanh}, {a}));
      case 3: {
        const TensorId product = node(MatMulOp{}, {a, constant({shape_[1], shape_[1]})});
        return values.push_back(node(MapOp{MapFunction::tanh}, {product}));
      }
      case 4: {
        const TensorId flat = node(ReshapeOp{{elements_of(shape_)}}, {a});
        return values.push_back(node(ReshapeOp{shape_}, {flat}));
      }
      case 5: {
        const TensorId both = node(ConcatOp{1}, {a, b});
        const TensorId part = node(SliceOp{{0, shape_[1] / 2}, {1, 1}, shape_}, {both});
        return values.push_back(part);
      }
      default: {
        const TensorId turned = node(TransposeOp{{1, 0}}, {a});
        return values.push_back(node(TransposeOp{{1, 0}}, {node(MapOp{MapFunction::abs}, {turned})}));
      }
    }
  }

  void add_loop(std::vector<TensorId>& around, int depth) {
    const StepLoop loop{fresh(), rng_.between(1, 4)};
    std::vector<TensorId> values = around;
    const auto states = static_cast<size_t>(rng_.between(1, 3));
    for (size_t i = 0; i < states; ++i) values.push_back(node(StepStateOp{loop, i}, {pick(around)}));
    Shape whole{loop.steps, shape_[0], shape_[1]};
    const TensorId sequence = rng_.between(0, 2) == 0 ? constant(whole) : input(whole);
    values.push_back(node(TakeStepOp{loop, rng_.between(0, 1) == 1}, {sequence}));
    const int64_t operators = rng_.between(1, 6);
    for (int64_t i = 0; i < operators; ++i) add_operator(values);
    if (depth < 1 && rng_.between(0, 2) == 0) add_loop(values, depth + 1);
    if (rng_.between(0, 2) == 0) add_operator(values);
    std::vector<TensorId> given;
    for (size_t i = 0; i < states; ++i) given.push_back(node(LastStateOp{loop, i}, {pick(values)}));
    const int64_t stacks = rng_.between(0, 2);
    for (int64_t i = 0; i < stacks; ++i) {
      const TensorId stack = node(StackStepsOp{loop, rng_.between(0, 1) == 1}, {pick(values)});
      if (depth == 0) stacks_.push_back(stack);
      const TensorId first = node(SliceOp{{0, 0, 0}, {1, 1, 1}, {1, shape_[0], shape_[1]}}, {stack});
      given.push_back(node(ReshapeOp{shape_}, {first}));
    }
    around.insert(around.end(), given.begin(), given.end());
    std::rotate(around.begin(), around.begin() + 1, around.end());
  }

  Rng rng_;
  GraphBuilder builder_;
  Shape shape_;
  std::vector<TensorId> outside_;
  std::vector<TensorId> stacks_;
  std::vector<Values> inputs_;
  int count_ = 0;
};

TEST(Loops, RandomBodiesGiveWhatTheReferenceDoes) {
  const auto is_near = ::testing::NanSensitiveDoubleNear(1e-4);
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    GraphDrawer drawer(seed);
    // What nothing reads may stand in two loops of which none holds the other.
    const Graph graph = remove_dead(drawer.draw());
    ASSERT_TRUE(verify(graph)) << verify(graph).error().to_string() << to_string(graph);
    const std::vector<Values> expected = evaluate_graph(graph, drawer.inputs()).value();
    const Graph simple = simplify(graph);
    ASSERT_TRUE(verify(simple)) << verify(simple).error().to_string() << to_string(simple);
    EXPECT_EQ(to_string(simplify(simple)), to_string(simple));
    const std::vector<Values> same = evaluate_graph(simple, drawer.inputs()).value();
    const Result<Partition> parts = partition(simple);
    ASSERT_TRUE(parts) << parts.error().to_string() << to_string(simple);
    const std::vector<Values> actual = run_partition(simple, *parts, drawer.inputs());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_THAT(same[i].data, ::testing::Pointwise(is_near, expected[i].data));
      ASSERT_THAT(actual[i].data, ::testing::Pointwise(is_near, expected[i].data)) << to_string(simple);
    }
  }
}

}  // namespace
}  // namespace lathe
