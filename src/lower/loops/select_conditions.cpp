#include "lower/loops/select_conditions.h"

#include "expr/walk.h"
#include "loop/region.h"

namespace lathe {
namespace {

void collect(const Expr& condition, std::vector<Conjunct>& found) {
  const Binary* node = condition.as<Binary>();
  if (node == nullptr) return;
  if (node->op == BinaryOp::logical_and || node->op == BinaryOp::logical_or) {
    collect(node->a, found);
    collect(node->b, found);
    return;
  }
  const Index* a = node->a.as<Index>();
  const Index* b = node->b.as<Index>();
  if (a == nullptr || b == nullptr || (node->op != BinaryOp::less && node->op != BinaryOp::less_equal))
    return;
  // What is read at run time is no condition on loops.
  if (depends_on_values(a->value) || depends_on_values(b->value)) return;
  const int64_t bound = node->op == BinaryOp::less ? 0 : 1;
  found.push_back({a->value - b->value, bound});
  found.push_back({b->value - a->value, 1 - bound});
}

}  // namespace

std::vector<Conjunct> select_conditions(const Expr& value) {
  std::vector<Conjunct> found;
  for_each(value, [&](const Expr& e) {
    if (const Select* select = e.as<Select>()) collect(select->condition, found);
  });
  return found;
}

}  // namespace lathe
