#include "artifact/runtime/call_context.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "artifact/runtime/run_watch.h"
#include "runtime/fork_generation.h"

namespace lathe {
namespace {

template <class Integer>
int64_t value_at(const std::byte* place) {
  Integer value = 0;
  std::memcpy(&value, place, sizeof value);
  return value;
}

// A bool, 0 or 1, has one byte.
int64_t integer_at(const std::byte* place, const LatheTensor& tensor) {
  switch (tensor.element_bytes) {
    case 1: return tensor.is_unsigned != 0 ? value_at<uint8_t>(place) : value_at<int8_t>(place);
    case 2: return tensor.is_unsigned != 0 ? value_at<uint16_t>(place) : value_at<int16_t>(place);
    case 4: return tensor.is_unsigned != 0 ? value_at<uint32_t>(place) : value_at<int32_t>(place);
    default: return value_at<int64_t>(place);
  }
}

}  // namespace

// A kernel would read wherever an index beyond them leads, or compute what the model does not.
bool check_each_index(int64_t index, const LatheTensor& tensor, const void* data) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.shape[d];
  for (int64_t i = 0; i < count; ++i) {
    const int64_t value = integer_at(static_cast<const std::byte*>(data) + i * tensor.element_bytes, tensor);
    if (tensor.least_index <= value && value <= tensor.most_index) continue;
    return model_error("input %" PRId64 " ('%s') holds %" PRId64 " as element %" PRId64
                       ": the model takes values from %" PRId64 " to %" PRId64 " there",
                       index, tensor.name, value, i, tensor.least_index, tensor.most_index);
  }
  return true;
}

bool CallContext::create(const SharedModel& shared) {
  shared_ = &shared;
  const LatheModelTables& tables = *shared.tables;
  return arena_.create(tables.arena_bytes, "what kernels hand to each other") &&
         workspace_.create(tables.workspace_bytes, "what kernels work in") &&
         staged_inputs_.create(tables.input_count) && staged_outputs_.create(tables.output_count) &&
         copies_.create(tables.input_count) && last_inputs_.create(tables.input_count) &&
         last_outputs_.create(tables.output_count) && input_places_.create(tables.input_count) &&
         output_places_.create(tables.output_count) &&
         bind(prepares_, tables.prepares, tables.prepare_count) &&
         bind(launches_, tables.launches, tables.launch_count) && bind_pointers();
}

bool CallContext::bind(Launches& launches, const LatheLaunch* list, int32_t count) {
  int64_t buffers = 0;
  for (int32_t i = 0; i < count; ++i) buffers += list[i].buffer_count;
  if (!launches.list.create(count) || !launches.buffers.create(buffers)) return false;
  void** next = launches.buffers.data();
  for (int32_t i = 0; i < count; ++i) {
    BoundLaunch& bound = launches.list[i];
    bound.launch = &list[i];
    bound.entry = list[i].entry;
    bound.buffers = next;
    for (int32_t k = 0; k < list[i].buffer_count; ++k) *next++ = fixed_place(list[i].buffers[k]);
    if (shared_->pool != nullptr && list[i].threads > 1) {
      bound.parallel = *shared_->pool;
      bound.parallel.threads = std::min(bound.parallel.threads, list[i].threads);
      bound.pool = &bound.parallel;
    }
  }
  return true;
}

bool CallContext::bind_pointers() {
  if (!pointers_.create(shared_->tables->pointer_count)) return false;
  int64_t uses = 0;
  const auto for_each_use = [&](const auto& visit) {
    for (const BoundLaunch& bound : launches_.list) {
      for (int32_t k = 0; k < bound.launch->buffer_count; ++k) {
        const LatheBinding& binding = bound.launch->buffers[k];
        if (binding.storage == LATHE_POINTER) visit(pointers_[binding.place], &bound.buffers[k]);
      }
    }
  };
  for_each_use([&](BoundPointer& pointer, void**) { ++pointer.use_count; });
  for (BoundPointer& pointer : pointers_) {
    pointer.first_use = uses;
    uses += std::exchange(pointer.use_count, 0);
  }
  if (!pointer_uses_.create(uses)) return false;
  for_each_use([&](BoundPointer& pointer, void** buffer) {
    pointer_uses_[pointer.first_use + pointer.use_count++] = buffer;
  });
  return true;
}

// Each behind those that it may begin with.
void CallContext::set_pointers(int32_t first, int32_t count, int64_t step) {
  for (int32_t i = first; i < first + count; ++i) {
    const LathePointer& moves = shared_->tables->pointers[i];
    const LatheStepPlace& at = step == 0 ? moves.first : step % 2 == 0 ? moves.even : moves.odd;
    BoundPointer& pointer = pointers_[i];
    pointer.value = place_now(at.base) + at.offset + step * at.stride;
    for (int64_t use = 0; use < pointer.use_count; ++use)
      *pointer_uses_[pointer.first_use + use] = pointer.value;
  }
}

std::byte* CallContext::place_now(const LatheBinding& binding) const {
  void* place = nullptr;
  switch (binding.storage) {
    case LATHE_INPUT:
      place = input_places_[binding.place] != nullptr ? input_places_[binding.place]
                                                      : constants->places[binding.place];
      break;
    case LATHE_OUTPUT: place = output_places_[binding.place]; break;
    case LATHE_RESIDENT: place = constants->resident.data() + binding.place; break;
    case LATHE_POINTER: place = pointers_[binding.place].value; break;
    default: place = fixed_place(binding);
  }
  return static_cast<std::byte*>(place);
}

void* CallContext::fixed_place(const LatheBinding& binding) const {
  switch (binding.storage) {
    case LATHE_ARENA: return arena_.data() + binding.place;
    case LATHE_WEIGHTS: return shared_->weights->data() + binding.place;
    default: return nullptr;
  }
}

void CallContext::bind_places(const Launches& launches, const ConstantSet& set) const {
  for (const BoundLaunch& bound : launches.list) {
    for (int32_t k = 0; k < bound.launch->buffer_count; ++k) {
      const LatheBinding& binding = bound.launch->buffers[k];
      if (binding.storage == LATHE_INPUT) {
        void* const place = input_places_[binding.place];
        bound.buffers[k] = place != nullptr ? place : set.places[binding.place];
      }
      if (binding.storage == LATHE_OUTPUT) bound.buffers[k] = output_places_[binding.place];
      if (binding.storage == LATHE_RESIDENT) bound.buffers[k] = set.resident.data() + binding.place;
    }
  }
}

template <class Watch>
bool CallContext::launch(const BoundLaunch& bound, Watch& watch) {
  const int status = watch.launch(bound.launch, bound.pool, [&](const LatheParallel* pool) {
    return bound.entry(bound.buffers, nullptr, workspace_.data(), pool);
  });
  return status == 0 || model_error("a kernel ended with status %d in place of 0", status);
}

template <class Watch>
bool CallContext::launch_range(const Launches& launches, int32_t first, int32_t last, int32_t loop,
                               Watch& watch) {
  const LatheModelTables& tables = *shared_->tables;
  for (int32_t i = first; i < last;) {
    if (loop >= tables.loop_count || tables.loops[loop].first_launch != i) {
      if (!launch(launches.list[i++], watch)) return false;
      continue;
    }
    if (!run_loop(loop, watch)) return false;
    i += tables.loops[loop++].launch_count;
    while (loop < tables.loop_count && tables.loops[loop].first_launch < i) ++loop;  // those in it
  }
  return true;
}

template <class Watch>
bool CallContext::run_loop(int32_t number, Watch& watch) {
  const LatheLoop& loop = shared_->tables->loops[number];
  const auto is_true = [&](const LatheBinding& place) { return *place_now(place) != std::byte{0}; };
  int64_t step = 0;
  bool goes_on = loop.has_condition == 0 || is_true(loop.begins);
  for (; goes_on && step < loop.steps; ++step) {
    set_pointers(loop.first_pointer, loop.pointer_count, step);
    if (!launch_range(launches_, loop.first_launch, loop.first_launch + loop.launch_count, number + 1, watch))
      return false;
    goes_on = loop.has_condition == 0 || is_true(loop.goes_on);
  }
  set_pointers(loop.first_pointer + loop.pointer_count, loop.last_count, step);
  return true;
}

bool CallContext::place_anew(const void* const* inputs, void* const* outputs) {
  is_placed_ = false;  // until all has been looked at
  bound_set_ = nullptr;
  fork_fence();
  copy_count_ = 0;
  inputs_stay_ = outputs_stay_ = true;
  for (int64_t i = 0; i < shared_->inputs.size(); ++i) {
    const TensorStaging& staging = shared_->inputs[i];
    const LatheTensor& tensor = staging.tensor();
    if (tensor.is_constant != 0) continue;
    if (inputs[i] == nullptr) return model_error("input %" PRId64 " ('%s') is null", i, tensor.name);
    last_inputs_[i] = inputs[i];
    input_places_[i] = const_cast<void*>(inputs[i]);
    if (!staging.usable_in_place(inputs[i])) {
      if (!staging.make_block(staged_inputs_[i])) return false;
      input_places_[i] = staged_inputs_[i].data();
    }
    if (!read_input(i, inputs[i])) return false;
    if (is_plain_copy(i)) {
      copies_[copy_count_++] = {input_places_[i], i, staging.bytes()};
    } else {
      inputs_stay_ = inputs_stay_ && input_places_[i] == inputs[i] && !holds_indices(tensor);
    }
  }
  for (int64_t i = 0; i < shared_->outputs.size(); ++i) {
    if (!place_output(i, inputs, outputs)) return false;
    last_outputs_[i] = outputs[i];
    outputs_stay_ = outputs_stay_ && output_places_[i] == outputs[i];
  }
  fork_fence();
  is_placed_ = true;
  return true;
}

bool CallContext::is_plain_copy(int64_t input) const {
  const TensorStaging& staging = shared_->inputs[input];
  return input_places_[input] != last_inputs_[input] && staging.is_small_run() &&
         !holds_indices(staging.tensor());
}

// The values of tensors that lie where they lay, but for plain copies.
bool CallContext::read_others(const void* const* inputs) {
  for (int64_t i = 0; i < shared_->inputs.size(); ++i) {
    if (last_inputs_[i] != nullptr && !is_plain_copy(i) && !read_input(i, inputs[i])) return false;
  }
  return true;
}

bool CallContext::read_input(int64_t index, const void* data) {
  const TensorStaging& staging = shared_->inputs[index];
  if (!check_indices(index, staging.tensor(), data)) return false;
  if (input_places_[index] != data) staging.import_to(staged_inputs_[index].data(), data, shared_->pool);
  return true;
}

// An output that lies where an input is read goes there when all has been read.
bool CallContext::place_output(int64_t index, const void* const* inputs, void* const* outputs) {
  const TensorStaging& staging = shared_->outputs[index];
  const LatheTensor& tensor = staging.tensor();
  void* const data = outputs[index];
  if (data == nullptr) return model_error("output %" PRId64 " ('%s') is null", index, tensor.name);
  for (int64_t i = 0; i < index; ++i) {
    const TensorStaging& other = shared_->outputs[i];
    if (!overlap(data, staging.bytes(), outputs[i], other.bytes())) continue;
    return model_error("output %" PRId64 " ('%s') and output %" PRId64 " ('%s') lie in the same memory", i,
                       other.tensor().name, index, tensor.name);
  }
  output_places_[index] = data;
  if (staging.usable_in_place(data) && !overlaps_an_input(index, data, inputs)) return true;
  if (!staging.make_block(staged_outputs_[index])) return false;
  output_places_[index] = staged_outputs_[index].data();
  return true;
}

// Inputs that are copied have been read by now, and so are constants before anything is written.
bool CallContext::overlaps_an_input(int64_t index, const void* data, const void* const* inputs) const {
  for (int64_t i = 0; i < shared_->inputs.size(); ++i) {
    if (input_places_[i] == nullptr || input_places_[i] != inputs[i]) continue;
    if (overlap(data, shared_->outputs[index].bytes(), inputs[i], shared_->inputs[i].bytes())) return true;
  }
  return false;
}

bool CallContext::prepare(const ConstantSet& set) {
  bind_places(prepares_, set);
  NoWatch nobody;
  for (const BoundLaunch& bound : prepares_.list)
    if (!launch(bound, nobody)) return false;
  return true;
}

template <class Watch>
bool CallContext::run(void* const* outputs, Watch& watch) {
  if (bound_set_ != constants) {
    bound_set_ = nullptr;
    fork_fence();
    bind_places(launches_, *constants);
    fork_fence();
    bound_set_ = constants;
  }
  if (!launch_range(launches_, 0, static_cast<int32_t>(launches_.list.size()), 0, watch)) return false;
  return watch.outputs([&] {
    if (outputs_stay_) return true;
    for (int64_t i = 0; i < shared_->outputs.size(); ++i) {
      if (output_places_[i] == outputs[i]) continue;
      shared_->outputs[i].export_to(outputs[i], staged_outputs_[i].data(), shared_->pool);
    }
    return true;
  });
}

template bool CallContext::run(void* const* outputs, NoWatch& watch);
template bool CallContext::run(void* const* outputs, Stopwatch& watch);

}  // namespace lathe
