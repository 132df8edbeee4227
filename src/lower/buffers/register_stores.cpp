#include "lower/buffers/register_stores.h"

#include <algorithm>

#include "expr/walk.h"

namespace lathe {

namespace {

// Calls `visit` with each store and what is known there, until it gives false. Whether it never did.
template <class Visit>
bool all_stores(const Stmt& stmt, const Known& known, const Visit& visit) {
  if (const For* loop = as<For>(stmt)) {
    Known inside = known;
    inside.enter(*loop);
    return all_stores(loop->body, inside, visit);
  }
  if (const If* branch = as<If>(stmt)) {
    Known inside = known;
    for (const Conjunct& conjunct : branch->conditions) inside.assume(conjunct);
    return all_stores(branch->body, inside, visit);
  }
  if (const Seq* seq = as<Seq>(stmt))
    return std::ranges::all_of(seq->statements,
                               [&](const Stmt& child) { return all_stores(child, known, visit); });
  if (const Alloc* alloc = as<Alloc>(stmt)) return all_stores(alloc->body, known, visit);
  const Store* store = as<Store>(stmt);
  return store == nullptr || visit(*store, known);
}

}  // namespace

void RegisterStores::add(const Alloc& alloc, const Known& known) {
  if (alloc.scope != Scope::registers) return;
  const std::vector<int64_t> shape = physical_shape(alloc.layout, alloc.tensor->shape);
  Entry entry{alloc.tensor, shape.empty() ? 1 : std::max<int64_t>(shape.back(), 1), known, {}};
  all_stores(alloc.body, known, [&](const Store& store, const Known& there) {
    if (store.tensor == entry.tensor)
      entry.stores.push_back({modulo(store.index[0], entry.width, there.ranges()), there});
    return true;
  });
  entries_.push_back(std::move(entry));
}

int64_t RegisterStores::width_of_rows(const For& loop, int64_t extent, const Known& known) const {
  int64_t width = 0;
  const auto begins_row = [&](const Entry& entry, const Affine& index, const Known& there) {
    return entry.width == width && index.coefficient(loop.var) == 1 &&
           modulo(index, width, there.ranges()) == Affine(loop.var);
  };
  // What is read of other registers is read as far, and must have as long rows.
  const auto may_read = [&](const Load& load, const Known& there) {
    const auto entry = std::ranges::find(entries_, load.tensor, &Entry::tensor);
    return entry == entries_.end() || !load.index[0].uses(loop.var) ||
           begins_row(*entry, load.index[0], there);
  };
  const bool all_begin = all_stores(loop.body, known, [&](const Store& store, const Known& there) {
    const auto entry = std::ranges::find(entries_, store.tensor, &Entry::tensor);
    if (entry == entries_.end()) return false;
    if (width == 0) width = entry->width;
    return begins_row(*entry, store.index[0], there) &&
           is_beyond(store.tensor, store.index[0], {Affine(loop.var), extent}, there) &&
           std::ranges::all_of(loads_of(store.value),
                               [&](const Load* load) { return may_read(*load, there); });
  });
  return all_begin ? width : 0;
}

bool RegisterStores::is_beyond(const Tensor& tensor, const Affine& offset, const Conjunct& conjunct,
                               const Known& known) const {
  const auto entry = std::ranges::find(entries_, tensor, &Entry::tensor);
  if (entry == entries_.end()) return true;
  // value = position + lag, with one lag for the buffer's whole life: the condition is a limit of positions.
  const Affine lag = conjunct.value - modulo(offset, entry->width, known.ranges());
  std::vector<Var> vars;
  collect_vars(lag, vars);
  const auto is_fixed = [&](const Var& var) {
    return entry->around.ranges().find(var.atom().get()) != nullptr;
  };
  return std::ranges::all_of(vars, is_fixed) && std::ranges::all_of(entry->stores, [&](const Written& store) {
           return store.known.at_most(store.position + lag, conjunct.bound - 1);
         });
}

}  // namespace lathe
