// What tasks have in common that can hope for each other's throughput.
#pragma once

#include <string>

#include "expr/dag.h"

namespace lathe {

// The formula without its sizes. Factors of indices stay: strides decide which algorithms there are.
std::string kind_of(const Dag& dag);

}  // namespace lathe
