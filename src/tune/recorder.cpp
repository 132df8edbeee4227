#include "tune/recorder.h"

#include <algorithm>
#include <set>
#include <utility>

#include "measure/timing.h"

namespace lathe {

// Two measurements of one program some seconds apart differ by as much where clocks move.
constexpr double kFinalistRatio = 1.08;
// One program in other pages of memory, which meet in the second-level cache or do not: 1.4 was seen of a
// working set that nearly fills it.
constexpr double kUntunedRatio = 1.5;
// No record waits for as long as a second: longer than this for the next one, or than kLongWaitSeconds
// more where the next takes its time.
constexpr double kFlushSeconds = 0.5;

std::vector<RankedRecord> best_of(std::vector<RankedRecord> ranked, size_t count) {
  std::ranges::stable_sort(ranked, {}, &RankedRecord::seconds);
  std::set<int64_t> seen;
  std::erase_if(ranked, [&](const RankedRecord& record) { return !seen.insert(record.id).second; });
  const double best = ranked.empty() ? 0 : ranked.front().seconds;
  std::erase_if(ranked, [best](const RankedRecord& record) {
    return record.seconds > best * (record.is_untuned ? kUntunedRatio : kFinalistRatio);
  });
  const auto untuned = std::ranges::find(ranked, true, &RankedRecord::is_untuned);
  if (untuned != ranked.end() && untuned != ranked.begin())
    std::rotate(ranked.begin() + 1, untuned, untuned + 1);
  ranked.resize(std::min(ranked.size(), count));
  return ranked;
}

Recorder::Recorder(RecordStore& records, std::string untuned_trace)
    : records_(&records), untuned_trace_(std::move(untuned_trace)), last_flush_(monotonic_seconds()) {}

Status Recorder::flush() {
  last_flush_ = monotonic_seconds();
  if (unwritten_.empty()) return {};
  const auto ids = records_->append_all(unwritten_);
  if (!ids) return std::unexpected(ids.error());
  for (size_t i = 0; i < ids->size(); ++i) {
    if (unwritten_[i].measurement.ok()) rank(unwritten_[i], (*ids)[i]);
  }
  unwritten_.clear();
  return {};
}

Status Recorder::flush_if_due() {
  return monotonic_seconds() - last_flush_ > kFlushSeconds ? flush() : Status();
}

Status Recorder::flush_or_keep_aside() {
  const Status flushed = flush();
  if (flushed) return {};
  size_t stored = 0;
  while (stored < unwritten_.size() && records_->append(unwritten_[stored])) ++stored;
  return std::unexpected(records_->keep_aside(std::span(unwritten_).subspan(stored), flushed.error()));
}

void Recorder::correct_since(size_t first, double pace) {
  for (size_t i = first; i < ranked_.size(); ++i) ranked_[i].seconds /= pace;
}

}  // namespace lathe
