#include "session/commands/space_sizes.h"

#include <algorithm>
#include <string_view>

#include "session/load_source.h"
#include "space/all.h"

namespace lathe {
namespace {

// What a paper gives of a space, for operators whose names begin so.
struct GivenByPaper {
  std::string_view space;
  std::vector<std::string_view> operators;
  std::string_view given;
};

const std::vector<GivenByPaper>& given_by_papers() {
  static const std::vector<GivenByPaper> rows = {
      {"ansor",
       {"C1D.", "C2D.", "C3D.", "GMM.", "GRP.", "DIL.", "DEP.", "T2D.", "CAP.", "NRM.", "ConvLayer."},
       "[B] table I: 3 sketches"},
      {"ansor", {"TBS."}, "[B] table I: 27 sketches"},
      {"flextensor", {"yolo."}, "[F] 6.5: 3.9e9 to 2.4e12 points"},
  };
  return rows;
}

std::string given_by_paper(std::string_view space, std::string_view name) {
  for (const GivenByPaper& row : given_by_papers()) {
    const bool is_meant =
        row.space == space &&
        std::ranges::any_of(row.operators, [&](std::string_view begin) { return name.starts_with(begin); });
    if (is_meant) return std::string(row.given);
  }
  return "";
}

// Where the space has no program for the task, the reason.
Result<SpaceSize> size_of(const Task& task, const std::string& name, const std::string& space) {
  SpaceSize size{.name = name, .sketches = {}, .paper = given_by_paper(space, name)};
  const Result<Space> derived = derive_space(task, space);
  if (!derived && derived.error().kind != ErrorKind::unsupported) return std::unexpected(derived.error());
  if (!derived) {
    size.reason = derived.error().message;
    return size;
  }
  for (const Sketch& sketch : derived->sketches()) {
    const int64_t points = sketch.domain.size();
    size.sketches.push_back({sketch.name, points, sketch.domain.parameters.size()});
    size.points += static_cast<double>(points);
  }
  return size;
}

}  // namespace

Result<std::vector<SpaceSize>> space_sizes(const ProgramSource& source, const std::string& space) {
  LATHE_TRY(const Target target, target_of(source));
  std::vector<SpaceSize> sizes;
  const auto add = [&](const Task& task, const std::string& name) -> Status {
    LATHE_TRY(SpaceSize size, size_of(task, name, space));
    sizes.push_back(std::move(size));
    return {};
  };
  if (!source.model.empty()) {
    LATHE_TRY(const Network network, load_network(source, target));
    for (const WeightedTask& weighted : network.tasks.tasks)
      LATHE_TRY_STATUS(add(weighted.task, weighted.task.name));
    return sizes;
  }
  LATHE_TRY(const std::vector<Workload> workloads, load_workloads(source));
  for (const Workload& workload : workloads) {
    LATHE_TRY(const Task task, task_of(workload, target, true, source.exact_specials));
    LATHE_TRY_STATUS(add(task, workload.name));
  }
  return sizes;
}

}  // namespace lathe
