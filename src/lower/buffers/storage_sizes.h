// How many elements each buffer of a flattened program holds: what may be read without a mask.
#pragma once

#include <vector>

#include "lower/blocks/known.h"

namespace lathe {

class StorageSizes {
 public:
  // The arguments, and what `prepare` fills.
  explicit StorageSizes(const Program& program);
  void add(const Alloc& alloc);

  bool in_registers(const Tensor& tensor) const;
  // Proved: every offset from `first` to `last` lies inside the buffer.
  bool holds(const Tensor& tensor, const Affine& first, const Affine& last, const Known& known) const;

 private:
  struct Entry {
    Tensor tensor;
    int64_t elements;
    bool in_registers;
  };
  const Entry* find(const Tensor& tensor) const;
  std::vector<Entry> entries_;
};

}  // namespace lathe
