// Records files put together, cut down and repaired.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/record_store.h"
#include "records/salvage.h"
#include "session/teller.h"

namespace lathe {

struct MergedFile {
  std::string path;
  size_t records = 0;  // that it holds
  MergeCounts counts;
};
struct MergeOutcome {
  std::vector<MergedFile> files;
  // An Error that names the tasks whose records were left out, where some were.
  Status complete;
};
// Adds to `into` what the others hold beside it. All are read before the first is written: a file that cannot
// be leaves the others as they are.
Result<MergeOutcome> merge_records(const std::string& into, const std::vector<std::string>& from,
                                   const Teller& note);

struct PrunedFile {
  int64_t removed = 0;
  int64_t left = 0;
};
// Keeps the fastest records of each task, target, machine, number of cores and version: so many, 10 where
// none is said. An Error where there is no such file.
Result<PrunedFile> prune_records(const std::string& file, std::optional<int64_t> keep, const Teller& note);

struct RepairedFile {
  Damage moved;
  int64_t left = 0;  // in order
};
// Moves what is damaged out of the way; a file whose pages are damaged is put together anew first, which
// `salvaged` is told.
Result<RepairedFile> repair_records(const std::string& file,
                                    const std::function<void(const Salvaged&)>& salvaged);

}  // namespace lathe
