#include "space/all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/overloaded.h"
#include "space/ansor/derive_ansor.h"
#include "space/flextensor/derive_flextensor.h"
#include "space/lathe/derive_lathe.h"
#include "space/lathe/gpu/derive_gpu.h"
#include "space/templates/derive_templates.h"

namespace lathe {
namespace {

// Its rules are those of the target's kind.
Result<Space> derive_by_kind(const Task& task) {
  return std::visit(Overloaded{[&](const CpuTarget&) { return derive_lathe(task); },
                               [&](const GpuTarget&) { return derive_gpu(task); }},
                    task.target.kind);
}

constexpr SpaceKind kKinds[] = {
    {"lathe", derive_by_kind},
    {"autotvm", derive_templates},
    {"ansor", [](const Task& task) { return derive_ansor(task); }},
    {"flextensor", derive_flextensor},
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
  return row->derive(task);
}

}  // namespace lathe
