#include "session/commands/challengers.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "artifact/limit_weights.h"
#include "tune/choose_trace.h"
#include "tune/smaller_traces.h"

namespace lathe {

Result<Challengers> challengers_of(const Network& network, const CompileModelOptions& options,
                                   const std::vector<CompiledTask>& programs) {
  const WeightsBudget budget(network, options.weights_limit);
  int64_t room = budget.limit() - budget.bytes(programs);
  Challengers challengers;
  for (size_t i = 0; i < programs.size(); ++i) {
    if (!programs[i].record) continue;
    LATHE_TRY(const std::optional<ChosenTrace> untuned,
              recorded_untuned(network.tasks.tasks[i].task, *options.records));
    if (!untuned || !untuned->trace || untuned->record == programs[i].record) continue;
    Result<CompiledTask> compiled = compile_task(untuned->task, *untuned->trace, untuned->record, i);
    if (!compiled) continue;
    const int64_t more = weight_bytes(compiled->program) - weight_bytes(programs[i].program);
    // One that keeps less makes no room for others: it may lose.
    const int64_t needed = std::max<int64_t>(more, 0) * budget.sets(i);
    if (needed > room) continue;
    room -= needed;
    challengers.emplace(i, std::move(*compiled));
  }
  return challengers;
}

std::vector<CompiledTask> with(std::vector<CompiledTask> programs, const Challengers& challengers) {
  for (const auto& [task, program] : challengers) programs[task] = program;
  return programs;
}

}  // namespace lathe
