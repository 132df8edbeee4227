// What a search tried and how it came out: by sketch, by the values of one sketch's parameters, by failure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/record.h"
#include "space/space.h"

namespace lathe {

// Some of a task's trials.
struct Tried {
  std::string what;  // the sketch, the value, the kind of failure
  int64_t trials = 0;
  int64_t failed = 0;
  std::optional<double> best_seconds = {};
  std::optional<int64_t> best_record = {};
};

struct ParameterTried {
  std::string name;
  std::vector<Tried> values;  // fastest first
};

// One entry a sketch, fastest first; those without a valid program last.
std::vector<Tried> tried_sketches(std::span<const Record> records);
// Of the records of this sketch of a space; only parameters of which several values were tried.
std::vector<ParameterTried> tried_values(std::span<const Record> records, std::string_view space,
                                         const Sketch& sketch);
// One entry for each kind of failure, the most frequent first.
std::vector<Tried> failures(std::span<const Record> records);

}  // namespace lathe
