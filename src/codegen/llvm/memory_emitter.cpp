#include "codegen/llvm/memory_emitter.h"

#include <numeric>

#include "base/check.h"
#include "codegen/llvm/types.h"

namespace lathe::llvm_backend {
namespace {

constexpr int64_t kBaseAlignment = 64;  // of every buffer
constexpr unsigned kToSecondLevel = 2;  // llvm.prefetch's locality for the second-level cache

std::vector<int> lane_numbers(int first, int step, int count) {
  std::vector<int> lanes(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) lanes[static_cast<size_t>(i)] = first + i * step;
  return lanes;
}

int64_t element_bytes(Type type) { return bytes_of(type.dtype); }

}  // namespace

template <class Access>
Access* MemoryEmitter::annotated(Access* access, const Place& place) {
  buffers_.annotate(access, place.buffer->tensor);
  return access;
}

MemoryEmitter::Place MemoryEmitter::place(const Tensor& tensor, const Affine& offset, Type type,
                                          int64_t stride, const Guard& guard) {
  const auto base = bases_.find(tensor.get());
  LATHE_CHECK(base != bases_.end());
  return {&buffers_.find(tensor), type, base->second, offset * element_bytes(type), stride, guard};
}

llvm::Value* MemoryEmitter::pointer(const Place& place, int64_t lane) {
  return indices_.pointer(place.base, place.bytes + lane * place.stride * element_bytes(place.type),
                          place.guard);
}

// What the coefficients prove of the address; a mask or guard changes nothing of it.
llvm::Align MemoryEmitter::align(const Place& place, int64_t lane) const {
  int64_t step =
      std::gcd(kBaseAlignment, place.bytes.constant() + lane * place.stride * element_bytes(place.type));
  for (const Affine::Term& term : place.bytes.terms()) step = std::gcd(step, term.coefficient);
  return llvm::Align(static_cast<uint64_t>(step));
}

llvm::Value* MemoryEmitter::from_memory(llvm::Value* value, Type type) {
  if (type.dtype != DType::boolean) return value;
  return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

// `type` from the address of that lane on; where `on` is false (null: never) it reads zeros elsewhere.
llvm::Value* MemoryEmitter::plain_load(const Place& place, Type type, int64_t lane, llvm::Value* on) {
  llvm::Value* address = pointer(place, lane);
  llvm::Align alignment = align(place, lane);
  if (on != nullptr) {
    const int64_t bytes = element_bytes(type) * type.lanes;
    address = builder_.CreateSelect(on, address, buffers_.zeros(static_cast<uint64_t>(bytes)));
  }
  llvm::Type* memory = memory_type(builder_.getContext(), type);
  return from_memory(annotated(builder_.CreateAlignedLoad(memory, address, alignment), place), type);
}

llvm::Value* MemoryEmitter::masked_load(const Place& place, llvm::Value* mask) {
  llvm::Type* memory = memory_type(builder_.getContext(), place.type);
  llvm::Value* zero = llvm::Constant::getNullValue(memory);
  llvm::Value* loaded =
      annotated(builder_.CreateMaskedLoad(memory, pointer(place), align(place), mask, zero), place);
  return from_memory(loaded, place.type);
}

// Every second element: two contiguous loads, the second one short of the last lane's neighbour, which may
// lie outside of the buffer.
llvm::Value* MemoryEmitter::even_lanes(const Place& place, llvm::Value* on) {
  const int lanes = place.type.lanes;
  llvm::Value* low = plain_load(place, place.type, 0, on);
  Place shifted = place;
  shifted.bytes += (lanes - 1) * element_bytes(place.type);
  llvm::Value* high = plain_load(shifted, place.type, 0, on);
  std::vector<int> picks = lane_numbers(0, 2, lanes / 2);
  const std::vector<int> from_high = lane_numbers(lanes + 1, 2, lanes / 2);
  picks.insert(picks.end(), from_high.begin(), from_high.end());
  return builder_.CreateShuffleVector(low, high, picks);
}

llvm::Value* MemoryEmitter::strided_load(const Place& place, llvm::Value* on) {
  const int lanes = place.type.lanes;
  if (place.stride == 2 && lanes % 2 == 0) return even_lanes(place, on);
  llvm::Value* result = llvm::PoisonValue::get(value_type(builder_.getContext(), place.type));
  for (int lane = 0; lane < lanes; ++lane) {
    llvm::Value* element = plain_load(place, {place.type.dtype, 1}, lane, on);
    result = builder_.CreateInsertElement(result, element, static_cast<uint64_t>(lane));
  }
  return result;
}

llvm::Value* MemoryEmitter::lane_pointers(const Place& place) {
  const auto lanes = static_cast<unsigned>(place.type.lanes);
  std::vector<llvm::Constant*> offsets;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    offsets.push_back(
        builder_.getInt64(static_cast<uint64_t>(lane * place.stride * element_bytes(place.type))));
  }
  return builder_.CreateGEP(builder_.getInt8Ty(), pointer(place), llvm::ConstantVector::get(offsets));
}

// Always readable, and never through a mask or a changed address: LLVM must be able to turn it into a value.
llvm::Value* MemoryEmitter::register_load(const Place& place, const Guard& guard) {
  llvm::Value* value = place.type.lanes == 1 || place.stride == 1 ? plain_load(place, place.type, 0, nullptr)
                                                                  : strided_load(place, nullptr);
  llvm::Value* zero = llvm::Constant::getNullValue(value->getType());
  if (guard.all != nullptr) value = builder_.CreateSelect(guard.all, value, zero);
  if (guard.lanes != nullptr) value = builder_.CreateSelect(guard.lanes, value, zero);
  return value;
}

llvm::Value* MemoryEmitter::load(const Load& load, Type type, llvm::Value* mask, const Guard& guard) {
  const Place where = place(load.tensor, load.index[0], type, load.stride, guard);
  const Guard combined = mask == nullptr ? guard : refine(builder_, guard, mask);
  if (where.buffer->storage == Storage::registers) return register_load(where, combined);
  if (type.lanes == 1) return plain_load(where, type, 0, any_lane(builder_, combined));
  const auto lanes = static_cast<unsigned>(type.lanes);
  if (combined.lanes == nullptr) {
    return load.stride == 1 ? plain_load(where, type, 0, combined.all) : strided_load(where, combined.all);
  }
  llvm::Value* on = lane_mask(builder_, combined, lanes);
  if (load.stride == 1) return masked_load(where, on);
  llvm::Type* memory = memory_type(builder_.getContext(), type);
  llvm::Value* zero = llvm::Constant::getNullValue(memory);
  const llvm::Align alignment(static_cast<uint64_t>(element_bytes(type)));
  llvm::Value* gathered =
      annotated(builder_.CreateMaskedGather(memory, lane_pointers(where), alignment, on, zero), where);
  return from_memory(gathered, type);
}

void MemoryEmitter::contiguous_store(const Place& place, llvm::Value* value, llvm::Value* mask) {
  if (mask != nullptr && place.buffer->storage == Storage::registers) {
    llvm::Value* old =
        annotated(builder_.CreateAlignedLoad(value->getType(), pointer(place), align(place)), place);
    value = builder_.CreateSelect(mask, value, old);
    mask = nullptr;
  }
  if (mask == nullptr) {
    llvm::StoreInst* store = builder_.CreateAlignedStore(value, pointer(place), align(place));
    annotated(store, place);
    if (place.buffer->streams) write_past_caches(store, place);
  } else {
    annotated(builder_.CreateMaskedStore(value, pointer(place), align(place), mask), place);
  }
}

// Such a store must be aligned; one that is not, or a part of a vector, goes the usual way.
void MemoryEmitter::write_past_caches(llvm::StoreInst* store, const Place& place) {
  const int64_t bytes = place.type.lanes * element_bytes(place.type);
  constexpr int64_t kLeast = 16;
  if (bytes < kLeast || store->getAlign().value() < static_cast<uint64_t>(bytes)) return;
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(builder_.getContext(), one));
}

void MemoryEmitter::strided_store(const Place& place, llvm::Value* value, llvm::Value* mask) {
  if (mask != nullptr) {
    const llvm::Align alignment(static_cast<uint64_t>(element_bytes(place.type)));
    annotated(builder_.CreateMaskedScatter(value, lane_pointers(place), alignment, mask), place);
    return;
  }
  for (int lane = 0; lane < place.type.lanes; ++lane) {
    llvm::Value* element = builder_.CreateExtractElement(value, static_cast<uint64_t>(lane));
    annotated(builder_.CreateAlignedStore(element, pointer(place, lane), align(place, lane)), place);
  }
}

void MemoryEmitter::store(const Store& store, Type type, llvm::Value* value, llvm::Value* mask) {
  const Place where = place(store.tensor, store.index[0], type, store.stride, {});
  llvm::Type* memory = memory_type(builder_.getContext(), type);
  if (type.dtype == DType::boolean) value = builder_.CreateZExt(value, memory);
  if (type.lanes == 1 || store.stride == 1) return contiguous_store(where, value, mask);
  strided_store(where, value, mask);
}

void MemoryEmitter::store_interleaved(const Store& first, Type type, std::span<llvm::Value* const> values) {
  const int parts = static_cast<int>(values.size());
  std::vector<int> order;
  for (int lane = 0; lane < type.lanes; ++lane) {
    for (int part = 0; part < parts; ++part) order.push_back(part * type.lanes + lane);
  }
  // Two at a time, until all are one behind the other.
  std::vector<llvm::Value*> joined(values.begin(), values.end());
  for (int lanes = type.lanes; joined.size() > 1; lanes *= 2) {
    std::vector<llvm::Value*> pairs;
    for (size_t i = 0; i < joined.size(); i += 2)
      pairs.push_back(builder_.CreateShuffleVector(joined[i], joined[i + 1], lane_numbers(0, 1, 2 * lanes)));
    joined = std::move(pairs);
  }
  const Type wide{type.dtype, type.lanes * parts};
  const Place where = place(first.tensor, first.index[0], wide, 1, {});
  contiguous_store(where, builder_.CreateShuffleVector(joined[0], order), nullptr);
}

void MemoryEmitter::prefetch(const Prefetch& prefetch) {
  const Place where = place(prefetch.tensor, prefetch.index[0], {prefetch.tensor->dtype, 1}, 0, {});
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
      {pointer(where), builder_.getInt32(0), builder_.getInt32(kToSecondLevel), builder_.getInt32(1)});
}

}  // namespace lathe::llvm_backend
