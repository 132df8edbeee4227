#include "loop/interpreter/compile.h"

#include <fmt/format.h>

#include <algorithm>

namespace lathe::interpreter {
namespace {

// Larger buffers than this (in elements) are not interpreted: it is for tests and small programs.
constexpr int64_t kLargestBuffer = int64_t{1} << 28;
// A loop whose extent is not known beforehand.
constexpr int64_t kUnknownExtent = int64_t{1} << 61;

}  // namespace

Result<ProgramCode> compile(const Program& program, bool with_coverage) {
  return Compiler(program, with_coverage).run();
}

Compiler::Compiler(const Program& program, bool with_coverage)
    : program_(program), with_coverage_(with_coverage) {
  plan_.on_opaque = [this](const Expr& e) { return opaque_slot(e); };
  plan_.on_local = [this](const SlotOp& op) {
    if (instructions_ == nullptr) return;
    code_.slot_operations.push_back(op);
    emit({.op = Op::slot_operation, .a = static_cast<int>(code_.slot_operations.size()) - 1});
  };
}

Result<ProgramCode> Compiler::run() {
  for (const Argument& argument : program_.arguments) {
    const Role role = argument.is_output ? Role::output : argument.is_constant ? Role::constant : Role::input;
    add_buffer(argument.tensor, argument.layout, role);
  }
  for (const Prepared& prepared : program_.prepared) {
    add_buffer(prepared.tensor, prepared.layout, Role::prepared);
  }
  preparing_ = true;
  if (program_.prepare) code_.root.children.push_back(statement(program_.prepare));
  preparing_ = false;
  if (program_.main) code_.root.children.push_back(statement(program_.main));
  if (error_) return std::unexpected(std::move(*error_));
  code_.slots = plan_.size();
  return std::move(code_);
}

void Compiler::fail(ErrorKind kind, std::string message) {
  if (!error_) error_ = Error{kind, std::move(message), statement_, {}};
}

void Compiler::add_buffer(const Tensor& tensor, const Layout& layout, Role role) {
  BufferInfo info{tensor, role, static_cast<int>(code_.buffers.size()), {}, layout, {}};
  BufferCode buffer{tensor, 0, role == Role::allocated};
  if (const Status status = verify(layout, tensor->shape); !status) {
    fail(ErrorKind::invalid_program, fmt::format("{}: {}", tensor->name, status.error().message));
  } else {
    info.capacity = capacity(layout, tensor->shape);
    info.physical = physical_shape(layout, tensor->shape);
    buffer.elements = 1;
    for (const int64_t size : info.physical) {
      buffer.elements = std::min<int64_t>(buffer.elements, kLargestBuffer + 1) * std::max<int64_t>(size, 0);
      if (buffer.elements <= kLargestBuffer) continue;
      fail(ErrorKind::unsupported, fmt::format("{} is too large to be interpreted", tensor->name));
      break;
    }
  }
  code_.buffers.push_back(std::move(buffer));
  buffers_.push_back(std::move(info));
}

const Compiler::BufferInfo* Compiler::find_buffer(const Tensor& tensor, bool writes) {
  const auto matches = [&](const BufferInfo& info) { return info.tensor == tensor; };
  auto found = std::find_if(buffers_.rbegin(), buffers_.rend(), matches);
  if (found == buffers_.rend() && !tensor->literal.empty()) {
    // Tables live outside of every Alloc: in front, where no Alloc's end removes them.
    add_buffer(tensor, Layout::row_major(tensor->shape.size()), Role::literal);
    std::rotate(buffers_.begin(), buffers_.end() - 1, buffers_.end());
    found = std::find_if(buffers_.rbegin(), buffers_.rend(), matches);
  }
  if (found == buffers_.rend()) {
    fail(ErrorKind::invalid_program,
         fmt::format("{} is no argument, prepared buffer or table, and no alloc is "
                     "around its access",
                     tensor->name));
    return nullptr;
  }
  return may_access(*found, writes) ? &*found : nullptr;
}

bool Compiler::may_access(const BufferInfo& info, bool writes) {
  const char* reason = nullptr;
  switch (info.role) {
    case Role::input:
      reason = writes ? "an input is read-only" : preparing_ ? "prepare reads constants only" : nullptr;
      break;
    case Role::constant: reason = writes ? "a constant is read-only" : nullptr; break;
    case Role::output: reason = preparing_ ? "prepare does not see the outputs" : nullptr; break;
    case Role::prepared:
      reason = writes && !preparing_ ? "main does not write prepared buffers" : nullptr;
      break;
    case Role::literal: reason = writes ? "a table is read-only" : nullptr; break;
    case Role::allocated: break;
  }
  if (reason == nullptr) return true;
  fail(ErrorKind::invalid_program,
       fmt::format("{} is {} here: {}", info.tensor->name, writes ? "written" : "read", reason));
  return false;
}

StatementCode Compiler::statement(const Stmt& stmt) {
  struct Visitor {
    Compiler& self;
    StatementCode operator()(const For& s) const { return self.loop(s); }
    StatementCode operator()(const Block& s) const { return self.block(s); }
    StatementCode operator()(const Seq& s) const {
      StatementCode code;
      for (const Stmt& child : s.statements) code.children.push_back(self.statement(child));
      return code;
    }
    StatementCode operator()(const Alloc& s) const { return self.alloc(s); }
    StatementCode operator()(const If& s) const { return self.branch(s); }
    StatementCode operator()(const Store& s) const { return self.store(s); }
    StatementCode operator()(const Prefetch&) const { return {}; }
    StatementCode operator()(const Barrier&) const { return {}; }
  };
  return std::visit(Visitor{*this}, stmt->node);
}

StatementCode Compiler::loop(const For& loop) {
  StatementCode code;
  code.kind = StatementKind::loop;
  code.parallel = runs_at_once(loop.kind);
  int64_t largest = kUnknownExtent;
  statement_ = "loop " + loop.var.name();
  if (loop.extents.empty()) fail(ErrorKind::invalid_program, "the loop has no extent");
  for (const Affine& extent : loop.extents) {
    code.extents.push_back(plan_.value(extent));
    largest = std::min(largest, plan_.range(code.extents.back()).hi);
  }
  std::vector<SlotOp> operations;
  code.slot = plan_.open_loop(loop.var, largest - 1, &operations);
  if (loop.body) code.children.push_back(statement(loop.body));
  plan_.close_loop(loop.var);
  code.operations = std::move(operations);
  return code;
}

StatementCode Compiler::alloc(const Alloc& alloc) {
  StatementCode code;
  code.kind = StatementKind::alloc;
  statement_ = "alloc " + alloc.tensor->name;
  add_buffer(alloc.tensor, alloc.layout, Role::allocated);
  code.buffer = buffers_.back().id;
  if (alloc.body) code.children.push_back(statement(alloc.body));
  buffers_.pop_back();
  return code;
}

std::vector<Guard> Compiler::guards(const std::vector<Conjunct>& conjuncts) {
  std::vector<Guard> result;
  for (const Conjunct& conjunct : conjuncts) result.push_back({plan_.value(conjunct.value), conjunct.bound});
  if (plan_.unknown() != nullptr) {
    fail(ErrorKind::invalid_program, fmt::format("{} is no loop around it", plan_.unknown()->name));
  }
  return result;
}

std::vector<Interval> Compiler::narrow(const std::vector<Guard>& guards) {
  std::vector<Interval> ranges;
  for (const Guard& guard : guards) ranges.push_back(plan_.narrow(guard.value, guard.bound));
  return ranges;
}

void Compiler::restore(const std::vector<Guard>& guards, const std::vector<Interval>& ranges) {
  for (size_t i = guards.size(); i-- > 0;) plan_.restore(guards[i].value.slot, ranges[i]);
}

StatementCode Compiler::branch(const If& branch) {
  StatementCode code;
  code.kind = StatementKind::guarded;
  statement_ = "if";
  code.guards = guards(branch.conditions);
  const std::vector<Interval> ranges = narrow(code.guards);
  if (branch.body) code.children.push_back(statement(branch.body));
  restore(code.guards, ranges);
  return code;
}

StatementCode Compiler::block(const Block& block) {
  StatementCode code;
  code.kind = StatementKind::compute;
  statement_ = "block " + block.name;
  std::vector<Linear> bindings;
  for (const BlockAxis& axis : block.axes) bindings.push_back(plan_.linear(axis.binding));
  std::vector<Conjunct> predicate = block.predicate;
  std::erase_if(predicate, &Conjunct::is_neutral);  // what is not added there is 0 all the same
  code.guards = guards(predicate);
  const std::vector<Interval> ranges = narrow(code.guards);
  for (size_t i = 0; i < block.axes.size(); ++i) plan_.bind(block.axes[i].axis.var, std::move(bindings[i]));
  instructions_ = &code.instructions;
  block_body(block);
  if (with_coverage_ && !error_) {
    add_coverage(block, address(block.output, block.output_index, true, false), code);
  }
  instructions_ = nullptr;
  plan_.forget_bindings(block.axes.size());
  restore(code.guards, ranges);
  return code;
}

void Compiler::block_body(const Block& block) {
  if (!block.value.defined()) return fail(ErrorKind::invalid_program, "the block has no value");
  if (block.value.type() != Type{block.output->dtype, 1}) {
    return fail(ErrorKind::invalid_program,
                fmt::format("the value is {}, {} holds {}", to_string(block.value.type()), block.output->name,
                            to_string(block.output->dtype)));
  }
  const Address output = address(block.output, block.output_index, true, false);
  Instruction last{
      .op = Op::store, .dtype = block.output->dtype, .a = output.buffer, .b = output.offset.slot};
  last.immediate = output.offset.constant;
  last.reduction = block.reduction;
  if (block.reduction != Reduction::none && block.initialises) {
    std::vector<size_t> jumps;
    for (const BlockAxis& axis : block.axes) {
      if (axis.axis.kind != AxisKind::reduce) continue;
      const SlotValue value = plan_.value(Affine(axis.axis.var));
      jumps.push_back(emit({.op = Op::jump_if_slot, .a = value.slot, .limit = value.constant}));
    }
    last.op = Op::initialise;
    emit(last);
    for (const size_t jump : jumps) {
      (*instructions_)[jump].immediate = static_cast<int64_t>(instructions_->size() - jump);
    }
  }
  last.op = block.reduction == Reduction::none ? Op::store : Op::combine;
  last.target = expression(block.value);
  top_ = 0;
  emit(last);
}

void Compiler::add_coverage(const Block& block, const Address& address, StatementCode& code) {
  CoverageCode coverage;
  coverage.block = block.name;
  for (const BlockAxis& axis : block.axes) {
    coverage.axes.push_back(plan_.value(Affine(axis.axis.var)));
    coverage.extents.push_back(axis.axis.extent);
    coverage.reduces |= axis.axis.kind == AxisKind::reduce;
  }
  coverage.writes_output = !code_.buffers[static_cast<size_t>(address.buffer)].is_allocated;
  coverage.buffer = address.buffer;
  coverage.offset = address.offset;
  code.coverage = static_cast<int>(code_.coverage.size());
  code_.coverage.push_back(std::move(coverage));
}

StatementCode Compiler::store(const Store& store) {
  StatementCode code;
  code.kind = StatementKind::compute;
  statement_ = "store to " + store.tensor->name;
  const Type type = store.value.type();
  if (type.dtype != store.tensor->dtype) {
    fail(ErrorKind::invalid_program, fmt::format("the value is {}, {} holds {}", to_string(type),
                                                 store.tensor->name, to_string(store.tensor->dtype)));
  }
  instructions_ = &code.instructions;
  const bool lanes = type.lanes > 1 || store.mask.defined();
  Instruction last{.op = lanes ? Op::store_lanes : Op::store, .dtype = type.dtype, .lanes = type.lanes};
  last.target = expression(store.value);
  if (store.mask.defined()) {
    if (store.mask.type() != Type{DType::boolean, type.lanes}) {
      fail(ErrorKind::invalid_program, "the mask has other lanes than the value");
    }
    last.c = expression(store.mask);
  }
  const Address target = address(store.tensor, store.index, true, lanes);
  top_ = 0;
  last.a = target.buffer;
  last.b = target.offset.slot;
  last.immediate = target.offset.constant;
  last.access = target.access;
  last.limit = store.stride;
  emit(last);
  instructions_ = nullptr;
  return code;
}

}  // namespace lathe::interpreter
