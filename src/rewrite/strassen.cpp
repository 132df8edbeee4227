#include "rewrite/strassen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "expr/walk.h"
#include "rewrite/match.h"
#include "rewrite/named_nest.h"

namespace lathe {
namespace {

constexpr int64_t kProducts = 7;
constexpr int64_t kQuarters = 4;  // 11, 12, 21, 22
constexpr const char* kProductName = "t";
constexpr const char* kQuarterName = "q";
constexpr const char* kRowPair = "p";

// Which quarters of the data, and of the weights, each product is of, [t, quarter], and which products each
// quarter of the result is the sum of, [quarter, t].
constexpr std::array<double, kProducts * kQuarters> kDataQuarters = {
    1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, -1, 0, 1, 0, 0, 1, 0, -1};
constexpr std::array<double, kProducts * kQuarters> kWeightQuarters = {
    1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, -1, -1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1};
constexpr std::array<double, kProducts * kQuarters> kResultProducts = {
    1, 0, 0, 1, -1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, -1, 1, 0, 0, 1, 0};

// A sum over channels of data times weights, and the axes that are halved (indices into the compute's).
struct HalvedProduct {
  Load data;
  Expr weight;
  std::vector<size_t> channels;  // of both, added up
  std::vector<size_t> rows;      // of the data alone
  std::vector<size_t> features;  // of the weights alone
  std::vector<size_t> shared;    // of both
  size_t row = 0;
  size_t channel = 0;
  size_t feature = 0;
};

// The longest axis, of those that lose least by being halved: what is odd gets a place more.
std::optional<size_t> best_halved(const Compute& compute, const std::vector<size_t>& axes, bool may_be_odd) {
  std::optional<size_t> best;
  const auto waste = [&](size_t i) {
    const auto extent = static_cast<double>(compute.axes[i].extent);
    return compute.axes[i].extent % 2 == 0 ? 1.0 : (extent + 1) / extent;
  };
  for (const size_t i : axes) {
    const int64_t extent = compute.axes[i].extent;
    if (extent < 2 || (extent % 2 != 0 && !may_be_odd)) continue;
    const bool is_better =
        !best || waste(i) < waste(*best) || (waste(i) == waste(*best) && extent > compute.axes[*best].extent);
    if (is_better) best = i;
  }
  return best;
}

std::optional<HalvedProduct> halved_factors(const Compute& compute, const Expr& first, const Expr& second) {
  const Load* const data = first.as<Load>();
  if (data == nullptr || !data->tensor->literal.empty()) return std::nullopt;
  HalvedProduct product{*data, second, {}, {}, {}, {}};
  for (size_t i = 0; i < compute.axes.size(); ++i) {
    const Axis& axis = compute.axes[i];
    const bool in_data = uses(first, axis.var);
    const bool in_weight = uses(second, axis.var);
    if (i >= compute.spatial_count()) {
      if (axis.extent > 1 && !(in_data && in_weight)) return std::nullopt;
      product.channels.push_back(i);
    } else {
      (in_data && in_weight ? product.shared : in_weight ? product.features : product.rows).push_back(i);
    }
  }
  const auto row = best_halved(compute, product.rows, true);
  const auto channel = best_halved(compute, product.channels, false);
  const auto feature = best_halved(compute, product.features, false);
  if (!row || !channel || !feature) return std::nullopt;
  product.row = *row;
  product.channel = *channel;
  product.feature = *feature;
  return product;
}

// The first factor is the data where it can be, as products and convolutions are written.
std::optional<HalvedProduct> match_halved(const Compute& compute) {
  const Binary* const product = compute.reduction == Reduction::sum ? compute.body.as<Binary>() : nullptr;
  const Type f32{DType::f32, 1};
  if (product == nullptr || product->op != BinaryOp::mul || compute.body.type() != f32 ||
      product->a.type() != f32 || product->b.type() != f32)
    return std::nullopt;
  auto found = halved_factors(compute, product->a, product->b);
  return found ? found : halved_factors(compute, product->b, product->a);
}

int64_t half_of(const Compute& compute, size_t axis) { return (compute.axes[axis].extent + 1) / 2; }

class StrassenRewriter {
 public:
  StrassenRewriter(const Compute& compute, const HalvedProduct& product)
      : compute_(compute), product_(product), name_(compute.output->name) {
    for (const Axis& axis : compute.axes) {
      ranges_.set_extent(axis.var, axis.extent);
      std::string name = axis.var.name();
      const auto is_taken = [&] {
        return name == kProductName || name == kQuarterName || name == kRowPair ||
               std::ranges::find(names_, name) != names_.end();
      };
      while (is_taken()) name += "_";
      names_.push_back(std::move(name));
    }
    for (const size_t i : product.rows) pairs_ *= extent(i);
  }

  std::vector<Compute> run() const {
    std::vector<Compute> computes;
    const Named weights =
        sum_quarters("SW", "SB", kWeightQuarters,
                     shared(true) + own(product_.channels) + own(product_.features), false, computes);
    const Dims pairs = {{kRowPair, pairs_}};
    const Named data = sum_quarters("SV", "SA", kDataQuarters, shared(false) + pairs + own(product_.channels),
                                    true, computes);
    NamedNest nest(Dims{{kProductName, kProducts}} + own(product_.shared) + pairs + own(product_.features),
                   own(product_.channels));
    const Named products =
        nest.finish(name_ + ".SM", read(data, nest.values) * read(weights, nest.values), computes);
    computes.push_back(in_place(add_products(products, computes)));
    return computes;
  }

 private:
  // Of a halved axis one half.
  int64_t extent(size_t i) const {
    const bool is_halved = i == product_.row || i == product_.channel || i == product_.feature;
    return is_halved ? half_of(compute_, i) : compute_.axes[i].extent;
  }

  Dims own(const std::vector<size_t>& axes) const {
    Dims dims;
    for (const size_t i : axes) dims.push_back({names_[i], extent(i)});
    return dims;
  }

  // The shared axes; of the data those that it runs along.
  Dims shared(bool of_weights) const {
    Dims dims;
    for (const size_t i : product_.shared) {
      const Expr operand = of_weights ? product_.weight : load(product_.data.tensor, product_.data.index);
      if (uses(operand, compute_.axes[i].var)) dims.push_back({names_[i], extent(i)});
    }
    return dims;
  }

  // The sums of quarters of an operand that the seven products are of.
  Named sum_quarters(const char* suffix, const char* table_suffix, std::span<const double> table,
                     const Dims& dims, bool is_data, std::vector<Compute>& computes) const {
    NamedNest nest(Dims{{kProductName, kProducts}} + dims, {{kQuarterName, kQuarters}});
    const Tensor entries = Tensor::literal(fmt::format("{}.{}", name_, table_suffix), {kProducts, kQuarters},
                                           {table.begin(), table.end()});
    const Expr entry = load(entries, {nest.values.at(kProductName), nest.values.at(kQuarterName)});
    const Expr value = is_data ? data_at(nest) : substitute(product_.weight, places_in(nest, false));
    return nest.finish(fmt::format("{}.{}", name_, suffix), entry * value, computes);
  }

  // What the axes of the product are in a nest over quarters.
  Substitution places_in(const NamedNest& nest, bool is_data) const {
    Ranges known;
    for (const Axis& loop : nest.axes) known.set_extent(loop.var, loop.extent);
    const Affine first = floor_div(nest.values.at(kQuarterName), 2, known);
    const Affine second = modulo(nest.values.at(kQuarterName), 2, known);
    Substitution taken;
    int64_t inner = 1;
    for (size_t r = is_data ? product_.rows.size() : 0; r-- > 0;) {
      const size_t i = product_.rows[r];
      const Affine digit = simplify(modulo(floor_div(nest.values.at(kRowPair), inner), extent(i)), known);
      taken.emplace_back(compute_.axes[i].var, i == product_.row ? digit * 2 + first : digit);
      inner *= extent(i);
    }
    for (size_t i = 0; i < compute_.axes.size(); ++i) {
      const auto value = nest.values.find(names_[i]);
      if (value == nest.values.end()) continue;
      Affine place = value->second;
      if (i == product_.channel) place += (is_data ? second : first) * extent(i);
      if (i == product_.feature) place += second * extent(i);
      taken.emplace_back(compute_.axes[i].var, place);
    }
    return taken;
  }

  // A last row that has no partner has zeros beside it.
  Expr data_at(const NamedNest& nest) const {
    const Substitution taken = places_in(nest, true);
    const Axis& row = compute_.axes[product_.row];
    Expr value = substitute(load(product_.data.tensor, product_.data.index), taken);
    if (row.extent % 2 == 0) return value;
    const auto place = std::ranges::find(taken, row.var, &Substitution::value_type::first);
    return select(Expr(place->second) < Expr(row.extent), value, Expr(0.0));
  }

  Named add_products(const Named& products, std::vector<Compute>& computes) const {
    NamedNest nest(Dims{{kRowPair, pairs_}} + own(product_.shared) + own(product_.features) +
                       Dims{{kQuarterName, kQuarters}},
                   {{kProductName, kProducts}});
    const Tensor table = Tensor::literal(name_ + ".SC", {kQuarters, kProducts},
                                         {kResultProducts.begin(), kResultProducts.end()});
    const Expr entry = load(table, {nest.values.at(kQuarterName), nest.values.at(kProductName)});
    return nest.finish(name_ + ".SY", entry * read(products, nest.values), computes);
  }

  // Each element of the result from its quarter.
  Compute in_place(const Named& quarters) const {
    std::vector<Axis> axes;
    Substitution renamed;
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      axes.push_back(spatial(compute_.axes[i].var.name(), compute_.axes[i].extent));
      renamed.emplace_back(compute_.axes[i].var, Affine(axes.back().var));
    }
    const auto place = [&](size_t i) { return Affine(compute_.axes[i].var); };
    Affine pair;
    for (const size_t i : product_.rows)
      pair = pair * extent(i) + (i == product_.row ? floor_div(place(i), 2, ranges_) : place(i));
    const Affine half = floor_div(place(product_.feature), extent(product_.feature), ranges_);
    Values at = {{kRowPair, substitute(pair, renamed)},
                 {kQuarterName, substitute(modulo(place(product_.row), 2, ranges_) * 2 + half, renamed)}};
    for (size_t i = 0; i < compute_.spatial_count(); ++i) {
      const Affine own = i == product_.feature ? modulo(place(i), extent(i), ranges_) : place(i);
      at.emplace(names_[i], substitute(own, renamed));
    }
    return {compute_.output, axes, Reduction::none, read(quarters, at)};
  }

  const Compute& compute_;
  const HalvedProduct& product_;
  std::string name_;
  Ranges ranges_;                   // of the compute's axes
  std::vector<std::string> names_;  // of the compute's axes in the new computes
  int64_t pairs_ = 1;               // of rows, over all their axes
};

// Multiplications, weights that come from far away, and sums of quarters, in units of a vector's
// multiply-add.
double work_of(const Compute& compute, const HalvedProduct& product, bool is_halved) {
  constexpr double kLanes = 16;
  constexpr double kUnitsPerWeight = 0.25;
  constexpr double kUnitsPerSum = 1.5;
  const auto half = [&](size_t axis) {
    return is_halved
               ? static_cast<double>(half_of(compute, axis)) / static_cast<double>(compute.axes[axis].extent)
               : 1.0;
  };
  const double products = is_halved ? static_cast<double>(kProducts) : 1;
  const double shared = static_cast<double>(extent_of(compute, product.shared));
  const double rows = static_cast<double>(extent_of(compute, product.rows)) * half(product.row);
  const double channels = static_cast<double>(extent_of(compute, product.channels)) * half(product.channel);
  const double features = static_cast<double>(extent_of(compute, product.features)) * half(product.feature);
  const double sums = is_halved ? products * kUnitsPerSum * rows * (channels + features) : 0;
  return shared * ((products * rows * channels * features + sums) / kLanes +
                   products * channels * features * kUnitsPerWeight);
}

// Whether windows overlap, whose elements would be summed once for each window.
bool is_read_again(const Compute& compute, const HalvedProduct& product) {
  int64_t reads = extent_of(compute, product.rows) * extent_of(compute, product.channels);
  for (const size_t i : product.shared) {
    const auto runs = [&](const Affine& index) { return index.uses(compute.axes[i].var); };
    if (std::ranges::any_of(product.data.index, runs)) reads *= compute.axes[i].extent;
  }
  return reads > product.data.tensor.elements();
}

}  // namespace

Result<Dag> rewrite_strassen(const Dag& dag, const std::string& stage, const RewriteParameters&) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& compute = dag.computes[position];
  const auto product = match_halved(compute);
  if (!product)
    return fail(ErrorKind::illegal_schedule,
                fmt::format("strassen does not apply to '{}': it is no sum of f32 products of which rows, "
                            "channels and features can be halved",
                            stage));
  return replace_stage(dag, position, StrassenRewriter(compute, *product).run());
}

std::vector<RewriteParameters> strassen_choices(const Dag& dag, const std::string& stage) {
  const auto position = find_stage(dag, stage);
  if (!position) return {};
  const Compute& compute = dag.computes[*position];
  const auto product = match_halved(compute);
  if (!product || is_read_again(compute, *product)) return {};
  if (work_of(compute, *product, true) >= work_of(compute, *product, false)) return {};
  return {{}};
}

}  // namespace lathe
