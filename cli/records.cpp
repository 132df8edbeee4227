// lathe records: records files put together, cut down and repaired.
#include <fmt/format.h>

#include <memory>

#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/records_files.h"

namespace lathe::cli {
namespace {

struct MergeOptions {
  std::string into;
  std::vector<std::string> from;
};

struct PruneOptions {
  std::string file;
  std::optional<int64_t> keep;
};

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string told_changes(int64_t changed) {
  if (changed == 0) return "";
  return fmt::format(", {} {} changed there", changed, changed == 1 ? "was" : "were");
}

Status merge(const MergeOptions& options) {
  LATHE_TRY(const MergeOutcome outcome, merge_records(options.into, options.from, report_note));
  for (const MergedFile& file : outcome.files) {
    to_stdout("{}: {} of {} records were new to {}{}\n", file.path, file.counts.added, file.records,
              options.into, told_changes(file.counts.changed));
  }
  return outcome.complete;
}

Status prune(const PruneOptions& options) {
  LATHE_TRY(const PrunedFile pruned, prune_records(options.file, options.keep, report_note));
  to_stdout("{}: {} records removed, {} kept\n", options.file, pruned.removed, pruned.left);
  return {};
}

constexpr size_t kReasonsShown = 20;

void print_moved(const std::string& file, const Damage& moved) {
  size_t shown = 0;
  for (const auto& [hash, task] : moved.tasks) {
    if (shown++ < kReasonsShown) to_stdout("task {}: {}\n", hash, task.reason);
  }
  for (const auto& [id, reason] : moved.records) {
    if (shown++ < kReasonsShown) to_stdout("record {}: {}\n", id, reason);
  }
  if (shown > kReasonsShown) to_stdout("and {} more\n", shown - kReasonsShown);
  if (!moved.records.empty())
    to_stdout("{}: {} moved to its table damaged_records\n", file, counted(moved.records.size(), "record"));
  if (!moved.tasks.empty())
    to_stdout("{}: {} moved to its table damaged_tasks\n", file, counted(moved.tasks.size(), "task"));
}

std::string told_refused(int64_t refused) {
  if (refused == 0) return "";
  return fmt::format(", {} in part, which {} in its table damaged_records", refused,
                     refused == 1 ? "is" : "are");
}

Status repair(const std::string& file) {
  LATHE_TRY(const RepairedFile repaired, repair_records(file, [&](const Salvaged& salvaged) {
              to_stdout("{}: its pages are damaged; {} could be read{}, and the file as it was is {}\n", file,
                        counted(static_cast<size_t>(salvaged.records), "record"),
                        told_refused(salvaged.refused), salvaged.original);
            }));
  print_moved(file, repaired.moved);
  to_stdout("{}: {} in order\n", file, counted(static_cast<size_t>(repaired.left), "record"));
  return {};
}

}  // namespace

void add_records(CLI::App& app, Action& chosen) {
  CLI::App& group = add_group(app, "records", "put records files together, cut one down or repair it");
  OptionSet merging = add_command(group, "merge", "add to a records file what others hold beside it");
  const auto merge_options = std::make_shared<MergeOptions>();
  merging.text("INTO", merge_options->into, "the file to write, made if it is missing",
               {.is_required = true});
  merging.arguments("FROM", merge_options->from, "the files to read");
  merging.action(chosen, [merge_options] { return merge(*merge_options); });

  OptionSet pruning = add_command(group, "prune", "keep only the fastest records of each task");
  const auto prune_options = std::make_shared<PruneOptions>();
  pruning.text("FILE", prune_options->file, "the records file", {.is_required = true});
  pruning.number("--keep", prune_options->keep,
                 "how many of each task, target, machine, number of cores and version; default: 10",
                 {1, int64_t{1} << 40});
  pruning.action(chosen, [prune_options] { return prune(*prune_options); });

  OptionSet repairing = add_command(group, "repair", "move what is damaged in a records file out of the way");
  const auto repaired = std::make_shared<std::string>();
  repairing.text("FILE", *repaired, "the records file", {.is_required = true});
  repairing.action(chosen, [repaired] { return repair(*repaired); });
}

}  // namespace lathe::cli
