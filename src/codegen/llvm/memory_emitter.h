// Loads, stores and prefetches: contiguous, strided, masked, guarded. One a function.
#pragma once

#include <map>
#include <span>

#include "codegen/llvm/buffer_set.h"
#include "codegen/llvm/index_emitter.h"
#include "loop/loop.h"

namespace lathe::llvm_backend {

class MemoryEmitter {
 public:
  MemoryEmitter(Builder& builder, BufferSet& buffers, IndexEmitter& indices)
      : builder_(builder), buffers_(buffers), indices_(indices) {}

  // Where a buffer starts in this function.
  void set_base(const Tensor& tensor, llvm::Value* pointer) { bases_[tensor.get()] = pointer; }

  // `mask` is the load's own one (null: none), `guard` that of the expression around it.
  llvm::Value* load(const Load& load, Type type, llvm::Value* mask, const Guard& guard);
  void store(const Store& store, Type type, llvm::Value* value, llvm::Value* mask);
  // As many stores as their stride is long, each an element behind the one before: all as one, side by side.
  void store_interleaved(const Store& first, Type type, std::span<llvm::Value* const> values);
  void prefetch(const Prefetch& prefetch);

 private:
  struct Place {
    const BufferUse* buffer;
    Type type;
    llvm::Value* base;
    Affine bytes;    // from the base
    int64_t stride;  // in elements, between lanes
    Guard guard;     // of the index's own loads
  };

  Place place(const Tensor& tensor, const Affine& offset, Type type, int64_t stride, const Guard& guard);
  llvm::Value* pointer(const Place& place, int64_t lane = 0);
  llvm::Align align(const Place& place, int64_t lane = 0) const;
  llvm::Value* plain_load(const Place& place, Type type, int64_t lane, llvm::Value* on);
  llvm::Value* masked_load(const Place& place, llvm::Value* mask);
  llvm::Value* strided_load(const Place& place, llvm::Value* on);
  llvm::Value* even_lanes(const Place& place, llvm::Value* on);
  llvm::Value* register_load(const Place& place, const Guard& guard);
  llvm::Value* lane_pointers(const Place& place);
  llvm::Value* from_memory(llvm::Value* value, Type type);
  void contiguous_store(const Place& place, llvm::Value* value, llvm::Value* mask);
  void write_past_caches(llvm::StoreInst* store, const Place& place);
  void strided_store(const Place& place, llvm::Value* value, llvm::Value* mask);
  template <class Access>
  Access* annotated(Access* access, const Place& place);

  Builder& builder_;
  BufferSet& buffers_;
  IndexEmitter& indices_;
  std::map<const TensorNode*, llvm::Value*> bases_;
};

}  // namespace lathe::llvm_backend
