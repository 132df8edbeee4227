// What the computes of one node make of a free dimension: which axes of the result have its places, and
// whether an element of the result reads others than its own. Pure; asks nothing but the expressions, so that
// it holds for every operator.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "expr/dag.h"
#include "network/free_parts.h"

namespace lathe {

struct DagFollowing {
  FreeParts result;
  // Whether places are combined (a sum, a softmax); all elements of the operands' other axes are its own.
  bool combines = false;
  // Whether results go by the number of the place, or by what stands at a fixed one: "reads place 0 of 'x'".
  // None where places are alike.
  std::optional<std::string> tells_places_apart = {};
  int64_t least_size = 1;  // what the fixed places that are read need
  // Whether these are counted from the end: they are nearer to it than to the first place, at this size.
  bool is_from_end = false;
  // Axes of constants that run along the dimension.
  std::map<const TensorNode*, FreeParts> constants = {};
};

// `parts` are those of the Dag's inputs, which has one compute at least that gives its output. `size` is the
// dimension's, 2 at least; `is_constant` tells inputs that are constants, which may be given parts. An Error
// says what an element of the result reads that is none of its place: "it reads 'x' at another place".
Result<DagFollowing> follow_dag(const Dag& dag, const std::map<const TensorNode*, FreeParts>& parts,
                                const std::map<const TensorNode*, bool>& is_constant, int64_t size);

}  // namespace lathe
