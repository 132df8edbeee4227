#include "expr/compare.h"

#include <compare>
#include <string>
#include <vector>

namespace lathe {
namespace {

template <class T>
int order_of(const T& a, const T& b) {
  const std::strong_ordering order = std::strong_order(a, b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int order_of(const Tensor& a, const Tensor& b) {
  if (a == b) return 0;
  const int names = order_of(a->name, b->name);
  return names != 0 ? names : order_of(a.get(), b.get());
}

template <class T>
int order_of(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return order_of(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (const int order = compare(a[i], b[i]); order != 0) return order;
  }
  return 0;
}

int order_of(const Expr& a, const Expr& b) {
  return a.defined() && b.defined() ? compare(a, b) : order_of(a.defined(), b.defined());
}

int order_of(const Affine& a, const Affine& b) { return compare(a, b); }

// By the first pair of arguments that differs.
template <class T, class... Others>
int order_of(const T& a, const T& b, const Others&... others) {
  const int order = order_of(a, b);
  return order != 0 ? order : order_of(others...);
}

struct CompareVisitor {
  const Expr& other;
  template <class T>
  const T& right() const {
    return *other.as<T>();
  }

  int operator()(const Literal& a) const {
    const Literal& b = right<Literal>();
    return order_of(a.value, b.value, a.integer, b.integer);
  }
  int operator()(const Index& a) const { return order_of(a.value, right<Index>().value); }
  int operator()(const Load& a) const {
    const Load& b = right<Load>();
    return order_of(a.tensor, b.tensor, a.stride, b.stride, a.index, b.index, a.mask, b.mask);
  }
  int operator()(const Unary& a) const {
    const Unary& b = right<Unary>();
    return order_of(a.op, b.op, a.operand, b.operand);
  }
  int operator()(const Binary& a) const {
    const Binary& b = right<Binary>();
    return order_of(a.op, b.op, a.a, b.a, a.b, b.b);
  }
  int operator()(const Select& a) const {
    const Select& b = right<Select>();
    return order_of(a.condition, b.condition, a.if_true, b.if_true, a.if_false, b.if_false);
  }
  int operator()(const Cast& a) const { return order_of(a.operand, right<Cast>().operand); }
  int operator()(const Broadcast& a) const { return order_of(a.operand, right<Broadcast>().operand); }
  int operator()(const BitCast& a) const { return order_of(a.operand, right<BitCast>().operand); }
  int operator()(const Ramp& a) const {
    const Ramp& b = right<Ramp>();
    return order_of(a.base, b.base, a.stride, b.stride);
  }
  int operator()(const Call& a) const {
    const Call& b = right<Call>();
    return order_of(a.intrinsic, b.intrinsic, a.operands, b.operands);
  }
};

}  // namespace

int compare(const Expr& a, const Expr& b) {
  if (a.get() == b.get()) return 0;
  if (const int order = order_of(a.type(), b.type(), a->node.index(), b->node.index()); order != 0)
    return order;
  return std::visit(CompareVisitor{b}, a->node);
}

bool equal(const Expr& a, const Expr& b) { return compare(a, b) == 0; }

}  // namespace lathe
