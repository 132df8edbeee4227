// What tasks have in common that can hope for each other's throughput, and for each other's programs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// The formula without its sizes. Factors of indices stay: strides decide which algorithms there are.
std::string kind_of(const Dag& dag);
// What a kind leaves out of a Dag's printed form, in its order; nothing where that is of another kind.
std::optional<std::vector<double>> sizes_as_of_kind(std::string_view dag, std::string_view kind);

}  // namespace lathe
