// How a case is brought to oneDNN: one primitive, and the layout in which it wants each tensor.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <vector>

#include "bench/peers/plugin.h"

static_assert(DNNL_VERSION_MAJOR == 2,
              "the plug-in is written for oneDNN 2, whose primitives have descriptors");

namespace lathe::peers {

using Dims = dnnl::memory::dims;

// A tensor that a primitive reads.
struct Operand {
  int argument = 0;
  dnnl::memory::desc chosen = {};      // by the library; before it was asked: any
  dnnl::memory::desc given = {};       // of `values`
  std::span<const float> values = {};  // not owned
};

struct Plan {
  dnnl::primitive primitive = {};
  dnnl::memory::desc output = {};  // the layout that the library chose
  Dims output_shape = {};
  std::vector<Operand> operands = {};
  std::vector<float> scaled_weights = {};  // those of a fused convolution; an operand's values
};

int64_t elements_of(const Dims& shape);
dnnl::memory::desc any_layout(const Dims& shape);
dnnl::memory::desc row_major_layout(const Dims& shape);
// An input of the case, row-major, its layout in the primitive open.
Operand operand_of(int argument, const Request& request, size_t place, const Dims& shape);

}  // namespace lathe::peers
