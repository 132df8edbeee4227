// A tensor's logical identity: name, element type, shape and, for small tables such as Winograd's transforms,
// its values. Where it lies in memory is decided later (task/layout.h), so accesses never change with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "expr/type.h"

namespace lathe {

class Expr;

struct TensorNode {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<double> literal;  // row-major values of a table known at compile time; empty for all others
};

// A handle: copies are the same tensor, equality is identity.
class Tensor {
 public:
  Tensor() = default;
  Tensor(std::string name, std::vector<int64_t> shape, DType dtype = DType::f32);
  // A table whose values are known at compile time.
  static Tensor literal(std::string name, std::vector<int64_t> shape, std::vector<double> values);

  const TensorNode* operator->() const { return node_.get(); }
  const TensorNode* get() const { return node_.get(); }
  bool defined() const { return node_ != nullptr; }
  bool operator==(const Tensor& other) const { return node_ == other.node_; }
  // Number of elements of the logical shape.
  int64_t elements() const;
  // One element: `A(i, r + 1)`; any integer expressions.
  template <class... Index>
  Expr operator()(const Index&... index) const;

 private:
  std::shared_ptr<const TensorNode> node_;
};

}  // namespace lathe
