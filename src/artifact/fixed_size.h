// A size that a file fixes and that is to be another one: what of the network follows it, where the file,
// read with one place more, says so, and where it does not.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "network/follow_size.h"

namespace lathe {

// Where a network that was followed to a size contradicts the file, read at that size: a sentence that names
// the node. Shapes that the file spells may differ.
std::optional<std::string> contradiction(const Graph& followed, const Graph& read);

struct FixedReading {
  bool has_one_more = false;                // the network with one place more is to be followed
  UnitPlaces units = UnitPlaces::first;     // by which its single place is followed
  std::optional<std::string> refusal = {};  // why it cannot be another size
};

// The network as the file has it, in which the dimension has `fixed` places in `inputs`, and as it is with
// one more, if it can be read so, with that one's inputs: followed to `size`, 2 at least. A dimension of one
// place may stand in any axis of one place beside its own, as reshapes add them: the network with two tells
// which, unless its reshapes spell the one. Without it all axes must come to the same.
FixedReading read_fixed_size(const Graph& network, std::span<const FreeInput> inputs, const Graph* one_more,
                             std::span<const FreeInput> inputs_of_one_more, int64_t fixed, int64_t size);

}  // namespace lathe
