#include "space/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "space/lathe/derive_lathe.h"

namespace lathe {
namespace {

bool is_cpu(const Target& target) { return std::holds_alternative<CpuTarget>(target.kind); }

constexpr SpaceKind kKinds[] = {
    {"lathe", is_cpu, [](const Task& task) { return derive_lathe(task); }},
};

}  // namespace

std::span<const SpaceKind> space_kinds() { return kKinds; }

Result<Space> derive_space(const Task& task, std::string_view kind) {
  const auto* row = std::ranges::find(kKinds, kind, &SpaceKind::name);
  if (row == std::end(kKinds)) {
    std::vector<std::string_view> names;
    for (const SpaceKind& known : kKinds) names.push_back(known.name);
    return fail(ErrorKind::invalid_argument,
                fmt::format("there is no space '{}'; legal names are {}", kind, fmt::join(names, ", ")));
  }
  if (!row->serves(task.target)) {
    return fail(ErrorKind::unsupported,
                fmt::format("the space '{}' has no programs for the target '{}'", kind, task.target.name));
  }
  return row->derive(task);
}

}  // namespace lathe
