// A product whose terms are added up in groups by an intrinsic: which one, along which axis, and how the row
// operand has the terms of a group side by side.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "expr/walk.h"
#include "space/rules/layouts.h"
#include "space/rules/product/product_decider.h"

namespace lathe {
namespace {

// So many vectors at most are put together element by element.
constexpr int64_t kMostInterleaved = 8;

bool is_power_of_two(int64_t number) {
  return number > 1 && std::has_single_bit(static_cast<uint64_t>(number));
}

}  // namespace

std::optional<TermGroups> ProductDecider::term_groups() const {
  const Operand* vector = vector_operand();
  const Operand* rows = row_operand();
  if (rows == nullptr || stage_.operands.size() != 2 || rows->uses[tile_.vector]) return std::nullopt;
  for (const Intrinsic& intrinsic : intrinsics()) {
    if (form_of(intrinsic, d_.task.target, static_cast<int>(lanes_)) == nullptr) continue;
    const std::optional<Factors> factors = match_factors(intrinsic, compute_.body);
    if (!factors) continue;
    std::optional<size_t> longest;
    for (size_t r = compute_.spatial_count(); r < compute_.axes.size(); ++r) {
      const bool has_groups = vector->dim_of_axis[r] >= 0 && rows->digit_dim[r] >= 0;
      if (!has_groups || axis(r).extent < intrinsic.group) continue;
      if (!longest || axis(r).extent >= axis(*longest).extent) longest = r;
    }
    if (!longest) continue;
    if (loads_of(factors->a).front() == vector->load)
      return TermGroups{&intrinsic, *longest, intrinsic.a, intrinsic.b};
    return TermGroups{&intrinsic, *longest, intrinsic.b, intrinsic.a};
  }
  return std::nullopt;
}

// As it lies, where the terms of a group are neighbours and have the intrinsic's type; else from a copy.
void ProductDecider::group_row_operand(const Operand& operand) {
  place_row_operand(operand);
  const Tensor& tensor = operand.load->tensor;
  const int dim = operand.digit_dim[term_groups_->axis];
  Layout layout = d_.layout_of(tensor);
  const LayoutDim inner = layout.dims.back();
  const bool is_together =
      inner.dim == dim && inner.divide == 1 && inner.modulo % term_groups_->intrinsic->group == 0;
  const std::optional<DType> type =
      tensor->dtype == term_groups_->row_type ? std::nullopt : std::optional(term_groups_->row_type);
  if (is_together && !type) return;
  if (!is_together) layout = with_innermost(tensor, {{dim, 0}});
  if (operand.is_constant) {
    d_.set_copy(tensor, true, name_, layout, type);
    return;
  }
  row_copy_ =
      copy_of_rows({name_, tensor->name, d_.name_copy(tensor, name_), "root", Scope::workspace, layout, type},
                   tensor, static_cast<size_t>(dim), is_together);
}

// Terms that lie together are copied as they are. Few that do not: a vector of each, along what lies
// innermost, which the code generator puts together.
RowCopy ProductDecider::copy_of_rows(CacheReadStep step, const Tensor& tensor, size_t dim, bool is_together) {
  const int64_t lanes = d_.task.target.cpu().lanes(static_cast<int>(bytes_of(term_groups_->row_type)));
  const int64_t places = tensor->shape[dim];
  const LayoutDim innermost = d_.layout_of(tensor).dims.back();
  const auto inner = static_cast<size_t>(innermost.dim);
  const bool is_whole = innermost.divide == 1 && innermost.modulo == 0;
  const bool are_few = is_power_of_two(places) && places <= kMostInterleaved && is_whole && inner != dim;
  const int64_t wide = lanes / places;
  const bool goes_across = !is_together && are_few && tensor->shape[inner] >= wide && wide > 1;
  OuterLoops loops;
  for (size_t d = 0; d < tensor->shape.size(); ++d) {
    if (d == dim || (goes_across && d == inner)) continue;
    loops.emplace_back(fmt::format("d{}", d), tensor->shape[d]);
  }
  if (goes_across) loops.emplace_back(fmt::format("d{}.0", inner), ceil_div(tensor->shape[inner], wide));
  const bool fills = is_together && places >= lanes;
  return {.step = std::move(step),
          .loops = names_of(loops),
          .shared = loops.empty() ? SharedLoops{} : share_loops(d_, loops),
          .along = fmt::format("d{}", dim),
          .across = goes_across ? fmt::format("d{}", inner) : "",
          .vector = goes_across ? wide
                    : fills     ? lanes
                                : 0};
}

std::optional<TermLoops> ProductDecider::term_loops() const {
  if (!term_groups_) return std::nullopt;
  return TermLoops{.intrinsic = term_groups_->intrinsic->name,
                   .axis = axis_name(term_groups_->axis),
                   .has_rest = axis(term_groups_->axis).extent % term_groups_->intrinsic->group != 0,
                   .copy = row_copy_};
}

}  // namespace lathe
