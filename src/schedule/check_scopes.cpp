#include "schedule/check_scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "loop/walk.h"

namespace lathe {
namespace {

class ScopeChecker {
 public:
  explicit ScopeChecker(const Program& program) {
    for (const Argument& argument : program.arguments) visible_.insert(argument.tensor.get());
    for (const Prepared& prepared : program.prepared) visible_.insert(prepared.tensor.get());
  }

  Status check(const Stmt& stmt) {
    if (const For* loop = as<For>(stmt)) {
      loops_.push_back(loop->var);
      Status status = check(loop->body);
      loops_.pop_back();
      return status;
    }
    if (const If* condition = as<If>(stmt)) return check(condition->body);
    if (const Block* block = as<Block>(stmt)) return check_block(*block);
    if (const Prefetch* fetch = as<Prefetch>(stmt)) return require(*fetch->tensor.get(), "a prefetch");
    if (const Alloc* alloc = as<Alloc>(stmt)) {
      visible_.insert(alloc->tensor.get());
      Status status = check(alloc->body);
      visible_.erase(alloc->tensor.get());
      return status;
    }
    if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) LATHE_TRY_STATUS(check(child));
    }
    return {};
  }

 private:
  Status check_block(const Block& block) {
    const std::string who = fmt::format("block '{}'", block.name);
    LATHE_TRY_STATUS(require(*block.output.get(), who));
    for (const Load* load : loads_of(block.value)) LATHE_TRY_STATUS(require(*load->tensor.get(), who));
    for (const BlockAxis& axis : block.axes) LATHE_TRY_STATUS(require_loops(axis.binding, who));
    for (const Conjunct& conjunct : block.predicate) LATHE_TRY_STATUS(require_loops(conjunct.value, who));
    return {};
  }

  Status require(const TensorNode& tensor, const std::string& who) {
    if (!tensor.literal.empty() || visible_.contains(&tensor)) return {};
    return fail(ErrorKind::illegal_schedule,
                fmt::format("{} would use '{}' outside of the loop that it is local to", who, tensor.name));
  }

  Status require_loops(const Affine& value, const std::string& who) {
    std::vector<Var> vars;
    collect_vars(value, vars);
    for (const Var& var : vars) {
      if (std::ranges::find(loops_, var) != loops_.end()) continue;
      return fail(ErrorKind::illegal_schedule, fmt::format("{} would leave loop '{}'", who, var.name()));
    }
    return {};
  }

  std::unordered_set<const TensorNode*> visible_;
  std::vector<Var> loops_;
};

}  // namespace

Status check_scopes(const Program& program) {
  ScopeChecker checker(program);
  if (program.prepare) LATHE_TRY_STATUS(checker.check(program.prepare));
  return program.main ? checker.check(program.main) : Status();
}

}  // namespace lathe
