#include "rewrite/divided_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "expr/walk.h"
#include "rewrite/match.h"

namespace lathe {
namespace {

// An axis and the two that take its place: axis = quotient * divisor + remainder.
struct DividedAxis {
  size_t axis = 0;
  int64_t divisor = 1;
  Axis quotient;
  Axis remainder;

  Affine value() const { return Affine(quotient.var) * divisor + Affine(remainder.var); }
  Ranges ranges() const {
    Ranges known;
    known.set_extent(quotient.var, quotient.extent);
    known.set_extent(remainder.var, remainder.extent);
    return known;
  }
};

// What the loads of a body divide this variable by, quotients and remainders alike.
std::set<int64_t> divisors_of(const Expr& body, const Var& var) {
  std::set<int64_t> divisors;
  for (const Load* load : loads_of(body)) {
    for (const Affine& index : load->index) {
      for (const Affine::Term& term : index.terms()) {
        const bool divides = term.atom->kind == AtomKind::floor_div || term.atom->kind == AtomKind::modulo;
        if (divides && term.atom->operand == Affine(var)) divisors.insert(term.atom->divisor);
      }
    }
  }
  return divisors;
}

std::optional<DividedAxis> find_divided_axis(const Compute& compute) {
  for (size_t i = 0; i < compute.spatial_count(); ++i) {
    const Axis& axis = compute.axes[i];
    const std::set<int64_t> divisors = divisors_of(compute.body, axis.var);
    if (divisors.size() != 1) continue;
    const int64_t divisor = *divisors.begin();
    if (divisor < 2 || divisor >= axis.extent || axis.extent % divisor != 0) continue;
    return DividedAxis{i, divisor, spatial(axis.var.name() + "q", axis.extent / divisor),
                       spatial(axis.var.name() + "r", divisor)};
  }
  return std::nullopt;
}

// Dimension `dim` of a tensor as two.
Compute view_of(const Tensor& tensor, size_t dim, int64_t divisor, const std::string& name) {
  std::vector<Axis> axes;
  std::vector<int64_t> shape;
  std::vector<Affine> index;
  const auto add = [&](const std::string& axis, int64_t extent) {
    axes.push_back(spatial(axis, extent));
    shape.push_back(extent);
    return Affine(axes.back().var);
  };
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    if (d != dim) {
      index.push_back(add(fmt::format("d{}", d), tensor->shape[d]));
      continue;
    }
    const Affine quotient = add(fmt::format("d{}q", d), tensor->shape[d] / divisor);
    index.push_back(quotient * divisor + add(fmt::format("d{}r", d), divisor));
  }
  return {Tensor(name, shape, tensor->dtype), axes, Reduction::none, load(tensor, index)};
}

// The loads that read a dimension at exactly q * d + r, each through a view with a dimension for q and one
// for r; the views come first in `computes`.
Expr through_views(const Expr& body, const DividedAxis& divided, const std::string& name,
                   std::vector<Compute>& computes) {
  const auto rewrite = [&](const Expr& e) -> Expr {
    const Load* read = e.as<Load>();
    if (read == nullptr) return {};
    const auto found = std::ranges::find(read->index, divided.value());
    if (found == read->index.end()) return {};
    const auto dim = static_cast<size_t>(found - read->index.begin());
    if (read->tensor->shape[dim] % divided.divisor != 0) return {};
    computes.push_back(
        view_of(read->tensor, dim, divided.divisor, fmt::format("{}{}", name, computes.size())));
    std::vector<Affine> index = read->index;
    index[dim] = Affine(divided.remainder.var);
    index.insert(index.begin() + static_cast<std::ptrdiff_t>(dim), Affine(divided.quotient.var));
    return load(computes.back().output, index);
  };
  return rebuild(body, {rewrite, nullptr});
}

Compute divided_compute(const Compute& compute, const DividedAxis& divided, const std::string& name,
                        std::vector<Compute>& views) {
  std::vector<Axis> axes = compute.axes;
  const auto place = axes.begin() + static_cast<std::ptrdiff_t>(divided.axis);
  *place = divided.remainder;
  axes.insert(place, divided.quotient);
  std::vector<int64_t> shape;
  for (size_t i = 0; i <= compute.spatial_count(); ++i) shape.push_back(axes[i].extent);
  const Substitution value = {{compute.axes[divided.axis].var, divided.value()}};
  const Expr body = simplify_indices(substitute(compute.body, value), divided.ranges());
  return {Tensor(name, shape, compute.output->dtype), axes, compute.reduction,
          through_views(body, divided, name, views)};
}

Compute pick(const Compute& compute, const DividedAxis& divided, const Tensor& source) {
  std::vector<Axis> axes;
  std::vector<Affine> index;
  for (size_t i = 0; i < compute.spatial_count(); ++i) {
    axes.push_back(spatial(compute.axes[i].var.name(), compute.axes[i].extent));
    const Affine axis(axes.back().var);
    if (i == divided.axis) index.push_back(floor_div(axis, divided.divisor));
    index.push_back(i == divided.axis ? modulo(axis, divided.divisor) : axis);
  }
  return {compute.output, axes, Reduction::none, load(source, index)};
}

}  // namespace

Result<Dag> rewrite_divided_axis(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& compute = dag.computes[position];
  const auto divided = compute.reduction == Reduction::none ? std::nullopt : find_divided_axis(compute);
  if (!divided) {
    return fail(
        ErrorKind::illegal_schedule,
        fmt::format("divided_axis does not apply to '{}': it reduces nothing, or reads no axis divided "
                    "by one constant alone, which divides its extent",
                    stage));
  }
  std::vector<Compute> computes;
  Compute product = divided_compute(compute, *divided, stage + ".D", computes);
  computes.push_back(std::move(product));
  computes.push_back(pick(compute, *divided, computes.back().output));
  return replace_stage(dag, position, std::move(computes));
}

}  // namespace lathe
