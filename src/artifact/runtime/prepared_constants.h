// What an operator's constant inputs are and what was prepared from them, for any number of calls at once.
// Each call holds one set of constants. Calls with the same constants share a set, and there are never more
// sets than calls have been in flight at once: one caller that changes its constants has a single set, filled
// anew.
#pragma once

#include <atomic>

#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/tensor_staging.h"
#include "runtime/futex.h"

namespace lathe {

class CallContext;

// One set: constant while any call holds it.
struct ConstantSet {
  // False while it is filled, which a fork may cut short.
  std::atomic<bool> is_ready{false};
  ModelArray<AlignedBlock> copies;    // of each input the bytes as the caller gave them; null: no constant
  ModelArray<AlignedBlock> laid_out;  // the same in the kernels' layout, where that is another
  ModelArray<void*> places;           // where kernels find them
  AlignedBlock resident;              // what was prepared
};

using ContextSlots = ModelArray<std::atomic<CallContext*>>;  // null where none was made yet

// Thread-safe. The set that a call holds is its context's `constants`.
class PreparedConstants {
 public:
  PreparedConstants() = default;
  ~PreparedConstants();
  PreparedConstants(const PreparedConstants&) = delete;
  PreparedConstants& operator=(const PreparedConstants&) = delete;

  // All that is passed must outlive the object.
  bool create(const LatheModelTables& tables, const ModelArray<TensorStaging>& inputs,
              const ContextSlots& contexts);

  // Sees to it that the call holds the set of these inputs' constants; null stands for what the constant was
  // in the last run. A model_error where one was never given, leads outside, or cannot be prepared.
  bool provide(CallContext& call, const void* const* inputs);

  // In a forked child, before its first call: drops what was half made.
  void drop_unfinished();

 private:
  bool matches(const ConstantSet& set, const void* const* inputs) const;
  bool find_wanted(const void* const* inputs);
  bool check_wanted() const;
  ConstantSet* find_set() const;
  bool is_held_by_another(const ConstantSet* set, const CallContext& call) const;
  ConstantSet* set_to_fill(const CallContext& call);
  ConstantSet* make_set() const;
  static void destroy(ConstantSet* set);
  bool fill(ConstantSet& set, CallContext& call);
  bool take(ConstantSet& set, int64_t index);
  void drop(ConstantSet& set);

  const LatheModelTables* tables_ = nullptr;
  const ModelArray<TensorStaging>* inputs_ = nullptr;
  const ContextSlots* contexts_ = nullptr;
  bool has_constants_ = false;
  std::atomic<ConstantSet*> current_{nullptr};  // of the last run
  ProcessLock lock_;                            // of all below, and of changes to all above
  ModelArray<ConstantSet*> sets_;               // null where there is none; one for each context
  ModelArray<const void*> wanted_;              // the bytes of each constant that the call asks for
};

}  // namespace lathe
