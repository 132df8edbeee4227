#include "graph/network_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "graph/onnx_import.h"
#include "graph/simplify.h"
#include "loop/interpret.h"
#include "loop/loop.h"

namespace lathe {

namespace {

// Storage of every tensor: the arena for those that are planned, one buffer each for the others. An element
// of the arena stands for four bytes.
class Storage {
 public:
  Storage(const Graph& graph, const ActivationPlan& plan)
      : plan_(plan), own_(graph.tensors.size()), arena_(static_cast<size_t>(plan.bytes / 4), 1e30) {
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
      if (plan.offsets[id] < 0)
        own_[id].resize(static_cast<size_t>(elements_of(graph.tensors[id].type.shape)));
      if (graph.tensors[id].is_constant()) own_[id] = values_of(graph.tensors[id]);
    }
  }

  double* at(TensorId id) {
    return plan_.offsets[id] < 0 ? own_[id].data() : arena_.data() + plan_.offsets[id] / 4;
  }

 private:
  const ActivationPlan& plan_;
  std::vector<std::vector<double>> own_;
  std::vector<double> arena_;
};

void run_use(const NetworkTask& network_task, const TaskUse& use, Storage& storage) {
  const Result<Task> task =
      make_task(network_task.name, network_task.dag, Target{}, 1, network_task.constants);
  if (!task) throw std::runtime_error(task.error().to_string());
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < network_task.dag.inputs.size(); ++i) {
    HostTensor input = zeros_like(network_task.dag.inputs[i]);
    std::copy_n(storage.at(use.arguments[i]), input.values.size(), input.values.begin());
    inputs.push_back(std::move(input));
  }
  const Result<Interpretation> run = interpret(naive_program(*task), inputs);
  if (!run) throw std::runtime_error(run.error().to_string());
  for (size_t i = 0; i < run->outputs.size(); ++i) {
    const std::vector<double>& values = run->outputs[i].values;
    std::copy(values.begin(), values.end(), storage.at(use.arguments[inputs.size() + i]));
  }
}

}  // namespace

std::vector<Values> run_partition(const Graph& graph, const Partition& partition,
                                  const std::vector<Values>& inputs) {
  const ActivationPlan plan = plan_activations(graph, partition);
  Storage storage(graph, plan);
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::copy(inputs[i].data.begin(), inputs[i].data.end(), storage.at(graph.inputs[i]));
  }
  for (const TaskUse& use : partition.uses) run_use(partition.tasks[use.task], use, storage);
  std::vector<Values> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Shape& shape = graph.tensors[graph.outputs[i]].type.shape;
    const double* begin = storage.at(partition.outputs[i]);
    outputs.push_back({shape, std::vector<double>(begin, begin + elements_of(shape))});
  }
  return outputs;
}

Values run_network(const OnnxModel& model, const std::vector<Values>& inputs, size_t output) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  EXPECT_TRUE(graph) << graph.error().to_string();
  if (!graph) return {};
  std::vector<Values> reference = evaluate_graph(*graph, inputs).value();
  const Graph simple = simplify(*graph);
  const std::vector<Values> actual = run_partition(simple, partition(simple).value(), inputs);
  for (size_t i = 0; i < reference.size(); ++i) {
    EXPECT_EQ(actual[i].shape, reference[i].shape);
    EXPECT_THAT(actual[i].data, testing::Pointwise(testing::DoubleNear(1e-5), reference[i].data));
  }
  return std::move(reference[output]);
}

std::string import_error(const OnnxModel& model) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  return graph ? "imported" : graph.error().message;
}

}  // namespace lathe
