#include "space/templates/knobs.h"

#include <fmt/format.h>

#include "base/check.h"

namespace lathe {

std::vector<int64_t> Knobs::split(std::string_view axis, int64_t extent, const SplitLimits& limits) {
  const SplitParameter parameter{
      .extent = extent,
      .parts = limits.parts,
      .largest_innermost = limits.largest_innermost == 0 ? extent : limits.largest_innermost,
      .allowed = limits.allowed};
  return chooser_.choose_split(fmt::format("{}.split.{}", block_, axis), parameter,
                               std::vector<int64_t>(static_cast<size_t>(limits.parts) - 1, 1));
}

int64_t Knobs::order(int64_t candidates) {
  return chooser_.choose_kind(fmt::format("{}.order", block_), candidates, 0);
}

LoopKind Knobs::annotate(std::string_view loop, const std::vector<LoopKind>& kinds) {
  LATHE_CHECK(!kinds.empty());
  const int64_t kind = chooser_.choose_kind(fmt::format("{}.annotate.{}", block_, loop),
                                            static_cast<int64_t>(kinds.size()), 0);
  return kinds[static_cast<size_t>(kind)];
}

bool Knobs::choice(std::string_view name) {
  return chooser_.choose_kind(fmt::format("{}.choice.{}", block_, name), 2, 0) != 0;
}

}  // namespace lathe
