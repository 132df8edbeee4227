// What one call in flight needs for itself: the memory that kernels work in, staging buffers, and the
// launches with their buffers' addresses. Used by one call at a time.
#pragma once

#include <atomic>
#include <cstring>

#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/runtime/prepared_constants.h"
#include "artifact/runtime/tensor_staging.h"
#include "runtime/thread_pool.h"

namespace lathe {

// What all calls of a model share, constant while it is open.
struct SharedModel {
  const LatheModelTables* tables = nullptr;
  const MappedWeights* weights = nullptr;
  ModelArray<TensorStaging> inputs;
  ModelArray<TensorStaging> outputs;
  const LatheParallel* pool = nullptr;  // null: all calls stay on their own threads
};

class CallContext {
 public:
  // `shared` must outlive the object.
  bool create(const SharedModel& shared);

  // Where kernels find and put the caller's tensors, constants apart. A model_error where one is missing, or
  // lies where another output does.
  bool place(const void* const* inputs, void* const* outputs) {
    if (!is_placed_ || !are_those_of_last_run(inputs, outputs)) return place_anew(inputs, outputs);
    for (int64_t i = 0; i < copy_count_; ++i)
      std::memcpy(copies_[i].into, inputs[copies_[i].input], static_cast<size_t>(copies_[i].bytes));
    return inputs_stay_ || read_others(inputs);
  }
  // The prepare entries, which fill the set's resident memory; after `place`.
  bool prepare(const ConstantSet& set);
  // One run of the model on what was placed, with the set that it holds, while a NoWatch or a Stopwatch looks
  // on.
  template <class Watch>
  bool run(void* const* outputs, Watch& watch);

  ConstantSet* constants = nullptr;  // the set that it holds, also between calls
  std::atomic<uint32_t> user{0};     // the fork generation whose thread uses it; 0: nobody

 private:
  // A launch with its buffers' addresses; those of inputs, outputs and resident memory are filled in where
  // they are others than in the last run.
  struct BoundLaunch {
    const LatheLaunch* launch = nullptr;
    LatheKernel entry = nullptr;
    void** buffers = nullptr;
    const LatheParallel* pool = nullptr;  // null: it stays on the calling thread
    LatheParallel parallel = {};
  };
  struct Launches {
    ModelArray<BoundLaunch> list;
    ModelArray<void*> buffers;
  };
  // A pointer that moves with the steps of a loop, and the places in launches where it stands.
  struct BoundPointer {
    std::byte* value = nullptr;
    int64_t first_use = 0;  // of pointer_uses_
    int64_t use_count = 0;
  };

  bool bind(Launches& launches, const LatheLaunch* list, int32_t count);
  // A caller that comes again with the same tensors, as most do, need not have them placed again.
  bool are_those_of_last_run(const void* const* inputs, void* const* outputs) const {
    for (int64_t i = 0; i < last_inputs_.size(); ++i) {
      if (last_inputs_[i] != nullptr && last_inputs_[i] != inputs[i]) return false;
    }
    for (int64_t i = 0; i < last_outputs_.size(); ++i) {
      if (last_outputs_[i] != outputs[i]) return false;
    }
    return true;
  }
  bool place_anew(const void* const* inputs, void* const* outputs);
  bool is_plain_copy(int64_t input) const;
  bool read_others(const void* const* inputs);
  bool read_input(int64_t index, const void* data);
  void bind_places(const Launches& launches, const ConstantSet& set) const;
  bool bind_pointers();
  template <class Watch>
  bool launch(const BoundLaunch& bound, Watch& watch);
  // Those from the `first` to before the `last`, in which the loops from `loop` on stand.
  template <class Watch>
  bool launch_range(const Launches& launches, int32_t first, int32_t last, int32_t loop, Watch& watch);
  template <class Watch>
  bool run_loop(int32_t number, Watch& watch);
  void set_pointers(int32_t first, int32_t count, int64_t step);
  std::byte* place_now(const LatheBinding& binding) const;
  void* fixed_place(const LatheBinding& binding) const;
  bool place_output(int64_t index, const void* const* inputs, void* const* outputs);
  bool overlaps_an_input(int64_t index, const void* data, const void* const* inputs) const;

  const SharedModel* shared_ = nullptr;
  AlignedBlock arena_;
  AlignedBlock workspace_;
  ModelArray<AlignedBlock> staged_inputs_;  // made when first needed
  ModelArray<AlignedBlock> staged_outputs_;
  ModelArray<const void*> last_inputs_;  // as the caller gave them; null for constants
  ModelArray<void*> last_outputs_;
  ModelArray<void*> input_places_;  // where kernels find them; null for constants
  ModelArray<void*> output_places_;
  bool is_placed_ = false;  // all of the above, for the tensors of the last run
  // The inputs that are copied for their address alone, a few bytes each: what they are in the next run is
  // told at once.
  struct PlainCopy {
    void* into = nullptr;
    int64_t input = 0;
    int64_t bytes = 0;
  };
  ModelArray<PlainCopy> copies_;
  int64_t copy_count_ = 0;
  // Whether all others are the caller's own memory, and inputs may be used again whatever they hold.
  bool inputs_stay_ = false;
  bool outputs_stay_ = false;
  // Whose addresses the launches have, beside those of what was placed; null: they are still to be bound.
  const ConstantSet* bound_set_ = nullptr;
  Launches prepares_;
  Launches launches_;
  ModelArray<BoundPointer> pointers_;
  ModelArray<void**> pointer_uses_;
};

// Whether kernels find places of others by what it holds.
inline bool holds_indices(const LatheTensor& tensor) { return tensor.least_index <= tensor.most_index; }
bool check_each_index(int64_t index, const LatheTensor& tensor, const void* data);
// An integer input holds nothing that would lead a kernel outside of what it indexes, or a model_error.
inline bool check_indices(int64_t index, const LatheTensor& tensor, const void* data) {
  return !holds_indices(tensor) || check_each_index(index, tensor, data);
}

}  // namespace lathe
