// The type of a network tensor and its values as numbers: what shape inference computes with and what the
// reference evaluates. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "expr/type.h"

namespace lathe {

using Shape = std::vector<int64_t>;

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;

  bool operator==(const TensorType&) const = default;
};

// An Error unless every extent is at least 1 and the elements are few enough to count safely (2^40); `label`
// is what the sentence calls the tensor. What follows takes only such shapes.
Status check_shape(const Shape& shape, const std::string& label);
// Number of elements; 1 for a scalar, 0 wherever an extent is 0.
int64_t elements_of(const Shape& shape);
// Storage in bytes, row-major without padding.
int64_t bytes_of(const TensorType& type);
// Whether a result of constants may become a constant itself, given the elements of both: it may not where a
// few elements would be blown up to fill the memory.
bool may_be_folded(int64_t elements, int64_t operand_elements);
// "[1,3,224,224]".
std::string to_string(const Shape& shape);
// "f32[1,3,224,224]".
std::string to_string(const TensorType& type);

// Whether nodes compute such tensors when a network runs: bool, all integers, f32 and f64. f16 and bf16 are
// cast from and to.
bool is_computed_type(DType dtype);

// A tensor's values in double precision, row-major: exact for all types but integers of 64 bits beyond 2^53.
struct Values {
  Shape shape;
  std::vector<double> data;
  DType dtype = DType::f32;
};

}  // namespace lathe
