// lathe records: records files put together and cut down.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "base/hash.h"
#include "cli/command.h"
#include "cli/console.h"
#include "records/record_store.h"
#include "records/task_text.h"
#include "records/within.h"

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

std::string told_changes(int64_t changed) {
  if (changed == 0) return "";
  return fmt::format(", {} {} changed there", changed, changed == 1 ? "was" : "were");
}

Status merge(const MergeOptions& options) {
  // All are read before the first is written: a file that cannot be leaves the others as they are.
  std::vector<std::vector<Record>> lists;
  for (const std::string& path : options.from) {
    LATHE_TRY(const RecordStore store, RecordStore::open_read_only(path));
    LATHE_TRY(std::vector<Record> records, store.find({}));
    LATHE_TRY_STATUS(within(path, verify_tasks(records)));
    lists.push_back(std::move(records));
  }
  LATHE_TRY(RecordStore into, RecordStore::open(options.into));
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
  LATHE_TRY(RecordStore store, RecordStore::open(options.file));
  LATHE_TRY(const int64_t removed, store.prune(options.keep.value_or(kKept)));
  LATHE_TRY(const int64_t left, store.count({}));
  to_stdout("{}: {} records removed, {} kept\n", options.file, removed, left);
  return {};
}

}  // namespace

void add_records(CLI::App& app, Action& chosen) {
  CLI::App& group = add_group(app, "records", "put records files together, or cut one down");
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
}

}  // namespace lathe::cli
