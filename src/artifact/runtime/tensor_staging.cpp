#include "artifact/runtime/tensor_staging.h"

#include <cstring>

namespace lathe {
namespace {

struct U16 {
  std::byte bytes[2];
};
struct U32 {
  std::byte bytes[4];
};
struct U64 {
  std::byte bytes[8];
};

using Offsets = std::vector<std::vector<int64_t>>;

// Calls `move(row-major element, inner element)` for each element from `outer` on, in dimensions dim, dim+1
// ...
template <class Element, class Move>
Element* walk(const Offsets& offsets, size_t dim, Element* outer, int64_t inner, const Move& move) {
  if (dim == offsets.size()) {
    move(outer, inner);
    return outer + 1;
  }
  for (const int64_t offset : offsets[dim]) outer = walk(offsets, dim + 1, outer, inner + offset, move);
  return outer;
}

template <class Element>
void scatter(const Offsets& offsets, const void* outer, void* inner) {
  Element* const into = static_cast<Element*>(inner);
  walk(offsets, 0, static_cast<const Element*>(outer), 0,
       [into](const Element* from, int64_t place) { into[place] = *from; });
}

template <class Element>
void gather(const Offsets& offsets, const void* inner, void* outer) {
  const Element* const from = static_cast<const Element*>(inner);
  walk(offsets, 0, static_cast<Element*>(outer), 0,
       [from](Element* to, int64_t place) { *to = from[place]; });
}

void scatter_bytes(const Offsets& offsets, int element_bytes, const void* outer, void* inner) {
  switch (element_bytes) {
    case 1: return scatter<std::byte>(offsets, outer, inner);
    case 2: return scatter<U16>(offsets, outer, inner);
    case 4: return scatter<U32>(offsets, outer, inner);
    default: return scatter<U64>(offsets, outer, inner);
  }
}

void gather_bytes(const Offsets& offsets, int element_bytes, const void* inner, void* outer) {
  switch (element_bytes) {
    case 1: return gather<std::byte>(offsets, inner, outer);
    case 2: return gather<U16>(offsets, inner, outer);
    case 4: return gather<U32>(offsets, inner, outer);
    default: return gather<U64>(offsets, inner, outer);
  }
}

}  // namespace

TensorStaging::TensorStaging(const LatheTensor& tensor) : tensor_(&tensor) {
  for (int32_t d = 0; d < tensor.rank; ++d) elements_ *= tensor.shape[d];
  if (tensor.layout_rank > 0) make_offsets();
}

void TensorStaging::make_offsets() {
  for (int32_t d = 0; d < tensor_->rank; ++d) offsets_.emplace_back(tensor_->shape[d], 0);
  int64_t stride = 1;
  for (int32_t k = tensor_->layout_rank - 1; k >= 0; --k) {
    const LatheLayoutDim& part = tensor_->layout[k];
    std::vector<int64_t>& along = offsets_[static_cast<size_t>(part.dim)];
    for (size_t i = 0; i < along.size(); ++i) {
      const int64_t whole = static_cast<int64_t>(i) / part.divide;
      along[i] += (part.modulo > 0 ? whole % part.modulo : whole) * stride;
    }
    const int64_t extent = tensor_->shape[part.dim];
    const int64_t parts = (extent + part.divide - 1) / part.divide;
    stride *= (part.modulo > 0 ? part.modulo : parts) + part.extra;
  }
}

bool TensorStaging::usable_in_place(const void* data) const {
  return tensor_->layout_rank == 0 && reinterpret_cast<uintptr_t>(data) % kModelAlignment == 0;
}

std::byte* TensorStaging::staged() {
  if (block_.data() == nullptr) {
    block_ = AlignedBlock(tensor_->storage_bytes);
    // Block padding belongs to no element: it stays 0.
    std::memset(block_.data(), 0, static_cast<size_t>(tensor_->storage_bytes));
  }
  return block_.data();
}

void* TensorStaging::import_from(const void* data) {
  if (usable_in_place(data)) return const_cast<void*>(data);
  std::byte* const place = staged();
  if (tensor_->layout_rank > 0) {
    scatter_bytes(offsets_, tensor_->element_bytes, data, place);
  } else {
    std::memcpy(place, data, static_cast<size_t>(bytes()));
  }
  return place;
}

void* TensorStaging::place_for(void* data) { return usable_in_place(data) ? data : staged(); }

void TensorStaging::export_to(void* data) const {
  if (usable_in_place(data)) return;
  if (tensor_->layout_rank > 0) {
    gather_bytes(offsets_, tensor_->element_bytes, block_.data(), data);
  } else {
    std::memcpy(data, block_.data(), static_cast<size_t>(bytes()));
  }
}

}  // namespace lathe
