#include "graph/operators/cumsum.h"

#include <fmt/format.h>

#include "expr/integers.h"
#include "graph/onnx/node.h"
#include "ops/axes.h"

namespace lathe {
namespace {

// Places that a sum under a condition runs over: longer axes are cut into blocks of as many.
constexpr int64_t kBlock = 8;

// Whether place `other` counts at `place`.
Expr counts(const CumSumOp& op, const Affine& other, const Affine& place) {
  const Expr a = op.reverse ? Expr(place) : Expr(other);
  const Expr b = op.reverse ? Expr(other) : Expr(place);
  return op.exclusive ? a < b : a <= b;
}

// What a place that does not count leaves as it is.
double neutral(const CumSumOp& op) { return op.multiplies ? 1 : 0; }

ReduceExpr combined(const CumSumOp& op, const Axis& over, const Expr& term) {
  return op.multiplies ? product_over({over}, term) : sum({over}, term);
}

// element(place) along the axis, neutral from `extent` on.
template <class Element>
Expr up_to(const CumSumOp& op, const Affine& place, int64_t extent, int64_t most, Element element) {
  const Expr x = element(place);
  return most < extent ? x : select(Expr(place) < Expr(extent), x, literal(x.type(), neutral(op)));
}

Tensor scan(const CumSumOp& op, DagBuilder& builder, const Tensor& x) {
  const int64_t extent = x->shape[op.axis];
  const std::vector<Axis> axes = axes_of(x);
  const auto element = [&](const Affine& place) {
    std::vector<Affine> index = indices(axes);
    index[op.axis] = place;
    return load(x, index);
  };
  const Affine at(axes[op.axis].var);
  const auto name = [&](const char* what) { return builder.fresh_name(what); };
  const auto sum_of = [&](const Axis& over, const Expr& condition, const Expr& term) {
    return combined(op, over, select(condition, term, literal(term.type(), neutral(op))));
  };
  if (extent <= 2 * kBlock) {
    const Axis other = reduce("r", extent);
    return builder.compute(name("running"), axes,
                           sum_of(other, counts(op, other.var, at), element(other.var)));
  }
  // What whole blocks come to, what runs up to each block, and what runs inside one.
  const int64_t blocks = (extent + kBlock - 1) / kBlock;
  const Axis place = reduce("r", kBlock);
  std::vector<Axis> block_axes = axes;
  block_axes[op.axis] = spatial("b", blocks);
  const Affine block(block_axes[op.axis].var);
  const auto block_element = [&](const Affine& at_place) {
    std::vector<Affine> index = indices(block_axes);
    index[op.axis] = at_place;
    return load(x, index);
  };
  const int64_t most = blocks * kBlock - 1;
  const Tensor totals = builder.compute(
      name("totals"), block_axes,
      combined(op, place, up_to(op, block * kBlock + Affine(place.var), extent, most, block_element)));
  const Tensor before = scan({op.axis, true, op.reverse, op.multiplies}, builder, totals);
  const Affine inside = floor_div(at, kBlock) * kBlock + Affine(place.var);
  const Tensor within = builder.compute(name("inside"), axes,
                                        sum_of(place, counts(op, Affine(place.var), modulo(at, kBlock)),
                                               up_to(op, inside, extent, most, element)));
  std::vector<Affine> index = indices(axes);
  index[op.axis] = floor_div(at, kBlock);
  const Expr first = load(before, index), second = load(within, indices(axes));
  return builder.compute(name("running"), axes, op.multiplies ? first * second : first + second);
}

// What the elements up to a place come to: of integers in 64 bits, which wrap around.
class Running {
 public:
  Running(const CumSumOp& op, DType dtype)
      : multiplies_(op.multiplies), dtype_(dtype), real_(neutral(op)), whole_(op.multiplies ? 1 : 0) {}
  void take(double x) {
    if (is_float(dtype_)) {
      real_ = multiplies_ ? real_ * x : real_ + x;
    } else {
      const auto element = static_cast<uint64_t>(static_cast<int64_t>(x));
      whole_ = multiplies_ ? whole_ * element : whole_ + element;
    }
  }
  double value() const {
    return is_float(dtype_) ? real_ : static_cast<double>(wrap_to(dtype_, static_cast<int64_t>(whole_)));
  }

 private:
  bool multiplies_;
  DType dtype_;
  double real_;
  uint64_t whole_;
};

}  // namespace

const char* CumSumOp::name() const { return multiplies ? "CumProd" : "CumSum"; }

std::string attributes_of(const CumSumOp& op) {
  return fmt::format("axis {}{}{}", op.axis, op.exclusive ? ", exclusive" : "",
                     op.reverse ? ", reverse" : "");
}

Result<TensorType> infer(const CumSumOp& op, std::span<const TensorType> inputs) {
  const DType dtype = inputs[0].dtype;
  if (!is_integer(dtype) || bytes_of(dtype) < 4) LATHE_TRY_STATUS(require_reals(inputs));
  if (op.axis < inputs[0].shape.size()) return inputs[0];
  return fail(ErrorKind::invalid_argument, fmt::format("{} has no axis {}", to_string(inputs[0]), op.axis));
}

Values evaluate(const CumSumOp& op, std::span<const Values> inputs) {
  const Shape& shape = inputs[0].shape;
  const int64_t extent = shape[op.axis];
  const int64_t stride =
      elements_of(Shape(shape.begin() + static_cast<std::ptrdiff_t>(op.axis) + 1, shape.end()));
  Values result = inputs[0];
  for (int64_t i = 0; i < elements_of(shape); ++i) {
    if (i / stride % extent != 0) continue;
    Running running(op, inputs[0].dtype);
    for (int64_t step = 0; step < extent; ++step) {
      const auto place = static_cast<size_t>(i + (op.reverse ? extent - 1 - step : step) * stride);
      const double before = running.value();
      running.take(inputs[0].data[place]);
      result.data[place] = op.exclusive ? before : running.value();
    }
  }
  return result;
}

Tensor lower(const CumSumOp& op, DagBuilder& builder, std::span<const Tensor> operands) {
  return scan(op, builder, operands[0]);
}

Result<CumSumOp> import_cumprod(OnnxNode& node) {
  LATHE_TRY(CumSumOp op, import_cumsum(node));
  op.multiplies = true;
  return op;
}

Result<CumSumOp> import_cumsum(OnnxNode& node) {
  LATHE_TRY(const Shape axis, node.constant_integers(1));
  if (axis.size() != 1)
    return fail(ErrorKind::invalid_argument, fmt::format("its axis has {} values, not one", axis.size()));
  CumSumOp op;
  LATHE_TRY(op.axis, axis_of(axis[0], node.shape(0).size()));
  op.exclusive = node.integer("exclusive", 0) != 0;
  op.reverse = node.integer("reverse", 0) != 0;
  return op;
}

}  // namespace lathe
