#include "artifact/runtime/prepared_constants.h"

#include <cinttypes>
#include <cstring>

#include "artifact/runtime/call_context.h"

namespace lathe {

bool PreparedConstants::create(const LatheModelTables& tables, const ModelArray<TensorStaging>& inputs,
                               const ContextSlots& contexts) {
  tables_ = &tables;
  inputs_ = &inputs;
  contexts_ = &contexts;
  for (const TensorStaging& input : inputs) has_constants_ |= input.tensor().is_constant != 0;
  return sets_.create(contexts.size()) && wanted_.create(inputs.size());
}

PreparedConstants::~PreparedConstants() {
  for (ConstantSet* set : sets_) destroy(set);
}

bool PreparedConstants::provide(CallContext& call, const void* const* inputs) {
  const ConstantSet* const held = call.constants;
  const bool is_last = held != nullptr && current_.load(std::memory_order_acquire) == held;
  if (is_last && (!has_constants_ || matches(*held, inputs))) return true;
  const LockGuard guard(lock_);
  if (!find_wanted(inputs)) return false;
  ConstantSet* set = find_set();
  if (set == nullptr) {
    if (!check_wanted()) return false;
    set = set_to_fill(call);
    if (set == nullptr) return false;
    if (!fill(*set, call)) {
      drop(*set);
      return false;
    }
  }
  call.constants = set;
  current_.store(set, std::memory_order_release);
  return true;
}

// Null matches whatever the set has.
bool PreparedConstants::matches(const ConstantSet& set, const void* const* inputs) const {
  for (int64_t i = 0; i < inputs_->size(); ++i) {
    const TensorStaging& input = (*inputs_)[i];
    if (input.tensor().is_constant == 0 || inputs[i] == nullptr) continue;
    if (std::memcmp(set.copies[i].data(), inputs[i], static_cast<size_t>(input.bytes())) != 0) return false;
  }
  return true;
}

// Of each constant the bytes that this call asks for.
bool PreparedConstants::find_wanted(const void* const* inputs) {
  const ConstantSet* const current = current_.load(std::memory_order_relaxed);
  for (int64_t i = 0; i < inputs_->size(); ++i) {
    const LatheTensor& tensor = (*inputs_)[i].tensor();
    if (tensor.is_constant == 0) continue;
    wanted_[i] = inputs[i];
    if (inputs[i] == nullptr && current != nullptr) wanted_[i] = current->copies[i].data();
    if (wanted_[i] == nullptr) {
      return model_error("constant input %" PRId64 " ('%s') is null, and no run before has left one", i,
                         tensor.name);
    }
  }
  return true;
}

// Before any set is touched: what is refused leaves the constants of the last run as they are.
bool PreparedConstants::check_wanted() const {
  for (int64_t i = 0; i < inputs_->size(); ++i) {
    const LatheTensor& tensor = (*inputs_)[i].tensor();
    if (tensor.is_constant != 0 && !check_indices(i, tensor, wanted_[i])) return false;
  }
  return true;
}

ConstantSet* PreparedConstants::find_set() const {
  for (ConstantSet* set : sets_) {
    if (set != nullptr && set->is_ready && matches(*set, wanted_.data())) return set;
  }
  return nullptr;
}

bool PreparedConstants::is_held_by_another(const ConstantSet* set, const CallContext& call) const {
  for (const std::atomic<CallContext*>& slot : *contexts_) {
    const CallContext* const other = slot;
    if (other != nullptr && other != &call && other->constants == set) return true;
  }
  return false;
}

// One that no other call holds, the call's own first; a new one where all are held.
ConstantSet* PreparedConstants::set_to_fill(const CallContext& call) {
  if (call.constants != nullptr && !is_held_by_another(call.constants, call)) return call.constants;
  for (ConstantSet*& set : sets_) {
    if (set != nullptr && !is_held_by_another(set, call)) return set;
    if (set == nullptr) return set = make_set();
  }
  __builtin_unreachable();  // there are as many as contexts, and this one holds none alone
}

ConstantSet* PreparedConstants::make_set() const {
  void* const memory = std::malloc(sizeof(ConstantSet));
  if (memory == nullptr) {
    model_error("there is no memory left");
    return nullptr;
  }
  auto* const set = new (memory) ConstantSet;
  const int64_t inputs = inputs_->size();
  if (set->copies.create(inputs) && set->laid_out.create(inputs) && set->places.create(inputs) &&
      set->resident.create(tables_->resident_bytes, "prepared constants"))
    return set;
  destroy(set);
  return nullptr;
}

void PreparedConstants::destroy(ConstantSet* set) {
  if (set == nullptr) return;
  set->~ConstantSet();
  std::free(set);
}

bool PreparedConstants::fill(ConstantSet& set, CallContext& call) {
  set.is_ready = false;
  for (int64_t i = 0; i < inputs_->size(); ++i) {
    const LatheTensor& tensor = (*inputs_)[i].tensor();
    if (tensor.is_constant == 0) continue;
    if (!take(set, i)) return false;
  }
  if (!call.prepare(set)) return false;
  set.is_ready = true;
  return true;
}

bool PreparedConstants::take(ConstantSet& set, int64_t index) {
  const TensorStaging& input = (*inputs_)[index];
  const LatheTensor& tensor = input.tensor();
  AlignedBlock& copy = set.copies[index];
  if (copy.data() == nullptr && !copy.create_copy(input.bytes(), tensor)) return false;
  // One that this set has already may stand for itself.
  std::memmove(copy.data(), wanted_[index], static_cast<size_t>(input.bytes()));
  set.places[index] = copy.data();
  if (tensor.is_row_major != 0) return true;
  AlignedBlock& laid_out = set.laid_out[index];
  if (!input.make_block(laid_out)) return false;
  input.import_to(laid_out.data(), copy.data(), nullptr);  // rarely: not worth the threads
  set.places[index] = laid_out.data();
  return true;
}

// Nobody holds it any more, and it is filled before it is used again.
void PreparedConstants::drop(ConstantSet& set) {
  for (const std::atomic<CallContext*>& slot : *contexts_) {
    CallContext* const context = slot;
    if (context != nullptr && context->constants == &set) context->constants = nullptr;
  }
  if (current_ == &set) current_ = nullptr;
}

void PreparedConstants::drop_unfinished() {
  const LockGuard guard(lock_);
  for (ConstantSet* set : sets_) {
    if (set != nullptr && !set->is_ready) drop(*set);
  }
}

}  // namespace lathe
