#include "tune/smaller_traces.h"

#include <algorithm>

#include "loop/walk.h"
#include "schedule/apply.h"
#include "space/space.h"
#include "tune/task_records.h"

namespace lathe {
namespace {

constexpr size_t kMostTraces = 3;
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

// Takes a trace where its program keeps fewer bytes than all before it, down to those of the constants.
class Collector {
 public:
  Collector(const Task& task, int64_t bytes) : least_(bytes) {
    // Panels that are padded to whole vectors are a little larger than what they hold.
    const int64_t constants = constant_bytes(task);
    enough_ = constants + constants / 8;
  }

  void offer(const Task& task, const Trace& trace, std::optional<int64_t> record) {
    const Result<Program> program = apply_trace(task, trace);
    if (!program) return;
    const int64_t bytes = weight_bytes(*program);
    if (bytes >= least_) return;
    least_ = bytes;
    traces_.push_back(ChosenTrace{task, trace, record});
  }

  bool is_done() const { return least_ <= enough_; }

  // The first ones, which are the best, and the smallest.
  std::vector<ChosenTrace> take() {
    if (traces_.size() > kMostTraces) traces_.erase(traces_.begin() + (kMostTraces - 1), traces_.end() - 1);
    return std::move(traces_);
  }

 private:
  int64_t least_;
  int64_t enough_ = 0;
  std::vector<ChosenTrace> traces_;
};

Status offer_records(const Task& task, const RecordStore& records, Collector& collector) {
  LATHE_TRY(std::vector<Record> found, records.find(records_of(task)));
  std::erase_if(found, [](const Record& record) { return !record.measurement.ok(); });
  std::ranges::stable_sort(found, {}, [](const Record& record) { return record.measurement.seconds; });
  if (found.size() > kMostRecords) found.resize(kMostRecords);
  LATHE_TRY(const Task recorded, in_recorded_names(task, records));
  for (const Record& record : found) {
    if (collector.is_done()) return {};
    if (const Result<Trace> trace = parse_trace(record.trace)) collector.offer(recorded, *trace, record.id);
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

Result<std::vector<ChosenTrace>> smaller_traces(const Task& task, const RecordStore* records, int64_t bytes) {
  Collector collector(task, bytes);
  if (collector.is_done()) return collector.take();
  if (records != nullptr) LATHE_TRY_STATUS(offer_records(task, *records, collector));
  if (collector.is_done()) return collector.take();
  LATHE_TRY(const Space space, Space::derive(task));
  for (const Point& point : space.preferred_points()) {
    if (collector.is_done()) break;
    if (const Result<Trace> trace = space.trace(point)) collector.offer(task, *trace, std::nullopt);
  }
  return collector.take();
}

}  // namespace lathe
