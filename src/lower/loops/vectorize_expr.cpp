#include "lower/loops/vectorize_expr.h"

#include <utility>

namespace lathe {

std::optional<Lanes::Offset> Lanes::split(const Affine& a) const {
  if (a.uses_inside_atom(var)) return std::nullopt;
  const int64_t stride = a.coefficient(var);
  return Offset{stride == 0 ? a : a - Affine(var) * stride, stride};
}

std::optional<Expr> Lanes::below(const Affine& value, int64_t bound) const {
  const std::optional<Offset> offset = split(value);
  if (!offset) return std::nullopt;
  const Expr ramp(ExprNode{{DType::i64, count}, Ramp{offset->base, offset->stride}});
  return ramp < broadcast(Expr(bound), count);
}

std::optional<Expr> ExprVectorizer::visit_load(const Load& load, Type type, const Expr& mask) {
  const std::optional<Lanes::Offset> offset = lanes_.split(load.index[0]);
  if (!offset) return std::nullopt;
  const int64_t reach = offset->stride * (lanes_.count - 1);
  const Affine& base = offset->base;
  // Register buffers have room for the lanes of a tile; what a select keeps out may lie beyond it.
  const bool has_room = storage_.in_registers(load.tensor) && !below_select_;
  const bool safe =
      !mask.defined() || has_room ||
      storage_.holds(load.tensor, reach < 0 ? base + reach : base, reach < 0 ? base : base + reach, known_);
  if (offset->stride == 0) {
    if (!safe && below_select_) return std::nullopt;
    has_unsafe_scalar_ |= !safe;
    return Expr(ExprNode{type, Load{load.tensor, {base}, 0, {}}});
  }
  return Expr(
      ExprNode{{type.dtype, lanes_.count}, Load{load.tensor, {base}, offset->stride, safe ? Expr() : mask}});
}

std::optional<Expr> ExprVectorizer::visit_binary(const Binary& node, const Expr& mask) {
  const std::optional<Expr> a = visit(node.a, mask);
  if (!a) return std::nullopt;
  const std::optional<Expr> b = visit(node.b, mask);
  if (!b) return std::nullopt;
  if (a->type().lanes == b->type().lanes) return binary(node.op, *a, *b);
  return binary(node.op, lanes_.widen(*a), lanes_.widen(*b));
}

std::optional<Expr> ExprVectorizer::visit_select(const Select& node, const Expr& mask) {
  const std::optional<Expr> condition = visit(node.condition, mask);
  if (!condition) return std::nullopt;
  const bool differs = condition->type().lanes > 1;
  const bool outer = std::exchange(below_select_, below_select_ || differs);
  const auto both = [&](const Expr& lanes) {
    if (!differs) return mask;
    return mask.defined() ? mask && lanes : lanes;
  };
  const std::optional<Expr> a = visit(node.if_true, both(*condition));
  const std::optional<Expr> b =
      visit(node.if_false, both(differs ? unary(UnaryOp::logical_not, *condition) : *condition));
  below_select_ = outer;
  if (!a || !b) return std::nullopt;
  if (!differs && a->type().lanes == b->type().lanes) return select(*condition, *a, *b);
  return select(*condition, lanes_.widen(*a), lanes_.widen(*b));
}

std::optional<Expr> ExprVectorizer::visit_call(const Call& node, const Expr& mask) {
  std::optional<Expr> accumulator = visit(node.operands[0], mask);
  if (!accumulator) return std::nullopt;
  std::vector<Expr> operands{lanes_.widen(*accumulator)};
  for (size_t i = 1; i < node.operands.size(); ++i) {
    std::optional<Expr> groups = visit_group(node.operands[i], mask);
    if (!groups) return std::nullopt;
    operands.push_back(std::move(*groups));
  }
  return call(node.intrinsic, std::move(operands));
}

std::optional<Expr> ExprVectorizer::visit_group(const Load& load, Type type, const Expr& mask) {
  const std::optional<Lanes::Offset> offset = lanes_.split(load.index[0]);
  if (!offset || load.mask.defined()) return std::nullopt;
  const bool is_shared = offset->stride == 0;
  if (!is_shared && (load.stride != 1 || offset->stride != type.lanes)) return std::nullopt;
  const int lanes = is_shared ? type.lanes : type.lanes * lanes_.count;
  const Affine last = offset->base + load.stride * (lanes - 1);
  const bool is_safe = !mask.defined() || storage_.holds(load.tensor, offset->base, last, known_);
  if (!is_safe) return std::nullopt;
  return Expr(ExprNode{{type.dtype, lanes}, Load{load.tensor, {offset->base}, load.stride, {}}});
}

std::optional<Expr> ExprVectorizer::visit_group(const Expr& e, const Expr& mask) {
  if (const Load* load = e.as<Load>()) return visit_group(*load, e.type(), mask);
  if (const Cast* node = e.as<Cast>()) {
    const std::optional<Expr> operand = visit_group(node->operand, mask);
    return operand ? std::optional(cast({e.type().dtype, operand->type().lanes}, *operand)) : std::nullopt;
  }
  if (const Broadcast* node = e.as<Broadcast>()) {
    const std::optional<Expr> operand = visit(node->operand, mask);
    return operand && operand->type().lanes == 1 ? std::optional(e) : std::nullopt;
  }
  if (e.as<Literal>() != nullptr) return e;
  const Select* node = e.as<Select>();
  if (node == nullptr) return std::nullopt;
  const std::optional<Expr> condition = visit(node->condition, mask);
  const std::optional<Expr> a = visit_group(node->if_true, mask);
  const std::optional<Expr> b = visit_group(node->if_false, mask);
  if (!condition || condition->type().lanes > 1 || !a || !b) return std::nullopt;
  const int lanes = std::max(a->type().lanes, b->type().lanes);
  const auto widened_group = [&](const Expr& group) -> std::optional<Expr> {
    if (group.type().lanes == lanes) return group;
    const Broadcast* same = group.as<Broadcast>();
    if (same != nullptr) return broadcast(same->operand, lanes);
    const Literal* value = group.as<Literal>();
    return value == nullptr ? std::nullopt
                            : std::optional(Expr(ExprNode{{group.type().dtype, lanes}, *value}));
  };
  const std::optional<Expr> if_true = widened_group(*a);
  const std::optional<Expr> if_false = widened_group(*b);
  if (!if_true || !if_false) return std::nullopt;
  return select(*condition, *if_true, *if_false);
}

std::optional<Expr> ExprVectorizer::visit(const Expr& e, const Expr& mask) {
  if (const Call* node = e.as<Call>()) return visit_call(*node, mask);
  if (e.type().lanes > 1) return std::nullopt;
  if (e.as<Literal>() != nullptr) return e;
  if (const Index* index = e.as<Index>()) {
    const std::optional<Lanes::Offset> offset = lanes_.split(index->value);
    if (!offset) return std::nullopt;
    if (offset->stride == 0) return e;
    return Expr(ExprNode{{DType::i64, lanes_.count}, Ramp{offset->base, offset->stride}});
  }
  if (const Load* load = e.as<Load>()) return visit_load(*load, e.type(), mask);
  if (const Binary* node = e.as<Binary>()) return visit_binary(*node, mask);
  if (const Select* node = e.as<Select>()) return visit_select(*node, mask);
  if (const Unary* node = e.as<Unary>()) {
    const std::optional<Expr> operand = visit(node->operand, mask);
    return operand ? std::optional(unary(node->op, *operand)) : std::nullopt;
  }
  if (const BitCast* node = e.as<BitCast>()) {
    const std::optional<Expr> operand = visit(node->operand, mask);
    return operand ? std::optional(bit_cast({e.type().dtype, operand->type().lanes}, *operand))
                   : std::nullopt;
  }
  const Cast* node = e.as<Cast>();
  if (node == nullptr) return std::nullopt;
  const std::optional<Expr> operand = visit(node->operand, mask);
  return operand ? std::optional(cast({e.type().dtype, operand->type().lanes}, *operand)) : std::nullopt;
}

}  // namespace lathe
