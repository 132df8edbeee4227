// Brings a task's measurements to the records file: together, but within a second, and never lost: what the
// file does not take is kept aside.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "records/record_store.h"

namespace lathe {

// A record that did not fail, and its time at the machine's quietest pace.
struct RankedRecord {
  double seconds = 0;
  int64_t id = 0;
  bool is_untuned = false;  // of the program that the task is compiled with where nothing is recorded
};
// The best `count` of these, best first; of two of one id the better. What is much slower than the best is
// none of them, but for the untuned program, which then comes second: who tunes must not end with less than
// they had because that was measured in a bad moment.
std::vector<RankedRecord> best_of(std::vector<RankedRecord> ranked, size_t count);

class Recorder {
 public:
  // `records` outlives it. Records of `untuned_trace` are those of the untuned program.
  Recorder(RecordStore& records, std::string untuned_trace);

  // Keeps the record until the next flush.
  void add(Record record) { unwritten_.push_back(std::move(record)); }
  // Writes what is kept. What could not be written stays, and its error comes with the next flush too.
  Status flush();
  // The same if the last time is so long ago that the next would come too late.
  Status flush_if_due();
  // The last flush of a batch: a full disk may take some of the records still, the others are kept aside.
  Status flush_or_keep_aside();

  // What was written, as it came, and what was recorded before.
  const std::vector<RankedRecord>& ranked() const { return ranked_; }
  void take_over(const Record& record) { rank(record, record.id); }
  // Divides the times of what was written since there were `first` of them.
  void correct_since(size_t first, double pace);

 private:
  void rank(const Record& record, int64_t id) {
    ranked_.push_back({record.measurement.seconds, id, record.trace == untuned_trace_});
  }

  RecordStore* records_;
  std::string untuned_trace_;
  std::vector<Record> unwritten_;
  std::vector<RankedRecord> ranked_;
  double last_flush_;
};

}  // namespace lathe
