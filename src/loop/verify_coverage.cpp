#include "loop/verify_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "loop/region.h"

namespace lathe {
namespace {

constexpr int64_t kMostIterations = 65536;
constexpr int64_t kMostPoints = int64_t{1} << 20;

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - ((a % b != 0) && (a < 0)); }

// Loops, conditions and axes that depend on each other and on nothing else.
struct Group {
  std::vector<const For*> loops;
  std::vector<const Conjunct*> conditions;
  std::vector<const BlockAxis*> axes;
  bool is_known = true;  // all its variables are loops of constant extent within the lifetime
};

// Puts what shares a variable into one group.
class Grouper {
 public:
  Grouper(std::span<const BlockAxis> axes, std::span<const Conjunct> conditions,
          std::span<const For* const> loops, size_t lifetime);
  std::vector<Group> groups() const;

 private:
  size_t find(size_t i) const { return parents_[i] == i ? i : find(parents_[i]); }
  void unite(size_t a, size_t b) { parents_[find(a)] = find(b); }
  void connect(const Affine& value, size_t item);

  std::span<const BlockAxis> axes_;
  std::span<const Conjunct> conditions_;
  std::span<const For* const> loops_;
  std::vector<size_t> parents_;   // the loops, then the axes, then the conditions
  std::vector<bool> is_foreign_;  // uses a loop outside of the lifetime, or what is no variable
  size_t lifetime_;
};

Grouper::Grouper(std::span<const BlockAxis> axes, std::span<const Conjunct> conditions,
                 std::span<const For* const> loops, size_t lifetime)
    : axes_(axes),
      conditions_(conditions),
      loops_(loops),
      parents_(loops.size() + axes.size() + conditions.size()),
      is_foreign_(parents_.size(), false),
      lifetime_(lifetime) {
  std::iota(parents_.begin(), parents_.end(), 0);
  for (size_t i = 0; i < loops.size(); ++i) {
    is_foreign_[i] = i < lifetime || constant_extent(*loops[i]) < 0;
  }
  size_t item = loops.size();
  for (const BlockAxis& axis : axes) connect(axis.binding, item++);
  for (const Conjunct& conjunct : conditions) connect(conjunct.value, item++);
}

void Grouper::connect(const Affine& value, size_t item) {
  std::vector<Var> vars;
  collect_vars(value, vars);
  for (const Var& var : vars) {
    const auto loop = std::ranges::find(loops_, var, [](const For* candidate) { return candidate->var; });
    if (loop == loops_.end()) {
      is_foreign_[item] = true;
    } else {
      unite(item, static_cast<size_t>(loop - loops_.begin()));
    }
  }
  if (depends_on_values(value)) is_foreign_[item] = true;
}

std::vector<Group> Grouper::groups() const {
  std::vector<Group> groups(parents_.size());
  for (size_t i = 0; i < parents_.size(); ++i) {
    Group& group = groups[find(i)];
    if (is_foreign_[i]) group.is_known = false;
    if (i < loops_.size()) {
      if (i >= lifetime_) group.loops.push_back(loops_[i]);
    } else if (i < loops_.size() + axes_.size()) {
      group.axes.push_back(&axes_[i - loops_.size()]);
    } else {
      group.conditions.push_back(&conditions_[i - loops_.size() - axes_.size()]);
    }
  }
  std::erase_if(groups, [](const Group& group) {
    return !group.is_known || (group.loops.empty() && group.axes.empty() && group.conditions.empty());
  });
  return groups;
}

// Runs a group's loops, one value a loop at a time.
class Iterations {
 public:
  explicit Iterations(const Group& group) : group_(group), values_(group.loops.size(), 0) {
    for (const For* loop : group.loops) count_ = saturated(count_, constant_extent(*loop), kMostIterations);
  }

  // The product, or most + 1 where it is more than that.
  static int64_t saturated(int64_t product, int64_t extent, int64_t most) {
    return std::min(product, most + 1) * std::clamp<int64_t>(extent, 0, most + 1);
  }

  bool is_small() const { return count_ <= kMostIterations; }

  // Calls `visit` wherever the group's conditions hold, until it returns false.
  template <class Visit>
  void run(const Visit& visit) {
    for (int64_t n = 0; n < count_; ++n) {
      int64_t rest = n;
      for (size_t i = values_.size(); i-- > 0;) {
        const int64_t extent = constant_extent(*group_.loops[i]);
        values_[i] = rest % extent;
        rest /= extent;
      }
      const bool runs = std::ranges::all_of(group_.conditions,
                                            [&](const Conjunct* c) { return value(c->value) < c->bound; });
      if (runs && !visit()) return;
    }
  }

  int64_t value(const Affine& a) const {
    int64_t sum = a.constant();
    for (const Affine::Term& term : a.terms()) sum += term.coefficient * value(*term.atom);
    return sum;
  }

 private:
  int64_t value(const AtomNode& atom) const {
    if (atom.kind == AtomKind::variable) {
      const auto loop = std::ranges::find_if(
          group_.loops, [&](const For* candidate) { return candidate->var.atom().get() == &atom; });
      return values_[static_cast<size_t>(loop - group_.loops.begin())];
    }
    const int64_t operand = value(atom.operand);
    const int64_t quotient = floor_quotient(operand, atom.divisor);
    return atom.kind == AtomKind::floor_div ? quotient : operand - quotient * atom.divisor;
  }

  const Group& group_;
  std::vector<int64_t> values_;  // of the loops
  int64_t count_ = 1;
};

// Runs a group's loops and counts the points.
class Counter {
 public:
  explicit Counter(const Group& group) : group_(group), iterations_(group) {
    int64_t points = 1;
    for (const BlockAxis* axis : group.axes) {
      points = Iterations::saturated(points, axis->axis.extent, kMostPoints);
    }
    is_small_ = iterations_.is_small() && points <= kMostPoints;
    if (is_small_) visits_.resize(static_cast<size_t>(points), 0);
  }

  bool is_small() const { return is_small_; }
  void run() {
    iterations_.run([this] {
      visit();
      return true;
    });
  }
  const std::vector<uint32_t>& visits() const { return visits_; }
  // "i = 3, j = 4".
  std::string point(size_t position) const {
    std::string text;
    auto rest = static_cast<int64_t>(position);
    for (size_t i = group_.axes.size(); i-- > 0;) {
      const Axis& axis = group_.axes[i]->axis;
      text = fmt::format("{} = {}{}{}", axis.var.name(), rest % axis.extent, text.empty() ? "" : ", ", text);
      rest /= axis.extent;
    }
    return text.empty() ? "its only point" : text;
  }

 private:
  void visit() {
    int64_t position = 0;
    for (const BlockAxis* axis : group_.axes) {
      const int64_t coordinate = iterations_.value(axis->binding);
      if (coordinate < 0 || coordinate >= axis->axis.extent) return;
      position = position * axis->axis.extent + coordinate;
    }
    ++visits_[static_cast<size_t>(position)];
  }

  const Group& group_;
  Iterations iterations_;
  bool is_small_ = false;
  std::vector<uint32_t> visits_;
};

}  // namespace

Status verify_coverage(const Block& block, std::span<const For* const> loops, size_t lifetime,
                       bool must_reach_all) {
  const bool reduces = std::ranges::any_of(
      block.axes, [](const BlockAxis& axis) { return axis.axis.kind == AxisKind::reduce; });
  if (!reduces && !must_reach_all) return {};
  std::vector<Conjunct> predicate = block.predicate;
  std::erase_if(predicate, &Conjunct::is_neutral);
  for (const Group& group : Grouper(block.axes, predicate, loops, lifetime).groups()) {
    Counter counter(group);
    if (!counter.is_small()) continue;
    counter.run();
    for (size_t i = 0; i < counter.visits().size(); ++i) {
      const uint32_t visits = counter.visits()[i];
      if (visits == 0 && must_reach_all) {
        return fail(ErrorKind::invalid_program, fmt::format("never reaches {}", counter.point(i)),
                    "block " + block.name);
      }
      if (visits > 1 && reduces) {
        return fail(ErrorKind::invalid_program, fmt::format("reaches {} {} times", counter.point(i), visits),
                    "block " + block.name);
      }
    }
  }
  return {};
}

namespace {

// The extremes of a sum of loop variables that no condition narrows: both occur.
std::optional<Interval> extremes(const Group& group, const Affine& sum) {
  const bool plain = std::ranges::all_of(
      sum.terms(), [](const Affine::Term& term) { return term.atom->kind == AtomKind::variable; });
  if (!plain || !group.conditions.empty()) return std::nullopt;
  Ranges ranges;
  for (const For* loop : group.loops) ranges.set_extent(loop->var, constant_extent(*loop));
  return bounds(sum, ranges);
}

}  // namespace

std::optional<int64_t> value_outside(const BlockAxis& axis, std::span<const For* const> loops,
                                     std::span<const Conjunct> conditions) {
  for (const Group& group : Grouper({&axis, 1}, conditions, loops, 0).groups()) {
    if (group.axes.empty()) continue;
    if (const auto reach = extremes(group, axis.binding)) return reach->lo < 0 ? reach->lo : reach->hi;
    Iterations iterations(group);
    std::optional<int64_t> outside;
    if (!iterations.is_small()) return outside;
    iterations.run([&] {
      const int64_t value = iterations.value(axis.binding);
      if (value < 0 || value >= axis.axis.extent) outside = value;
      return !outside;
    });
    return outside;
  }
  return std::nullopt;
}

}  // namespace lathe
