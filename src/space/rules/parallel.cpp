#include "space/rules/parallel.h"

#include <algorithm>

#include "expr/loop_counts.h"
#include "expr/walk.h"

namespace lathe {
namespace {

// Cycles of one core for a vector of points, at one operation or load a cycle; those that may be computed in
// many steps take some thirty.
double cycles_of_vector(const Compute& compute, const CostConstants& costs) {
  double cycles = 0;
  for_each(compute.body, [&](const Expr& e) {
    const Unary* unary = e.as<Unary>();
    const Binary* binary = e.as<Binary>();
    const bool is_long = (unary != nullptr && unary->op != UnaryOp::negate && unary->op != UnaryOp::abs) ||
                         (binary != nullptr && (binary->op == BinaryOp::div || binary->op == BinaryOp::mod ||
                                                binary->op == BinaryOp::pow));
    cycles += is_long ? costs.long_operation : 1;
  });
  return cycles;
}

// Whether one core is done before others have been told of the work, which takes two tenths of a microsecond.
bool is_done_alone(const Analysis& analysis, const Compute& compute) {
  return points_of(compute) / analysis.lanes() * cycles_of_vector(compute, analysis.costs) <
         analysis.costs.stage_worth_sharing;
}

}  // namespace

std::vector<std::string> names_of(const OuterLoops& loops) {
  std::vector<std::string> names;
  for (const auto& [name, extent] : loops) names.push_back(name);
  return names;
}

SharedLoops share_loops(const Analysis& analysis, const OuterLoops& loops) {
  SharedLoops result{.names = names_of(loops)};
  if (analysis.task.target.cpu().cores <= 1 || loops.empty()) return result;
  const int64_t wanted = whole(analysis.costs.pieces_a_core) * analysis.task.target.cpu().cores;
  size_t count = 0;
  int64_t pieces = 1;
  while (count < loops.size() && pieces < wanted) pieces *= loops[count++].second;
  if (pieces < 2) return result;
  const auto end = result.names.begin() + static_cast<std::ptrdiff_t>(count);
  result.shared.assign(result.names.begin(), end);
  std::string fused = result.shared.front();
  for (size_t i = 1; i < count; ++i) fused += "_" + result.shared[i];
  result.names.erase(result.names.begin(), end);
  result.names.insert(result.names.begin(), fused);
  return result;
}

SharedLoops share_loops_if_long(const Analysis& analysis, const Compute& compute, const OuterLoops& loops) {
  return is_done_alone(analysis, compute) ? SharedLoops{.names = names_of(loops)}
                                          : share_loops(analysis, loops);
}

void write_shared(Writer& writer, const std::string& block, const SharedLoops& loops) {
  if (loops.shared.empty()) return;
  if (loops.shared.size() > 1) writer.add(FuseStep{block, loops.shared});
  writer.add(AnnotateStep{block, loops.names.front(), LoopKind::parallel});
}

}  // namespace lathe
