#include "lower/buffers/storage_sizes.h"

#include <algorithm>

namespace lathe {

StorageSizes::StorageSizes(const Program& program) {
  const auto add_entry = [this](const Tensor& tensor, const Layout& layout) {
    entries_.push_back({tensor, physical_elements(layout, tensor->shape), false});
  };
  for (const Argument& argument : program.arguments) add_entry(argument.tensor, argument.layout);
  for (const Prepared& prepared : program.prepared) add_entry(prepared.tensor, prepared.layout);
}

void StorageSizes::add(const Alloc& alloc) {
  const int64_t elements = physical_elements(alloc.layout, alloc.tensor->shape);
  entries_.push_back({alloc.tensor, elements, alloc.scope == Scope::registers});
}

const StorageSizes::Entry* StorageSizes::find(const Tensor& tensor) const {
  const auto entry = std::ranges::find(entries_, tensor, &Entry::tensor);
  return entry == entries_.end() ? nullptr : &*entry;
}

bool StorageSizes::in_registers(const Tensor& tensor) const {
  const Entry* entry = find(tensor);
  return entry != nullptr && entry->in_registers;
}

bool StorageSizes::holds(const Tensor& tensor, const Affine& first, const Affine& last,
                         const Known& known) const {
  const Entry* entry = find(tensor);
  const int64_t elements = entry != nullptr ? entry->elements : tensor.elements();
  return known.at_most(last, elements - 1) && known.at_most(first * -1, 0);
}

}  // namespace lathe
