// The program that computes a Dag as it stands (loop/loop.h).
#include "base/check.h"
#include "loop/loop.h"

namespace lathe {
namespace {

Stmt compute_nest(const Compute& compute) {
  Block block;
  block.name = compute.output->name;
  block.output = compute.output;
  block.reduction = compute.reduction;
  block.initialises = compute.reduction != Reduction::none;
  block.value = compute.body;
  std::vector<Var> loops;
  for (const Axis& axis : compute.axes) {
    loops.emplace_back(axis.var.name());
    block.axes.push_back({axis, Affine(loops.back()), Tail::guard});
    if (axis.kind == AxisKind::spatial) block.output_index.emplace_back(axis.var);
  }
  Stmt nest = make_stmt(std::move(block));
  for (size_t i = loops.size(); i-- > 0;) {
    nest = make_stmt(For{loops[i], {Affine(compute.axes[i].extent)}, LoopKind::serial, nest});
  }
  return nest;
}

}  // namespace

Stmt make_seq(std::vector<Stmt> statements) {
  std::vector<Stmt> kept;
  for (Stmt& stmt : statements) {
    if (!stmt) continue;
    if (const Seq* inner = as<Seq>(stmt)) {
      kept.insert(kept.end(), inner->statements.begin(), inner->statements.end());
    } else {
      kept.push_back(std::move(stmt));
    }
  }
  if (kept.empty()) return nullptr;
  if (kept.size() == 1) return kept.front();
  return make_stmt(Seq{std::move(kept)});
}

Program naive_program(const Task& task) {
  Program program;
  program.arguments = task.arguments;
  std::vector<Stmt> nests;
  for (const Compute& compute : task.dag.computes) nests.push_back(compute_nest(compute));
  program.main = make_seq(std::move(nests));
  for (size_t i = task.dag.computes.size(); i-- > 0;) {
    const Tensor& tensor = task.dag.computes[i].output;
    if (task.dag.is_output(tensor)) continue;
    program.main =
        make_stmt(Alloc{tensor, Scope::workspace, Layout::row_major(tensor->shape.size()), program.main});
  }
  return program;
}

bool runs_at_once(LoopKind kind) {
  return kind == LoopKind::parallel || kind == LoopKind::block || kind == LoopKind::thread;
}

int64_t constant_extent(const For& loop) {
  if (loop.extents.size() != 1 || !loop.extents[0].is_constant()) return -1;
  return loop.extents[0].constant();
}

}  // namespace lathe
