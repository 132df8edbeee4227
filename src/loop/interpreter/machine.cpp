#include "loop/interpreter/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "loop/host_tensor.h"
#include "loop/interpreter/arithmetic.h"

namespace lathe::interpreter {
namespace {

// Fresh memory: NaN, and an integer that lies in no buffer.
Cell poison(DType dtype) {
  Cell cell;
  if (is_float(dtype)) {
    cell.f = std::numeric_limits<double>::quiet_NaN();
  } else {
    cell.i = -(int64_t{1} << 40);
  }
  return cell;
}

// The common case of round_to, inline.
double rounded(DType dtype, double value) {
  return dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : round_to(dtype, value);
}

// Where a reduction of integers starts: the identities of `identity_of` have no infinity there.
int64_t integer_identity(Reduction reduction, DType dtype) {
  if (reduction == Reduction::max) return integers_of(dtype).lo;
  if (reduction == Reduction::min) return largest_kept(dtype);
  return reduction == Reduction::product ? 1 : 0;
}

int64_t reduce_integers(const Instruction& in, int64_t a, int64_t b) {
  switch (in.reduction) {
    case Reduction::none: return b;
    case Reduction::sum: return wrap_to(in.dtype, wrapping(BinaryOp::add, a, b));
    case Reduction::max: return apply_to_integers(in.dtype, BinaryOp::max, a, b);
    case Reduction::min: return apply_to_integers(in.dtype, BinaryOp::min, a, b);
    case Reduction::product: return wrap_to(in.dtype, wrapping(BinaryOp::mul, a, b));
  }
  return b;
}

size_t at(int index) { return static_cast<size_t>(index); }

// The largest domain whose points are counted.
constexpr int64_t kMostPoints = int64_t{1} << 26;

}  // namespace

Machine::Machine(const ProgramCode& code, Rng* shuffle, int64_t step_limit)
    : code_(code),
      shuffle_(shuffle),
      steps_left_(step_limit),
      slots_(code.slots, 0),
      registers_(at(code.registers), Cell{.i = 0}),
      buffers_(code.buffers.size()) {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const BufferCode& buffer = code.buffers[i];
    if (!buffer.is_allocated) {
      buffers_[i].cells.assign(static_cast<size_t>(buffer.elements), poison(buffer.tensor->dtype));
    }
    for (size_t k = 0; k < buffer.tensor->literal.size(); ++k) {
      buffers_[i].cells[k].f = round_to(buffer.tensor->dtype, buffer.tensor->literal[k]);
    }
  }
  for (const CoverageCode& coverage : code.coverage) {
    int64_t points = 1;
    for (const int64_t extent : coverage.extents) points = std::min(points, kMostPoints + 1) * extent;
    coverage_.emplace_back();
    if (points <= kMostPoints) coverage_.back().points.resize(static_cast<size_t>(points));
  }
}

Status Machine::run() {
  if (!execute(code_.root)) return std::unexpected(std::move(*error_));
  return {};
}

bool Machine::fail(std::string message) {
  error_ = Error{ErrorKind::invalid_program, std::move(message), {}, {}};
  return false;
}

bool Machine::fail_access(int access, int64_t index, int64_t room) {
  const AccessName& name = code_.accesses[at(access)];
  const std::string where =
      name.dimension < 0 ? std::string("offset") : fmt::format("index {} is", name.dimension);
  error_ = Error{ErrorKind::invalid_program,
                 fmt::format("{} outside of {}: {} {}, its storage has room for 0 .. {}",
                             name.writes ? "writes" : "reads", name.tensor, where, index, room - 1),
                 name.statement,
                 {}};
  return false;
}

inline Cell* Machine::element(const Instruction& in) {
  return &buffers_[at(in.a)].cells[static_cast<size_t>(slots_[at(in.b)] + in.immediate)];
}

inline void Machine::operate(const SlotOp& op) {
  int64_t* slots = slots_.data();
  switch (op.kind) {
    case SlotOpKind::add_scaled:
      slots[op.target] =
          wrapping(BinaryOp::add, slots[op.a], wrapping(BinaryOp::mul, op.factor, slots[op.b]));
      break;
    case SlotOpKind::divide:
      slots[op.target] = floor_quotient(wrapping(BinaryOp::add, slots[op.a], op.constant), op.factor);
      break;
    case SlotOpKind::remainder:
      slots[op.target] = floor_remainder(wrapping(BinaryOp::add, slots[op.a], op.constant), op.factor);
      break;
  }
}

bool Machine::execute(const StatementCode& code) {
  switch (code.kind) {
    case StatementKind::compute: return compute(code);
    case StatementKind::loop: return loop(code);
    case StatementKind::guarded:
      if (!passes(code.guards)) return true;
      break;
    case StatementKind::alloc: fresh(code.buffer); break;
    case StatementKind::sequence: break;
  }
  for (const StatementCode& child : code.children) {
    if (!execute(child)) return false;
  }
  return true;
}

bool Machine::passes(const std::vector<Guard>& guards) const {
  for (const Guard& guard : guards) {
    if (value(guard.value) >= guard.bound) return false;
  }
  return true;
}

bool Machine::loop(const StatementCode& code) {
  int64_t extent = std::numeric_limits<int64_t>::max();
  for (const SlotValue& bound : code.extents) extent = std::min(extent, value(bound));
  if (extent <= 0) return true;
  if (extent > steps_left_) return fail("the program runs for more steps than allowed");
  steps_left_ -= extent;
  if (code.parallel && shuffle_ != nullptr) return shuffled(code, extent);
  for (int64_t i = 0; i < extent; ++i) {
    if (!iteration(code, i)) return false;
  }
  return true;
}

bool Machine::iteration(const StatementCode& code, int64_t i) {
  slots_[at(code.slot)] = i;
  for (const SlotOp& op : code.operations) operate(op);
  for (const StatementCode& child : code.children) {
    if (!execute(child)) return false;
  }
  return true;
}

bool Machine::shuffled(const StatementCode& code, int64_t extent) {
  std::vector<int64_t> order(static_cast<size_t>(extent));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[shuffle_->below(i)]);
  return std::ranges::all_of(order, [&](int64_t i) { return iteration(code, i); });
}

void Machine::fresh(int index) {
  Buffer& buffer = buffers_[at(index)];
  const BufferCode& code = code_.buffers[at(index)];
  const Cell nothing = poison(code.tensor->dtype);
  if (!buffer.cleared) {
    buffer.cells.assign(static_cast<size_t>(code.elements), nothing);
    buffer.cleared = true;
  }
  for (const int64_t offset : buffer.written) buffer.cells[static_cast<size_t>(offset)] = nothing;
  buffer.written.clear();
  buffer.lists_writes = true;
  ++buffer.lifetime;
}

void Machine::wrote(Buffer& buffer, int64_t offset) {
  buffer.written.push_back(offset);
  if (buffer.written.size() <= buffer.cells.size()) return;
  buffer.written.clear();
  buffer.lists_writes = false;
  buffer.cleared = false;
}

bool Machine::compute(const StatementCode& code) {
  if (!passes(code.guards)) return true;
  ++instances_;
  if (!instructions(code.instructions)) return false;
  if (code.coverage >= 0) count(code);
  return true;
}

void Machine::count(const StatementCode& code) {
  const CoverageCode& what = code_.coverage[at(code.coverage)];
  CoverageCount& coverage = coverage_[at(code.coverage)];
  int64_t position = 0;
  for (size_t i = 0; i < what.axes.size(); ++i) {
    const int64_t coordinate = value(what.axes[i]);
    if (coordinate < 0 || coordinate >= what.extents[i]) return;  // beyond the domain: tail=pad
    position = position * what.extents[i] + coordinate;
  }
  if (coverage.points.empty()) return;
  const Buffer& buffer = buffers_[at(what.buffer)];
  const DType dtype = code_.buffers[at(what.buffer)].tensor->dtype;
  const Cell cell = buffer.cells[static_cast<size_t>(value(what.offset))];
  const double now = is_float(dtype) ? cell.f : static_cast<double>(cell.i);
  CoverageCount::Point& point = coverage.points[static_cast<size_t>(position)];
  if (point.lifetime < 0) ++coverage.visited;
  if (point.lifetime != buffer.lifetime) {
    point = {buffer.lifetime, 0, now};
  } else if (point.value != now && !(std::isnan(point.value) && std::isnan(now)) && !what.reduces) {
    coverage.same_value = false;
  }
  coverage.most = std::max(coverage.most, ++point.times);
}

bool Machine::instructions(const std::vector<Instruction>& list) {
  const Instruction* in = list.data();
  const Instruction* const end = in + list.size();
  while (in < end) {
    // The most frequent ones stand here, the others in `step`.
    switch (in->op) {
      case Op::load:
        registers_[at(in->target)] = *element(*in);
        ++in;
        continue;
      case Op::check: {
        const int64_t index = wrapping(BinaryOp::add, slots_[at(in->a)], in->immediate);
        if (index < 0 || index >= in->limit) return fail_access(in->access, index, in->limit);
        ++in;
        continue;
      }
      case Op::jump: in += in->immediate; continue;
      case Op::jump_if_zero: in += registers_[at(in->a)].i == 0 ? in->immediate : 1; continue;
      case Op::jump_if_slot: in += slots_[at(in->a)] != -in->limit ? in->immediate : 1; continue;
      default:
        if (!step(*in)) return false;
        ++in;
    }
  }
  return true;
}

bool Machine::step(const Instruction& in) {
  Cell* target = registers_.data() + in.target;
  switch (in.op) {
    case Op::constant: std::fill_n(target, in.lanes, in.constant); return true;
    case Op::read_slot: target->i = wrapping(BinaryOp::add, slots_[at(in.a)], in.immediate); return true;
    case Op::set_slot: slots_[at(in.target)] = registers_[at(in.a)].i; return true;
    case Op::slot_operation: operate(code_.slot_operations[at(in.a)]); return true;
    case Op::load_lanes: return load_lanes(in);
    case Op::store_lanes: return store_lanes(in);
    case Op::store:
    case Op::initialise:
    case Op::combine: combine(in); return true;
    case Op::unary: return unary(in);
    case Op::binary: return binary(in);
    case Op::select_lanes:
      for (int l = 0; l < in.lanes; ++l)
        target[l] = registers_[at((registers_[at(in.c + l)].i ? in.a : in.b) + l)];
      return true;
    case Op::convert: convert(in); return true;
    case Op::keep_bits: keep_bits(in); return true;
    case Op::dot: dot(in); return true;
    case Op::broadcast: std::fill_n(target, in.lanes, Cell(registers_[at(in.a)])); return true;
    case Op::ramp:
      target->i = wrapping(BinaryOp::add, slots_[at(in.a)], in.immediate);
      for (int l = 1; l < in.lanes; ++l) target[l].i = wrapping(BinaryOp::add, target[l - 1].i, in.limit);
      return true;
    case Op::load:
    case Op::check:
    case Op::jump:
    case Op::jump_if_zero:
    case Op::jump_if_slot: break;  // run by `instructions`
  }
  return true;
}

void Machine::combine(const Instruction& in) {
  Cell* cell = element(in);
  const Cell value = registers_[at(in.target)];
  if (buffers_[at(in.a)].lists_writes) wrote(buffers_[at(in.a)], slots_[at(in.b)] + in.immediate);
  if (in.op == Op::store) {
    *cell = value;
  } else if (in.real) {
    cell->f = in.op == Op::initialise ? identity_of(in.reduction)
                                      : rounded(in.dtype, apply(in.reduction, cell->f, value.f));
  } else if (in.op == Op::initialise) {
    cell->i = integer_identity(in.reduction, in.dtype);
  } else {
    cell->i = reduce_integers(in, cell->i, value.i);
  }
}

bool Machine::load_lanes(const Instruction& in) {
  Cell* target = registers_.data() + in.target;
  const Buffer& buffer = buffers_[at(in.a)];
  const int64_t room = static_cast<int64_t>(buffer.cells.size());
  int64_t offset = wrapping(BinaryOp::add, slots_[at(in.b)], in.immediate);
  for (int l = 0; l < in.lanes; ++l, offset = wrapping(BinaryOp::add, offset, in.limit)) {
    if (in.c >= 0 && registers_[at(in.c + l)].i == 0) {
      target[l] = in.real ? Cell{.f = 0} : Cell{.i = 0};
      continue;
    }
    if (offset < 0 || offset >= room) return fail_access(in.access, offset, room);
    target[l] = buffer.cells[static_cast<size_t>(offset)];
  }
  return true;
}

bool Machine::store_lanes(const Instruction& in) {
  Buffer& buffer = buffers_[at(in.a)];
  const int64_t room = static_cast<int64_t>(buffer.cells.size());
  int64_t offset = wrapping(BinaryOp::add, slots_[at(in.b)], in.immediate);
  for (int l = 0; l < in.lanes; ++l, offset = wrapping(BinaryOp::add, offset, in.limit)) {
    if (in.c >= 0 && registers_[at(in.c + l)].i == 0) continue;
    if (offset < 0 || offset >= room) return fail_access(in.access, offset, room);
    buffer.cells[static_cast<size_t>(offset)] = registers_[at(in.target + l)];
    if (buffer.lists_writes) wrote(buffer, offset);
  }
  return true;
}

bool Machine::unary(const Instruction& in) {
  for (int l = 0; l < in.lanes; ++l) {
    const Cell a = registers_[at(in.a + l)];
    Cell& target = registers_[at(in.target + l)];
    if (in.real) {
      target.f = rounded(in.dtype, apply(in.unary, a.f));
      continue;
    }
    switch (in.unary) {
      case UnaryOp::negate: target.i = wrap_to(in.dtype, wrapping(BinaryOp::sub, 0, a.i)); break;
      case UnaryOp::abs:
        target.i = ordered(in.dtype, a.i) < ordered(in.dtype, 0)
                       ? wrap_to(in.dtype, wrapping(BinaryOp::sub, 0, a.i))
                       : a.i;
        break;
      case UnaryOp::logical_not: target.i = a.i == 0; break;
      case UnaryOp::floor:
      case UnaryOp::ceil:
      case UnaryOp::round:
      case UnaryOp::truncate: target.i = a.i; break;
      default: return fail("a function of reals is applied to an integer");
    }
  }
  return true;
}

bool Machine::binary(const Instruction& in) {
  if (!in.from_real) return integer_binary(in);
  const bool single = in.dtype == DType::f32 && in.lanes == 1;
  if (single && (in.binary == BinaryOp::mul || in.binary == BinaryOp::add)) {
    const float a = static_cast<float>(registers_[at(in.a)].f);
    const float b = static_cast<float>(registers_[at(in.b)].f);
    registers_[at(in.target)].f = in.binary == BinaryOp::mul ? a * b : a + b;
    return true;
  }
  const bool condition = is_condition(in.binary);
  for (int l = 0; l < in.lanes; ++l) {
    const double a = registers_[at(in.a + l)].f;
    const double b = registers_[at(in.b + l)].f;
    Cell& target = registers_[at(in.target + l)];
    if (condition) {
      target.i = holds(in.binary, a, b);
    } else {
      target.f = rounded(in.dtype, apply(in.binary, a, b));
    }
  }
  return true;
}

bool Machine::integer_binary(const Instruction& in) {
  if (in.binary == BinaryOp::pow || in.binary == BinaryOp::copy_sign)
    return fail("a function of reals is applied to an integer");
  const bool condition = is_condition(in.binary);
  for (int l = 0; l < in.lanes; ++l) {
    const int64_t a = registers_[at(in.a + l)].i;
    const int64_t b = registers_[at(in.b + l)].i;
    int64_t& target = registers_[at(in.target + l)].i;
    if (condition) {
      target = holds(in.binary, ordered(in.from, a), ordered(in.from, b));
    } else {
      target = apply_to_integers(in.dtype, in.binary, a, b);
    }
  }
  return true;
}

void Machine::convert(const Instruction& in) {
  for (int l = 0; l < in.lanes; ++l) {
    const Cell a = registers_[at(in.a + l)];
    Cell& target = registers_[at(in.target + l)];
    if (in.real) {
      target.f = rounded(in.dtype, in.from_real ? a.f : number_kept(in.from, a.i));
    } else {
      target.i = in.from_real ? saturated(in.dtype, a.f) : wrap_to(in.dtype, a.i);
    }
  }
}

void Machine::keep_bits(const Instruction& in) {
  for (int l = 0; l < in.lanes; ++l) {
    const Cell a = registers_[at(in.a + l)];
    Cell& target = registers_[at(in.target + l)];
    const Bits bits = bits_as(in.from, in.dtype, in.from_real ? Bits{a.f, 0} : Bits{0, a.i});
    target = in.real ? Cell{.f = bits.number} : Cell{.i = bits.integer};
  }
}

// The target may be the first operand's registers, of which each lane is read before it is written.
void Machine::dot(const Instruction& in) {
  for (int l = 0; l < in.lanes; ++l) {
    Cell sum = registers_[at(in.c + l)];
    for (int t = 0; t < static_cast<int>(in.limit); ++t) {
      const Cell a = registers_[at(in.a + l * in.access + t)];
      const Cell b = registers_[at(in.b + l * static_cast<int>(in.immediate) + t)];
      if (in.real) {
        sum.f = rounded(in.dtype, sum.f + a.f * b.f);
      } else {
        sum.i = wrap_to(in.dtype, sum.i + a.i * b.i);
      }
    }
    registers_[at(in.target + l)] = sum;
  }
}

}  // namespace lathe::interpreter
