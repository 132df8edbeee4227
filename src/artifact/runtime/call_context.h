// What one call in flight needs for itself: the memory that kernels work in, staging buffers, and the
// launches with their buffers' addresses. Used by one call at a time.
#pragma once

#include <atomic>

#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/runtime/prepared_constants.h"
#include "artifact/runtime/tensor_staging.h"
#include "runtime/thread_pool.h"

namespace lathe {

// What all calls of a model share, constant while it is open.
struct SharedModel {
  const LatheModelTables* tables = nullptr;
  MappedWeights weights;
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
    return (stays_in_place_ && is_in_place(inputs, outputs)) || place_anew(inputs, outputs);
  }
  // The prepare entries, which fill the set's resident memory; after `place`.
  bool prepare(const ConstantSet& set);
  // One run of the model on what was placed, with the set that it holds.
  bool run(void* const* outputs);

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

  bool bind(Launches& launches, const LatheLaunch* list, int32_t count);
  // A caller that comes again with the same tensors, as most do, need not have them looked at again.
  bool is_in_place(const void* const* inputs, void* const* outputs) const {
    for (int64_t i = 0; i < input_places_.size(); ++i) {
      if (input_places_[i] != nullptr && input_places_[i] != inputs[i]) return false;
    }
    for (int64_t i = 0; i < output_places_.size(); ++i) {
      if (output_places_[i] != outputs[i]) return false;
    }
    return true;
  }
  bool place_anew(const void* const* inputs, void* const* outputs);
  void bind_places(const Launches& launches, const ConstantSet& set) const;
  bool launch_all(const Launches& launches);
  void* fixed_place(const LatheBinding& binding) const;
  bool place_output(int64_t index, const void* const* inputs, void* const* outputs);
  bool overlaps_an_input(int64_t index, const void* data, const void* const* inputs) const;

  const SharedModel* shared_ = nullptr;
  AlignedBlock arena_;
  AlignedBlock workspace_;
  ModelArray<AlignedBlock> staged_inputs_;  // made when first needed
  ModelArray<AlignedBlock> staged_outputs_;
  ModelArray<void*> input_places_;  // null for constants
  ModelArray<void*> output_places_;
  // Whether all that was placed last is the caller's own memory, and may be used again as it is.
  bool stays_in_place_ = false;
  // Whose addresses the launches have, beside those of what was placed; null: they are still to be bound.
  const ConstantSet* bound_set_ = nullptr;
  Launches prepares_;
  Launches launches_;
};

// An integer input holds nothing that would lead a kernel outside of what it indexes.
bool check_indices(int64_t index, const LatheTensor& tensor, const void* data);

}  // namespace lathe
