#include "network/follow_dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "expr/walk.h"

namespace lathe {
namespace {

// How an axis of a compute runs through the dimension.
struct FreeVar {
  Var var;
  FreePart part;  // its axis counts for nothing
};

class DagFollower {
 public:
  DagFollower(const std::map<const TensorNode*, FreeParts>& parts,
              const std::map<const TensorNode*, bool>& is_constant, int64_t size)
      : parts_(parts), is_constant_(is_constant), size_(size) {}

  Result<DagFollowing> run(const Dag& dag) {
    for (const Compute& compute : dag.computes) LATHE_TRY_STATUS(follow(compute));
    following_.result = parts_[dag.outputs[0].get()];
    return std::move(following_);
  }

 private:
  Status follow(const Compute& compute) {
    compute_ = &compute;
    free_.clear();
    ranges_ = {};
    single_.clear();
    for (const Axis& axis : compute.axes) {
      ranges_.set_extent(axis.var, axis.extent);
      if (axis.extent == 1) single_.emplace_back(axis.var, Affine(0));
    }
    const std::vector<const Load*> loads = loads_of(compute.body);
    for (const Load* load : loads) LATHE_TRY_STATUS(read_parts(*load));
    for (const Load* load : loads) LATHE_TRY_STATUS(read_others(*load));
    for_each(compute.body, [&](const Expr& e) {
      const auto* index = e.as<Index>();
      if (index != nullptr && goes_by_place(index->value)) tell("its result goes by the number of the place");
    });
    FreeParts& result = parts_[compute.output.get()];
    for (size_t d = 0; d < compute.axes.size(); ++d) {
      const FreePart* part = find(compute.axes[d].var);
      if (part == nullptr) continue;
      if (compute.axes[d].kind == AxisKind::reduce)
        following_.combines = true;
      else
        result.push_back({d, part->outer, part->inner});
    }
    return {};
  }

  // Along the axes that have places of the dimension.
  Status read_parts(const Load& load) {
    const auto parts = parts_.find(load.tensor.get());
    if (parts == parts_.end()) return {};
    for (const FreePart& part : parts->second) LATHE_TRY_STATUS(read_part(load, part));
    return {};
  }

  Status read_part(const Load& load, const FreePart& part) {
    const Affine index = substitute(load.index[part.axis], single_);
    const auto var = index.as_var();
    if (var && extent_of(*var) == load.tensor->shape[part.axis]) {
      const FreePart* known = find(*var);
      if (known == nullptr) free_.push_back({*var, part});
      if (known == nullptr || (known->outer == part.outer && known->inner == part.inner)) return {};
      return refused("reads tensors in which the size stands in an axis beside other factors");
    }
    const auto reach = bounds(index, ranges_);
    const int64_t from_begin = reach ? reach->hi + 1 : size_, from_end = reach ? size_ - reach->lo : size_;
    const bool is_near_end = 2 * from_end <= size_;
    if (!reach || reach->lo < 0 || reach->hi >= size_ || (from_begin == size_ && !is_near_end) ||
        !part.is_whole_axis())
      return refused(fmt::format("reads other places of axis {} than its own", part.axis));
    const bool is_from_end = is_near_end && from_end < from_begin;
    following_.is_from_end = following_.is_from_end || is_from_end;
    following_.least_size = std::max(following_.least_size, is_from_end ? from_end : from_begin);
    tell(fmt::format("it reads place {} of axis {}", reach->lo, part.axis));
    return {};
  }

  // Along all other axes, which no axis that runs through the dimension may lead along; but a constant may
  // have an entry for each place.
  Status read_others(const Load& load) {
    for (size_t d = 0; d < load.index.size(); ++d) {
      const FreeParts& parts = parts_[load.tensor.get()];
      if (part_of(parts, d) != nullptr || !goes_by_place(load.index[d])) continue;
      const auto constant = is_constant_.find(load.tensor.get());
      const auto var = substitute(load.index[d], single_).as_var();
      if (constant == is_constant_.end() || !constant->second || !var ||
          extent_of(*var) != load.tensor->shape[d])
        return refused(fmt::format("reads axis {} of a tensor, whose size is fixed, place by place", d));
      const FreePart* own = find(*var);
      FreeParts& given = parts_[load.tensor.get()];
      given.push_back({d, own->outer, own->inner});
      std::ranges::sort(given, {}, &FreePart::axis);
      following_.constants[load.tensor.get()] = given;
    }
    return {};
  }

  std::unexpected<Error> refused(const std::string& what) const {
    return fail(ErrorKind::unsupported, "it " + what);
  }

  void tell(std::string reason) {
    if (!following_.tells_places_apart) following_.tells_places_apart = std::move(reason);
  }

  int64_t extent_of(const Var& var) const {
    const auto found = std::ranges::find(compute_->axes, var, &Axis::var);
    return found == compute_->axes.end() ? 0 : found->extent;
  }

  const FreePart* find(const Var& var) const {
    const auto found = std::ranges::find(free_, var, &FreeVar::var);
    return found == free_.end() ? nullptr : &found->part;
  }

  // Values that are looked up are asked for where they are read themselves.
  bool goes_by_place(const Affine& index) const {
    return std::ranges::any_of(index.terms(), [&](const Affine::Term& term) {
      switch (term.atom->kind) {
        case AtomKind::variable: return find(Var(term.atom)) != nullptr;
        case AtomKind::floor_div:
        case AtomKind::modulo: return goes_by_place(term.atom->operand);
        case AtomKind::opaque: break;
      }
      return false;
    });
  }

  std::map<const TensorNode*, FreeParts> parts_;
  const std::map<const TensorNode*, bool>& is_constant_;
  const int64_t size_;
  const Compute* compute_ = nullptr;
  Ranges ranges_;
  Substitution single_;  // axes of one place, as those of a window of one tap, move nothing
  std::vector<FreeVar> free_;
  DagFollowing following_;
};

}  // namespace

Result<DagFollowing> follow_dag(const Dag& dag, const std::map<const TensorNode*, FreeParts>& parts,
                                const std::map<const TensorNode*, bool>& is_constant, int64_t size) {
  return DagFollower(parts, is_constant, size).run(dag);
}

}  // namespace lathe
