// A model that runs: what stands behind the artifact's C face (model_api.cpp). It is compiled into every
// model.so beside the kernels and needs neither a code generator nor the rest of Lathe, nor the C++ library.
// Any number of threads may run it at once: each call in flight has a context of its own, made when first
// needed, and all share weights, constants and threads. A forked child goes on with what its parent had. What
// the caller does wrong is a model_error.
#pragma once

#include <new>

#include "artifact/runtime/call_context.h"
#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/runtime/prepared_constants.h"
#include "runtime/futex.h"
#include "runtime/process_fence.h"
#include "runtime/thread_pool.h"

namespace lathe {

class RunningModel {
 public:
  RunningModel() = default;
  ~RunningModel();
  RunningModel(const RunningModel&) = delete;
  RunningModel& operator=(const RunningModel&) = delete;

  // Once. `folder` holds weights.bin; null options are all 0. `tables` must outlive the object.
  bool open(const LatheModelTables& tables, const char* folder, const lathe_open_options* options);

  // The same for another plan of a model that is open, with which it shares weights and threads; `first` must
  // outlive the object.
  bool open_plan(const LatheModelTables& tables, RunningModel& first);
  // How many calls may be in flight.
  int64_t calls() const { return contexts_.size(); }

  // Inputs and outputs row-major, in their order. A constant input is compared with what it was in earlier
  // runs, and what was prepared from it is prepared again only where it differs; null stands for "as in the
  // last run", which costs nothing.
  bool run(const void* const* inputs, void* const* outputs);
  // The same, and fills in `times`; a model_error where its size or its number of launches is another one.
  bool run_timed(const void* const* inputs, void* const* outputs, lathe_run_times* times);

 private:
  template <class Watch>
  bool run_watched(const void* const* inputs, void* const* outputs, Watch& watch);
  bool make(const LatheModelTables& tables, const Instructions& instructions, int64_t calls);
  ThreadPool* pool() const { return first_ == nullptr ? pool_ : first_->pool_; }
  void start_pool();
  bool add_context();
  void adopt();
  CallContext* take_context();
  CallContext* free_context();
  CallContext* wait_for_context();
  void give_back(CallContext& context);

  RunningModel* first_ = nullptr;  // whose weights and pool it uses; null: its own
  MappedWeights weights_;
  SharedModel shared_;
  // The pool stays where it is: contexts know its place.
  alignas(ThreadPool) std::byte pool_memory_[sizeof(ThreadPool)];
  ThreadPool* pool_ = nullptr;  // null: every call stays on its own thread
  int threads_ = 1;

  PreparedConstants constants_;
  ContextSlots contexts_;
  std::atomic<int64_t> made_{0};         // contexts, from the first one on
  std::atomic<uint32_t> waiting_{0};     // callers that found no context free
  std::atomic<uint32_t> given_back_{0};  // what they sleep on
  std::atomic<uint32_t> generation_{0};  // whose pool and contexts they are
  bool has_process_fence_ = false;       // in this generation
  ProcessLock lock_;                     // of adopting, and of making contexts
};

}  // namespace lathe
