// What the records of a task come to: what was gained since its first program and how, what failed, when and
// by what it was measured. A plain value, of which `lathe show --json` and the report print the same figures.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "records/record.h"

namespace lathe {

// A trial that found a better program than all before it.
struct Improvement {
  int64_t trial = 0;                 // from 1 on, of the comparable ones
  std::optional<double> spent = {};  // seconds until then, building, running and checking candidates
  double seconds = 0;                // that its program takes
};

struct FailedKind {
  ErrorKind kind = ErrorKind::build;
  int64_t count = 0;
  std::string message;  // of the first one
};

struct TaskOverview {
  TaskSummary summary;
  std::optional<int64_t> flops = {};  // of the formula as it is written; none: it cannot be read here
  std::optional<int64_t> bytes = {};  // of inputs and outputs, each once
  // Times of another processor or version say nothing beside these: those of the best program, or where none
  // works of the last record.
  std::string machine;
  std::string compiler_version;
  int64_t comparable = 0;                    // trials of that processor and version
  std::optional<double> first_seconds = {};  // of the first program that works, of the comparable ones
  std::optional<int64_t> first_record = {};
  std::vector<Improvement> curve;              // from that one to the best
  std::vector<FailedKind> failures;            // the most frequent first
  std::vector<std::string> compiler_versions;  // of all records, each once
  int64_t first_at = 0;                        // milliseconds since 1970, UTC
  int64_t last_at = 0;
  double wall_seconds = 0;       // building, running and checking all candidates
  std::vector<int64_t> records;  // their ids, ascending
};

// Of the records that the summary is of, in the order of their ids; there is one at least.
TaskOverview overview_of(TaskSummary summary, const std::vector<Record>& records);

// How many times as fast the best program is as the first one; none where no program works.
std::optional<double> gain_of(const TaskOverview& overview);
// 10^9 operations a second at so many seconds a run; none where either is not known.
std::optional<double> gflops_at(const TaskOverview& overview, const std::optional<double>& seconds);
// The name, and what tells it apart from tasks of the same.
std::string described(const TaskText& task);

nlohmann::ordered_json json_of(const TaskOverview& overview);

}  // namespace lathe
