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

SpaceSize size_of(const Space& space) {
  SpaceSize size;
  for (const Sketch& sketch : space.sketches()) {
    const int64_t points = sketch.domain.size();
    size.sketches.push_back({sketch.name, points, sketch.domain.parameters.size()});
    size.points += static_cast<double>(points);
  }
  return size;
}

}  // namespace

Result<std::vector<SpaceSize>> space_sizes(const ProgramSource& source, const std::string& space) {
  LATHE_TRY(const Target target, target_of(source));
  LATHE_TRY(const std::vector<Workload> workloads, load_workloads(source));
  std::vector<SpaceSize> sizes;
  for (const Workload& workload : workloads) {
    LATHE_TRY(const Task task, task_of(workload, target, true, source.exact_specials));
    const Result<Space> derived = derive_space(task, space);
    if (!derived && derived.error().kind != ErrorKind::unsupported) return std::unexpected(derived.error());
    SpaceSize size = derived ? size_of(*derived) : SpaceSize{};
    if (!derived) size.reason = derived.error().message;
    size.name = workload.name;
    size.paper = given_by_paper(space, workload.name);
    sizes.push_back(std::move(size));
  }
  return sizes;
}

}  // namespace lathe
