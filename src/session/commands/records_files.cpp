#include "session/commands/records_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"
#include "session/open_records.h"

namespace lathe {

Result<MergeOutcome> merge_records(const std::string& into, const std::vector<std::string>& from,
                                   const Teller& note) {
  std::vector<std::vector<Record>> lists;
  for (const std::string& path : from) {
    LATHE_TRY(const RecordStore store, open_records_to_read(path, note));
    LATHE_TRY(std::vector<Record> records, store.find({}));
    lists.push_back(std::move(records));
  }
  LATHE_TRY(RecordStore store, open_records(into, note));
  MergeOutcome outcome;
  std::vector<std::string> left_out;
  for (size_t i = 0; i < lists.size(); ++i) {
    LATHE_TRY(MergeCounts counts, store.append_missing(lists[i]));
    for (const TaskText& task : counts.left_out) {
      left_out.push_back(fmt::format("{} ({}) of {}", hash_to_string(task.hash), task.name, from[i]));
    }
    outcome.files.push_back({from[i], lists[i].size(), std::move(counts)});
  }
  if (left_out.empty()) return outcome;
  outcome.complete =
      fail(ErrorKind::database,
           fmt::format("the records of these tasks were left out, as {} knows the tasks under other names "
                       "of tensors and axes: {}",
                       into, fmt::join(left_out, ", ")));
  return outcome;
}

Result<PrunedFile> prune_records(const std::string& file, std::optional<int64_t> keep, const Teller& note) {
  constexpr int64_t kKept = 10;
  // A misspelt name must not make a file.
  LATHE_TRY([[maybe_unused]] const RecordStore existing, RecordStore::open_read_only(file));
  LATHE_TRY(RecordStore store, open_records(file, note));
  PrunedFile pruned;
  LATHE_TRY(pruned.removed, store.prune(keep.value_or(kKept)));
  LATHE_TRY(pruned.left, store.count({}));
  return pruned;
}

Result<RepairedFile> repair_records(const std::string& file,
                                    const std::function<void(const Salvaged&)>& salvaged) {
  LATHE_TRY(const bool whole, is_whole(file));
  if (!whole) {
    LATHE_TRY(const Salvaged saved, salvage(file));
    salvaged(saved);
  }
  LATHE_TRY(RecordStore store, RecordStore::open(file));
  RepairedFile repaired;
  LATHE_TRY(repaired.moved, store.repair());
  LATHE_TRY(repaired.left, store.count({}));
  return repaired;
}

}  // namespace lathe
