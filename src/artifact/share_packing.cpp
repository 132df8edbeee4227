#include "artifact/share_packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "artifact/check_program.h"
#include "artifact/choose_within.h"
#include "artifact/limit_weights.h"
#include "loop/print.h"
#include "measure/timing.h"
#include "tune/smaller_traces.h"

namespace lathe {
namespace {

// A second packing is worth its place in memory where some program takes so many times as long without it.
constexpr double kClearlySlower = 1.18;

using Constants = std::vector<const Bytes*>;

Constants constants_of(const Graph& graph, const TaskUse& use) {
  Constants constants;
  for (const TensorId id : use.arguments) {
    const GraphTensor& tensor = graph.tensor(id);
    if (tensor.is_constant()) constants.push_back(tensor.data.get());
  }
  return constants;
}

// The tasks that read the constants of one of the largest sizes.
struct Family {
  size_t largest = 0;
  std::vector<size_t> members = {};  // those of the other sizes
};

// A way in which a family's constants may lie in memory.
struct Way {
  int64_t bytes = 0;  // that all uses of the largest task keep
  // How many times as long as the faster of two packings lets them the tasks take, as the sum of logarithms.
  double loss = 0;
  std::map<size_t, CompiledTask> programs = {};  // that take the places of the tasks' own ones
};

// Beside that of the largest task's own program.
struct SecondPacking {
  std::string text;
  Trace trace;
  int64_t bytes = 0;                         // that one use keeps
  std::optional<CompiledTask> largest = {};  // the largest task's program that packs so
};

class PackingSharer {
 public:
  PackingSharer(const Network& network, const CompileModelOptions& options, const RacePrograms& race,
                std::vector<CompiledTask>& compiled)
      : network_(network),
        options_(options),
        race_(race),
        compiled_(compiled),
        budget_(network, options.weights_limit) {}

  Status settle_all() {
    const std::vector<Family> families = all_families();
    size_t programs = 0;
    for (const Family& family : families) programs += family.members.size();
    const double begin = monotonic_seconds();
    size_t compared = 0;
    int64_t rest = budget_.limit() - budget_.bytes(compiled_);
    std::vector<std::vector<Way>> ways;
    for (const Family& family : families) {
      rest += bytes_of_all(family, weight_bytes(compiled_[family.largest].program));
      LATHE_TRY(std::vector<Way> of_family, ways_of(family));
      ways.push_back(std::move(of_family));
      compared += family.members.size();
      tell(compared, programs, monotonic_seconds() - begin);
    }
    take(std::move(ways), rest);
    return {};
  }

 private:
  void tell(size_t compared, size_t programs, double seconds) const {
    if (!options_.watch.observer || compared == 0) return;
    const double part = static_cast<double>(compared) / static_cast<double>(programs);
    options_.watch.observer(
        {fmt::format("{} of {} programs of smaller sizes are compared with those that share "
                     "constants",
                     compared, programs),
         seconds, seconds / part});
  }

  // Those of several sizes, in the order of the network's uses.
  std::vector<Family> all_families() const {
    std::vector<Family> families;
    std::map<Constants, size_t> family_of;
    std::map<size_t, size_t> family_of_task;
    for (const TaskUse& use : network_.tasks.uses) {
      const auto [known, is_new] = family_of_task.try_emplace(use.task, families.size());
      if (is_new) families.push_back({use.task});
      const Constants constants = constants_of(network_.graph, use);
      if (!constants.empty()) family_of.try_emplace(constants, known->second);
    }
    for (const NetworkPlan& plan : network_.smaller) {
      for (const TaskUse& use : plan.uses) {
        const auto family = family_of.find(constants_of(plan.graph, use));
        if (family != family_of.end() && family_of_task.try_emplace(use.task, family->second).second)
          families[family->second].members.push_back(use.task);
      }
    }
    std::erase_if(families, [](const Family& family) { return family.members.empty(); });
    return families;
  }

  int64_t bytes_of_all(const Family& family, int64_t of_one) const {
    return of_one * budget_.sets(family.largest);
  }

  // All members pack as the largest does, or some of them otherwise, or all and the largest too; the one that
  // loses least first. Where nothing can be measured only the first of these.
  Result<std::vector<Way>> ways_of(const Family& family) {
    const CompiledTask& largest = compiled_[family.largest];
    LATHE_TRY(const std::optional<SecondPacking> second, second_packing(family));
    Way one{bytes_of_all(family, weight_bytes(largest.program))};
    Way both = one;
    Way other;
    if (second) {
      both.bytes += bytes_of_all(family, second->bytes);
      other.bytes = bytes_of_all(family, second->bytes);
    }
    const std::string packing = packing_of(largest);
    bool gains = false;
    for (const size_t member : family.members) {
      LATHE_TRY(const auto as_largest, packed_as(packing, largest.trace, member));
      LATHE_TRY(const auto otherwise, !second ? Result<std::optional<CompiledTask>>(std::nullopt)
                                              : packed_as(second->text, second->trace, member));
      LATHE_TRY(const double loss, loss_of(as_largest, otherwise));
      gains = gains || loss > std::log(kClearlySlower);
      add(one, member, as_largest, loss);
      add(both, member, loss > 0 ? otherwise : as_largest, 0);
      add(other, member, otherwise, -loss);
    }
    std::vector<Way> ways;
    if (second && second->largest) {
      LATHE_TRY(const double loss, loss_of(second->largest, largest));
      add(one, family.largest, std::nullopt, -loss);
      add(both, family.largest, std::nullopt, -loss);
      add(other, family.largest, second->largest, loss);
      ways.push_back(std::move(other));
    }
    ways.push_back(std::move(one));
    if (gains) ways.push_back(std::move(both));
    const bool is_measured = std::ranges::any_of(ways, [](const Way& way) { return way.loss > 0; });
    if (!is_measured && ways.size() > 1) ways.erase(ways.begin());
    std::ranges::stable_sort(ways, {}, &Way::loss);
    return ways;
  }

  static void add(Way& way, size_t task, const std::optional<CompiledTask>& program, double loss) {
    way.loss += std::max(loss, 0.0);
    if (program) way.programs.emplace(task, *program);
  }

  // That of the largest task's program that keeps least, where its own keeps more than its constants; else
  // that of the largest member that packs otherwise.
  Result<std::optional<SecondPacking>> second_packing(const Family& family) {
    LATHE_TRY(std::optional<CompiledTask> smaller, smaller_program(family.largest));
    if (smaller)
      return SecondPacking{packing_of(*smaller), smaller->trace, weight_bytes(smaller->program),
                           std::move(smaller)};
    const std::string packing = packing_of(compiled_[family.largest]);
    for (const size_t member : family.members) {
      const CompiledTask& own = compiled_[member];
      if (const std::string other = packing_of(own); other != packing)
        return SecondPacking{other, own.trace, weight_bytes(own.program)};
    }
    return std::nullopt;
  }

  Result<std::optional<CompiledTask>> smaller_program(size_t number) const {
    const Task& task = network_.tasks.tasks[number].task;
    const int64_t bytes = weight_bytes(compiled_[number].program);
    LATHE_TRY(const SmallerTraces smaller, smaller_traces(task, options_.records, bytes));
    if (smaller.traces.empty()) return std::nullopt;
    const ChosenTrace& chosen = smaller.traces.back().chosen;
    return beside(compiled_[number], compile_task(chosen.task, *chosen.trace, chosen.record, number));
  }

  // A right program of the task that packs so; the trace is that of another size that does.
  Result<std::optional<CompiledTask>> packed_as(const std::string& packing, const Trace& trace,
                                                size_t number) const {
    const CompiledTask& own = compiled_[number];
    if (packing_of(own) == packing) return own;
    Result<CompiledTask> compiled = compile_task(own.task, trace, std::nullopt, number);
    if (!compiled || packing_of(*compiled) != packing) return std::nullopt;
    return beside(own, std::move(compiled));
  }

  // Where it is right, as one that may take that one's place.
  Result<std::optional<CompiledTask>> beside(const CompiledTask& own, Result<CompiledTask> compiled) const {
    if (!compiled) return std::nullopt;
    LATHE_TRY(const auto failure, check_program(*compiled, options_));
    if (failure) return std::nullopt;
    compiled->goes_before_records = !compiled->record && (own.record || own.goes_before_records);
    return std::move(*compiled);
  }

  // The logarithm of how many times as long as the other one a program takes; 0 where nothing can be
  // measured.
  Result<double> loss_of(const std::optional<CompiledTask>& program,
                         const std::optional<CompiledTask>& other) const {
    if (!program || !other || options_.runner == nullptr || program->checked == Checked::none ||
        other->checked == Checked::none)
      return 0;
    const std::vector<CompiledTask> programs = {*program, *other};
    LATHE_TRY(const auto seconds, race_(programs, options_.watch.deadline));
    return seconds ? std::log((*seconds)[0] / (*seconds)[1]) : 0;
  }

  void take(std::vector<std::vector<Way>> ways, int64_t limit) {
    std::vector<std::vector<WeightsChoice>> costs;
    for (const std::vector<Way>& of_family : ways) {
      std::vector<WeightsChoice>& each = costs.emplace_back();
      for (const Way& way : of_family) each.push_back({way.bytes, way.loss});
    }
    const std::vector<size_t> chosen = choose_within(costs, limit);
    for (size_t i = 0; i < ways.size(); ++i)
      for (auto& [task, program] : ways[i][chosen[i]].programs) compiled_[task] = std::move(program);
  }

  const Network& network_;
  const CompileModelOptions& options_;
  const RacePrograms& race_;
  std::vector<CompiledTask>& compiled_;
  WeightsBudget budget_;
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
                     std::vector<CompiledTask>& compiled, const RacePrograms& race) {
  return PackingSharer(network, options, race, compiled).settle_all();
}

}  // namespace lathe
