// Tensors without elements: what a node gives of them follows from shapes alone, so that none reaches the
// graph's nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace lathe {

// Whether an extent is 0.
bool has_no_elements(const Shape& shape);
// The shape as it may be typed, with 1 where an extent is 0: "3,1,5".
std::string one_for_none(Shape shape);
// Whether an operator of ONNX's own domain is imported for operands without elements too.
bool takes_no_elements(std::string_view type);
// The value of every element of a result that has some, of operands that have none: a reduction's is that of
// no numbers. None where the operator has no such value.
std::optional<double> value_of_none(const GraphOp& op);

}  // namespace lathe
