#include "domain/domain_direction.h"

#include <fmt/format.h>

#include <utility>

#include "base/overloaded.h"
#include "domain/domain_split.h"

namespace lathe {
namespace {

void add_ordered(size_t parameter, std::vector<Direction>& found) {
  found.push_back({parameter, Direction::kNone, 0});
  found.push_back({parameter, 0, Direction::kNone});
}

void add_categories(size_t parameter, int64_t count, std::vector<Direction>& found) {
  for (int64_t i = 0; i < count; ++i) found.push_back({parameter, static_cast<int>(i), Direction::kNone});
}

void add_swaps(size_t parameter, size_t items, std::vector<Direction>& found) {
  for (size_t i = 0; i + 1 < items; ++i)
    found.push_back({parameter, static_cast<int>(i), static_cast<int>(i) + 1});
}

// The outer part of an imperfect split follows from the factors, so divisors move between inner parts only;
// what a factor gains or loses by itself comes from the outer part.
void add_moves(size_t parameter, const SplitParameter& split, std::vector<Direction>& found) {
  const int first = split.imperfect ? 1 : 0;
  for (int raised = first; raised < split.parts; ++raised) {
    for (int lowered = first; lowered < split.parts; ++lowered) {
      if (raised != lowered) found.push_back({parameter, raised, lowered, Stride::divisor});
    }
  }
  for (int part = 1; split.imperfect && part < split.parts; ++part) {
    found.push_back({parameter, 0, part, Stride::one});
    found.push_back({parameter, part, 0, Stride::one});
    for (const Stride stride : {Stride::tile, Stride::twice}) {
      found.push_back({parameter, 0, part, stride});
      found.push_back({parameter, part, 0, stride});
    }
  }
}

void add_directions(const Domain& domain, size_t parameter, std::vector<Direction>& found) {
  std::visit(
      Overloaded{[&](const OrderedParameter&) { add_ordered(parameter, found); },
                 [&](const CategoricalParameter& kind) { add_categories(parameter, kind.count, found); },
                 [&](const PermutationParameter& order) { add_swaps(parameter, order.items.size(), found); },
                 [&](const SplitParameter& split) { add_moves(parameter, split, found); }},
      domain.parameters[parameter].kind);
}

const char* in_words(Stride stride) {
  switch (stride) {
    case Stride::divisor: return "a divisor";
    case Stride::one: return "one";
    case Stride::tile: return "a tile";
    case Stride::twice: return "two";
  }
  return "";
}

using Value = std::vector<int64_t>;

std::optional<Value> ordered_step(const OrderedParameter& ordered, int64_t place,
                                  const Direction& direction) {
  place += direction.raised == Direction::kNone ? -1 : 1;
  if (place < 0 || place >= static_cast<int64_t>(ordered.values.size())) return std::nullopt;
  return Value{place};
}

std::optional<Value> category_step(int64_t category, const Direction& direction) {
  if (category == direction.raised) return std::nullopt;
  return Value{direction.raised};
}

std::optional<Value> swap_step(Value order, const Direction& direction) {
  std::swap(order[static_cast<size_t>(direction.raised)], order[static_cast<size_t>(direction.lowered)]);
  return order;
}

}  // namespace

std::vector<Direction> directions(const Domain& domain) {
  std::vector<Direction> found;
  for (size_t i = 0; i < domain.parameters.size(); ++i) add_directions(domain, i, found);
  return found;
}

std::vector<Direction> directions(const Domain& domain, size_t parameter) {
  std::vector<Direction> found;
  add_directions(domain, parameter, found);
  return found;
}

std::string label(const Domain& domain, const Direction& direction) {
  const auto& [name, kind] = domain.parameters[direction.parameter];
  const auto of_ordered = [&](const OrderedParameter&) {
    return fmt::format("{} {}", name, direction.raised == Direction::kNone ? '-' : '+');
  };
  const auto of_category = [&](const CategoricalParameter&) {
    return fmt::format("{} = {}", name, direction.raised);
  };
  const auto of_swap = [&](const PermutationParameter&) {
    return fmt::format("{}: {} <-> {}", name, direction.raised, direction.lowered);
  };
  const auto of_move = [&](const SplitParameter&) {
    return fmt::format("{}: {} from {} by {}", name, direction.raised, direction.lowered,
                       in_words(direction.stride));
  };
  return std::visit(Overloaded{of_ordered, of_category, of_swap, of_move}, kind);
}

std::optional<std::vector<int64_t>> step(const Domain& domain, const std::vector<int64_t>& integers,
                                         const Direction& direction) {
  const Parameter& parameter = domain.parameters[direction.parameter];
  const auto begin = integers.begin() + domain.first_slot(direction.parameter);
  const Value value(begin, begin + parameter.slots());
  const auto next = std::visit(
      Overloaded{[&](const OrderedParameter& ordered) { return ordered_step(ordered, value[0], direction); },
                 [&](const CategoricalParameter&) { return category_step(value[0], direction); },
                 [&](const PermutationParameter&) { return swap_step(value, direction); },
                 [&](const SplitParameter& split) {
                   return step_of_split(split, value, direction.raised, direction.lowered, direction.stride);
                 }},
      parameter.kind);
  if (!next) return std::nullopt;
  std::vector<int64_t> moved = integers;
  std::copy(next->begin(), next->end(), moved.begin() + domain.first_slot(direction.parameter));
  return moved;
}

}  // namespace lathe
