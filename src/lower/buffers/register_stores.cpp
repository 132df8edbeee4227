#include "lower/buffers/register_stores.h"

#include <algorithm>

namespace lathe {

void RegisterStores::add(const Alloc& alloc, const Known& known) {
  if (alloc.scope != Scope::registers) return;
  const std::vector<int64_t> shape = physical_shape(alloc.layout, alloc.tensor->shape);
  Entry entry{alloc.tensor, shape.empty() ? 1 : std::max<int64_t>(shape.back(), 1), known, {}};
  collect(alloc.body, known, entry);
  entries_.push_back(std::move(entry));
}

void RegisterStores::collect(const Stmt& stmt, const Known& known, Entry& entry) {
  if (const For* loop = as<For>(stmt)) {
    Known inside = known;
    inside.enter(*loop);
    collect(loop->body, inside, entry);
  } else if (const If* branch = as<If>(stmt)) {
    Known inside = known;
    for (const Conjunct& conjunct : branch->conditions) inside.assume(conjunct);
    collect(branch->body, inside, entry);
  } else if (const Seq* seq = as<Seq>(stmt)) {
    for (const Stmt& child : seq->statements) collect(child, known, entry);
  } else if (const Alloc* alloc = as<Alloc>(stmt)) {
    collect(alloc->body, known, entry);
  } else if (const Store* store = as<Store>(stmt); store != nullptr && store->tensor == entry.tensor) {
    entry.stores.push_back({modulo(store->index[0], entry.width, known.ranges()), known});
  }
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
