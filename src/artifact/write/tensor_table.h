// The runtime's table of one tensor (artifact/runtime/model_tables.h), made in memory: for conversions in
// this process. An artifact has the same as C text (emit_tables.cpp). Owned by its object, which stays where
// it is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "artifact/copy_plan.h"
#include "artifact/runtime/model_tables.h"

namespace lathe {

class TensorTable {
 public:
  // Without a name, indices or storage, which conversions do not look at.
  TensorTable(const Layout& layout, std::span<const int64_t> shape, int64_t element_bytes);
  TensorTable(TensorTable&&) noexcept = default;  // moves no entry
  TensorTable& operator=(TensorTable&&) noexcept = default;

  const LatheTensor& tensor() const { return tensor_; }

 private:
  std::vector<std::vector<LatheAxis>> axes_;
  std::vector<LatheCopy> copies_;
  LatheTensor tensor_ = {};
};

}  // namespace lathe
