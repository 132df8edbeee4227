#include "intrinsics/intrinsic.h"

#include <algorithm>

#include "base/check.h"

namespace lathe {

const Intrinsic* find_intrinsic(std::string_view name) {
  const auto found = std::ranges::find(intrinsics(), name, [](const Intrinsic& one) { return one.name; });
  return found == intrinsics().end() ? nullptr : &*found;
}

namespace {

bool has_form(const Target& target, const IntrinsicForm& form) {
  return form.target == target.name && (form.extension.empty() || target.cpu().has(form.extension));
}

}  // namespace

const IntrinsicForm* form_of(const Intrinsic& intrinsic, const Target& target, int lanes) {
  const auto found = std::ranges::find_if(intrinsic.forms, [&](const IntrinsicForm& form) {
    return form.lanes == lanes && has_form(target, form);
  });
  return found == intrinsic.forms.end() ? nullptr : &*found;
}

bool has_intrinsic(const Target& target, const Intrinsic& intrinsic) {
  return std::ranges::any_of(intrinsic.forms,
                             [&](const IntrinsicForm& form) { return has_form(target, form); });
}

Dag block_of(const Intrinsic& intrinsic, int lanes) {
  DagBuilder builder;
  const Tensor a = builder.input("A", {intrinsic.group}, intrinsic.a);
  const Tensor b = builder.input("B", {lanes, intrinsic.group}, intrinsic.b);
  const Axis l = spatial("l", lanes);
  const Axis t = reduce("t", intrinsic.group);
  const Type type{intrinsic.result, 1};
  builder.compute("C", {l}, sum({t}, cast(type, a(t)) * cast(type, b(l, t))));
  Result<Dag> dag = builder.build();
  LATHE_CHECK(dag.has_value());
  return std::move(*dag);
}

namespace {

bool is_zero_literal(const Expr& e) {
  const Literal* value = e.as<Literal>();
  return value != nullptr && value->value == 0 && value->integer == 0;
}

// The element of which `e` is the number in the type of the sum; undefined if it is none.
Expr element_of(const Expr& e, DType wanted) {
  if (const Select* choice = e.as<Select>(); choice != nullptr && is_zero_literal(choice->if_false)) {
    const Expr element = element_of(choice->if_true, wanted);
    return element.defined() ? select(choice->condition, element, literal({wanted, 1}, 0)) : Expr();
  }
  const Cast* cast_node = e.as<Cast>();
  if (cast_node == nullptr || !holds_numbers_of(wanted, cast_node->operand.type().dtype)) return {};
  const Expr& element = cast_node->operand;
  // Elements that nothing is computed in are taken as they are.
  if (element.type().dtype != wanted && is_storage_only(wanted)) return {};
  return cast({wanted, 1}, element);
}

std::optional<Factors> factors_of(const Intrinsic& intrinsic, const Expr& first, const Expr& second) {
  Factors factors{element_of(first, intrinsic.a), element_of(second, intrinsic.b)};
  if (!factors.a.defined() || !factors.b.defined()) return std::nullopt;
  return factors;
}

}  // namespace

std::optional<Factors> match_factors(const Intrinsic& intrinsic, const Expr& term) {
  if (term.type() != Type{intrinsic.result, 1}) return std::nullopt;
  if (const Select* choice = term.as<Select>(); choice != nullptr && is_zero_literal(choice->if_false)) {
    std::optional<Factors> factors = match_factors(intrinsic, choice->if_true);
    if (!factors) return factors;
    // What lies behind a condition that is off may not be there.
    factors->a = select(choice->condition, factors->a, literal({intrinsic.a, 1}, 0));
    factors->b = select(choice->condition, factors->b, literal({intrinsic.b, 1}, 0));
    return factors;
  }
  const Binary* product = term.as<Binary>();
  if (product == nullptr || product->op != BinaryOp::mul) return std::nullopt;
  if (std::optional<Factors> factors = factors_of(intrinsic, product->a, product->b)) return factors;
  return factors_of(intrinsic, product->b, product->a);
}

}  // namespace lathe
