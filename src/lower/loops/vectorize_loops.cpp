#include "lower/loops/vectorize_loops.h"

#include <utility>

#include "loop/walk.h"
#include "lower/blocks/known.h"
#include "lower/buffers/register_stores.h"
#include "lower/buffers/storage_sizes.h"
#include "lower/loops/vectorize_expr.h"
#include "lower/map.h"

namespace lathe {
namespace {

// Those of the widest vectors that there are, of 32 bits each; of wider elements several vectors are filled.
constexpr int64_t kMostLanes = 16;

// Conditions that differ between lanes.
struct Mask {
  std::vector<Conjunct> conjuncts;
  Expr lanes;  // those for which all of them hold; undefined: all lanes

  void add(const Conjunct& conjunct, const Expr& below) {
    conjuncts.push_back(conjunct);
    lanes = lanes.defined() ? lanes && below : below;
  }
};

// One vectorised loop: the statements of its body with `lanes` lanes each; empty where that is not possible.
class LoopVectorizer {
 public:
  LoopVectorizer(const Lanes& lanes, StorageSizes& storage, const RegisterStores& registers)
      : lanes_(lanes), storage_(storage), registers_(registers) {}

  std::optional<Stmt> visit(const Stmt& stmt, const Known& known, const Mask& mask) {
    if (const For* loop = as<For>(stmt)) return visit_loop(*loop, known, mask);
    if (const If* branch = as<If>(stmt)) return visit_branch(*branch, known, mask);
    if (const Store* store = as<Store>(stmt)) return visit_store(*store, known, mask);
    if (const Alloc* alloc = as<Alloc>(stmt)) return visit_alloc(*alloc, known, mask);
    if (const Prefetch* prefetch = as<Prefetch>(stmt)) return first_lane(*prefetch);
    const Seq* seq = as<Seq>(stmt);
    if (seq == nullptr) return std::nullopt;
    std::vector<Stmt> statements;
    for (const Stmt& child : seq->statements) {
      std::optional<Stmt> vectorized = visit(child, known, mask);
      if (!vectorized) return std::nullopt;
      statements.push_back(std::move(*vectorized));
    }
    return make_seq(std::move(statements));
  }

 private:
  std::optional<Stmt> visit_loop(const For& loop, const Known& known, const Mask& mask) {
    for (const Affine& extent : loop.extents) {
      if (extent.uses(lanes_.var)) return std::nullopt;
    }
    Known inside = known;
    inside.enter(loop);
    std::optional<Stmt> body = visit(loop.body, inside, mask);
    if (!body) return std::nullopt;
    return make_stmt(with_body(loop, std::move(*body)));
  }

  std::optional<Stmt> visit_branch(const If& branch, const Known& known, const Mask& mask) {
    If scalar;
    Mask inner_mask = mask;
    Known inside = known;
    std::vector<Conjunct> first_lane;
    for (const Conjunct& conjunct : branch.conditions) {
      if (!conjunct.value.uses(lanes_.var)) {
        scalar.conditions.push_back(conjunct);
        inside.assume(conjunct);
        continue;
      }
      const std::optional<Expr> below = lanes_.below(conjunct.value, conjunct.bound);
      if (!below || conjunct.value.coefficient(lanes_.var) < 0) return std::nullopt;
      inner_mask.add(conjunct, *below);
      first_lane.push_back(conjunct);
      first_lane.back().value = substitute(conjunct.value, {{lanes_.var, Affine(0)}});
    }
    const bool outer = std::exchange(has_unsafe_scalar_, false);
    std::optional<Stmt> body = visit(branch.body, inside, inner_mask);
    if (!body) return std::nullopt;
    // A scalar load must not run where no lane does. Lane 0 is the last to fall out of these masks.
    for (const Conjunct& conjunct : first_lane) {
      if (has_unsafe_scalar_ && !inside.holds(conjunct)) scalar.conditions.push_back(conjunct);
    }
    has_unsafe_scalar_ |= outer;
    if (scalar.conditions.empty() || !*body) return body;
    scalar.body = std::move(*body);
    return make_stmt(std::move(scalar));
  }

  std::optional<Stmt> visit_store(const Store& store, const Known& known, const Mask& mask) {
    const std::optional<Lanes::Offset> offset = lanes_.split(store.index[0]);
    if (!offset || offset->stride == 0 || store.stride != 0) return std::nullopt;
    ExprVectorizer vectorizer(lanes_, storage_, known);
    std::optional<Expr> value = vectorizer.visit(store.value, mask.lanes);
    if (!value) return std::nullopt;
    has_unsafe_scalar_ |= vectorizer.has_unsafe_scalar();
    const Expr lanes = storage_.in_registers(store.tensor) ? register_mask(store, known, mask) : mask.lanes;
    return make_stmt(Store{store.tensor, {offset->base}, lanes_.widen(*value), offset->stride, lanes});
  }

  Expr register_mask(const Store& store, const Known& known, const Mask& mask) const {
    Mask kept;
    for (const Conjunct& conjunct : mask.conjuncts) {
      if (registers_.is_beyond(store.tensor, store.index[0], conjunct, known)) continue;
      kept.add(conjunct, *lanes_.below(conjunct.value, conjunct.bound));
    }
    return kept.lanes;
  }

  // Every lane has a buffer of its own: element e of lane l lies at e * lanes + l.
  std::optional<Stmt> visit_alloc(const Alloc& alloc, const Known& known, const Mask& mask) {
    const int64_t elements = physical_elements(alloc.layout, alloc.tensor->shape);
    const Tensor wide(alloc.tensor->name, {elements * lanes_.count}, alloc.tensor->dtype);
    const auto affine = [&](const Affine& a) { return a * lanes_.count + Affine(lanes_.var); };
    const Alloc widened{wide, alloc.scope, Layout::row_major(1), nullptr};
    storage_.add(widened);
    std::optional<Stmt> body = visit(redirect(alloc.body, alloc.tensor, wide, affine), known, mask);
    if (!body || !*body) return body;
    return make_stmt(Alloc{wide, alloc.scope, Layout::row_major(1), std::move(*body)});
  }

  template <class AffineMap>
  static Stmt redirect(const Stmt& stmt, const Tensor& from, const Tensor& to, const AffineMap& affine) {
    const Prefetch* prefetch = as<Prefetch>(stmt);
    if (prefetch != nullptr && prefetch->tensor == from) return nullptr;
    const Store* store = as<Store>(stmt);
    if (store == nullptr) {
      return map_statements(stmt, [&](const Stmt& child) { return redirect(child, from, to, affine); });
    }
    Store result = *store;
    result.value = redirect(store->value, from, to, affine);
    if (store->tensor == from) {
      result.tensor = to;
      result.index[0] = affine(store->index[0]);
    }
    return make_stmt(std::move(result));
  }

  template <class AffineMap>
  static Expr redirect(const Expr& e, const Tensor& from, const Tensor& to, const AffineMap& affine) {
    const auto child = [&](const Expr& inner) { return redirect(inner, from, to, affine); };
    Expr mapped = map_children(e, child, [&](const Affine& a) { return map_opaque(a, child); });
    const Load* load = mapped.as<Load>();
    if (load == nullptr || !(load->tensor == from)) return mapped;
    return Expr(ExprNode{mapped.type(), Load{to, {affine(load->index[0])}, 0, {}}});
  }

  Stmt first_lane(const Prefetch& prefetch) const {
    return make_stmt(Prefetch{prefetch.tensor, {substitute(prefetch.index[0], {{lanes_.var, Affine(0)}})}});
  }

  const Lanes& lanes_;
  StorageSizes& storage_;
  const RegisterStores& registers_;
  bool has_unsafe_scalar_ = false;
};

class TreeVectorizer {
 public:
  explicit TreeVectorizer(const Program& program) : storage_(program) {}

  Stmt visit(const Stmt& stmt, const Known& known) {
    if (const Alloc* alloc = as<Alloc>(stmt)) {
      storage_.add(*alloc);
      registers_.add(*alloc, known);
    }
    const For* loop = as<For>(stmt);
    if (loop == nullptr) return map_statements(stmt, [&](const Stmt& child) { return visit(child, known); });
    Known inside = known;
    inside.enter(*loop);
    Stmt mapped = map_statements(stmt, [&](const Stmt& child) { return visit(child, inside); });
    if (!mapped || loop->kind != LoopKind::vectorized) return mapped;
    const For& vectorized = *as<For>(mapped);
    const std::optional<Stmt> rows = as_whole_rows(vectorized, known, inside);
    return rows ? *rows : vectorize(vectorized, inside);
  }

 private:
  // Of a loop that fills a part of rows in registers the same over whole rows: who reads them whole would
  // wait for several stores, and meet what happens to lie behind them.
  std::optional<Stmt> as_whole_rows(const For& loop, const Known& known, const Known& inside) {
    const int64_t extent = constant_extent(loop);
    if (extent < 1) return std::nullopt;
    const int64_t width = registers_.width_of_rows(loop, extent, inside);
    if (width <= extent || width > kMostLanes) return std::nullopt;
    const Stmt body = make_stmt(If{{{Affine(loop.var), extent}}, loop.body});
    const For whole{loop.var, {Affine(width)}, loop.kind, body};
    Known in_rows = known;
    in_rows.enter(whole);
    const Lanes lanes{loop.var, static_cast<int>(width)};
    return LoopVectorizer(lanes, storage_, registers_).visit(body, in_rows, {});
  }

  Stmt vectorize(const For& loop, const Known& inside) {
    const int64_t extent = constant_extent(loop);
    if (extent < 0) return make_stmt(For{loop.var, loop.extents, LoopKind::serial, loop.body});
    const Lanes lanes{loop.var, static_cast<int>(extent)};
    if (extent > 1) {
      std::optional<Stmt> body = LoopVectorizer(lanes, storage_, registers_).visit(loop.body, inside, {});
      if (body) return *body;
    }
    return make_stmt(For{loop.var, loop.extents, LoopKind::unrolled, loop.body});
  }

  StorageSizes storage_;
  RegisterStores registers_;
};

}  // namespace

Program vectorize_loops(const Program& program) {
  TreeVectorizer vectorizer(program);
  return map_trees(program, [&](const Stmt& tree) { return vectorizer.visit(tree, Known()); });
}

}  // namespace lathe
