#include "codegen/patterns.h"

#include <cmath>

#include "expr/walk.h"

namespace lathe {
namespace {

const Binary* as_product(const Expr& e) {
  const Binary* binary = e.as<Binary>();
  return binary != nullptr && binary->op == BinaryOp::mul ? binary : nullptr;
}

bool is_nonzero_constant(const Expr& e) {
  if (const auto* value = e.as<Literal>()) return value->integer != 0;
  if (const auto* index = e.as<Index>()) return index->value.is_constant() && !index->value.is(0);
  if (const auto* splat = e.as<Broadcast>()) return is_nonzero_constant(splat->operand);
  return false;
}

}  // namespace

std::optional<MultiplyAdd> match_multiply_add(const Expr& e) {
  const Binary* sum = e.as<Binary>();
  if (sum == nullptr || !is_float(e.type().dtype)) return std::nullopt;
  if (sum->op != BinaryOp::add && sum->op != BinaryOp::sub) return std::nullopt;
  const bool minus = sum->op == BinaryOp::sub;
  if (const Binary* product = as_product(sum->b)) {
    return MultiplyAdd{product->a, product->b, sum->a, minus, false};
  }
  if (const Binary* product = as_product(sum->a)) {
    return MultiplyAdd{product->a, product->b, sum->b, false, minus};
  }
  return std::nullopt;
}

bool may_fault(const Expr& e) {
  bool found = false;
  for_each(e, [&](const Expr& part) {
    if (part.as<Load>() != nullptr) found = true;
    const Binary* binary = part.as<Binary>();
    if (binary == nullptr || is_float(part.type().dtype)) return;
    const bool divides = binary->op == BinaryOp::div || binary->op == BinaryOp::mod;
    if (divides && !is_nonzero_constant(binary->b)) found = true;
  });
  return found;
}

bool is_zero(const Expr& e) {
  if (const auto* splat = e.as<Broadcast>()) return is_zero(splat->operand);
  if (const auto* index = e.as<Index>()) return index->value.is(0);
  const auto* value = e.as<Literal>();
  if (value == nullptr) return false;
  return is_float(e.type().dtype) ? value->value == 0 && !std::signbit(value->value) : value->integer == 0;
}

}  // namespace lathe
