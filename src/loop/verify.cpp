#include "loop/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "expr/reads.h"
#include "intrinsics/intrinsic.h"
#include "loop/print.h"
#include "loop/region.h"
#include "loop/verify_coverage.h"
#include "loop/walk.h"

namespace lathe {
namespace {

enum class Role : uint8_t { input, constant, output, prepared, allocated };

// A tensor that can be accessed here.
struct Known {
  Tensor tensor;
  Role role = Role::input;
  Layout layout;
  size_t loops = 0;  // how many loops are around its Alloc
};

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}
  Status run();

  Status operator()(const For& loop);
  Status operator()(const Block& block);
  Status operator()(const Seq& seq);
  Status operator()(const Alloc& alloc);
  Status operator()(const If& branch);
  Status operator()(const Store& store);
  Status operator()(const Prefetch& prefetch);
  Status operator()(const Barrier&) { return check_barrier(); }

 private:
  Status statement(const Stmt& stmt) { return stmt ? std::visit(*this, stmt->node) : Status(); }
  Status declare(const Tensor& tensor, const Layout& layout, Role role);
  Result<const Known*> accessible(const Tensor& tensor, bool writes) const;
  Status check_intrinsic(const For& loop) const;
  Status check_call(const Call& call) const;
  Status check_loop(const For& loop) const;
  Status check_binding(const For& loop, const For& outer) const;
  Status check_barrier();
  Status check_axes(const Block& block) const;
  Status check_block_loops(const Block& block) const;
  Status check_domain(const Block& block) const;
  // `surely`: it happens whenever its statement runs, under no select.
  Status check_access(const Load& access, int lanes, bool writes, bool surely) const;
  Status check_storage(const Known& known, const Load& access, int lanes, bool writes) const;
  Status check_value(const Expr& value, const std::vector<Var>& scope) const;
  Status check_reads(const Expr& value) const;
  Status check_vars(const Affine& value, const std::vector<Var>& scope, const char* what) const;
  Status check_control(const Affine& value, const char* what) const;
  std::vector<Var> loop_vars() const;
  bool always_reached(const Affine& index) const;
  std::unexpected<Error> error(std::string message) const {
    return fail(ErrorKind::invalid_program, std::move(message), where_);
  }

  const Program& program_;
  std::vector<Known> tensors_;
  std::vector<const For*> loops_;
  Ranges ranges_;
  std::vector<Affine> facts_;  // >= 0 here, from extents and conditions
  size_t conditions_ = 0;      // around here
  std::vector<std::string> blocks_;
  bool preparing_ = false;
  std::string where_;
};

Status Verifier::run() {
  for (const Argument& argument : program_.arguments) {
    const Role role = argument.is_output ? Role::output : argument.is_constant ? Role::constant : Role::input;
    LATHE_TRY_STATUS(declare(argument.tensor, argument.layout, role));
  }
  for (const Prepared& prepared : program_.prepared) {
    LATHE_TRY_STATUS(declare(prepared.tensor, prepared.layout, Role::prepared));
  }
  preparing_ = true;
  LATHE_TRY_STATUS(statement(program_.prepare));
  preparing_ = false;
  return statement(program_.main);
}

Status Verifier::declare(const Tensor& tensor, const Layout& layout, Role role) {
  where_ = tensor->name;
  if (std::ranges::find(tensors_, tensor, &Known::tensor) != tensors_.end()) {
    return error(role == Role::allocated ? "it is allocated within its own lifetime"
                                         : "it is declared twice");
  }
  if (const Status status = lathe::verify(layout, tensor->shape); !status)
    return error(status.error().message);
  tensors_.push_back({tensor, role, layout, loops_.size()});
  return {};
}

Result<const Known*> Verifier::accessible(const Tensor& tensor, bool writes) const {
  const char* action = writes ? "written" : "read";
  if (!tensor->literal.empty()) {
    if (writes) return error(fmt::format("the table {} is written", tensor->name));
    return nullptr;
  }
  const auto known = std::ranges::find(tensors_, tensor, &Known::tensor);
  if (known == tensors_.end()) {
    return error(
        fmt::format("{} is {}, but it is no argument, no prepared buffer and no alloc of it is around",
                    tensor->name, action));
  }
  const bool read_only = known->role == Role::input || known->role == Role::constant;
  const bool hidden = known->role == Role::input || known->role == Role::output;
  if (writes && read_only) return error(fmt::format("the argument {} is read-only", tensor->name));
  if (writes && known->role == Role::prepared && !preparing_) {
    return error(fmt::format("main writes the prepared buffer {}", tensor->name));
  }
  if (preparing_ && hidden) {
    return error(fmt::format("{} is {} in prepare, which sees constants only", tensor->name, action));
  }
  return &*known;
}

std::vector<Var> Verifier::loop_vars() const {
  std::vector<Var> vars;
  for (const For* loop : loops_) vars.push_back(loop->var);
  return vars;
}

Status Verifier::check_vars(const Affine& value, const std::vector<Var>& scope, const char* what) const {
  std::vector<Var> used;
  collect_vars(value, used);
  for (const Var& var : used) {
    if (std::ranges::find(scope, var) != scope.end()) continue;
    return error(fmt::format("{} uses {}, which is not around it", what, var.name()));
  }
  return {};
}

// What says which points are computed: known before any of them is, so it holds no indirect index.
Status Verifier::check_control(const Affine& value, const char* what) const {
  LATHE_TRY_STATUS(check_vars(value, loop_vars(), what));
  if (!depends_on_values(value)) return {};
  return error(fmt::format("{} {} depends on the values of a tensor", what, to_string(value)));
}

Status Verifier::check_intrinsic(const For& loop) const {
  if (loop.kind != LoopKind::tensorized) {
    return loop.intrinsic.empty() ? Status() : error(fmt::format("it is no work of '{}'", loop.intrinsic));
  }
  const Intrinsic* intrinsic = find_intrinsic(loop.intrinsic);
  if (intrinsic == nullptr) return error(fmt::format("there is no intrinsic '{}'", loop.intrinsic));
  if (constant_extent(loop) == intrinsic->group) return {};
  return error(fmt::format("'{}' takes {} elements together", loop.intrinsic, intrinsic->group));
}

Status Verifier::check_call(const Call& call) const {
  const Intrinsic* intrinsic = find_intrinsic(call.intrinsic);
  if (intrinsic == nullptr) return error(fmt::format("there is no intrinsic '{}'", call.intrinsic));
  if (call.operands.size() == 3) {
    const int group = intrinsic->group;
    const int all = group * call.operands[0].type().lanes;
    const auto is_factor = [&](const Expr& factor, DType dtype) {
      const Type type = factor.type();
      return type.dtype == dtype && (type.lanes == group || type.lanes == all);
    };
    if (call.operands[0].type().dtype == intrinsic->result && is_factor(call.operands[1], intrinsic->a) &&
        is_factor(call.operands[2], intrinsic->b))
      return {};
  }
  return error(fmt::format("'{}' takes an accumulator of {} and groups of {} {} and {}", call.intrinsic,
                           to_string(intrinsic->result), intrinsic->group, to_string(intrinsic->a),
                           to_string(intrinsic->b)));
}

Status Verifier::check_binding(const For& loop, const For& outer) const {
  if (loop.kind == LoopKind::block && outer.kind != LoopKind::block)
    return error(fmt::format("a loop of blocks is inside of {}", outer.var.name()));
  const bool is_shared_out = loop.kind == LoopKind::block || loop.kind == LoopKind::thread;
  if ((is_shared_out && outer.kind == LoopKind::parallel) ||
      (loop.kind == LoopKind::parallel && outer.kind == LoopKind::thread) ||
      (loop.kind == LoopKind::parallel && outer.kind == LoopKind::block))
    return error(fmt::format("threads of processors and of blocks are mixed with {}", outer.var.name()));
  return {};
}

Status Verifier::check_barrier() {
  where_ = "barrier";
  for (const For* loop : loops_) {
    if (loop->kind != LoopKind::thread) continue;
    return error(fmt::format("some threads might not come to it inside of {}", loop->var.name()));
  }
  return {};
}

Status Verifier::check_loop(const For& loop) const {
  if (loop.extents.empty()) return error("it has no extent");
  for (const Affine& extent : loop.extents) {
    LATHE_TRY_STATUS(check_control(extent, "its extent"));
  }
  for (const For* outer : loops_) {
    if (outer->var == loop.var) return error("it is inside of itself");
    if (loop.kind == LoopKind::parallel && outer->kind == LoopKind::parallel) {
      return error(fmt::format("it is parallel inside of the parallel loop {}", outer->var.name()));
    }
    LATHE_TRY_STATUS(check_binding(loop, *outer));
  }
  LATHE_TRY_STATUS(check_intrinsic(loop));
  const bool needs_constant = loop.kind == LoopKind::unrolled || loop.kind == LoopKind::vectorized;
  if (!needs_constant || constant_extent(loop) >= 0) return {};
  std::vector<std::string> extents;
  for (const Affine& extent : loop.extents) extents.push_back(to_string(extent));
  return error(fmt::format("{} loop needs a constant extent, not {}",
                           loop.kind == LoopKind::unrolled ? "an unrolled" : "a vector",
                           fmt::join(extents, " and ")));
}

Status Verifier::operator()(const For& loop) {
  where_ = "loop " + loop.var.name();
  LATHE_TRY_STATUS(check_loop(loop));
  const Ranges ranges = ranges_;
  const size_t facts = facts_.size();
  const int64_t extent = largest_extent(loop, ranges_);
  if (extent > 0) ranges_.set_extent(loop.var, extent);
  if (constant_extent(loop) < 0) {
    for (const Affine& bound : loop.extents) facts_.push_back(bound - 1 - Affine(loop.var));
  }
  loops_.push_back(&loop);
  LATHE_TRY_STATUS(statement(loop.body));
  loops_.pop_back();
  facts_.resize(facts);
  ranges_ = ranges;
  return {};
}

Status Verifier::operator()(const Seq& seq) {
  for (const Stmt& child : seq.statements) LATHE_TRY_STATUS(statement(child));
  return {};
}

Status Verifier::operator()(const Alloc& alloc) {
  LATHE_TRY_STATUS(declare(alloc.tensor, alloc.layout, Role::allocated));
  LATHE_TRY_STATUS(statement(alloc.body));
  tensors_.pop_back();
  return {};
}

Affine fact_of(const Conjunct& conjunct) { return Affine(conjunct.bound - 1) - conjunct.value; }

Status Verifier::operator()(const If& branch) {
  where_ = "if";
  const size_t facts = facts_.size();
  for (const Conjunct& conjunct : branch.conditions) {
    LATHE_TRY_STATUS(check_control(conjunct.value, "a condition"));
    facts_.push_back(fact_of(conjunct));
  }
  ++conditions_;
  LATHE_TRY_STATUS(statement(branch.body));
  --conditions_;
  facts_.resize(facts);
  return {};
}

Status Verifier::operator()(const Block& block) {
  where_ = "block " + block.name;
  if (program_.flat) return error("a flat program has no blocks");
  if (std::ranges::find(blocks_, block.name) != blocks_.end())
    return error("there are two blocks of that name");
  blocks_.push_back(block.name);
  LATHE_TRY_STATUS(check_axes(block));
  LATHE_TRY_STATUS(check_block_loops(block));
  LATHE_TRY_STATUS(check_domain(block));
  LATHE_TRY(const Known* output, accessible(block.output, true));
  LATHE_TRY_STATUS(check_access({block.output, block.output_index, 0, {}}, 1, true, false));
  LATHE_TRY_STATUS(check_reads(block.value));
  return verify_coverage(block, loops_, output->role == Role::allocated ? output->loops : 0,
                         output->role == Role::output);
}

Status Verifier::check_axes(const Block& block) const {
  std::vector<Var> axes;
  for (const BlockAxis& axis : block.axes) {
    if (std::ranges::find(axes, axis.axis.var) != axes.end()) {
      return error(fmt::format("it has the axis {} twice", axis.axis.var.name()));
    }
    axes.push_back(axis.axis.var);
    LATHE_TRY_STATUS(check_control(axis.binding, "a binding"));
  }
  for (const Conjunct& conjunct : block.predicate) {
    LATHE_TRY_STATUS(check_control(conjunct.value, "its predicate"));
    if (conjunct.is_neutral && block.reduction == Reduction::none)
      return error("a conjunct is neutral to a reduction that there is not");
    if (conjunct.axis < static_cast<int>(block.axes.size())) continue;
    return error(fmt::format("a conjunct guards axis {} of {}", conjunct.axis, block.axes.size()));
  }
  for (const Affine& index : block.output_index)
    LATHE_TRY_STATUS(check_vars(index, axes, "its output index"));
  if (!block.value.defined()) return error("it has no value");
  if (block.value.type() != Type{block.output->dtype, 1}) {
    return error(fmt::format("its value is {}, {} holds {}", to_string(block.value.type()),
                             block.output->name, to_string(block.output->dtype)));
  }
  if (block.initialises && block.reduction == Reduction::none)
    return error("it initialises without a reduction");
  return check_value(block.value, axes);
}

Status Verifier::check_block_loops(const Block& block) const {
  for (const For* loop : loops_) {
    const bool at_once = runs_at_once(loop->kind) || loop->kind == LoopKind::vectorized;
    if (!at_once || constant_extent(*loop) == 1) continue;
    for (const BlockAxis& axis : block.axes) {
      if (axis.axis.kind != AxisKind::reduce || !axis.binding.uses(loop->var)) continue;
      return error(fmt::format("the {} loop {} drives its reduce axis {}", to_string(loop->kind),
                               loop->var.name(), axis.axis.var.name()));
    }
  }
  return {};
}

// Bounds are not always tight: what they let leave the domain is counted out.
Status Verifier::check_domain(const Block& block) const {
  std::vector<Affine> facts = facts_;
  for (const Conjunct& conjunct : block.predicate) facts.push_back(fact_of(conjunct));
  std::vector<Conjunct> conditions;
  for (const Affine& fact : facts) conditions.push_back({fact * -1, 1});
  for (const BlockAxis& axis : block.axes) {
    const Reach reach = reach_of(axis.binding, ranges_, facts);
    const bool below = reach.lo && *reach.lo < 0;
    const bool above = reach.hi && *reach.hi >= axis.axis.extent;
    if (!below && !above) continue;
    const std::optional<int64_t> outside = value_outside(axis, loops_, conditions);
    if (!outside) continue;
    return error(fmt::format("axis {} of extent {} is bound to {}, which reaches {}", axis.axis.var.name(),
                             axis.axis.extent, to_string(axis.binding), *outside));
  }
  return {};
}

Status Verifier::check_value(const Expr& value, const std::vector<Var>& scope) const {
  std::vector<Var> used;
  collect_vars(value, used);
  for (const Var& var : used) {
    if (std::ranges::find(scope, var) != scope.end()) continue;
    return error(fmt::format("its value uses {}, which is not around it", var.name()));
  }
  bool has_lanes = false;
  Status status;
  for_each(value, [&](const Expr& e) {
    const Load* load = e.as<Load>();
    if (const Call* call = e.as<Call>(); call != nullptr && status) status = check_call(*call);
    has_lanes = has_lanes || e.type().lanes > 1 || (load != nullptr && load->mask.defined());
  });
  if (has_lanes && !program_.flat) return error("vectors and masks come after the layouts are flattened");
  return status;
}

Status Verifier::check_reads(const Expr& value) const {
  Status status;
  for_each(value, [&](const Expr& e) {
    const Load* load = e.as<Load>();
    if (load != nullptr && status) status = check_access(*load, e.type().lanes, false, false);
  });
  return status;
}

Status Verifier::check_access(const Load& access, int lanes, bool writes, bool surely) const {
  LATHE_TRY(const Known* known, accessible(access.tensor, writes));
  const size_t expected = program_.flat ? 1 : access.tensor->shape.size();
  if (access.index.size() != expected) {
    return error(
        fmt::format("{} has {} indices instead of {}", access.tensor->name, access.index.size(), expected));
  }
  if (access.mask.defined() && access.mask.type() != Type{DType::boolean, lanes}) {
    return error(fmt::format("the mask of {} is {}, not {}", access.tensor->name,
                             to_string(access.mask.type()), to_string(Type{DType::boolean, lanes})));
  }
  return known != nullptr && surely ? check_storage(*known, access, lanes, writes) : Status();
}

// Every value between the bounds of such an index occurs.
bool Verifier::always_reached(const Affine& index) const {
  const bool plain = std::ranges::all_of(
      index.terms(), [](const Affine::Term& term) { return term.atom->kind == AtomKind::variable; });
  const bool constant =
      std::ranges::all_of(loops_, [](const For* loop) { return constant_extent(*loop) > 0; });
  return plain && constant && conditions_ == 0;
}

Status Verifier::check_storage(const Known& known, const Load& access, int lanes, bool writes) const {
  if (access.mask.defined()) return {};
  const std::vector<int64_t> room = program_.flat
                                        ? std::vector{physical_elements(known.layout, known.tensor->shape)}
                                        : capacity(known.layout, known.tensor->shape);
  for (size_t dim = 0; dim < room.size(); ++dim) {
    if (!always_reached(access.index[dim])) continue;
    const auto reach = bounds(access.index[dim], ranges_);
    if (!reach) continue;
    const int64_t across = (lanes - 1) * access.stride;
    const int64_t lo = reach->lo + std::min<int64_t>(across, 0);
    const int64_t hi = reach->hi + std::max<int64_t>(across, 0);
    if (lo >= 0 && hi < room[dim]) continue;
    const int64_t outside = lo < 0 ? lo : hi;
    return error(fmt::format("{} outside of {}: {} {}, its storage has room for 0 .. {}",
                             writes ? "writes" : "reads", known.tensor->name,
                             program_.flat ? std::string("offset") : fmt::format("index {} is", dim), outside,
                             room[dim] - 1));
  }
  return {};
}

// What is read whichever sides selects take.
void collect_sure_reads(const Expr& e, std::vector<Expr>& loads) {
  if (e.as<Load>() != nullptr) loads.push_back(e);
  if (const Unary* unary = e.as<Unary>()) collect_sure_reads(unary->operand, loads);
  if (const Cast* cast = e.as<Cast>()) collect_sure_reads(cast->operand, loads);
  if (const BitCast* bits = e.as<BitCast>()) collect_sure_reads(bits->operand, loads);
  if (const Broadcast* broadcast = e.as<Broadcast>()) collect_sure_reads(broadcast->operand, loads);
  if (const Select* select = e.as<Select>()) collect_sure_reads(select->condition, loads);
  if (const Binary* binary = e.as<Binary>()) {
    collect_sure_reads(binary->a, loads);
    collect_sure_reads(binary->b, loads);
  }
  if (const Call* call = e.as<Call>()) {
    for (const Expr& operand : call->operands) collect_sure_reads(operand, loads);
  }
}

Status Verifier::operator()(const Store& store) {
  const int lanes = store.value.type().lanes;
  const std::vector<Var> scope = loop_vars();
  where_ = "store to " + store.tensor->name;
  if (store.value.type().dtype != store.tensor->dtype) {
    return error(fmt::format("the value is {}, {} holds {}", to_string(store.value.type()),
                             store.tensor->name, to_string(store.tensor->dtype)));
  }
  for (const Expr& e : {store.value, store.mask}) {
    if (!e.defined()) continue;
    LATHE_TRY_STATUS(check_value(e, scope));
    LATHE_TRY_STATUS(check_reads(e));
  }
  if (store.mask.defined() && !program_.flat)
    return error("vectors and masks come after the layouts are flattened");
  for (const Affine& index : store.index) LATHE_TRY_STATUS(check_vars(index, scope, "an index"));
  LATHE_TRY_STATUS(check_access({store.tensor, store.index, store.stride, store.mask}, lanes, true, true));
  std::vector<Expr> reads;
  collect_sure_reads(store.value, reads);
  for (const Expr& e : reads) LATHE_TRY_STATUS(check_access(*e.as<Load>(), e.type().lanes, false, true));
  return {};
}

Status Verifier::operator()(const Prefetch& prefetch) {
  where_ = "prefetch of " + prefetch.tensor->name;
  for (const Affine& index : prefetch.index) LATHE_TRY_STATUS(check_vars(index, loop_vars(), "an index"));
  LATHE_TRY_STATUS(accessible(prefetch.tensor, false));
  return {};
}

}  // namespace

Status verify(const Program& program) { return Verifier(program).run(); }

}  // namespace lathe
