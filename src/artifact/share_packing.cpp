#include "artifact/share_packing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "artifact/check_program.h"
#include "artifact/race_programs.h"
#include "loop/print.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

// By so much less time a program of its own packing earns its place in memory.
constexpr double kClearlyFaster = 0.85;

using Constants = std::vector<const Bytes*>;

Constants constants_of(const Graph& graph, const TaskUse& use) {
  Constants constants;
  for (const TensorId id : use.arguments) {
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.is_constant()) constants.push_back(tensor.data.get());
  }
  return constants;
}

class PackingSharer {
 public:
  PackingSharer(const Network& network, const CompileModelOptions& options,
                std::vector<CompiledTask>& compiled)
      : options_(options), compiled_(compiled) {
    std::set<const Bytes*> seen;
    double bytes = 0;
    for (const TaskUse& use : network.tasks.uses) {
      const Constants constants = constants_of(network.graph, use);
      for (const Bytes* each : constants)
        if (seen.insert(each).second) bytes += static_cast<double>(each->size());
      if (largest_.try_emplace(constants, use.task).second)
        room_ -= static_cast<double>(weight_bytes(compiled[use.task].program));
      settled_.insert(use.task);
    }
    room_ += options.weights_limit * bytes;
  }

  Status settle(const NetworkPlan& plan) {
    for (const TaskUse& use : plan.uses) {
      const Constants constants = constants_of(plan.graph, use);
      const auto sibling = largest_.find(constants);
      if (constants.empty() || sibling == largest_.end() || !settled_.insert(use.task).second) continue;
      LATHE_TRY_STATUS(settle(compiled_[use.task], compiled_[sibling->second], use.task));
    }
    return {};
  }

 private:
  Status settle(CompiledTask& own, const CompiledTask& sibling, size_t number) {
    const std::string packing = packing_of(sibling);
    if (packing_of(own) == packing) return {};
    Result<CompiledTask> shared = compile_task(own.task, sibling.trace, std::nullopt, number);
    if (!shared || packing_of(*shared) != packing) return {};
    LATHE_TRY(const auto failure, check_program(*shared, options_));
    if (failure) return {};
    LATHE_TRY(const bool earns_its_place, is_clearly_faster(own, *shared));
    const auto bytes = static_cast<double>(weight_bytes(own.program));
    if (earns_its_place && (options_.weights_limit == 0 || bytes <= room_)) {
      room_ -= bytes;
    } else {
      own = std::move(*shared);
    }
    return {};
  }

  Result<bool> is_clearly_faster(const CompiledTask& own, const CompiledTask& shared) const {
    if (options_.runner == nullptr || shared.checked == Checked::none) return false;
    const std::vector<CompiledTask> programs = {own, shared};
    LATHE_TRY(const auto seconds, race_programs(programs, options_.watch.deadline));
    return seconds && (*seconds)[0] < kClearlyFaster * (*seconds)[1];
  }

  const CompileModelOptions& options_;
  std::vector<CompiledTask>& compiled_;
  std::map<Constants, size_t> largest_;  // the tasks of the largest sizes
  std::set<size_t> settled_;
  double room_ = 0;  // in bytes, of what may be packed otherwise
};

}  // namespace

std::string packing_of(const CompiledTask& compiled) {
  Program packing;
  for (const Argument& argument : compiled.program.arguments)
    if (argument.is_constant) packing.arguments.push_back(argument);
  packing.prepared = compiled.program.prepared;
  packing.prepare = packing.main = compiled.program.prepare;
  std::string text = packing.prepare ? to_string(packing) : "";
  for (size_t i = 0; i < compiled.module.buffers.size(); ++i) {
    const size_t first = compiled.program.arguments.size();
    const bool is_prepared = i >= first;
    if (!is_prepared && !compiled.program.arguments[i].is_constant) continue;
    const Tensor& tensor =
        is_prepared ? compiled.program.prepared[i - first].tensor : compiled.program.arguments[i].tensor;
    const bool is_read = kernel_reads(compiled.program, tensor);
    text += " " + (is_prepared ? "" : to_string(compiled.program.arguments[i].layout)) +
            std::to_string(is_read ? compiled.module.buffers[i].bytes : 0);
  }
  return text;
}

Status share_packing(const Network& network, const CompileModelOptions& options,
                     std::vector<CompiledTask>& compiled) {
  PackingSharer sharer(network, options, compiled);
  for (const NetworkPlan& plan : network.smaller) LATHE_TRY_STATUS(sharer.settle(plan));
  return {};
}

}  // namespace lathe
