// Which of the sizes that kernels were made for serve a size that a caller asks for. Constant once made.
#pragma once

#include <cstdint>

#include "artifact/runtime/model_memory.h"
#include "artifact/runtime/model_tables.h"
#include "artifact/runtime/sized_box.h"

namespace lathe {

// Of one dimension.
class SizeChoices {
 public:
  bool create(const LathePlans& plans, const LatheModelTables& largest, int dimension);

  // The part that comes first of what is left of `size` places from `begin` on.
  SizedPart next(int64_t size, int64_t begin) const;

 private:
  bool find_sizes(const LathePlans& plans, const LatheModelTables& largest, int dimension);
  bool weigh();
  int64_t planned_for(int64_t rest) const;

  struct Size {
    int64_t size = 0;
    double seconds = 0;
  };
  int32_t served_by_ = LATHE_EXACT;
  ModelArray<Size> sizes_;  // ascending
  int64_t size_count_ = 0;
  // Of dimensions by parts: for so many places that are left, the size that the cheapest sequence of runs
  // begins with. Beyond what it holds, the largest.
  ModelArray<int32_t> first_;
};

}  // namespace lathe
