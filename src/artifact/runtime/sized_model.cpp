#include "artifact/runtime/sized_model.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "runtime/fork_generation.h"

namespace lathe {
namespace {

int64_t bytes_of(const LatheTensor& tensor) {
  int64_t bytes = tensor.element_bytes;
  for (int d = 0; d < tensor.rank; ++d) bytes *= tensor.shape[d];
  return bytes;
}

int64_t bytes_of(const LatheTensor& tensor, bool is_output, int index, const lathe_free_sizes& sizes,
                 const SizedPart* parts) {
  int64_t bytes = bytes_of(tensor);
  for (int i = 0; i < sizes.extent_count; ++i) {
    const lathe_free_extent& extent = sizes.extents[i];
    if ((extent.is_output != 0) != is_output || extent.tensor != index) continue;
    const SizedPart& part = parts[extent.dimension];
    bytes = bytes / part.planned * part.size;
  }
  return bytes;
}

}  // namespace

struct SizedModel::Call {
  const void* const* inputs;
  void* const* outputs;
  lathe_run_times* times;
  SizedPart parts[kMostDimensions];
  int64_t counts[kMostDimensions] = {};
  SizedBuffers* buffers = nullptr;
};

bool SizedModel::open(const LatheModelTables& largest, RunningModel& first) {
  largest_ = &largest;
  first_ = &first;
  if (largest.plans == nullptr) return true;
  sizes_ = largest.info.free_sizes;
  const int dimensions = sizes_->dimension_count;
  if (dimensions > kMostDimensions)
    return model_error("the model has %d free sizes, and %d are taken", dimensions, kMostDimensions);
  const LathePlans& plans = *largest.plans;
  if (!choices_.create(dimensions) || !models_.create(plans.plan_count) || !buffers_.create(first.calls()) ||
      !input_bytes_.create(largest.input_count) || !output_bytes_.create(largest.output_count))
    return false;
  for (int d = 0; d < dimensions; ++d)
    if (!choices_[d].create(plans, largest, d)) return false;
  for (int32_t i = 0; i < plans.plan_count; ++i) {
    const LatheModelTables& tables = *plans.plans[i].tables;
    if (&tables != &largest && !models_[i].open_plan(tables, first)) return false;
    for (int k = 0; k < tables.input_count; ++k)
      input_bytes_[k] = std::max(input_bytes_[k], bytes_of(tables.inputs[k]));
    for (int k = 0; k < tables.output_count; ++k)
      output_bytes_[k] = std::max(output_bytes_[k], bytes_of(tables.outputs[k]));
  }
  plans_ = &plans;
  return true;
}

bool SizedModel::check_shape(int input, const int64_t* shape, SizedPart* parts, bool* known) const {
  const lathe_tensor_info& info = largest_->info.inputs[input];
  for (int d = 0; d < info.rank; ++d) {
    const lathe_free_extent* free = nullptr;
    for (int i = 0; sizes_ != nullptr && i < sizes_->extent_count; ++i) {
      const lathe_free_extent& extent = sizes_->extents[i];
      if (extent.is_output == 0 && extent.tensor == input && extent.axis == d) free = &extent;
    }
    if (free == nullptr) {
      if (shape[d] == info.shape[d]) continue;
      return model_error("axis %d of input %d ('%s') has %" PRId64 " places in place of %" PRId64, d, input,
                         info.name, shape[d], info.shape[d]);
    }
    const lathe_dimension& dimension = sizes_->dimensions[free->dimension];
    if (shape[d] < dimension.least || shape[d] > dimension.most)
      return model_error("axis %d of input %d ('%s') has %" PRId64 " places, and '%s' goes from %" PRId64
                         " to %" PRId64,
                         d, input, info.name, shape[d], dimension.name, dimension.least, dimension.most);
    int64_t& size = parts[free->dimension].size;
    if (known[free->dimension] && size != shape[d])
      return model_error("axis %d of input %d ('%s') has %" PRId64 " places, and '%s' is %" PRId64
                         " in an input before it",
                         d, input, info.name, shape[d], dimension.name, size);
    size = shape[d];
    known[free->dimension] = true;
  }
  return true;
}

bool SizedModel::read_sizes(const int64_t* const* shapes, SizedPart* parts) const {
  bool known[kMostDimensions] = {};
  const int dimensions = sizes_ == nullptr ? 0 : sizes_->dimension_count;
  for (int i = 0; shapes != nullptr && i < largest_->info.input_count; ++i)
    if (shapes[i] != nullptr && !check_shape(i, shapes[i], parts, known)) return false;
  for (int d = 0; d < dimensions; ++d) {
    if (!known[d] && shapes != nullptr)
      return model_error("no shape says what '%s' is, from %" PRId64 " to %" PRId64,
                         sizes_->dimensions[d].name, sizes_->dimensions[d].least, sizes_->dimensions[d].most);
    if (!known[d]) parts[d].size = sizes_->dimensions[d].most;
  }
  return true;
}

const LathePlan& SizedModel::plan_of(const SizedPart* parts) const {
  for (int32_t i = 0; i < plans_->plan_count; ++i) {
    const LathePlan& plan = plans_->plans[i];
    bool is_it = true;
    for (int d = 0; d < sizes_->dimension_count; ++d) is_it = is_it && plan.sizes[d] == parts[d].planned;
    if (is_it) return plan;
  }
  return plans_->plans[0];
}

bool SizedModel::output_shapes(const int64_t* const* inputs, int64_t* const* outputs) const {
  if (outputs == nullptr) return model_error("the list of shapes is null");
  SizedPart parts[kMostDimensions];
  if (!read_sizes(inputs, parts)) return false;
  const LatheModelTables* tables = largest_;
  if (!is_empty()) {
    for (int d = 0; d < sizes_->dimension_count; ++d) parts[d] = choices_[d].next(parts[d].size, 0);
    tables = plan_of(parts).tables;
  }
  for (int i = 0; i < tables->output_count; ++i) {
    const int32_t rank = tables->outputs[i].rank;  // a scalar's shape takes no room
    if (outputs[i] == nullptr && rank > 0)
      return model_error("there is no room for the shape of output %d", i);
    std::copy_n(tables->outputs[i].shape, rank, outputs[i]);
  }
  for (int i = 0; sizes_ != nullptr && i < sizes_->extent_count; ++i) {
    const lathe_free_extent& extent = sizes_->extents[i];
    if (extent.is_output != 0)
      outputs[extent.tensor][extent.axis] = extent.outer * parts[extent.dimension].size * extent.inner;
  }
  return true;
}

bool SizedModel::make(SizedBuffers& buffers) const {
  return buffers.read.size() > 0 || buffers.written.size() > 0 ||
         (buffers.inputs.create(input_bytes_.size()) && buffers.outputs.create(output_bytes_.size()) &&
          buffers.read.create(input_bytes_.size()) && buffers.written.create(output_bytes_.size()));
}

// Null where as many calls are in flight as there are buffers for.
SizedBuffers* SizedModel::free_buffers() {
  const uint32_t mine = fork_generation();
  for (SizedBuffers& buffers : buffers_) {
    uint32_t user = buffers.user.load(std::memory_order_relaxed);
    if (user != mine && buffers.user.compare_exchange_strong(user, mine)) return &buffers;
  }
  return nullptr;
}

bool SizedModel::run(const void* const* inputs, const int64_t* const* shapes, void* const* outputs,
                     lathe_run_times* times) {
  Call call = {inputs, outputs, times, {}, {}, nullptr};
  if (outputs == nullptr || (inputs == nullptr && largest_->info.input_count > 0))
    return model_error("the list of inputs or outputs is null");
  if (!read_sizes(shapes, call.parts)) return false;
  if (is_empty()) return first_->run(inputs, outputs);
  if (SizedBuffers* const buffers = free_buffers()) {
    const bool done = run_with(*buffers, call);
    buffers->user.store(0, std::memory_order_release);
    return done;
  }
  SizedBuffers own;
  return run_with(own, call);
}

bool SizedModel::check_tensors(const Call& call) const {
  const lathe_model_info& info = largest_->info;
  for (int i = 0; i < info.input_count; ++i)
    if (call.inputs[i] == nullptr) return model_error("input %d ('%s') is null", i, info.inputs[i].name);
  for (int i = 0; i < info.output_count; ++i)
    if (call.outputs[i] == nullptr) return model_error("output %d ('%s') is null", i, info.outputs[i].name);
  return true;
}

bool SizedModel::has_several_parts(const Call& call) const {
  for (int d = 0; d < sizes_->dimension_count; ++d)
    if (choices_[d].next(call.parts[d].size, 0).count < call.parts[d].size) return true;
  return false;
}

// Where a call takes several runs, what one of them writes may not be what the next one reads: such inputs
// are read beforehand.
bool SizedModel::run_with(SizedBuffers& buffers, Call& call) {
  if (!check_tensors(call) || !make(buffers)) return false;
  call.buffers = &buffers;
  if (!has_several_parts(call)) return run_from(0, call);
  const int inputs = largest_->info.input_count;
  SizedPart largest[kMostDimensions];
  for (int d = 0; d < sizes_->dimension_count; ++d)
    largest[d] = {call.parts[d].size, 0, 0, sizes_->dimensions[d].most};
  ModelArray<AlignedBlock> kept;
  ModelArray<const void*> read;
  if (!kept.create(inputs) || !read.create(inputs)) return false;
  for (int i = 0; i < inputs; ++i) {
    read[i] = call.inputs[i];
    const int64_t bytes = bytes_of(largest_->inputs[i], false, i, *sizes_, largest);
    for (int k = 0; k < largest_->output_count; ++k) {
      const int64_t written = bytes_of(largest_->outputs[k], true, k, *sizes_, largest);
      if (kept[i].data() != nullptr || !overlap(call.inputs[i], bytes, call.outputs[k], written)) continue;
      if (!kept[i].create(bytes, "an input that lies where an output does")) return false;
      std::memcpy(kept[i].data(), call.inputs[i], static_cast<size_t>(bytes));
      read[i] = kept[i].data();
    }
  }
  call.inputs = read.data();
  return run_from(0, call);
}

bool SizedModel::run_from(int dimension, Call& call) {
  if (dimension == sizes_->dimension_count) return run_part(call);
  const int64_t size = call.parts[dimension].size;
  for (int64_t begin = 0; begin < size;) {
    const SizedPart part = choices_[dimension].next(size, begin);
    call.parts[dimension] = part;
    if (!run_from(dimension + 1, call)) return false;
    begin = part.begin + part.count;
  }
  return true;
}

bool SizedModel::place_input(Call& call, const LatheModelTables& tables, int input) const {
  SizedBox box;
  const LatheTensor& tensor = tables.inputs[input];
  if (!box.create(tensor, false, input, *sizes_, call.parts)) return false;
  const auto* const given = static_cast<const std::byte*>(call.inputs[input]);
  call.buffers->read[input] = given + box.offset_bytes();
  if (box.is_in_place()) return true;
  AlignedBlock& block = call.buffers->inputs[input];
  if (block.data() == nullptr && !block.create(input_bytes_[input], "an input at the size of its kernels"))
    return false;
  box.copy_in(block.data(), given);
  call.buffers->read[input] = block.data();
  return true;
}

bool SizedModel::run_part(Call& call) {
  const LathePlan& plan = plan_of(call.parts);
  const LatheModelTables& tables = *plan.tables;
  SizedBuffers& buffers = *call.buffers;
  const int given = largest_->info.input_count;
  for (int i = 0; i < given; ++i)
    if (!place_input(call, tables, i)) return false;
  int counts = 0;
  for (int d = 0; d < sizes_->dimension_count; ++d) {
    if (plans_->served_by[d] != LATHE_BY_COUNT) continue;
    call.counts[d] = call.parts[d].count;
    buffers.read[given + counts++] = &call.counts[d];
  }
  SizedBox box;
  for (int i = 0; i < tables.output_count; ++i) {
    if (!box.create(tables.outputs[i], true, i, *sizes_, call.parts)) return false;
    buffers.written[i] = static_cast<std::byte*>(call.outputs[i]) + box.offset_bytes();
    if (box.is_in_place()) continue;
    AlignedBlock& block = buffers.outputs[i];
    if (block.data() == nullptr && !block.create(output_bytes_[i], "an output at the size of its kernels"))
      return false;
    buffers.written[i] = block.data();
  }
  RunningModel& model = &tables == largest_ ? *first_ : models_[&plan - plans_->plans];
  const bool done = call.times == nullptr
                        ? model.run(buffers.read.data(), buffers.written.data())
                        : model.run_timed(buffers.read.data(), buffers.written.data(), call.times);
  if (!done) return false;
  for (int i = 0; i < tables.output_count; ++i) {
    if (buffers.written[i] != buffers.outputs[i].data()) continue;
    if (!box.create(tables.outputs[i], true, i, *sizes_, call.parts)) return false;
    box.copy_out(static_cast<std::byte*>(call.outputs[i]), buffers.outputs[i].data());
  }
  return true;
}

}  // namespace lathe
