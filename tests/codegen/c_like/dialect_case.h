// A C-like language for tests of its printers.
#pragma once

#include <fmt/format.h>

#include "codegen/c_like/dialect.h"

namespace lathe::testing {

inline const c_like::Dialect kTestDialect{
    [](DType dtype) { return to_string(dtype); },
    [](DType dtype) { return dtype == DType::boolean ? "byte" : to_string(dtype); },
    [](DType dtype, double value) { return fmt::format("{}:{}", value, to_string(dtype)); }, "FETCH"};

}  // namespace lathe::testing
