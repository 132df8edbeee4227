#include "codegen/patterns.h"

#include <cmath>
#include <unordered_set>

namespace lathe {
namespace {

class OnceVisitor {
 public:
  explicit OnceVisitor(const std::function<void(const Expr&)>& visit) : visit_(visit) {}

  void walk(const Expr& e) {
    if (!e.defined() || !seen_.insert(e.get()).second) return;
    visit_(e);
    std::visit([this](const auto& node) { (*this)(node); }, e->node);
  }
  void operator()(const Literal&) {}
  void operator()(const Index& e) { walk(e.value); }
  void operator()(const Ramp& e) { walk(e.base); }
  void operator()(const Unary& e) { walk(e.operand); }
  void operator()(const Cast& e) { walk(e.operand); }
  void operator()(const BitCast& e) { walk(e.operand); }
  void operator()(const Broadcast& e) { walk(e.operand); }
  void operator()(const Load& e) {
    for (const Affine& index : e.index) walk(index);
    walk(e.mask);
  }
  void operator()(const Call& e) {
    for (const Expr& operand : e.operands) walk(operand);
  }
  void operator()(const Binary& e) {
    walk(e.a);
    walk(e.b);
  }
  void operator()(const Select& e) {
    walk(e.condition);
    walk(e.if_true);
    walk(e.if_false);
  }

 private:
  void walk(const Affine& a) {
    for (const Affine::Term& term : a.terms()) {
      if (term.atom->kind == AtomKind::opaque) {
        walk(*term.atom->opaque);
      } else if (term.atom->kind != AtomKind::variable) {
        walk(term.atom->operand);
      }
    }
  }

  const std::function<void(const Expr&)>& visit_;
  std::unordered_set<const ExprNode*> seen_;
};

const Binary* as_product(const Expr& e) {
  const Binary* binary = e.as<Binary>();
  return binary != nullptr && binary->op == BinaryOp::mul ? binary : nullptr;
}

bool reads(const Expr& e, const Tensor& tensor) {
  bool found = false;
  for_each_once(e, [&](const Expr& node) {
    const Load* load = node.as<Load>();
    found |= load != nullptr && load->tensor == tensor;
  });
  return found;
}

}  // namespace

void for_each_once(const Expr& e, const std::function<void(const Expr&)>& visit) {
  OnceVisitor visitor(visit);
  visitor.walk(e);
}

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

size_t interleaved_stores(std::span<const Stmt> statements) {
  const auto store_at = [&](size_t i) { return std::get_if<Store>(&statements[i]->node); };
  const Store* first = statements.empty() ? nullptr : store_at(0);
  if (first == nullptr || first->tensor->dtype == DType::boolean) return 0;
  const int64_t stride = first->stride;
  if ((stride != 2 && stride != 4 && stride != 8) || std::ssize(statements) < stride) return 0;
  for (int64_t i = 0; i < stride; ++i) {
    const Store* store = store_at(static_cast<size_t>(i));
    if (store == nullptr || store->mask.defined() || store->tensor != first->tensor) return 0;
    if (store->stride != stride || store->value.type() != first->value.type()) return 0;
    if (store->index[0] - first->index[0] != Affine(i) || reads(store->value, first->tensor)) return 0;
  }
  return static_cast<size_t>(stride);
}

const char* library_function(UnaryOp op) {
  switch (op) {
    case UnaryOp::exp: return "exp";
    case UnaryOp::log: return "log";
    case UnaryOp::tanh: return "tanh";
    case UnaryOp::erf: return "erf";
    case UnaryOp::sin: return "sin";
    case UnaryOp::cos: return "cos";
    default: return nullptr;
  }
}

const char* library_function(BinaryOp op) {
  if (op == BinaryOp::pow) return "pow";
  return op == BinaryOp::mod ? "fmod" : nullptr;
}

bool may_fault(const Expr& e) {
  bool found = false;
  for_each_once(e, [&](const Expr& part) {
    if (part.as<Load>() != nullptr) found = true;
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
