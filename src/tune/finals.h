// The end of a task's tuning, from its records alone: the best programs race, and the winner is compared in
// full. Plain functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "evaluate/evaluator.h"
#include "records/record_store.h"
#include "tune/recorder.h"

namespace lathe {

// What a race takes where nothing hurries it, but for the building of its programs.
constexpr double kRaceSeconds = 1;

// The best record of a task whose outputs agree with the reference, all of them unless `only_sampled`.
struct Winner {
  int64_t record = 0;
  double largest_difference = 0;  // as in FullCheck
  double tolerance = 0;
  // Why no more of them were compared than the sample of each measurement.
  std::optional<std::string> only_sampled = {};
};

struct Confirmation {
  std::optional<Winner> winner;
  double seconds = 0;  // the winner's; 0 where there is none
  double spread = 0;
  int64_t failed = 0;  // records that turned out to be wrong
};

// Measures these records' programs several times more, in turns, so that they meet the machine at the same
// paces; for about a second, in which of long ones only the first two may get a turn. Their records take all
// these samples in: a time that was found in a lucky moment alone would win for good. Call it well after the
// last measurement: a machine that is slow is so for seconds. Where the race finds all slower than a record
// that was none of them, because the machine is slower now, that one races too, beside the best: no time wins
// that was not taken beside the others'. Where the watch ends it the turns so far count.
Status race(const CheckedTask& checked, std::span<const RankedRecord> finalists, Evaluator& evaluator,
            RecordStore& records, const Watch& watch);

// Compares the best record's program in full, as far as the watch lets it. One that is wrong fails, in its
// record too, and the next best takes its place; no winner where none is left.
Result<Confirmation> confirm_best(const CheckedTask& checked, Evaluator& evaluator, RecordStore& records,
                                  const Watch& watch);

}  // namespace lathe
