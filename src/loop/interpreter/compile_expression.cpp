// The leaves of the interpreter's compiler: expressions into instructions, accesses into checked offsets.
#include <fmt/format.h>

#include <algorithm>

#include "intrinsics/intrinsic.h"
#include "loop/host_tensor.h"
#include "loop/interpreter/compile.h"

namespace lathe::interpreter {
namespace {

constexpr int kMostLanes = 1024;

}  // namespace

size_t Compiler::emit(Instruction instruction) {
  instruction.real = is_float(instruction.dtype);
  instruction.from_real = is_float(instruction.from);
  instructions_->push_back(instruction);
  return instructions_->size() - 1;
}

int Compiler::allocate(int lanes) {
  const int first = top_;
  top_ += lanes;
  code_.registers = std::max(code_.registers, top_);
  return first;
}

int Compiler::opaque_slot(const Expr& e) {
  if (instructions_ == nullptr) {
    fail(ErrorKind::unsupported, "a binding, condition or extent depends on a value");
    return plan_.local_slot();
  }
  if (is_float(e.type().dtype) || e.type().lanes != 1) {
    fail(ErrorKind::invalid_program, fmt::format("an index is {}", to_string(e.type())));
    return plan_.local_slot();
  }
  const int mark = top_;
  const int value = expression(e);
  top_ = mark;
  const int slot = plan_.local_slot();
  emit({.op = Op::set_slot, .target = slot, .a = value});
  return slot;
}

void Compiler::check(const Linear& value, int64_t room, int access, int dimension) {
  const SlotValue slot = plan_.value(value);
  const Interval range = plan_.range(slot);
  if (range.lo >= 0 && range.hi < room) return;
  AccessName name = code_.accesses[static_cast<size_t>(access)];
  name.dimension = dimension;
  code_.accesses.push_back(std::move(name));
  const int index = static_cast<int>(code_.accesses.size()) - 1;
  emit({.op = Op::check, .a = slot.slot, .access = index, .immediate = slot.constant, .limit = room});
}

Linear Compiler::flat_offset(const BufferInfo& info, std::span<const Affine> index, bool lanes, int access) {
  Linear offset = plan_.linear(index[0]);
  const int64_t elements = code_.buffers[static_cast<size_t>(info.id)].elements;
  if (!lanes) check(offset, elements, access, -1);  // each lane is checked as it is read or written
  return offset;
}

Linear Compiler::layout_offset(const BufferInfo& info, std::span<const Affine> index, int access) {
  std::vector<Linear> logical;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    logical.push_back(plan_.linear(index[dim]));
    check(logical[dim], info.capacity[dim], access, static_cast<int>(dim));
  }
  Linear offset;
  int64_t stride = 1;
  for (size_t k = info.physical.size(); k-- > 0;) {
    const LayoutDim& part = info.layout.dims[k];
    Linear value = plan_.divided(logical[static_cast<size_t>(part.dim)], part.divide, SlotOpKind::divide);
    if (part.modulo != 0) value = plan_.divided(value, part.modulo, SlotOpKind::remainder);
    offset.add(value, stride);
    stride *= info.physical[k];
  }
  return offset;
}

Compiler::Address Compiler::address(const Tensor& tensor, std::span<const Affine> index, bool writes,
                                    bool lanes) {
  const BufferInfo* found = find_buffer(tensor, writes);
  if (found == nullptr || error_) return {};
  const BufferInfo info = *found;  // an indirect index may add a table and move the list
  const size_t expected = program_.flat ? 1 : tensor->shape.size();
  if (index.size() != expected || (lanes && !program_.flat)) {
    fail(ErrorKind::invalid_program,
         lanes && !program_.flat
             ? fmt::format("the vector access of {} comes before its layout is flattened", tensor->name)
             : fmt::format("{} has {} indices instead of {}", tensor->name, index.size(), expected));
    return {};
  }
  code_.accesses.push_back({statement_, tensor->name, -1, writes});
  const int access = static_cast<int>(code_.accesses.size()) - 1;
  const Linear offset =
      program_.flat ? flat_offset(info, index, lanes, access) : layout_offset(info, index, access);
  const Address result{info.id, plan_.value(offset), access};
  if (plan_.unknown() != nullptr) {
    fail(ErrorKind::invalid_program, fmt::format("{} is no loop or axis around it", plan_.unknown()->name));
  }
  return result;
}

// Emits one node; its result goes to the register that was the top when it began.
struct ExpressionCompiler {
  Compiler& self;
  Type type;

  int first() const { return self.allocate(type.lanes); }
  Instruction instruction(Op op) const { return {.op = op, .dtype = type.dtype, .lanes = type.lanes}; }
  int emit(Instruction result, int mark) const {
    self.top_ = mark;
    result.target = first();
    self.emit(result);
    return result.target;
  }
  int operand(const Expr& e, int lanes) const {
    if (e.type().lanes != lanes) {
      self.fail(ErrorKind::invalid_program,
                fmt::format("an operand is {} where {} lanes are expected", to_string(e.type()), lanes));
    }
    return self.expression(e);
  }

  int operator()(const Literal& e) const {
    Instruction result = instruction(Op::constant);
    if (is_float(type.dtype)) {
      result.constant.f = round_to(type.dtype, e.value);
    } else {
      result.constant.i = e.integer;
    }
    return emit(result, self.top_);
  }
  int operator()(const Index& e) const {
    const int mark = self.top_;
    const SlotValue value = self.plan_.value(e.value);
    if (self.plan_.unknown() != nullptr) {
      self.fail(ErrorKind::invalid_program,
                fmt::format("{} is no loop or axis around it", self.plan_.unknown()->name));
    }
    Instruction result = instruction(Op::read_slot);
    result.a = value.slot;
    result.immediate = value.constant;
    return emit(result, mark);
  }
  int operator()(const Load& e) const {
    const int mark = self.top_;
    const bool lanes = type.lanes > 1 || e.mask.defined();
    Instruction result = instruction(lanes ? Op::load_lanes : Op::load);
    if (e.mask.defined()) result.c = operand(e.mask, type.lanes);
    const Compiler::Address from = self.address(e.tensor, e.index, false, lanes);
    result.a = from.buffer;
    result.b = from.offset.slot;
    result.immediate = from.offset.constant;
    result.access = from.access;
    result.limit = e.stride;
    return emit(result, mark);
  }
  int operator()(const Unary& e) const {
    const int mark = self.top_;
    Instruction result = instruction(Op::unary);
    result.unary = e.op;
    result.from = e.operand.type().dtype;
    result.a = operand(e.operand, type.lanes);
    return emit(result, mark);
  }
  int operator()(const Binary& e) const {
    const int mark = self.top_;
    Instruction result = instruction(Op::binary);
    result.binary = e.op;
    result.from = e.a.type().dtype;
    result.a = operand(e.a, type.lanes);
    result.b = operand(e.b, type.lanes);
    return emit(result, mark);
  }
  int operator()(const Select& e) const {
    return e.condition.type().lanes == 1 ? lazy_select(e) : lane_select(e);
  }
  // Only the side that is taken runs.
  int lazy_select(const Select& e) const {
    const int mark = self.top_;
    const int condition = operand(e.condition, 1);
    self.top_ = mark;
    const size_t to_else = self.emit({.op = Op::jump_if_zero, .a = condition});
    const int result = operand(e.if_true, type.lanes);
    const size_t to_end = self.emit({.op = Op::jump});
    self.top_ = mark;
    (*self.instructions_)[to_else].immediate = static_cast<int64_t>(self.instructions_->size() - to_else);
    operand(e.if_false, type.lanes);
    (*self.instructions_)[to_end].immediate = static_cast<int64_t>(self.instructions_->size() - to_end);
    return result;
  }
  int lane_select(const Select& e) const {
    const int mark = self.top_;
    Instruction result = instruction(Op::select_lanes);
    result.c = operand(e.condition, type.lanes);
    result.a = operand(e.if_true, type.lanes);
    result.b = operand(e.if_false, type.lanes);
    return emit(result, mark);
  }
  int operator()(const Cast& e) const { return convert(Op::convert, e.operand, self.top_); }
  int operator()(const BitCast& e) const { return convert(Op::keep_bits, e.operand, self.top_); }
  int convert(Op op, const Expr& e, int mark) const {
    Instruction result = instruction(op);
    result.from = e.type().dtype;
    result.a = operand(e, type.lanes);
    return emit(result, mark);
  }
  int operator()(const Broadcast& e) const {
    const int mark = self.top_;
    Instruction result = instruction(Op::broadcast);
    result.a = operand(e.operand, 1);
    return emit(result, mark);
  }
  int operator()(const Ramp& e) const {
    const int mark = self.top_;
    const SlotValue base = self.plan_.value(e.base);
    Instruction result = instruction(Op::ramp);
    result.a = base.slot;
    result.immediate = base.constant;
    result.limit = e.stride;
    return emit(result, mark);
  }
  int operator()(const Call& e) const {
    const int mark = self.top_;
    Instruction result = instruction(Op::dot);
    const Intrinsic* intrinsic = find_intrinsic(e.intrinsic);
    if (intrinsic == nullptr || e.operands.size() != 3) {
      self.fail(ErrorKind::invalid_program,
                fmt::format("there is no intrinsic '{}' of {} operands", e.intrinsic, e.operands.size()));
      return emit(result, mark);
    }
    const int group = intrinsic->group;
    const auto step = [&](const Expr& factor) { return factor.type().lanes == group ? 0 : group; };
    const auto factor = [&](const Expr& e) { return operand(e, step(e) == 0 ? group : group * type.lanes); };
    result.limit = group;
    result.access = step(e.operands[1]);
    result.immediate = step(e.operands[2]);
    result.c = operand(e.operands[0], type.lanes);
    result.a = factor(e.operands[1]);
    result.b = factor(e.operands[2]);
    return emit(result, mark);
  }
};

int Compiler::expression(const Expr& e) {
  if (e.type().lanes < 1 || e.type().lanes > kMostLanes) {
    fail(ErrorKind::unsupported, fmt::format("a value has {} lanes", e.type().lanes));
    return top_;
  }
  return std::visit(ExpressionCompiler{*this, e.type()}, e->node);
}

}  // namespace lathe::interpreter
