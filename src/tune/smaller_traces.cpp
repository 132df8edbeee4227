#include "tune/smaller_traces.h"

#include <algorithm>

#include "loop/walk.h"
#include "schedule/apply.h"
#include "space/all.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

// Each costs a compilation and measurements; so many show where time and bytes are in a good proportion.
constexpr size_t kMostTraces = 6;
// Programs that differ in how they pad panels differ in bytes by some per cent: another that saves less than
// this part of them is hardly another choice, and would keep those between it and the smallest out.
constexpr int64_t kLeastPartSaved = 8;
// Records are looked through from the best on: those behind so many are too slow to matter.
constexpr size_t kMostRecords = 200;

int64_t storage_bytes(const Tensor& tensor, const Layout& layout) {
  return physical_elements(layout, tensor->shape) * bytes_of(tensor->dtype);
}

int64_t constant_bytes(const Task& task) {
  int64_t bytes = 0;
  for (const Argument& argument : task.arguments) {
    if (argument.is_constant)
      bytes += storage_bytes(argument.tensor, Layout::row_major(argument.tensor->shape.size()));
  }
  return bytes;
}

// Panels that are padded to whole vectors are a little larger than what they hold.
int64_t enough_bytes(const Task& task) {
  const int64_t constants = constant_bytes(task);
  return constants + constants / 8;
}

// Takes a trace where its program keeps clearly fewer bytes than all before it, down to those of the
// constants.
class Collector {
 public:
  Collector(const Task& task, int64_t bytes) : least_(bytes), enough_(enough_bytes(task)) {}

  void offer(const Task& task, const Trace& trace, std::optional<int64_t> record, double cycles) {
    const Result<Program> program = apply_trace(task, trace);
    if (!program) return;
    const int64_t bytes = weight_bytes(*program);
    if (bytes > least_ - least_ / kLeastPartSaved) return;
    least_ = bytes;
    traces_.push_back({{task, trace, record}, bytes, cycles});
  }

  bool is_done() const { return least_ <= enough_; }

  // From the first, which is the best, to the smallest.
  std::vector<SmallerTrace> take() {
    if (traces_.size() <= kMostTraces) return std::move(traces_);
    std::vector<SmallerTrace> spread;
    for (size_t i = 0; i < kMostTraces; ++i)
      spread.push_back(std::move(traces_[i * (traces_.size() - 1) / (kMostTraces - 1)]));
    return spread;
  }

 private:
  int64_t least_;
  int64_t enough_;
  std::vector<SmallerTrace> traces_;
};

Status offer_records(const Task& task, const RecordStore& records, Collector& collector) {
  LATHE_TRY(std::vector<Record> found, records.find(records_of(task)));
  std::erase_if(found, [](const Record& record) { return !record.measurement.ok(); });
  std::ranges::stable_sort(found, {}, [](const Record& record) { return record.measurement.seconds; });
  if (found.size() > kMostRecords) found.resize(kMostRecords);
  LATHE_TRY(const Task recorded, in_recorded_names(task, records));
  for (const Record& record : found) {
    if (collector.is_done()) return {};
    if (const Result<Trace> trace = parse_trace(record.trace))
      collector.offer(recorded, *trace, record.id, 0);
  }
  return {};
}

}  // namespace

bool kernel_reads(const Program& program, const Tensor& tensor) {
  return std::ranges::any_of(blocks_of(program.main), [&](const Block* block) {
    return std::ranges::any_of(loads_of(block->value),
                               [&](const Load* load) { return load->tensor == tensor; });
  });
}

int64_t weight_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const Prepared& prepared : program.prepared) {
    if (kernel_reads(program, prepared.tensor)) bytes += storage_bytes(prepared.tensor, prepared.layout);
  }
  for (const Argument& argument : program.arguments) {
    if (argument.is_constant && kernel_reads(program, argument.tensor))
      bytes += storage_bytes(argument.tensor, argument.layout);
  }
  return bytes;
}

bool keeps_more_than_constants(const Task& task, int64_t bytes) { return bytes > enough_bytes(task); }

Result<SmallerTraces> smaller_traces(const Task& task, const RecordStore* records, int64_t bytes) {
  Collector collector(task, bytes);
  LATHE_TRY(const Space space, derive_space(task));
  const std::vector<Point>& points = space.preferred_points();
  SmallerTraces found;
  if (!points.empty()) found.untuned_cycles = space.sketch_of(points.front()).cycles;
  if (records != nullptr && !collector.is_done()) LATHE_TRY_STATUS(offer_records(task, *records, collector));
  for (const Point& point : points) {
    if (collector.is_done()) break;
    if (const Result<Trace> trace = space.trace(point))
      collector.offer(task, *trace, std::nullopt, space.sketch_of(point).cycles);
  }
  found.traces = collector.take();
  return found;
}

}  // namespace lathe
