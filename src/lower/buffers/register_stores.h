// Which vector stores to register buffers may fill more lanes than their conditions let in.
//
// A mask on a register costs a blend, so a condition goes where it can: where all that it keeps out is
// written by no store to the buffer as long as that lives, and so is read by nobody.
//
//   alloc T[32] registers: for t in 2: vector j in 16: if 16*t + j < 19: T[16*t + j] = ..      needs no mask
//   alloc T[22] registers: for t in 2, u in 3: vector j in 4: if 4*u + j < 10: T[10*t + 4*u + j] = ..
//     keeps it: beyond one tile of 10 lies the next
#pragma once

#include <vector>

#include "loop/loop.h"
#include "lower/blocks/known.h"

namespace lathe {

class RegisterStores {
 public:
  // Remembers the stores to a buffer in registers, which are scalar yet. `known`: around its Alloc.
  void add(const Alloc& alloc, const Known& known);
  // Proved: where the conjunct fails, `offset` is one that no store to the buffer writes. A buffer that was
  // not added is one that each lane has for itself.
  bool is_beyond(const Tensor& tensor, const Affine& offset, const Conjunct& conjunct,
                 const Known& known) const;
  // The width of the rows that all stores of the loop's body begin with its first iteration, and all loads of
  // registers along it, where nothing is ever written behind its last one; 0 where that is not so. `known`:
  // inside of the loop.
  int64_t width_of_rows(const For& loop, int64_t extent, const Known& known) const;

 private:
  struct Written {
    Affine position;  // along the innermost dimension
    Known known;
  };
  struct Entry {
    Tensor tensor;
    int64_t width = 1;  // the extent of the innermost dimension
    Known around;
    std::vector<Written> stores;
  };

  std::vector<Entry> entries_;
};

}  // namespace lathe
