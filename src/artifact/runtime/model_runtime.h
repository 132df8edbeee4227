// A model that runs: what stands behind the artifact's C face (model_api.cpp). It is compiled into every
// model.so beside the kernels and needs neither LLVM nor the rest of Lathe. A model serves one caller at a
// time; different models are independent. What the caller does wrong is a ModelError.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/runtime/tensor_staging.h"
#include "runtime/thread_pool.h"

namespace lathe {

class RunningModel {
 public:
  // `folder` holds weights.bin. On so many cores at most, 0: as many as the model was compiled for.
  RunningModel(const LatheModelTables& tables, const std::string& folder, int cores);

  // Inputs and outputs row-major, in their order. A constant input is compared with what it was in the last
  // run, and what was prepared from it is prepared again only where it differs; null stands for "as in the
  // last run", which costs nothing.
  void run(const void* const* inputs, void* const* outputs);

 private:
  // A launch with its buffers' addresses; those of inputs and outputs are filled in anew for each run.
  struct BoundLaunch {
    const LatheLaunch* launch;
    std::vector<void*> buffers;
    LatheParallel parallel;
  };

  std::vector<BoundLaunch> bind(const LatheLaunch* launches, int32_t count);
  void* fixed_place(const LatheBinding& binding) const;
  void launch_all(std::vector<BoundLaunch>& launches);
  void take_input(size_t index, const void* data);
  bool take_constant(size_t index, const void* data);

  MappedFile weights_;
  AlignedBlock arena_;
  AlignedBlock resident_;
  AlignedBlock workspace_;
  std::vector<TensorStaging> inputs_;
  std::vector<TensorStaging> outputs_;
  std::vector<AlignedBlock> constants_;  // the bytes that each constant input had; null until it was given
  std::vector<void*> input_places_;
  std::vector<void*> output_places_;
  std::vector<BoundLaunch> prepares_;
  std::vector<BoundLaunch> launches_;
  std::unique_ptr<ThreadPool> pool_;
  bool prepared_ = false;
};

}  // namespace lathe
