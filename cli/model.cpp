// lathe model: cost models learned from records files.
#include <fmt/format.h>

#include <memory>

#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/train_model.h"

namespace lathe::cli {
namespace {

struct JudgeCommand {
  std::string file;
  std::vector<std::string> records;
  std::string only;
};

Status fit(const TrainRequest& request) {
  LATHE_TRY(const TrainedModel trained, train_model(request, report_note));
  to_stdout("{}: {} programs of {} tasks, {} records left out, {} bytes\n", request.out, trained.programs,
            trained.tasks, trained.left_out, trained.bytes);
  return {};
}

Status judge(const JudgeCommand& command) {
  LATHE_TRY(const std::vector<Judgement> judgements,
            judge_model(command.file, command.records, command.only, report_note));
  to_stdout("{:<28} {:>8} {:>14} {:>16}\n", "task", "records", "pairs in order", "best as foretold");
  double ordered = 0;
  double quality = 0;
  for (const Judgement& each : judgements) {
    to_stdout("{:<28} {:>8} {:>13.1f}% {:>15.1f}%\n", each.task.name, each.records, 100 * each.ordered_pairs,
              100 * each.quality_of_best);
    ordered += each.ordered_pairs;
    quality += each.quality_of_best;
  }
  const auto count = static_cast<double>(judgements.size());
  to_stdout("mean of {} tasks: {:.1f} % of the pairs in order, {:.1f} % of the best recorded speed\n",
            judgements.size(), 100 * ordered / count, 100 * quality / count);
  return {};
}

}  // namespace

void add_model(CLI::App& app, Action& chosen) {
  CLI::App& group = add_group(app, "model", "cost models learned from records");
  OptionSet fitting = add_command(group, "fit", "learn from records files");
  const auto request = std::make_shared<TrainRequest>();
  fitting.texts("--records", request->records, "a records file; may be given several times");
  fitting.text("--cost-model", request->cost_model, "what learns", {.shows_default = true});
  fitting.text("--leave-out", request->leave_out, "tasks whose names match this expression");
  fitting.number("--most", request->most_per_task, "programs of each task", {.shows_default = true});
  fitting.text("--out", request->out, "the model", {.is_required = true});
  fitting.action(chosen, [request] { return fit(*request); });

  OptionSet judging = add_command(group, "judge", "say how a model orders what was measured");
  const auto command = std::make_shared<JudgeCommand>();
  judging.text("FILE", command->file, "the model", {.is_required = true});
  judging.texts("--records", command->records, "a records file; may be given several times");
  judging.text("--filter", command->only, "only tasks whose names match this expression");
  judging.action(chosen, [command] { return judge(*command); });
}

}  // namespace lathe::cli
