#include "graph/network_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include "codegen/machine.h"
#include "graph/onnx/import.h"
#include "graph/simplify.h"
#include "loop/interpret.h"
#include "loop/loop.h"
#include "target/detect.h"

namespace lathe {

namespace {

// Storage of every tensor: the arena for those that are planned, one buffer each for the others. An entry
// stands for a byte; an element lies in its first one.
class Storage {
 public:
  Storage(const Graph& graph, const ActivationPlan& plan)
      : graph_(graph),
        plan_(plan),
        own_(graph.tensors.size()),
        arena_(static_cast<size_t>(plan.bytes), 1e30) {
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
      const GraphTensor& tensor = graph.tensors[id];
      if (plan.offsets[id] < 0) own_[id].resize(static_cast<size_t>(bytes_of(tensor.type)));
      if (tensor.is_constant()) write(id, values_of(tensor));
    }
  }

  void write(TensorId id, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) at(id)[i * bytes_of_element(id)] = values[i];
  }

  // Lets tensors lie where they do in that step of a loop.
  void move(const LoopOfUses& loop, const std::vector<MovingTensor>& list, int64_t step) {
    for (const MovingTensor& moving : list) {
      const StepPlace& place = moving.at(step);
      double* const base = keeps(loop, place.base) ? fixed(place.base) : at(place.base);
      moved_[moving.tensor] = base + place.offset + step * place.stride;
    }
  }

  std::vector<double> read(TensorId id) { return read(id, elements_of(graph_.tensors[id].type.shape)); }
  // The first elements of the tensor.
  std::vector<double> read(TensorId id, int64_t count) {
    std::vector<double> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(at(id)[static_cast<size_t>(i) * bytes_of_element(id)]);
    return values;
  }

 private:
  size_t bytes_of_element(TensorId id) const {
    return static_cast<size_t>(bytes_of(graph_.tensors[id].type.dtype));
  }
  double* at(TensorId id) {
    const auto moved = moved_.find(id);
    return moved != moved_.end() ? moved->second : fixed(id);
  }
  double* fixed(TensorId id) {
    return plan_.offsets[id] < 0 ? own_[id].data() : arena_.data() + plan_.offsets[id];
  }

  const Graph& graph_;
  const ActivationPlan& plan_;
  std::vector<std::vector<double>> own_;
  std::vector<double> arena_;
  std::map<TensorId, double*> moved_;
};

using Outputs = Result<std::vector<HostTensor>>;

Outputs run_interpreted(const Task& task, std::span<const HostTensor> inputs) {
  LATHE_TRY(Interpretation run, interpret(naive_program(task), inputs));
  return std::move(run.outputs);
}

// The elements in row-major order of a tensor that lies in that layout, or the other way round.
std::vector<double> moved(const std::vector<double>& values, const Layout& layout, const Shape& shape,
                          bool to_row_major) {
  std::vector<double> result(values.size());
  Shape index(shape.size(), 0);
  size_t place = 0;
  do {
    const auto stored = static_cast<size_t>(flatten(layout, shape, index));
    result[to_row_major ? place : stored] = values[to_row_major ? stored : place];
    ++place;
  } while (next_index(index, shape));
  return result;
}

template <class Run>
void run_use(const NetworkTask& network_task, const TaskUse& use, Storage& storage, Run run_task) {
  const Result<Task> task = make_task(network_task.name, network_task.dag, Target{}, network_task.constants);
  if (!task) throw std::runtime_error(task.error().to_string());
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < network_task.dag.inputs.size(); ++i) {
    HostTensor input = zeros_like(network_task.dag.inputs[i]);
    input.values = moved(storage.read(use.arguments[i], elements_of(task->dag.inputs[i]->shape)),
                         use.layouts[i], task->dag.inputs[i]->shape, true);
    inputs.push_back(std::move(input));
  }
  const Outputs outputs = run_task(*task, inputs);
  if (!outputs) throw std::runtime_error(outputs.error().to_string());
  for (size_t i = 0; i < outputs->size(); ++i) {
    const size_t argument = inputs.size() + i;
    const Shape& shape = task->dag.outputs[i]->shape;
    storage.write(use.arguments[argument], moved((*outputs)[i].values, use.layouts[argument], shape, false));
  }
}

// The uses from the `first` to before the `last` and the loops among them that stand in `parent`.
template <class Run>
void run_uses(const Partition& partition, std::array<size_t, 2> range, std::optional<size_t> parent,
              Storage& storage, const Run& run_task) {
  for (size_t i = range[0]; i < range[1];) {
    const auto begins_here = [&](const LoopOfUses& loop) {
      return loop.parent == parent && loop.use_count > 0 && loop.first_use == i;
    };
    const auto loop = std::ranges::find_if(partition.loops, begins_here);
    if (loop == partition.loops.end()) {
      run_use(partition.tasks[partition.uses[i].task], partition.uses[i], storage, run_task);
      ++i;
      continue;
    }
    const auto holds = [&](TensorId id) { return storage.read(id)[0] != 0; };
    int64_t step = 0;
    bool goes_on = !loop->condition || holds(loop->condition->begins);
    for (; goes_on && step < loop->steps; ++step) {
      storage.move(*loop, loop->moving, step);
      run_uses(partition, {i, i + loop->use_count}, loop - partition.loops.begin(), storage, run_task);
      goes_on = !loop->condition || holds(loop->condition->goes_on);
    }
    storage.move(*loop, loop->last, step);
    i += loop->use_count;
  }
}

template <class Run>
std::vector<Values> run_tasks(const Graph& graph, const Partition& partition,
                              const std::vector<Values>& inputs, Run run_task) {
  const ActivationPlan plan = plan_activations(graph, partition);
  Storage storage(graph, plan);
  for (size_t i = 0; i < inputs.size(); ++i) storage.write(graph.inputs[i], inputs[i].data);
  run_uses(partition, {0, partition.uses.size()}, std::nullopt, storage, run_task);
  std::vector<Values> outputs;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const TensorType& type = graph.tensors[graph.outputs[i]].type;
    outputs.push_back({type.shape, storage.read(partition.outputs[i]), type.dtype});
  }
  return outputs;
}

}  // namespace

std::vector<Values> run_partition(const Graph& graph, const Partition& partition,
                                  const std::vector<Values>& inputs) {
  return run_tasks(graph, partition, inputs, run_interpreted);
}

std::vector<double> run_compiled(const OnnxModel& model, const std::vector<Values>& inputs) {
  const Graph graph = simplify(import_onnx_bytes(model.bytes(), "m.onnx").value());
  const auto run_task = [&](const Task& task, std::span<const HostTensor> operands) -> Outputs {
    LATHE_TRY(const LoweredProgram lowered, lower(naive_program(task), detect_target().value()));
    return testing::run_machine(lowered, testing::Backend::llvm, operands);
  };
  return run_tasks(graph, partition(graph).value(), inputs, run_task)[0].data;
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
    const auto is_near = ::testing::NanSensitiveDoubleNear(1e-5);
    EXPECT_THAT(actual[i].data, ::testing::Pointwise(is_near, reference[i].data));
  }
  return std::move(reference[output]);
}

std::string import_error(const OnnxModel& model) {
  const Result<Graph> graph = import_onnx_bytes(model.bytes(), "m.onnx");
  return graph ? "imported" : graph.error().message;
}

}  // namespace lathe
