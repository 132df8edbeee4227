// How the outer loops of a block are shared out among the cores.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "space/rules/decider.h"

namespace lathe {

// Loops by their names, with their extents, outermost first.
using OuterLoops = std::vector<std::pair<std::string, int64_t>>;
std::vector<std::string> names_of(const OuterLoops& loops);

// Leading loops that become one, which is shared out.
struct SharedLoops {
  std::vector<std::string> shared = {};  // empty: one core does it all
  std::vector<std::string> names;        // of all loops afterwards
};
// As many as give work to every core.
SharedLoops share_loops(const Analysis& analysis, const OuterLoops& loops);
// The same for a stage all of whose work is in vectors, but where one core is done before others have been
// told of it the loops stay as they are.
SharedLoops share_loops_if_long(const Analysis& analysis, const Compute& compute, const OuterLoops& loops);
void write_shared(Writer& writer, const std::string& block, const SharedLoops& loops);

}  // namespace lathe
