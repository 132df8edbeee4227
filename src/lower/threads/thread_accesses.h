// Which thread touches which element: what `distribute_registers` packs by and `insert_barriers` waits for.
#pragma once

#include <optional>
#include <vector>

#include "loop/loop.h"
#include "lower/blocks/known.h"

namespace lathe {

// One access inside a nest of threads, or outside of all (`threads` is null).
struct ThreadAccess {
  Tensor tensor;
  std::vector<Affine> index;
  bool is_write = false;
  const For* threads = nullptr;
  Ranges ranges;  // of the variables there
};

// Those of `stmt`, in order; `known` of what is around it.
std::vector<ThreadAccess> accesses_of(const Stmt& stmt, const Known& known);

// One dimension of an index: the share that the thread decides, over `any` in the thread's place, and the
// rest.
struct ThreadParts {
  Affine by_thread;
  Affine within;
};

// Nothing where a division or an indirect index mixes the thread with something else.
std::optional<ThreadParts> parts_of(const Affine& index, const Var& thread, const Var& any);

// Proved: no element is touched by two different threads. All accesses are of one tensor, inside of threads.
bool have_one_owner(const std::vector<const ThreadAccess*>& accesses);

}  // namespace lathe
