#include "expr/nonzero.h"

#include "expr/walk.h"

namespace lathe {
namespace {

// Definitions of definitions are looked through so far.
constexpr int kDeepest = 4;

bool is_zero(const Expr& e) {
  const Literal* value = e.as<Literal>();
  return value != nullptr && value->value == 0 && value->integer == 0;
}

class Finder {
 public:
  explicit Finder(const Definitions& definition_of) : definition_of_(definition_of) {}

  void visit_factors(const Expr& e) {
    const Binary* product = e.as<Binary>();
    if (product == nullptr || product->op != BinaryOp::mul) return visit(e, 0);
    visit_factors(product->a);
    visit_factors(product->b);
  }

  std::vector<Limit> take() { return std::move(found_); }

 private:
  void visit(const Expr& e, int depth) {
    if (const Select* select = e.as<Select>(); select != nullptr && is_zero(select->if_false)) {
      add(select->condition);
      return visit(select->if_true, depth);
    }
    if (const Cast* cast = e.as<Cast>()) return visit(cast->operand, depth);
    const Load* load = e.as<Load>();
    if (load == nullptr || depth == kDeepest) return;
    const auto definition = definition_of_(load->tensor);
    if (!definition) return;
    Substitution places;
    for (size_t d = 0; d < load->index.size(); ++d) places.emplace_back(definition->axes[d], load->index[d]);
    visit(substitute(definition->value, places), depth + 1);
  }

  void add(const Expr& condition) {
    const Binary* compared = condition.as<Binary>();
    if (compared == nullptr) return;
    if (compared->op == BinaryOp::logical_and) {
      add(compared->a);
      return add(compared->b);
    }
    const Index* a = compared->a.as<Index>();
    const Index* b = compared->b.as<Index>();
    if (a == nullptr || b == nullptr) return;
    const Affine difference = a->value - b->value;
    if (compared->op == BinaryOp::less) found_.push_back({difference, 0});
    if (compared->op == BinaryOp::less_equal || compared->op == BinaryOp::equal)
      found_.push_back({difference, 1});
    if (compared->op == BinaryOp::equal) found_.push_back({difference * -1, 1});
  }

  const Definitions& definition_of_;
  std::vector<Limit> found_;
};

}  // namespace

std::vector<Limit> where_nonzero(const Expr& product, const Definitions& definition_of) {
  Finder finder(definition_of);
  finder.visit_factors(product);
  return finder.take();
}

std::vector<Limit> where_nonzero(const Dag& dag, const Expr& product) {
  return where_nonzero(product, [&](const Tensor& tensor) -> std::optional<Definition> {
    const Compute* producer = dag.producer(tensor);
    if (producer == nullptr || producer->reduction != Reduction::none) return std::nullopt;
    Definition definition{{}, producer->body};
    for (const Axis& axis : producer->axes) definition.axes.push_back(axis.var);
    return definition;
  });
}

}  // namespace lathe
