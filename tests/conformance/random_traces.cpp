#include "conformance/random_traces.h"

#include <algorithm>
#include <optional>
#include <set>

#include "loop/walk.h"
#include "rewrite/rewrite.h"
#include "schedule/apply.h"

namespace lathe::testing {
namespace {

// A block with the loops around it, outermost first.
struct Place {
  const Block* block = nullptr;
  std::vector<const For*> loops;

  std::string loop(size_t i) const { return loops[i]->var.name(); }
};

// How often the blocks run at most: nested imperfect splits make loops whose iterations are mostly empty, and
// the interpreters go through each.
double iterations_of(const Program& program) {
  double total = 0;
  for (const Block* block : blocks_of(program.main)) {
    double iterations = 1;
    for (const Stmt& stmt : path_to_block(program.main, block->name)) {
      const For* loop = as<For>(stmt);
      if (loop != nullptr) iterations *= static_cast<double>(std::max<int64_t>(constant_extent(*loop), 1));
    }
    total += iterations;
  }
  return total;
}
constexpr double kMostIterations = 4e6;

class Proposer {
 public:
  Proposer(const Program& program, Rng& rng, int& names) : program_(program), rng_(rng), names_(names) {
    collect(program.main);
    if (program.prepare && rng.chance(0.3)) collect(program.prepare);
  }

  // A step that may well be illegal; nothing where the draw found nothing to work on.
  std::optional<Step> propose() {
    place_ = &places_[rng_.below(places_.size())];
    const uint64_t kind = rng_.below(100);
    if (kind < 20) return split();
    if (kind < 26) return fuse();
    if (kind < 38) return reorder();
    if (kind < 55) return annotate();
    if (kind < 67) return tail();
    if (kind < 74) return cache_read();
    if (kind < 80) return cache_write();
    if (kind < 85) return compute_at();
    if (kind < 90) return reverse_compute_at();
    if (kind < 92) return InlineStep{place_->block->name};
    if (kind < 94) return rfactor();
    if (kind < 96) return prepare();
    if (kind < 98) return layout();
    if (kind < 99) return rng_.chance(0.5) ? skip_zeros() : stream();
    return prefetch();
  }

 private:
  template <class Value>
  const Value& pick(const std::vector<Value>& values) {
    return values[rng_.below(values.size())];
  }
  size_t any_loop() { return rng_.below(place_->loops.size()); }

  void collect(const Stmt& tree) {
    for (const Block* block : blocks_of(tree)) {
      Place place{block, {}};
      for (const Stmt& stmt : path_to_block(tree, block->name)) {
        if (const For* loop = as<For>(stmt)) place.loops.push_back(loop);
      }
      if (!place.loops.empty()) places_.push_back(std::move(place));
    }
  }

  std::optional<Step> split() {
    const size_t at = any_loop();
    const int64_t extent = std::max<int64_t>(constant_extent(*place_->loops[at]), 1);
    SplitStep step{place_->block->name, place_->loop(at), {}};
    for (uint64_t parts = 1 + rng_.below(2); parts > 0; --parts) {
      step.factors.push_back(rng_.chance(0.3) ? int64_t{1} << rng_.below(5)
                                              : rng_.between(1, std::min<int64_t>(extent + 1, 12)));
    }
    return step;
  }

  std::optional<Step> fuse() {
    if (place_->loops.size() < 2) return std::nullopt;
    const size_t first = rng_.below(place_->loops.size() - 1);
    FuseStep step{place_->block->name, {place_->loop(first), place_->loop(first + 1)}};
    if (first + 2 < place_->loops.size() && rng_.chance(0.3)) step.loops.push_back(place_->loop(first + 2));
    return step;
  }

  std::optional<Step> reorder() {
    ReorderStep step{place_->block->name, {}};
    const size_t first = any_loop();
    for (size_t i = first; i < place_->loops.size(); ++i) {
      if (rng_.chance(0.8)) step.loops.push_back(place_->loop(i));
    }
    for (size_t i = step.loops.size(); i > 1; --i) std::swap(step.loops[i - 1], step.loops[rng_.below(i)]);
    return step;
  }

  std::optional<Step> annotate() {
    AnnotateStep step{place_->block->name, "", LoopKind::serial};
    const size_t last = place_->loops.size() - 1;
    if (rng_.chance(0.2)) {
      step.kind = LoopKind::parallel;
      step.loop = place_->loop(rng_.chance(0.8) ? 0 : any_loop());
      return step;
    }
    const size_t at = rng_.chance(0.6) ? last : any_loop();
    step.loop = place_->loop(at);
    step.kind = rng_.chance(0.5) ? LoopKind::vectorized : LoopKind::unrolled;
    // Long unrolled loops only make the test slow.
    if (constant_extent(*place_->loops[at]) > 16) return std::nullopt;
    return step;
  }

  std::optional<Step> tail() {
    constexpr Tail kTails[] = {Tail::guard, Tail::bound, Tail::peel, Tail::mask, Tail::overlap, Tail::pad};
    if (place_->block->axes.empty()) return std::nullopt;
    return TailStep{place_->block->name, pick(place_->block->axes).axis.var.name(),
                    kTails[rng_.below(std::size(kTails))]};
  }

  // Row-major, permuted, or with one dimension in blocks.
  Layout random_layout(const Tensor& tensor) {
    std::vector<LayoutDim> dims;
    for (size_t d = 0; d < tensor->shape.size(); ++d) dims.push_back({static_cast<int>(d), 1, 0, 0});
    for (size_t i = dims.size(); i > 1; --i) {
      if (rng_.chance(0.3)) std::swap(dims[i - 1], dims[rng_.below(i)]);
    }
    if (!dims.empty() && rng_.chance(0.6)) {
      const int64_t block = rng_.chance(0.5) ? 8 : rng_.between(2, 9);
      LayoutDim& outer = dims[rng_.below(dims.size())];
      const int dim = outer.dim;
      outer.divide = block;
      dims.push_back({dim, 1, block, 0});
    }
    if (!dims.empty() && rng_.chance(0.2)) dims.back().extra = rng_.between(1, 5);
    return Layout{dims};
  }

  std::optional<Tensor> read_tensor() {
    const auto loads = loads_of(place_->block->value);
    if (loads.empty()) return std::nullopt;
    return pick(loads)->tensor;
  }

  Scope scope() {
    return rng_.chance(0.3) ? Scope::registers : rng_.chance(0.7) ? Scope::thread : Scope::workspace;
  }

  std::optional<Step> cache_read() {
    const auto tensor = read_tensor();
    if (!tensor) return std::nullopt;
    const uint64_t where = rng_.below(10);
    CacheReadStep step{place_->block->name, (*tensor)->name, "c" + std::to_string(names_++), "", scope(), {}};
    step.at = where < 2 ? "prepare" : where < 4 ? "root" : place_->loop(any_loop());
    if (rng_.chance(0.6)) step.layout = random_layout(*tensor);
    return step;
  }

  std::optional<Step> cache_write() {
    return CacheWriteStep{place_->block->name, "w" + std::to_string(names_++), place_->loop(any_loop()),
                          scope()};
  }

  // Another block that reads what the drawn one writes.
  const Place* consumer() {
    std::vector<const Place*> found;
    for (const Place& place : places_) {
      const auto loads = loads_of(place.block->value);
      if (place.block != place_->block && std::ranges::any_of(loads, [&](const Load* load) {
            return load->tensor == place_->block->output;
          })) {
        found.push_back(&place);
      }
    }
    return found.empty() ? nullptr : pick(found);
  }

  std::optional<Step> compute_at() {
    const Place* other = consumer();
    if (other == nullptr) return std::nullopt;
    return ComputeAtStep{place_->block->name, other->block->name,
                         other->loop(rng_.below(other->loops.size())), scope()};
  }

  std::optional<Step> reverse_compute_at() {
    const Place* other = consumer();
    if (other == nullptr) return std::nullopt;
    return ReverseComputeAtStep{other->block->name, place_->block->name, place_->loop(any_loop()), scope()};
  }

  std::optional<Step> rfactor() { return RfactorStep{place_->block->name, place_->loop(any_loop())}; }

  // Of the few blocks that read constants only.
  std::optional<Step> prepare() {
    const auto is_constant = [&](const Load* load) {
      return !load->tensor->literal.empty() ||
             std::ranges::find(program_.prepared, load->tensor, &Prepared::tensor) !=
                 program_.prepared.end() ||
             std::ranges::any_of(program_.arguments, [&](const Argument& argument) {
               return argument.is_constant && argument.tensor == load->tensor;
             });
    };
    std::vector<const Place*> found;
    for (const Place& place : places_) {
      if (std::ranges::all_of(loads_of(place.block->value), is_constant)) found.push_back(&place);
    }
    if (found.empty()) return std::nullopt;
    return PrepareStep{pick(found)->block->name};
  }

  std::optional<Step> layout() {
    const auto read = read_tensor();
    const Tensor tensor = read && rng_.chance(0.6) ? *read : place_->block->output;
    return LayoutStep{tensor->name, random_layout(tensor)};
  }

  std::optional<Step> prefetch() {
    const auto tensor = read_tensor();
    if (!tensor) return std::nullopt;
    PrefetchStep step{place_->block->name, (*tensor)->name, place_->loop(any_loop()), rng_.between(1, 4)};
    if (rng_.chance(0.5)) step.at = place_->loop(any_loop());
    return step;
  }

  std::optional<Step> stream() {
    const auto output = std::ranges::find_if(program_.arguments, &Argument::is_output);
    return StreamStep{output->tensor->name};
  }

  std::optional<Step> skip_zeros() { return SkipZerosStep{place_->block->name}; }

  const Program& program_;
  Rng& rng_;
  int& names_;
  std::vector<Place> places_;
  const Place* place_ = nullptr;
};

// The algorithms that apply to the task's computes. `refused` takes the errors of the others.
template <class Refused>
std::vector<RewriteStep> possible_rewrites(const Task& task, Rng& rng, const Refused& refused) {
  std::vector<RewriteStep> possible;
  for (const RewriteRule& rule : rewrite_rules()) {
    for (const Compute& compute : task.dag.computes) {
      RewriteStep step{rule.name, compute.output->name, {}};
      if (rule.name == "winograd") {
        step.parameters["m"] = rng.between(2, 4);
        if (rng.chance(0.3)) step.parameters["m0"] = rng.between(1, 3);
        if (rng.chance(0.5)) step.parameters["pairs"] = 1;
      }
      const Result<Dag> dag = rewrite(task.dag, step.rule, step.stage, step.parameters);
      if (dag) {
        possible.push_back(std::move(step));
      } else {
        refused(dag.error());
      }
    }
  }
  return possible;
}

}  // namespace

RandomTrace random_trace(const Task& task, int steps, Rng& rng) {
  RandomTrace result;
  const auto refused = [&](const Error& error) {
    if (error.kind != ErrorKind::illegal_schedule && result.fault.empty()) result.fault = error.to_string();
  };
  if (rng.chance(0.5)) {
    const std::vector<RewriteStep> rewrites = possible_rewrites(task, rng, refused);
    result.proposed += rewrites.empty() ? 0 : 1;
    if (!rewrites.empty()) result.trace.push_back(rewrites[rng.below(rewrites.size())]);
  }
  Result<Program> program = apply_trace(task, result.trace);
  int names = 0;
  for (int i = 0; program && i < steps; ++i) {
    const std::optional<Step> step = Proposer(*program, rng, names).propose();
    if (!step) continue;
    ++result.proposed;
    Result<Program> next = apply_step(*program, *step);
    if (!next) {
      refused(next.error());
      continue;
    }
    if (iterations_of(*next) > kMostIterations) continue;
    result.trace.push_back(*step);
    program = std::move(next);
  }
  return result;
}

}  // namespace lathe::testing
