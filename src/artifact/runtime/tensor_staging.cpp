#include "artifact/runtime/tensor_staging.h"

#include <algorithm>
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

// Where the elements lie: for the caller row-major, inside at the sum of one offset a dimension.
struct Plan {
  const std::vector<std::vector<int64_t>>& offsets;
  size_t packed;  // the dimension along which neighbours lie side by side inside
};

// So many elements along each of two dimensions are moved at once: one dimension has neighbours side by side
// for the caller, the other one inside, and all cache lines that are touched are used up.
constexpr size_t kBlock = 16;

// Calls `move(row-major place, inner place)` for each element of one plane: dimensions `packed` and last.
template <class Move>
void walk_plane(const Plan& plan, int64_t packed_stride, int64_t outer, int64_t inner, const Move& move) {
  const std::vector<int64_t>& last = plan.offsets.back();
  const bool is_line = plan.packed + 1 == plan.offsets.size();
  const size_t rows = is_line ? 1 : plan.offsets[plan.packed].size();
  for (size_t row = 0; row < rows; row += kBlock) {
    for (size_t column = 0; column < last.size(); column += kBlock) {
      const size_t row_end = std::min(row + kBlock, rows);
      const size_t column_end = std::min(column + kBlock, last.size());
      for (size_t i = column; i < column_end; ++i) {
        for (size_t k = row; k < row_end; ++k) {
          const int64_t along = is_line ? 0 : plan.offsets[plan.packed][k];
          move(outer + static_cast<int64_t>(k) * packed_stride + static_cast<int64_t>(i),
               inner + along + last[i]);
        }
      }
    }
  }
}

// The same for all elements: one plane after another.
template <class Move>
void walk(const Plan& plan, const Move& move) {
  const size_t rank = plan.offsets.size();
  if (rank == 0) return move(0, 0);
  std::vector<int64_t> strides(rank, 1);
  for (size_t d = rank - 1; d-- > 0;)
    strides[d] = strides[d + 1] * static_cast<int64_t>(plan.offsets[d + 1].size());
  std::vector<size_t> index(rank, 0);
  for (;;) {
    int64_t outer = 0;
    int64_t inner = 0;
    for (size_t d = 0; d + 1 < rank; ++d) {
      if (d == plan.packed) continue;
      outer += static_cast<int64_t>(index[d]) * strides[d];
      inner += plan.offsets[d][index[d]];
    }
    walk_plane(plan, strides[plan.packed], outer, inner, move);
    size_t d = rank - 1;
    while (d-- > 0) {
      if (d == plan.packed) continue;
      if (++index[d] < plan.offsets[d].size()) break;
      index[d] = 0;
    }
    if (d >= rank) return;
  }
}

template <class Element>
void scatter(const Plan& plan, const void* outer, void* inner) {
  const Element* const from = static_cast<const Element*>(outer);
  Element* const into = static_cast<Element*>(inner);
  walk(plan, [=](int64_t place, int64_t inside) { into[inside] = from[place]; });
}

template <class Element>
void gather(const Plan& plan, const void* inner, void* outer) {
  const Element* const from = static_cast<const Element*>(inner);
  Element* const into = static_cast<Element*>(outer);
  walk(plan, [=](int64_t place, int64_t inside) { into[place] = from[inside]; });
}

void scatter_bytes(const Plan& plan, int element_bytes, const void* outer, void* inner) {
  switch (element_bytes) {
    case 1: return scatter<std::byte>(plan, outer, inner);
    case 2: return scatter<U16>(plan, outer, inner);
    case 4: return scatter<U32>(plan, outer, inner);
    default: return scatter<U64>(plan, outer, inner);
  }
}

void gather_bytes(const Plan& plan, int element_bytes, const void* inner, void* outer) {
  switch (element_bytes) {
    case 1: return gather<std::byte>(plan, inner, outer);
    case 2: return gather<U16>(plan, inner, outer);
    case 4: return gather<U32>(plan, inner, outer);
    default: return gather<U64>(plan, inner, outer);
  }
}

}  // namespace

TensorStaging::TensorStaging(const LatheTensor& tensor) : tensor_(&tensor) {
  for (int32_t d = 0; d < tensor.rank; ++d) elements_ *= tensor.shape[d];
  if (tensor.layout_rank > 0) make_offsets();
}

void TensorStaging::make_offsets() {
  for (int32_t d = 0; d < tensor_->rank; ++d) offsets_.emplace_back(tensor_->shape[d], 0);
  packed_ = static_cast<size_t>(std::max(tensor_->rank - 1, 0));
  int64_t stride = 1;
  bool found = false;
  for (int32_t k = tensor_->layout_rank - 1; k >= 0; --k) {
    const LatheLayoutDim& part = tensor_->layout[k];
    std::vector<int64_t>& along = offsets_[static_cast<size_t>(part.dim)];
    for (size_t i = 0; i < along.size(); ++i) {
      const int64_t whole = static_cast<int64_t>(i) / part.divide;
      along[i] += (part.modulo > 0 ? whole % part.modulo : whole) * stride;
    }
    const int64_t extent = tensor_->shape[part.dim];
    const int64_t parts = (extent + part.divide - 1) / part.divide;
    const int64_t steps = part.modulo > 0 ? std::min<int64_t>(part.modulo, parts) : parts;
    if (!found && part.divide == 1 && steps > 1) {
      packed_ = static_cast<size_t>(part.dim);
      found = true;
    }
    stride *= (part.modulo > 0 ? part.modulo : parts) + part.extra;
  }
}

bool TensorStaging::usable_in_place(const void* data) const {
  return tensor_->layout_rank == 0 && reinterpret_cast<uintptr_t>(data) % kModelAlignment == 0;
}

std::byte* TensorStaging::staged() {
  if (block_.data() == nullptr) {
    block_ = AlignedBlock(tensor_->storage_bytes, "a copy of '" + std::string(tensor_->name) + "'");
    // Block padding belongs to no element: it stays 0.
    std::memset(block_.data(), 0, static_cast<size_t>(tensor_->storage_bytes));
  }
  return block_.data();
}

void* TensorStaging::import_from(const void* data) {
  if (usable_in_place(data)) return const_cast<void*>(data);
  std::byte* const place = staged();
  if (tensor_->layout_rank > 0) {
    scatter_bytes({offsets_, packed_}, tensor_->element_bytes, data, place);
  } else {
    std::memcpy(place, data, static_cast<size_t>(bytes()));
  }
  return place;
}

void* TensorStaging::place_for(void* data) { return usable_in_place(data) ? data : staged(); }

void TensorStaging::export_to(void* data) const {
  if (usable_in_place(data)) return;
  if (tensor_->layout_rank > 0) {
    gather_bytes({offsets_, packed_}, tensor_->element_bytes, block_.data(), data);
  } else {
    std::memcpy(data, block_.data(), static_cast<size_t>(bytes()));
  }
}

}  // namespace lathe
