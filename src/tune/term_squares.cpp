#include "tune/term_squares.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "expr/walk.h"

namespace lathe {
namespace {

// The twin of each tensor of floats that a compute gives.
using Twins = std::map<const TensorNode*, Tensor>;

Expr squared(const Expr& value) { return value * value; }

Expr terms_of(const Expr& e, const Twins& twins);

Expr terms_of(const Expr& e, const Binary& binary, const Twins& twins) {
  switch (binary.op) {
    case BinaryOp::add:
    case BinaryOp::sub: return terms_of(binary.a, twins) + terms_of(binary.b, twins);
    case BinaryOp::mul: return terms_of(binary.a, twins) * terms_of(binary.b, twins);
    case BinaryOp::div: return terms_of(binary.a, twins) / squared(binary.b);
    // A bound has no part in what it does not bound.
    case BinaryOp::min:
      return select(binary.a < binary.b, terms_of(binary.a, twins), terms_of(binary.b, twins));
    case BinaryOp::max:
      return select(binary.b < binary.a, terms_of(binary.a, twins), terms_of(binary.b, twins));
    default: return squared(e);
  }
}

// Of a float.
Expr terms_of(const Expr& e, const Twins& twins) {
  if (const Load* read = e.as<Load>()) {
    const auto twin = twins.find(read->tensor.get());
    return twin == twins.end() ? squared(e) : max(load(twin->second, read->index), squared(e));
  }
  if (const Binary* binary = e.as<Binary>()) return terms_of(e, *binary, twins);
  if (const Select* choice = e.as<Select>()) {
    return select(choice->condition, terms_of(choice->if_true, twins), terms_of(choice->if_false, twins));
  }
  if (const Cast* conversion = e.as<Cast>();
      conversion != nullptr && is_float(conversion->operand.type().dtype))
    return cast(e.type(), terms_of(conversion->operand, twins));
  const Unary* unary = e.as<Unary>();
  const bool keeps = unary != nullptr && (unary->op == UnaryOp::negate || unary->op == UnaryOp::abs);
  return keeps ? terms_of(unary->operand, twins) : squared(e);
}

// Of the largest or least of many nothing but itself counts.
bool is_choice(const Compute& compute) {
  return compute.reduction == Reduction::max || compute.reduction == Reduction::min;
}

// The compute's twin, over axes of its own.
Compute twin_of(const Compute& compute, const Twins& twins) {
  Compute twin = compute;
  twin.output = Tensor(compute.output->name + ".terms", compute.output->shape, compute.output->dtype);
  if (is_choice(compute)) {
    twin.axes.resize(compute.spatial_count());
    twin.reduction = Reduction::none;
  }
  Substitution fresh;
  std::vector<Affine> here;
  for (Axis& axis : twin.axes) {
    const Var var(axis.var.name());
    fresh.emplace_back(axis.var, Affine(var));
    here.emplace_back(var);
    axis.var = var;
  }
  twin.body = is_choice(compute) ? squared(load(compute.output, here))
                                 : substitute(terms_of(compute.body, twins), fresh);
  return twin;
}

// Without the computes that neither an output nor what it reads needs.
Dag without_unread(Dag dag) {
  std::set<const TensorNode*> needed;
  for (const Tensor& output : dag.outputs) needed.insert(output.get());
  std::vector<Compute> kept;
  for (Compute& compute : dag.computes | std::views::reverse) {
    if (!needed.contains(compute.output.get())) continue;
    for (const Load* load : loads_of(compute.body)) needed.insert(load->tensor.get());
    kept.push_back(std::move(compute));
  }
  std::ranges::reverse(kept);
  dag.computes = std::move(kept);
  return dag;
}

}  // namespace

Dag term_squares(const Dag& dag) {
  Dag found{dag.inputs, dag.computes, {}};
  Twins twins;
  for (const Compute& compute : dag.computes) {
    if (!is_float(compute.output->dtype)) continue;
    found.computes.push_back(twin_of(compute, twins));
    twins.emplace(compute.output.get(), found.computes.back().output);
  }
  for (const Tensor& output : dag.outputs) {
    if (is_float(output->dtype)) found.outputs.push_back(twins.at(output.get()));
  }
  return without_unread(std::move(found));
}

}  // namespace lathe
