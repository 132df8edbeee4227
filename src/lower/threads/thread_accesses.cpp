#include "lower/threads/thread_accesses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "expr/walk.h"
#include "loop/walk.h"

namespace lathe {
namespace {

class Collector {
 public:
  void visit(const Stmt& stmt, const Known& known, const For* threads) {
    if (const For* loop = as<For>(stmt)) {
      Known inside = known;
      inside.enter(*loop);
      visit(loop->body, inside, loop->kind == LoopKind::thread ? loop : threads);
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child, known, threads);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      visit(alloc->body, known, threads);
    } else if (const If* branch = as<If>(stmt)) {
      visit(branch->body, known, threads);
    } else if (const Store* store = as<Store>(stmt)) {
      for_each(store->value, [&](const Expr& e) {
        const Load* load = e.as<Load>();
        if (load != nullptr) found.push_back({load->tensor, load->index, false, threads, known.ranges()});
      });
      found.push_back({store->tensor, store->index, true, threads, known.ranges()});
    }
  }

  std::vector<ThreadAccess> found;
};

// A dimension as digits of different weight, the threads' and all others: the largest that each adds.
class Digits {
 public:
  // False where the sum is none of variables, remainders and quotients with positive weights.
  bool add(const Affine& sum, const Ranges& ranges, bool is_thread) {
    std::map<int64_t, int64_t> reach_here;
    for (const Affine::Term& term : sum.terms()) {
      const auto reach = bounds(Affine(term.atom), ranges);
      if (term.coefficient <= 0 || !reach || reach->lo != 0) return false;
      reach_here[term.coefficient] += term.coefficient * reach->hi;
    }
    for (const auto& [weight, most] : reach_here) {
      int64_t& known = reach_[{weight, is_thread}];
      known = std::max(known, most);
    }
    return true;
  }
  // Whether each sum comes from one choice of digits alone.
  bool are_unique() const {
    int64_t below = 0;
    for (const auto& [digit, most] : reach_) {
      if (most > 0 && digit.first <= below) return false;
      below += most;
    }
    return true;
  }

 private:
  std::map<std::pair<int64_t, bool>, int64_t> reach_;  // by weight; those of threads apart
};

// Whether different threads have different values of at least one of the sums.
bool tell_threads_apart(const std::vector<Affine>& by_thread, const Var& any, int64_t threads) {
  std::set<std::vector<int64_t>> seen;
  for (int64_t t = 0; t < threads; ++t) {
    std::vector<int64_t> values;
    for (const Affine& sum : by_thread) values.push_back(substitute(sum, {{any, Affine(t)}}).constant());
    if (!seen.insert(std::move(values)).second) return false;
  }
  return true;
}

}  // namespace

std::vector<ThreadAccess> accesses_of(const Stmt& stmt, const Known& known) {
  Collector collector;
  collector.visit(stmt, known, nullptr);
  return std::move(collector.found);
}

std::optional<ThreadParts> parts_of(const Affine& index, const Var& thread, const Var& any) {
  ThreadParts parts{Affine(0), Affine(index.constant())};
  for (const Affine::Term& term : index.terms()) {
    const Affine part(term.atom, term.coefficient);
    if (!part.uses(thread)) {
      parts.within += part;
      continue;
    }
    std::vector<Var> vars;
    collect_vars(part, vars);
    if (std::ranges::any_of(vars, [&](const Var& var) { return !(var == thread); })) return std::nullopt;
    parts.by_thread += substitute(part, {{thread, Affine(any)}});
  }
  return parts;
}

bool have_one_owner(const std::vector<const ThreadAccess*>& accesses) {
  const Var any("thread");
  std::vector<Affine> owner;
  std::vector<Digits> digits;
  int64_t threads = 1;
  for (const ThreadAccess* access : accesses) {
    const int64_t extent = constant_extent(*access->threads);
    threads = std::max(threads, extent);
    std::vector<Affine> by_thread;
    digits.resize(access->index.size());
    for (size_t dim = 0; dim < access->index.size(); ++dim) {
      const auto parts = parts_of(access->index[dim], access->threads->var, any);
      if (!parts || parts->within.constant() != 0) return false;
      Ranges ranges = access->ranges;
      ranges.set_extent(any, extent);
      if (!digits[dim].add(parts->by_thread, ranges, true) || !digits[dim].add(parts->within, ranges, false))
        return false;
      by_thread.push_back(parts->by_thread);
    }
    if (owner.empty()) owner = by_thread;
    if (owner != by_thread) return false;
  }
  const bool unique = std::ranges::all_of(digits, [](const Digits& dim) { return dim.are_unique(); });
  return unique && tell_threads_apart(owner, any, threads);
}

}  // namespace lathe
