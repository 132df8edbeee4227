#include "tune/roundings.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "expr/walk.h"

namespace lathe {
namespace {

bool may_round(const Expr& e) {
  if (!is_float(e.type().dtype)) return false;
  if (const Unary* unary = e.as<Unary>()) {
    return unary->op == UnaryOp::exp || unary->op == UnaryOp::log || unary->op == UnaryOp::sqrt ||
           unary->op == UnaryOp::tanh || unary->op == UnaryOp::erf || unary->op == UnaryOp::sin ||
           unary->op == UnaryOp::cos;
  }
  const Binary* binary = e.as<Binary>();
  return binary != nullptr &&
         (binary->op == BinaryOp::add || binary->op == BinaryOp::sub || binary->op == BinaryOp::mul ||
          binary->op == BinaryOp::div || binary->op == BinaryOp::pow);
}

// By how many roundings a sum or product may be off, and each of its terms: it is rounded with all that is
// added up beside it, in an order that only the program knows, in several sums that are added up at last.
double roundings_of_sum(const Compute& compute) {
  constexpr double kSums = 8;
  double terms = 1;
  for (const Axis& axis : compute.axes)
    if (axis.kind == AxisKind::reduce) terms *= static_cast<double>(axis.extent);
  return std::max(1.0, std::sqrt(terms) / kSums);
}

// Gives each operation of a compute signs of its own over the elements.
class Rounder {
 public:
  Rounder(const Dag& dag, const Compute& compute, int number, size_t place)
      : dag_(dag),
        compute_(compute),
        rng_((static_cast<uint64_t>(number / 2) << 20) + place),
        flips_(number % 2 != 0) {}

  Expr body() {
    ExprRewriter rewriter;
    rewriter.rewrite = [this](const Expr& e) {
      const double roundings = roundings_of(e);
      return roundings > 0 ? off(e, roundings * epsilon_of(e.type().dtype)) : Expr();
    };
    Expr rounded = rebuild(compute_.body, rewriter);
    const DType dtype = compute_.output->dtype;
    if (!accumulates(compute_.reduction) || !is_float(dtype)) return rounded;
    return off(rounded, epsilon_of(dtype) * roundings_of_sum(compute_));
  }

 private:
  double roundings_of(const Expr& e) const {
    if (may_round(e)) return 1;
    const Load* read = is_float(e.type().dtype) ? e.as<Load>() : nullptr;
    const Compute* producer = read == nullptr ? nullptr : dag_.producer(read->tensor);
    const bool is_accumulated = producer != nullptr && accumulates(producer->reduction);
    return is_accumulated ? roundings_of_sum(*producer) : 0;
  }

  Expr off(const Expr& value, double by) {
    constexpr int64_t kPeriod = 1024;  // a mask in machine code; odd factors reach every place of it
    Affine place(static_cast<int64_t>(rng_.below(kPeriod)));
    for (const Axis& axis : compute_.axes)
      place = place + Affine(axis.var) * (1 + 2 * static_cast<int64_t>(rng_.below(kPeriod / 2)));
    const Type type = value.type();
    const Expr one_way = literal(type, flips_ ? 1 - by : 1 + by);
    const Expr other_way = literal(type, flips_ ? 1 + by : 1 - by);
    return value * select(Expr(place) % Expr(kPeriod) < Expr(kPeriod / 2), one_way, other_way);
  }

  const Dag& dag_;
  const Compute& compute_;
  Rng rng_;
  bool flips_;
};

}  // namespace

Dag with_roundings(const Dag& dag, int number) {
  Dag rounded = dag;
  for (size_t i = 0; i < dag.computes.size(); ++i)
    rounded.computes[i].body = Rounder(dag, dag.computes[i], number, i).body();
  return rounded;
}

}  // namespace lathe
