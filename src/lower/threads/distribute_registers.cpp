#include "lower/threads/distribute_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lower/map.h"
#include "lower/threads/thread_accesses.h"

namespace lathe {
namespace {

// How the elements of one dimension that belong to a thread are packed: digits of `base` * 0 .. extent-1,
// which lie `stride` apart afterwards. Not packed where there is none.
struct Packing {
  struct Digit {
    int64_t base, extent, stride;
  };
  std::vector<Digit> digits;
  int64_t extent = 1;

  const Digit& digit_of(int64_t coefficient) const {
    const auto above = std::ranges::find_if(digits, [&](const Digit& d) { return d.base > coefficient; });
    return above == digits.begin() ? *above : *std::prev(above);
  }
  Affine packed(const Affine& within) const {
    if (digits.empty()) return within;
    Affine result(0);
    for (const Affine::Term& term : within.terms()) {
      const Digit& digit = digit_of(term.coefficient);
      result += Affine(term.atom, term.coefficient / digit.base * digit.stride);
    }
    return result;
  }
};

class Packer {
 public:
  void add(const Affine& within, const Ranges& ranges) {
    plain_ = plain_ && within.constant() == 0;
    Terms terms;
    for (const Affine::Term& term : within.terms()) {
      const auto reach = bounds(Affine(term.atom), ranges);
      plain_ =
          plain_ && term.atom->kind == AtomKind::variable && term.coefficient > 0 && reach && reach->lo == 0;
      if (!plain_) break;
      terms.emplace_back(term.coefficient, reach->hi);
      reach_[term.coefficient] = std::max(reach_[term.coefficient], term.coefficient * reach->hi);
    }
    const auto all = bounds(within, ranges);
    largest_ = all ? std::max(largest_, all->hi) : INT64_MAX / 2;
    accesses_.push_back(std::move(terms));
  }

  Packing packing() const {
    Packing result;
    result.extent = largest_ + 1;
    if (!plain_) return result;
    int64_t top = -1;  // the largest that the digits so far reach together
    for (const auto& [coefficient, most] : reach_) {
      if (top < 0 || coefficient > top + result.digits.back().base)
        result.digits.push_back({coefficient, 1, 1});
      top = std::max<int64_t>(top, 0) + most;
    }
    int64_t stride = 1;
    for (Packing::Digit& digit : result.digits) {
      for (const Terms& terms : accesses_) {
        int64_t most = 0;
        for (const auto& [coefficient, last] : terms) {
          if (&result.digit_of(coefficient) != &digit) continue;
          if (coefficient % digit.base != 0) return {{}, largest_ + 1};
          most += coefficient / digit.base * last;
        }
        digit.extent = std::max(digit.extent, most + 1);
      }
      digit.stride = stride;
      stride *= digit.extent;
    }
    result.extent = stride;
    return result;
  }

 private:
  using Terms = std::vector<std::pair<int64_t, int64_t>>;  // coefficient, the variable's largest value
  bool plain_ = true;
  int64_t largest_ = 0;
  std::map<int64_t, int64_t> reach_;
  std::vector<Terms> accesses_;
};

class Distributor {
 public:
  // `in_kernel`: some loop or condition is around.
  Result<Stmt> visit(const Stmt& stmt, const Known& known, bool in_kernel) {
    const For* loop = as<For>(stmt);
    if (loop != nullptr && loop->kind == LoopKind::thread) return stmt;
    Known inside = known;
    if (loop != nullptr) inside.enter(*loop);
    Status status;
    Stmt mapped = map_statements(stmt, [&](const Stmt& child) -> Stmt {
      const bool is_around = loop != nullptr || as<If>(stmt) != nullptr;
      Result<Stmt> visited = visit(child, inside, in_kernel || is_around);
      if (visited) return *visited;
      status = std::unexpected(visited.error());
      return child;
    });
    if (!status) return std::unexpected(status.error());
    const Alloc* alloc = as<Alloc>(mapped);
    if (alloc == nullptr || alloc->scope == Scope::shared) return mapped;
    if (alloc->scope == Scope::workspace && in_kernel) {
      return fail(
          ErrorKind::illegal_schedule,
          fmt::format(
              "buffer '{}' lies in the workspace inside of a kernel: its scope is shared or registers",
              alloc->tensor->name));
    }
    if (alloc->scope == Scope::workspace) return mapped;
    return distributed(*alloc, known);
  }

 private:
  static Result<Stmt> distributed(const Alloc& alloc, const Known& known) {
    const auto illegal = [&](const char* reason) {
      return fail(ErrorKind::illegal_schedule,
                  fmt::format("buffer '{}' is the threads' own, but {}", alloc.tensor->name, reason));
    };
    const Var any("thread");
    std::vector<Affine> owners;
    std::vector<Packer> packers(alloc.tensor->shape.size());
    int64_t threads = 1;
    for (const ThreadAccess& reach : accesses_of(alloc.body, known)) {
      if (!(reach.tensor == alloc.tensor)) continue;
      if (reach.threads == nullptr) return illegal("no thread is around an access of it");
      threads = std::max(threads, constant_extent(*reach.threads));
      std::vector<Affine> by_thread;
      for (size_t dim = 0; dim < reach.index.size(); ++dim) {
        const auto parts = parts_of(reach.index[dim], reach.threads->var, any);
        if (!parts) return illegal("which thread has an element depends on more than the thread");
        by_thread.push_back(parts->by_thread);
        packers[dim].add(parts->within, reach.ranges);
      }
      if (owners.empty()) owners = by_thread;
      if (owners != by_thread) return illegal("its elements belong to other threads in another nest");
    }
    std::vector<int64_t> shape = {threads};
    std::vector<Packing> packings;
    for (const Packer& packer : packers) {
      packings.push_back(packer.packing());
      shape.push_back(packings.back().extent);
    }
    const Tensor own(alloc.tensor->name, shape, alloc.tensor->dtype);
    const Stmt body = redirected(alloc.body, alloc.tensor, own, packings, nullptr);
    return make_stmt(Alloc{own, Scope::registers, Layout::row_major(shape.size()), body});
  }

  static std::vector<Affine> own_index(const std::vector<Affine>& index, const std::vector<Packing>& packings,
                                       const Var& thread) {
    std::vector<Affine> result = {Affine(thread)};
    for (size_t dim = 0; dim < index.size(); ++dim)
      result.push_back(packings[dim].packed(parts_of(index[dim], thread, thread)->within));
    return result;
  }

  static Stmt redirected(const Stmt& stmt, const Tensor& from, const Tensor& to,
                         const std::vector<Packing>& packings, const For* threads) {
    const For* loop = as<For>(stmt);
    if (loop != nullptr && loop->kind == LoopKind::thread) threads = loop;
    const Store* store = as<Store>(stmt);
    if (store == nullptr) {
      return map_statements(
          stmt, [&](const Stmt& child) { return redirected(child, from, to, packings, threads); });
    }
    Store result = *store;
    if (threads != nullptr) result.value = redirected(store->value, from, to, packings, *threads);
    if (store->tensor == from) {
      result.tensor = to;
      result.index = own_index(store->index, packings, threads->var);
    }
    return make_stmt(std::move(result));
  }

  static Expr redirected(const Expr& e, const Tensor& from, const Tensor& to,
                         const std::vector<Packing>& packings, const For& threads) {
    const auto child = [&](const Expr& inner) { return redirected(inner, from, to, packings, threads); };
    Expr mapped = map_children(e, child, [&](const Affine& a) { return map_opaque(a, child); });
    const Load* load = mapped.as<Load>();
    if (load == nullptr || !(load->tensor == from)) return mapped;
    Load own{to, own_index(load->index, packings, threads.var), load->stride, load->mask};
    return Expr(ExprNode{mapped.type(), std::move(own)});
  }
};

}  // namespace

Result<Program> distribute_registers(const Program& program) {
  return try_map_trees(program, [](const Stmt& tree) { return Distributor().visit(tree, Known(), false); });
}

}  // namespace lathe
