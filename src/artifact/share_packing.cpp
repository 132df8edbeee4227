#include "artifact/share_packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "artifact/check_program.h"
#include "artifact/choose_within.h"
#include "artifact/limit_weights.h"
#include "loop/print.h"
#include "measure/timing.h"
#include "records/within.h"
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
  // How many times as long as the faster of two packings lets them the tasks take, as the sum of logarithms;
  // what was not compared takes as long.
  double loss = 0;
  std::map<size_t, CompiledTask> programs = {};      // that take the places of the tasks' own ones
  std::map<std::string, int64_t> bytes_of_one = {};  // of each packing, that one use keeps
};

// A task's program that packs in some way; none: it keeps its own, which packs so.
struct Packed {
  std::optional<CompiledTask> program;
  std::string packing;
};

// Beside that of the largest task's own program.
struct SecondPacking {
  std::string text;
  Trace trace;
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
      rest += weight_bytes(compiled_[family.largest].program) * budget_.sets(family.largest);
      LATHE_TRY(std::vector<Way> of_family, ways_of(family));
      ways.push_back(std::move(of_family));
      compared += family.members.size();
      tell(compared, programs, monotonic_seconds() - begin);
    }
    take(families, std::move(ways), rest);
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

  // What all uses of the largest task keep.
  int64_t bytes_of_all(const Family& family, const Way& way) const {
    int64_t of_one = 0;
    for (const auto& [packing, bytes] : way.bytes_of_one) of_one += bytes;
    return of_one * budget_.sets(family.largest);
  }

  // All members pack as the largest does, or some of them otherwise, or all and the largest too; the one that
  // loses least first. Where nothing can be measured only the first of these.
  Result<std::vector<Way>> ways_of(const Family& family) {
    const CompiledTask& largest = compiled_[family.largest];
    LATHE_TRY(const std::optional<SecondPacking> second, second_packing(family));
    const Packed own{std::nullopt, packing_of(largest)};
    Way one, both, other;
    bool gains = false;
    for (const size_t member : family.members) {
      const std::string packing = packing_of(compiled_[member]);
      LATHE_TRY(const Packed as_largest, packed_as(own.packing, largest.trace, member, packing));
      LATHE_TRY(const Packed otherwise, !second ? Result<Packed>(as_largest)
                                                : packed_as(second->text, second->trace, member, packing));
      LATHE_TRY(const double loss, loss_of(as_largest.program, otherwise.program));
      gains = gains || loss > std::log(kClearlySlower);
      add(one, member, as_largest, loss);
      add(both, member, loss > 0 ? otherwise : as_largest, 0);
      add(other, member, otherwise, -loss);
    }
    const bool may_give_way = second && second->largest;
    LATHE_TRY(const double loss, may_give_way ? loss_of(second->largest, largest) : Result<double>(0));
    add(one, family.largest, own, -loss);
    add(both, family.largest, own, -loss);
    if (may_give_way) add(other, family.largest, {second->largest, second->text}, loss);
    std::vector<Way> ways = {std::move(one)};
    if (may_give_way && ways.front().loss + other.loss > 0) ways.push_back(std::move(other));
    if (gains) ways.push_back(std::move(both));
    std::ranges::stable_sort(ways, {}, &Way::loss);
    return ways;
  }

  void add(Way& way, size_t task, const Packed& packed, double loss) const {
    const CompiledTask& taken = packed.program ? *packed.program : compiled_[task];
    way.loss += std::max(loss, 0.0);
    way.bytes_of_one.emplace(packed.packing, weight_bytes(taken.program));
    if (packed.program) way.programs.emplace(task, *packed.program);
  }

  // That of the largest task's program that keeps least, where its own keeps more than its constants; else
  // that of the largest member that packs otherwise.
  Result<std::optional<SecondPacking>> second_packing(const Family& family) {
    LATHE_TRY(std::optional<CompiledTask> smaller, smaller_program(family.largest));
    if (smaller) return SecondPacking{packing_of(*smaller), smaller->trace, std::move(smaller)};
    const std::string packing = packing_of(compiled_[family.largest]);
    for (const size_t member : family.members) {
      const CompiledTask& own = compiled_[member];
      if (const std::string other = packing_of(own); other != packing) return SecondPacking{other, own.trace};
    }
    return std::nullopt;
  }

  Result<std::optional<CompiledTask>> smaller_program(size_t number) const {
    const Task& task = network_.tasks.tasks[number].task;
    const int64_t bytes = weight_bytes(compiled_[number].program);
    LATHE_TRY(const SmallerTraces smaller, within(task.name, smaller_traces(task, options_.records, bytes)));
    if (smaller.traces.empty()) return std::nullopt;
    const ChosenTrace& chosen = smaller.traces.back().chosen;
    return beside(compiled_[number], compile_task(chosen.task, *chosen.trace, chosen.record, number));
  }

  // A right program of the task that packs so; the trace is that of another size that does. `own` is how the
  // task's own program packs.
  Result<Packed> packed_as(const std::string& packing, const Trace& trace, size_t number,
                           const std::string& own) const {
    if (packing == own) return Packed{compiled_[number], own};
    Result<CompiledTask> compiled = compile_task(compiled_[number].task, trace, std::nullopt, number);
    if (!compiled || packing_of(*compiled) != packing) return Packed{std::nullopt, own};
    LATHE_TRY(std::optional<CompiledTask> right, beside(compiled_[number], std::move(compiled)));
    const bool is_right = right.has_value();
    return Packed{std::move(right), is_right ? packing : own};
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

  void take(const std::vector<Family>& families, std::vector<std::vector<Way>> ways, int64_t limit) {
    std::vector<std::vector<WeightsChoice>> costs;
    for (size_t i = 0; i < families.size(); ++i) {
      std::vector<WeightsChoice>& each = costs.emplace_back();
      for (const Way& way : ways[i]) each.push_back({bytes_of_all(families[i], way), way.loss});
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
