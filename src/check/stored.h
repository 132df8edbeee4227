// Numbers as the bytes that a program reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "expr/type.h"
#include "task/layout.h"

namespace lathe {

// Writes row-major values as elements of the type, in the layout. Block padding, which belongs to no element,
// holds NaN where the type has it: a program that lets it into a result is found out.
void write_stored(DType dtype, std::span<const int64_t> shape, std::span<const double> values,
                  const Layout& layout, std::span<std::byte> to);

}  // namespace lathe
