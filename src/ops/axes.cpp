#include "ops/axes.h"

#include <fmt/format.h>

#include <array>

#include "base/check.h"

namespace lathe {
namespace {

std::vector<std::string> dimension_names(size_t rank, bool channels_last) {
  if (channels_last && rank == 4) return {"n", "y", "x", "c"};
  if (channels_last && rank == 6) return {"n", "y", "x", "c", "i", "j"};
  if (rank == 4) return {"n", "c", "y", "x"};
  if (rank == 5) return {"n", "c", "z", "y", "x"};
  constexpr std::array<const char*, 3> kNames = {"i", "j", "k"};
  std::vector<std::string> names;
  for (size_t d = 0; d < rank; ++d) names.push_back(rank <= 3 ? kNames[d] : fmt::format("d{}", d));
  return names;
}

}  // namespace

std::vector<std::string> spatial_names(size_t count, const std::string& prefix) {
  LATHE_CHECK(count >= 1 && count <= 3);
  constexpr std::array<const char*, 3> kNames = {"z", "y", "x"};
  std::vector<std::string> names;
  for (size_t d = 3 - count; d < 3; ++d) names.push_back(prefix + kNames[d]);
  return names;
}

std::vector<Axis> axes_of(const Tensor& tensor, bool channels_last) {
  const std::vector<std::string> names = dimension_names(tensor->shape.size(), channels_last);
  std::vector<Axis> axes;
  for (size_t d = 0; d < names.size(); ++d) axes.push_back(spatial(names[d], tensor->shape[d]));
  return axes;
}

std::vector<Affine> indices(const std::vector<Axis>& axes) {
  std::vector<Affine> index;
  for (const Axis& axis : axes) index.emplace_back(axis.var);
  return index;
}

}  // namespace lathe
