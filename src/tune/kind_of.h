// What tasks have in common that can hope for each other's throughput, and for each other's programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/dag.h"

namespace lathe {

// The formula without its sizes. Factors of indices stay: strides decide which algorithms there are.
std::string kind_of(const Dag& dag);
// The same of a Dag in its printed form.
std::string kind_of(std::string_view dag);
// What a kind leaves out of that form, in its order: as many sizes of two tasks of one kind.
std::vector<double> sizes_of(std::string_view dag);

}  // namespace lathe
