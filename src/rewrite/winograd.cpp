#include "rewrite/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "expr/walk.h"
#include "rewrite/match.h"
#include "rewrite/named_nest.h"
#include "rewrite/paired_table.h"
#include "rewrite/winograd_sides.h"
#include "rewrite/winograd_tables.h"

namespace lathe {
namespace {

constexpr std::array<const char*, kMostSides> kPoints = {"i", "j", "l"};
constexpr std::array<const char*, kMostSides> kTaps = {"a", "b", "d"};
constexpr std::array<const char*, kMostSides> kResults = {"u", "v", "w"};
constexpr const char* kFlat = "p";
constexpr const char* kPair = "e";

// A part of the flat axis p: a row, a phase of a dilated window or a tile.
struct Digit {
  int64_t count = 1;
  Affine value;  // over the convolution's axes
};

// One direction of a transform: a table, after a first one where its entries come in pairs.
struct TransformTables {
  std::optional<Tensor> pairs;
  Tensor table;
};

class WinogradRewriter {
 public:
  WinogradRewriter(const Compute& conv, const SlidingProduct& product, std::vector<Side> sides, bool in_pairs)
      : conv_(conv),
        product_(product),
        sides_(std::move(sides)),
        in_pairs_(in_pairs),
        name_(conv.output->name) {
    for (const Axis& axis : conv.axes) ranges_.set_extent(axis.var, axis.extent);
    name_axes();
    find_digits();
  }

  std::vector<Compute> run();

 private:
  const Axis& axis(size_t i) const { return conv_.axes[i]; }
  Dim own(size_t i) const { return {names_[i], axis(i).extent}; }
  Dims own(const std::vector<size_t>& axes) const;
  Affine position(const Side& side) const { return Affine(axis(side.window.output_axis).var); }
  bool in_data(const Var& var) const;
  int64_t places_of(const Side& side) const;
  Dims where(bool (Side::*is)() const, const std::function<Dim(size_t)>& dim) const;
  Dims kept_outputs() const;
  Dims kept_taps() const;
  Dims positions() const;
  Dims tiles() const;
  Dims starts() const;
  Dims parts() const;
  Dims points(size_t from, size_t to) const;
  Dims channels_in_data() const;
  Dims shared_in_data() const;
  std::string suffix(const char* letter, size_t stage) const;
  void name_axes();
  void find_digits();
  TransformTables tables_of(const std::string& letter, const std::string& number,
                            std::array<int64_t, 2> shape, const std::vector<double>& table,
                            const std::optional<PairedTable>& paired) const;
  void make_tables();
  Named transform_weights(std::vector<Compute>& computes) const;
  Expr weight_at(const Values& values) const;
  Named transform_data(std::vector<Compute>& computes) const;
  std::vector<Affine> digits_in(const NamedNest& nest) const;
  Expr data_at(const NamedNest& nest) const;
  Named multiply(const Named& data, const Named& weights, std::vector<Compute>& computes) const;
  Named transform_back(Named result, std::vector<Compute>& computes) const;
  Compute untile(const Named& result) const;

  const Compute& conv_;
  const SlidingProduct& product_;
  std::vector<Side> sides_;
  bool in_pairs_;
  std::vector<size_t> tiled_;  // indices into sides_
  std::string name_;
  Ranges ranges_;                   // of the convolution's axes
  std::vector<std::string> names_;  // of the convolution's axes in the new computes
  std::vector<Digit> digits_;
  int64_t flat_extent_ = 1;
  std::vector<Tensor> weight_tables_;  // one a tiled side
  std::vector<TransformTables> data_tables_, output_tables_;
};

Dims WinogradRewriter::own(const std::vector<size_t>& axes) const {
  Dims dims;
  for (const size_t i : axes) dims.push_back(own(i));
  return dims;
}

// Whether the data, but for what is read by its position in a window that stays, varies with it.
bool WinogradRewriter::in_data(const Var& var) const {
  for (size_t d = 0; d < product_.data.index.size(); ++d) {
    const bool is_position = std::ranges::any_of(
        sides_, [&](const Side& side) { return !side.is_tiled() && side.window.data_dim == d; });
    if (!is_position && product_.data.index[d].uses(var)) return true;
  }
  return false;
}

int64_t WinogradRewriter::places_of(const Side& side) const {
  const auto reach = bounds(product_.data.index[side.window.data_dim], ranges_);
  return reach ? reach->hi + 1 : product_.data.tensor->shape[side.window.data_dim];
}

Dims WinogradRewriter::where(bool (Side::*is)() const, const std::function<Dim(size_t)>& dim) const {
  Dims dims;
  for (size_t w = 0; w < sides_.size(); ++w) {
    if ((sides_[w].*is)()) dims.push_back(dim(w));
  }
  return dims;
}

Dims WinogradRewriter::kept_outputs() const {
  Dims dims;
  for (const Side& side : sides_) {
    if (!side.is_tiled()) dims.push_back(own(side.window.output_axis));
  }
  return dims;
}

Dims WinogradRewriter::kept_taps() const {
  Dims dims;
  for (const Side& side : sides_) {
    if (!side.is_tiled()) dims.push_back(own(side.window.reduce_axis));
  }
  return dims;
}

Dims WinogradRewriter::positions() const {
  Dims dims;
  for (size_t w = 0; w < sides_.size(); ++w) {
    if (!sides_[w].is_tiled()) dims.push_back({fmt::format("z{}", w), places_of(sides_[w])});
  }
  return dims;
}

Dims WinogradRewriter::tiles() const {
  return where(&Side::is_parted, [&](size_t w) { return Dim{fmt::format("t{}", w), sides_[w].tiles()}; });
}

Dims WinogradRewriter::starts() const {
  return where(&Side::is_parted, [&](size_t w) { return Dim{fmt::format("s{}", w), sides_[w].starts()}; });
}

Dims WinogradRewriter::parts() const {
  return where(&Side::is_parted, [&](size_t w) { return Dim{fmt::format("q{}", w), sides_[w].parts}; });
}

// Of the tiled sides [from, to).
Dims WinogradRewriter::points(size_t from, size_t to) const {
  Dims dims;
  for (size_t k = from; k < to; ++k) dims.push_back({kPoints[k], sides_[tiled_[k]].points()});
  return dims;
}

Dims WinogradRewriter::channels_in_data() const {
  Dims dims;
  for (const size_t i : product_.channels) {
    if (in_data(axis(i).var)) dims.push_back(own(i));
  }
  return dims;
}

Dims WinogradRewriter::shared_in_data() const {
  Dims dims;
  for (const size_t i : product_.shared) {
    if (in_data(axis(i).var)) dims.push_back(own(i));
  }
  return dims;
}

// Of a chain's stages the last has no number.
std::string WinogradRewriter::suffix(const char* letter, size_t stage) const {
  if (stage + 1 == tiled_.size()) return fmt::format("{}.{}", name_, letter);
  return fmt::format("{}.{}{}", name_, letter, stage + 1);
}

// The convolution's names, but for those that this rule gives to others.
void WinogradRewriter::name_axes() {
  for (size_t w = 0; w < sides_.size(); ++w) {
    if (sides_[w].is_tiled()) tiled_.push_back(w);
  }
  std::vector<std::string> taken = {kFlat};
  if (in_pairs_) taken.push_back(kPair);
  for (size_t k = 0; k < kMostSides; ++k) taken.insert(taken.end(), {kPoints[k], kTaps[k], kResults[k]});
  for (size_t w = 0; w < sides_.size(); ++w) {
    for (const char* letter : {"z", "t", "s", "q"}) taken.push_back(fmt::format("{}{}", letter, w));
  }
  for (const Axis& axis : conv_.axes) {
    std::string name = axis.var.name();
    while (std::ranges::find(taken, name) != taken.end()) name += "_";
    taken.push_back(name);
    names_.push_back(std::move(name));
  }
}

void WinogradRewriter::find_digits() {
  for (const size_t i : product_.rows) digits_.push_back({axis(i).extent, Affine(axis(i).var)});
  for (const Side& side : sides_) {
    if (!side.is_tiled()) continue;
    if (side.window.dilation > 1)
      digits_.push_back({side.phases(), modulo(position(side), side.window.dilation, ranges_)});
    if (!side.is_parted())
      digits_.push_back({side.tiles(), floor_div(position(side), side.tile_span(), ranges_)});
  }
  for (const Digit& digit : digits_) flat_extent_ *= digit.count;
}

TransformTables WinogradRewriter::tables_of(const std::string& letter, const std::string& number,
                                            std::array<int64_t, 2> shape, const std::vector<double>& table,
                                            const std::optional<PairedTable>& paired) const {
  const auto [results, values] = shape;
  const auto named = [&](const char* kind) { return fmt::format("{}.{}{}{}", name_, letter, kind, number); };
  if (!paired) return {{}, Tensor::literal(named("T"), {results, values}, table)};
  return {Tensor::literal(named("P"), {paired->between, values}, paired->first),
          Tensor::literal(named("T"), {results, paired->between}, paired->second)};
}

void WinogradRewriter::make_tables() {
  for (size_t k = 0; k < tiled_.size(); ++k) {
    const Side& side = sides_[tiled_[k]];
    // Equal sides share their tables.
    size_t earlier = 0;
    while (sides_[tiled_[earlier]].m != side.m || sides_[tiled_[earlier]].taps != side.taps) ++earlier;
    if (earlier < k) {
      weight_tables_.push_back(weight_tables_[earlier]);
      data_tables_.push_back(data_tables_[earlier]);
      output_tables_.push_back(output_tables_[earlier]);
      continue;
    }
    const WinogradTables tables = winograd_tables(side.m, side.taps).value();
    const std::string number = k == 0 ? "" : std::to_string(k);
    const int64_t n = side.points();
    weight_tables_.push_back(Tensor::literal(name_ + ".G" + number, {n, side.taps}, tables.weight));
    const auto data = in_pairs_ ? pair_results(tables.data, n) : std::nullopt;
    const auto output = in_pairs_ ? pair_values(tables.output, n) : std::nullopt;
    data_tables_.push_back(tables_of("B", number, {n, n}, tables.data, data));
    output_tables_.push_back(tables_of("A", number, {side.m, n}, tables.output, output));
  }
}

// The weight's value where the taps of tiled sides are given by part and tap.
Expr WinogradRewriter::weight_at(const Values& values) const {
  Substitution taken;
  for (size_t i = 0; i < conv_.axes.size(); ++i) {
    const auto value = values.find(names_[i]);
    if (value != values.end()) taken.emplace_back(axis(i).var, value->second);
  }
  for (size_t k = 0; k < tiled_.size(); ++k) {
    const Side& side = sides_[tiled_[k]];
    Affine tap = values.at(kTaps[k]);
    if (side.is_parted()) tap += values.at(fmt::format("q{}", tiled_[k])) * side.taps;
    taken.emplace_back(axis(side.window.reduce_axis).var, tap);
  }
  return substitute(product_.weight, taken);
}

Named WinogradRewriter::transform_weights(std::vector<Compute>& computes) const {
  const Dims rest =
      own(product_.shared) + parts() + kept_taps() + own(product_.channels) + own(product_.features);
  Named before;
  for (size_t k = 0; k < tiled_.size(); ++k) {
    Dims taps_left;
    for (size_t l = k + 1; l < tiled_.size(); ++l) taps_left.push_back({kTaps[l], sides_[tiled_[l]].taps});
    NamedNest nest(points(0, k + 1) + taps_left + rest, {{kTaps[k], sides_[tiled_[k]].taps}});
    const Expr value = k == 0 ? weight_at(nest.values) : read(before, nest.values);
    const Expr entry = load(weight_tables_[k], {nest.values.at(kPoints[k]), nest.values.at(kTaps[k])});
    before = nest.finish(suffix("U", k), entry * value, computes);
  }
  return before;
}

// What the flat axis of a nest says of each digit.
std::vector<Affine> WinogradRewriter::digits_in(const NamedNest& nest) const {
  Ranges known;
  for (const Axis& loop : nest.axes) known.set_extent(loop.var, loop.extent);
  int64_t inner = 1;
  std::vector<Affine> parts(digits_.size());
  for (size_t i = digits_.size(); i-- > 0;) {
    parts[i] = simplify(modulo(floor_div(nest.values.at(kFlat), inner), digits_[i].count), known);
    inner *= digits_[i].count;
  }
  return parts;
}

// The data under point a, b.. of a tile, 0 beyond the image: nothing of that is ever copied out.
Expr WinogradRewriter::data_at(const NamedNest& nest) const {
  const Values& values = nest.values;
  Ranges known;
  for (const Axis& loop : nest.axes) known.set_extent(loop.var, loop.extent);
  Substitution taken;
  const std::vector<Affine> parts_of_flat = digits_in(nest);
  auto digit = parts_of_flat.begin();
  for (const size_t i : product_.rows) taken.emplace_back(axis(i).var, *digit++);
  for (size_t k = 0; k < tiled_.size(); ++k) {
    const Side& side = sides_[tiled_[k]];
    Affine y;
    if (side.window.dilation > 1) y += *digit++;
    y += side.is_parted() ? values.at(fmt::format("s{}", tiled_[k])) * (side.step() * side.window.dilation)
                          : *digit++ * side.tile_span();
    taken.emplace_back(axis(side.window.output_axis).var, y);
    taken.emplace_back(axis(side.window.reduce_axis).var, values.at(kTaps[k]));
  }
  for (size_t i = 0; i < conv_.axes.size(); ++i) {
    const auto value = values.find(names_[i]);
    const bool is_new = std::ranges::none_of(taken, [&](const auto& t) { return t.first == axis(i).var; });
    if (value != values.end() && is_new) taken.emplace_back(axis(i).var, value->second);
  }
  std::vector<Affine> index;
  for (const Affine& original : product_.data.index) index.push_back(substitute(original, taken));
  for (size_t w = 0; w < sides_.size(); ++w) {
    if (!sides_[w].is_tiled()) index[sides_[w].window.data_dim] = values.at(fmt::format("z{}", w));
  }
  Expr value = load(product_.data.tensor, index);
  for (const size_t w : tiled_) {
    const size_t dim = sides_[w].window.data_dim;
    const int64_t size = product_.data.tensor->shape[dim];
    const auto reach = bounds(index[dim], known);
    if (!reach || reach->hi >= size) value = select(Expr(index[dim]) < Expr(size), value, Expr(0.0));
  }
  return value;
}

Named WinogradRewriter::transform_data(std::vector<Compute>& computes) const {
  const Dims flat = {{kFlat, flat_extent_}};
  const Dims rest = positions() + starts() + channels_in_data();
  Named before;
  for (size_t k = 0; k < tiled_.size(); ++k) {
    const bool is_last = k + 1 == tiled_.size();
    const int64_t n = sides_[tiled_[k]].points();
    const TransformTables& tables = data_tables_[k];
    Dims taps_left;
    for (size_t l = k + 1; l < tiled_.size(); ++l)
      taps_left.push_back({kTaps[l], sides_[tiled_[l]].points()});
    const Dims outer = flat + shared_in_data() + rest;
    const auto data = [&](const NamedNest& nest) {
      return k == 0 ? data_at(nest) : read(before, nest.values);
    };
    Dim from = {kTaps[k], n};
    if (tables.pairs) {
      NamedNest nest(outer + points(0, k) + Dims{{kPair, n}} + taps_left, {from});
      // The highest tap first: its coefficient is 1, so that the sum begins with a plain copy.
      nest.values[from.name] = Affine(n - 1) - nest.values.at(from.name);
      const Expr entry = load(*tables.pairs, {nest.values.at(kPair), nest.values.at(from.name)});
      before = nest.finish(suffix("VP", k), entry * data(nest), computes);
      from = {kPair, n};
    }
    NamedNest nest(
        is_last ? points(0, k + 1) + shared_in_data() + flat + rest : outer + points(0, k + 1) + taps_left,
        {from});
    const Expr entry = load(tables.table, {nest.values.at(kPoints[k]), nest.values.at(from.name)});
    before = nest.finish(suffix("V", k), entry * (tables.pairs ? read(before, nest.values) : data(nest)),
                         computes);
  }
  return before;
}

Named WinogradRewriter::multiply(const Named& data, const Named& weights,
                                 std::vector<Compute>& computes) const {
  const Dims flat = {{kFlat, flat_extent_}};
  NamedNest nest(points(0, tiled_.size()) + own(product_.shared) + flat + kept_outputs() + tiles() +
                     own(product_.features),
                 parts() + kept_taps() + own(product_.channels));
  Values at = nest.values;
  Substitution renamed;
  for (size_t i = 0; i < conv_.axes.size(); ++i) {
    const auto value = nest.values.find(names_[i]);
    if (value != nest.values.end()) renamed.emplace_back(axis(i).var, value->second);
  }
  // A row may move a window that stays.
  const std::vector<Affine> digits = digits_in(nest);
  auto digit = digits.begin();
  for (const size_t i : product_.rows) renamed.emplace_back(axis(i).var, *digit++);
  for (size_t w = 0; w < sides_.size(); ++w) {
    const Side& side = sides_[w];
    if (!side.is_tiled()) {
      at[fmt::format("z{}", w)] = substitute(product_.data.index[side.window.data_dim], renamed);
    } else if (side.is_parted()) {
      at[fmt::format("s{}", w)] = at.at(fmt::format("t{}", w)) * (side.m / side.step()) +
                                  at.at(fmt::format("q{}", w)) * (side.taps / side.step());
    }
  }
  return nest.finish(name_ + ".M", read(data, at) * read(weights, at), computes);
}

Named WinogradRewriter::transform_back(Named result, std::vector<Compute>& computes) const {
  const Dims outer =
      Dims{{kFlat, flat_extent_}} + own(product_.shared) + kept_outputs() + tiles() + own(product_.features);
  Dims done;
  for (size_t k = 0; k < tiled_.size(); ++k) {
    const TransformTables& tables = output_tables_[k];
    const Dims points_left = points(k + 1, tiled_.size());
    Dim from = points(k, k + 1).front();
    if (tables.pairs) {
      const Dim pair = {kPair, from.extent};
      NamedNest nest(outer + done + Dims{pair} + points_left, {from});
      const Expr entry = load(*tables.pairs, {nest.values.at(kPair), nest.values.at(from.name)});
      result = nest.finish(suffix("YP", k), entry * read(result, nest.values), computes);
      from = pair;
    }
    done.push_back({kResults[k], sides_[tiled_[k]].m});
    NamedNest nest(outer + done + points_left, {from});
    const Expr entry = load(tables.table, {nest.values.at(kResults[k]), nest.values.at(from.name)});
    result = nest.finish(suffix("Y", k), entry * read(result, nest.values), computes);
  }
  return result;
}

// Back to the output: each of its places has one in a tile.
Compute WinogradRewriter::untile(const Named& result) const {
  std::vector<Axis> axes;
  Substitution renamed;
  Values at;
  for (size_t i = 0; i < conv_.spatial_count(); ++i) {
    axes.push_back(spatial(axis(i).var.name(), axis(i).extent));
    renamed.emplace_back(axis(i).var, Affine(axes.back().var));
    at.emplace(names_[i], Affine(axes.back().var));
  }
  Affine flat;
  for (const Digit& digit : digits_) flat = flat * digit.count + substitute(digit.value, renamed);
  at[kFlat] = flat;
  for (size_t k = 0; k < tiled_.size(); ++k) {
    const Side& side = sides_[tiled_[k]];
    at[fmt::format("t{}", tiled_[k])] =
        substitute(floor_div(position(side), side.tile_span(), ranges_), renamed);
    const Affine in_phase = floor_div(position(side), side.window.dilation, ranges_);
    at[kResults[k]] = substitute(modulo(in_phase, side.m, ranges_), renamed);
  }
  return {conv_.output, axes, Reduction::none, read(result, at)};
}

std::vector<Compute> WinogradRewriter::run() {
  make_tables();
  std::vector<Compute> computes;
  const Named weights = transform_weights(computes);
  const Named data = transform_data(computes);
  const Named result = transform_back(multiply(data, weights, computes), computes);
  computes.push_back(untile(result));
  return computes;
}

}  // namespace

Result<Dag> rewrite_winograd(const Dag& dag, const std::string& stage, const RewriteParameters& parameters) {
  LATHE_TRY(const size_t position, find_stage(dag, stage));
  const Compute& conv = dag.computes[position];
  const auto product = match_sliding_product(conv);
  if (!product)
    return refuse_winograd(stage, "it is no sum of products under windows that slide by single steps");
  const DType dtype = conv.output->dtype;  // and that of both factors
  if (dtype != DType::f32)
    return refuse_winograd(stage,
                           fmt::format("its elements are {}, and the tables are f32", to_string(dtype)));
  LATHE_TRY_STATUS(check_winograd_reuse(stage, conv, *product));
  std::vector<Side> sides = winograd_sides(conv, *product);
  const auto asked = [&](const std::string& key, int64_t otherwise) {
    const auto parameter = parameters.find(key);
    return parameter == parameters.end() ? otherwise : parameter->second;
  };
  for (size_t w = 0; w < std::min(sides.size(), kMostSides); ++w) {
    sides[w].m = asked(fmt::format("m{}", w), asked("m", 4));
    if (sides[w].m == 1) continue;
    LATHE_TRY(const WinogradTables tables, winograd_tables(sides[w].m, sides[w].taps));
  }
  for (size_t w = sides.size(); w < kMostSides; ++w) {
    if (parameters.contains(fmt::format("m{}", w)))
      return refuse_winograd(stage, fmt::format("it has {} windows, and m{} is given", sides.size(), w));
  }
  if (std::ranges::none_of(sides, &Side::is_tiled))
    return refuse_winograd(stage, "none of its windows is tiled");
  const int64_t pairs = asked("pairs", 0);
  if (pairs < 0 || pairs > 1) return refuse_winograd(stage, fmt::format("pairs is {}, not 0 or 1", pairs));
  return replace_stage(dag, position, WinogradRewriter(conv, *product, std::move(sides), pairs == 1).run());
}

}  // namespace lathe
