#include "expr/structural_hash.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/hash.h"

namespace lathe {
namespace {

Hasher& add_type(Hasher& hasher, Type type) {
  return hasher.add(static_cast<int>(type.dtype)).add(type.lanes);
}

Hasher& add_shape(Hasher& hasher, const std::vector<int64_t>& shape) {
  hasher.add(static_cast<uint64_t>(shape.size()));
  for (const int64_t extent : shape) hasher.add(extent);
  return hasher;
}

// Hashes bodies: what a variable or tensor counts for depends on the Dag and on the compute.
class BodyHasher {
 public:
  BodyHasher(const Dag& dag, const Compute& compute) : dag_(dag), compute_(compute) {}

  // An integer counts by its affine form, however it is written.
  uint64_t hash(const Expr& e) const {
    if (e.type() == Type{DType::i64, 1}) return hash(to_affine(e));
    return hash_node(e);
  }

 private:
  uint64_t hash_node(const Expr& e) const {
    Hasher hasher;
    add_type(hasher, e.type()).add(static_cast<uint64_t>(e->node.index()));
    std::visit([&](const auto& node) { add(hasher, node); }, e->node);
    return hasher.finish();
  }

  uint64_t hash(const Affine& a) const {
    std::vector<uint64_t> terms;
    for (const Affine::Term& term : a.terms()) {
      terms.push_back(Hasher().add(term.coefficient).add(hash(*term.atom)).finish());
    }
    std::ranges::sort(terms);
    Hasher hasher;
    hasher.add(a.constant());
    for (const uint64_t term : terms) hasher.add(term);
    return hasher.finish();
  }

  uint64_t hash(const AtomNode& atom) const {
    Hasher hasher;
    hasher.add(static_cast<int>(atom.kind));
    switch (atom.kind) {
      case AtomKind::variable: {
        const auto axis = std::ranges::find_if(
            compute_.axes, [&](const Axis& candidate) { return candidate.var.atom().get() == &atom; });
        LATHE_CHECK(axis != compute_.axes.end());
        hasher.add(static_cast<int64_t>(axis - compute_.axes.begin()));
        break;
      }
      case AtomKind::floor_div:
      case AtomKind::modulo: hasher.add(atom.divisor).add(hash(atom.operand)); break;
      case AtomKind::opaque: hasher.add(hash_node(*atom.opaque)); break;
    }
    return hasher.finish();
  }

  uint64_t hash(const Tensor& tensor) const {
    Hasher hasher;
    add_shape(hasher, tensor->shape).add(static_cast<int>(tensor->dtype));
    for (const double value : tensor->literal) hasher.add(std::bit_cast<uint64_t>(value));
    const auto input = std::ranges::find(dag_.inputs, tensor);
    if (input != dag_.inputs.end()) hasher.add(static_cast<int64_t>(input - dag_.inputs.begin()));
    const auto producer = std::ranges::find(dag_.computes, tensor, &Compute::output);
    if (producer != dag_.computes.end())
      hasher.add(-1 - static_cast<int64_t>(producer - dag_.computes.begin()));
    return hasher.finish();
  }

  void add(Hasher& hasher, const Literal& e) const {
    hasher.add(std::bit_cast<uint64_t>(e.value)).add(e.integer);
  }
  void add(Hasher& hasher, const Index& e) const { hasher.add(hash(e.value)); }
  void add(Hasher& hasher, const Load& e) const {
    hasher.add(hash(e.tensor)).add(e.stride).add(static_cast<uint64_t>(e.index.size()));
    for (const Affine& index : e.index) hasher.add(hash(index));
    if (e.mask.defined()) hasher.add(hash(e.mask));
  }
  void add(Hasher& hasher, const Unary& e) const { hasher.add(static_cast<int>(e.op)).add(hash(e.operand)); }
  void add(Hasher& hasher, const Binary& e) const {
    hasher.add(static_cast<int>(e.op)).add(hash(e.a)).add(hash(e.b));
  }
  void add(Hasher& hasher, const Select& e) const {
    hasher.add(hash(e.condition)).add(hash(e.if_true)).add(hash(e.if_false));
  }
  void add(Hasher& hasher, const Cast& e) const { hasher.add(hash(e.operand)); }
  void add(Hasher& hasher, const Broadcast& e) const { hasher.add(hash(e.operand)); }
  void add(Hasher& hasher, const BitCast& e) const { hasher.add(hash(e.operand)); }
  void add(Hasher& hasher, const Ramp& e) const { hasher.add(hash(e.base)).add(e.stride); }
  void add(Hasher& hasher, const Call& e) const {
    hasher.add(e.intrinsic);
    for (const Expr& operand : e.operands) hasher.add(hash(operand));
  }

  const Dag& dag_;
  const Compute& compute_;
};

}  // namespace

uint64_t hash_of(const Dag& dag) {
  Hasher hasher;
  hasher.add(static_cast<uint64_t>(dag.inputs.size()));
  for (const Tensor& input : dag.inputs) add_shape(hasher, input->shape).add(static_cast<int>(input->dtype));
  for (const Compute& compute : dag.computes) {
    hasher.add(static_cast<uint64_t>(compute.axes.size())).add(static_cast<int>(compute.reduction));
    for (const Axis& axis : compute.axes) hasher.add(axis.extent).add(static_cast<int>(axis.kind));
    hasher.add(BodyHasher(dag, compute).hash(compute.body));
  }
  for (const Tensor& output : dag.outputs) {
    hasher.add(static_cast<int64_t>(std::ranges::find(dag.computes, output, &Compute::output) -
                                    dag.computes.begin()));
  }
  return hasher.finish();
}

}  // namespace lathe
