// lathe records: records files put together, cut down and repaired.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/hash.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/open_records.h"
#include "records/salvage.h"

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

constexpr int64_t kKept = 10;

std::string counted(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string told_changes(int64_t changed) {
  if (changed == 0) return "";
  return fmt::format(", {} {} changed there", changed, changed == 1 ? "was" : "were");
}

Status merge(const MergeOptions& options) {
  // All are read before the first is written: a file that cannot be leaves the others as they are.
  std::vector<std::vector<Record>> lists;
  for (const std::string& path : options.from) {
    LATHE_TRY(const RecordStore store, open_records_to_read(path));
    LATHE_TRY(std::vector<Record> records, store.find({}));
    lists.push_back(std::move(records));
  }
  LATHE_TRY(RecordStore into, open_records(options.into));
  std::vector<std::string> left_out;
  for (size_t i = 0; i < lists.size(); ++i) {
    LATHE_TRY(const MergeCounts counts, into.append_missing(lists[i]));
    to_stdout("{}: {} of {} records were new to {}{}\n", options.from[i], counts.added, lists[i].size(),
              options.into, told_changes(counts.changed));
    for (const TaskText& task : counts.left_out) {
      left_out.push_back(fmt::format("{} ({}) of {}", hash_to_string(task.hash), task.name, options.from[i]));
    }
  }
  if (left_out.empty()) return {};
  return fail(ErrorKind::database,
              fmt::format("the records of these tasks were left out, as {} knows the tasks under other names "
                          "of tensors and axes: {}",
                          options.into, fmt::join(left_out, ", ")));
}

Status expect_records_file(const std::string& path) {
  LATHE_TRY([[maybe_unused]] const RecordStore existing, RecordStore::open_read_only(path));
  return {};
}

Status prune(const PruneOptions& options) {
  // A misspelt name must not make a file.
  LATHE_TRY_STATUS(expect_records_file(options.file));
  LATHE_TRY(RecordStore store, open_records(options.file));
  LATHE_TRY(const int64_t removed, store.prune(options.keep.value_or(kKept)));
  LATHE_TRY(const int64_t left, store.count({}));
  to_stdout("{}: {} records removed, {} kept\n", options.file, removed, left);
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
  LATHE_TRY(const bool whole, is_whole(file));
  if (!whole) {
    LATHE_TRY(const Salvaged salvaged, salvage(file));
    to_stdout("{}: its pages are damaged; {} could be read{}, and the file as it was is {}\n", file,
              counted(static_cast<size_t>(salvaged.records), "record"), told_refused(salvaged.refused),
              salvaged.original);
  }
  LATHE_TRY(RecordStore store, RecordStore::open(file));
  LATHE_TRY(const Damage moved, store.repair());
  print_moved(file, moved);
  LATHE_TRY(const int64_t left, store.count({}));
  to_stdout("{}: {} in order\n", file, counted(static_cast<size_t>(left), "record"));
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
