#include "codegen/check_lowered.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "codegen/patterns.h"

namespace lathe {
namespace {

Status invalid(std::string message) { return fail(ErrorKind::invalid_program, std::move(message)); }

const char* meaning_of(LoopKind kind) {
  if (kind == LoopKind::parallel) return "shared out among the threads of a processor";
  return kind == LoopKind::block ? "one of blocks of threads" : "one of a block's threads";
}

class Checker {
 public:
  Checker(const LoweredProgram& lowered, bool has_blocks) : lowered_(lowered), has_blocks_(has_blocks) {
    for (const Argument& argument : lowered.program.arguments) visible_.push_back(argument.tensor);
    for (const Prepared& prepared : lowered.program.prepared) visible_.push_back(prepared.tensor);
  }

  Status check(const Stmt& stmt) {
    seen_.clear();
    return std::visit([this](const auto& node) { return visit(node); }, stmt->node);
  }

 private:
  Status visit(const Block& block) {
    return invalid(
        fmt::format("block '{}' reached code generation: lower_blocks turns it into stores", block.name));
  }

  Status visit(const For& loop) {
    const bool parallel = loop.kind == LoopKind::parallel;
    if (runs_at_once(loop.kind) && parallel == has_blocks_) {
      return fail(ErrorKind::unsupported, fmt::format("loop '{}' is {}, which the target does not have",
                                                      loop.var.name(), meaning_of(loop.kind)));
    }
    if (!runs_at_once(loop.kind) && loop.kind != LoopKind::serial) {
      return invalid(
          fmt::format("loop '{}' reached code generation: unroll_loops expands it", loop.var.name()));
    }
    if (parallel && parallel_depth_ > 0) {
      return invalid(fmt::format("parallel loop '{}' lies inside another one", loop.var.name()));
    }
    for (const Affine& extent : loop.extents) LATHE_TRY_STATUS(check_index(extent));
    const size_t outside = parallel_start_;
    if (parallel) {
      parallel_start_ = visible_.size();
      ++parallel_depth_;
    }
    Status status = check(loop.body);
    if (parallel) {
      --parallel_depth_;
      parallel_start_ = outside;
    }
    return status;
  }

  Status visit(const Seq& seq) {
    for (const Stmt& stmt : seq.statements) LATHE_TRY_STATUS(check(stmt));
    return {};
  }

  Status visit(const Alloc& alloc) {
    const BufferPlace* place = lowered_.memory.find(alloc.tensor);
    const std::string& name = alloc.tensor->name;
    if (place == nullptr) return invalid(fmt::format("buffer '{}' has no place in the memory plan", name));
    if (!has_blocks_ && place->arena == Arena::registers && place->bytes > kMaxRegisterBytes) {
      return invalid(fmt::format("buffer '{}' of {} bytes is too large for registers: at most {}", name,
                                 place->bytes, kMaxRegisterBytes));
    }
    visible_.push_back(alloc.tensor);
    Status status = check(alloc.body);
    visible_.pop_back();
    return status;
  }

  Status visit(const If& branch) {
    for (const Conjunct& conjunct : branch.conditions) LATHE_TRY_STATUS(check_index(conjunct.value));
    return check(branch.body);
  }

  Status visit(const Store& store) {
    LATHE_TRY_STATUS(check_access(store.tensor, store.index));
    if (!store.tensor->literal.empty()) {
      return invalid(fmt::format("literal table '{}' is written", store.tensor->name));
    }
    if (store.mask.defined()) LATHE_TRY_STATUS(check_expr(store.mask));
    return check_expr(store.value);
  }

  Status visit(const Barrier&) {
    return has_blocks_ ? Status() : invalid("a barrier reached code generation: there are no blocks");
  }
  Status visit(const Prefetch& prefetch) { return check_access(prefetch.tensor, prefetch.index); }

  Status check_access(const Tensor& tensor, const std::vector<Affine>& index) {
    const std::string& name = tensor->name;
    if (index.size() != 1) {
      return invalid(fmt::format("access to '{}' has {} indices: flatten_buffers makes one offset of them",
                                 name, index.size()));
    }
    LATHE_TRY_STATUS(check_visible(tensor));
    return check_index(index[0]);
  }

  Status check_visible(const Tensor& tensor) {
    if (!tensor->literal.empty()) return {};
    const auto found = std::ranges::find(visible_, tensor);
    if (found == visible_.end()) {
      return invalid(fmt::format("buffer '{}' is used outside its lifetime", tensor->name));
    }
    const BufferPlace* place = lowered_.memory.find(tensor);
    const bool outside = static_cast<size_t>(found - visible_.begin()) < parallel_start_;
    if (place != nullptr && place->arena == Arena::registers && outside && parallel_depth_ > 0) {
      return invalid(fmt::format("buffer '{}' in registers is used across a parallel loop", tensor->name));
    }
    return {};
  }

  Status check_index(const Affine& index) { return check_expr(Expr(index)); }

  // Expressions share their parts: each is looked at once a statement, or polynomials would take for ever.
  Status check_expr(const Expr& e) {
    if (!seen_.insert(e.get()).second) return {};
    // A load is told by its buffer.
    return std::visit([&](const auto& node) { return visit_expr(node, e.type()); }, e->node);
  }

  Status visit_expr(const Literal&, Type) { return {}; }
  Status visit_expr(const Index& e, Type) { return check_atoms(e.value); }
  Status visit_expr(const Ramp& e, Type) { return check_atoms(e.base); }
  Status visit_expr(const Cast& e, Type) { return check_expr(e.operand); }
  Status visit_expr(const BitCast& e, Type) { return check_expr(e.operand); }
  Status visit_expr(const Broadcast& e, Type) { return check_expr(e.operand); }
  Status visit_expr(const Call& e, Type) {
    for (const Expr& operand : e.operands) LATHE_TRY_STATUS(check_expr(operand));
    return {};
  }
  Status visit_expr(const Load& e, Type) {
    LATHE_TRY_STATUS(check_access(e.tensor, e.index));
    return e.mask.defined() ? check_expr(e.mask) : Status();
  }
  Status visit_expr(const Unary& e, Type type) {
    LATHE_TRY_STATUS(check_computed(type.dtype));
    if (const char* name = library_function(e.op)) LATHE_TRY_STATUS(check_expanded(name, type.dtype));
    return check_expr(e.operand);
  }
  Status visit_expr(const Binary& e, Type type) {
    LATHE_TRY_STATUS(check_computed(type.dtype));
    if (const char* name = library_function(e.op)) LATHE_TRY_STATUS(check_expanded(name, type.dtype));
    LATHE_TRY_STATUS(check_expr(e.a));
    return check_expr(e.b);
  }
  Status visit_expr(const Select& e, Type) {
    LATHE_TRY_STATUS(check_expr(e.condition));
    LATHE_TRY_STATUS(check_expr(e.if_true));
    return check_expr(e.if_false);
  }

  static Status check_computed(DType dtype) {
    if (!is_storage_only(dtype)) return {};
    return invalid(fmt::format("nothing is computed in {}: cast to {}", to_string(dtype),
                               to_string(info_of(dtype).computed_in)));
  }

  static Status check_expanded(const char* name, DType dtype) {
    if (dtype != DType::f32) return {};
    return invalid(fmt::format("{} reached code generation: expand_math turns it into arithmetic", name));
  }

  Status check_atoms(const Affine& a) {
    for (const Affine::Term& term : a.terms()) {
      switch (term.atom->kind) {
        case AtomKind::variable: break;
        case AtomKind::floor_div:
        case AtomKind::modulo: LATHE_TRY_STATUS(check_atoms(term.atom->operand)); break;
        case AtomKind::opaque: LATHE_TRY_STATUS(check_expr(*term.atom->opaque)); break;
      }
    }
    return {};
  }

  const LoweredProgram& lowered_;
  bool has_blocks_;
  std::vector<Tensor> visible_;
  size_t parallel_start_ = 0;
  int parallel_depth_ = 0;
  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

namespace {

Status check(const LoweredProgram& lowered, bool has_blocks) {
  Checker checker(lowered, has_blocks);
  if (lowered.program.prepare) LATHE_TRY_STATUS(checker.check(lowered.program.prepare));
  if (lowered.program.main) LATHE_TRY_STATUS(checker.check(lowered.program.main));
  return {};
}

}  // namespace

Status check_lowered(const LoweredProgram& lowered) { return check(lowered, false); }

Status check_lowered_kernels(const LoweredProgram& lowered) { return check(lowered, true); }

}  // namespace lathe
