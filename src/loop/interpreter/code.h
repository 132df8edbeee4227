// What a loop program becomes before it is interpreted: a tree of statements whose leaves are short lists of
// instructions over registers, with every integer in a slot (slots.h). Internal to the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expr/dag.h"
#include "loop/interpreter/slots.h"

namespace lathe::interpreter {

// One lane of a register or one element of a buffer: `f` for float types, `i` for all others.
union Cell {
  double f;
  int64_t i;
};

enum class Op : uint8_t {
  constant,        // target lanes = immediate
  read_slot,       // target = slots[a] + immediate
  set_slot,        // slots[target] = register a
  slot_operation,  // run slot_operations[a]
  check,           // fail with accesses[access] unless 0 <= slots[a] + immediate < limit
  load,            // target = buffers[a][slots[b] + immediate]
  load_lanes,      // the same for lanes `limit` elements apart, where mask register c (-1: all) holds; checks
  store,           // buffers[a][slots[b] + immediate] = register target
  store_lanes,
  initialise,  // buffers[a][slots[b] + immediate] = identity of `reduction`
  combine,     // buffers[a][slots[b] + immediate] = reduction(itself, register target)
  unary,
  binary,
  select_lanes,  // target lane = a's if c's holds, else b's
  convert,       // target = a, which is of `from`, as `dtype`
  keep_bits,     // the same of its bits
  broadcast,     // target lanes = a
  ramp,          // target lane l = slots[a] + immediate + l * limit
  dot,           // target lane l = c's + sum(t: limit) a[l * access + t] * b[l * immediate + t]
  jump,          // by `immediate` instructions
  jump_if_zero,  // if register a is 0
  jump_if_slot,  // if slots[a] + limit is not 0
};

struct Instruction {
  Op op = Op::constant;
  DType dtype = DType::f32;  // of the result
  DType from = DType::f32;   // of the operands
  bool real = true;          // is_float(dtype)
  bool from_real = true;     // is_float(from)
  UnaryOp unary = UnaryOp::negate;
  BinaryOp binary = BinaryOp::add;
  Reduction reduction = Reduction::none;
  int lanes = 1;
  int target = 0;
  int a = 0;
  int b = 0;
  int c = -1;
  int access = 0;
  int64_t immediate = 0;
  int64_t limit = 0;
  Cell constant{.i = 0};
};

// Where a check failed, for people.
struct AccessName {
  std::string statement;  // "block C"
  std::string tensor;
  int dimension = -1;  // -1: the offset of a flattened access
  bool writes = false;
};

struct BufferCode {
  Tensor tensor;
  int64_t elements = 0;
  bool is_allocated = false;  // under an Alloc: fresh at every entry
};

// How often each point of a block's domain is reached.
struct CoverageCode {
  std::string block;
  std::vector<SlotValue> axes;
  std::vector<int64_t> extents;
  bool reduces = false;
  bool writes_output = false;
  int buffer = 0;
  SlotValue offset;
};

enum class StatementKind : uint8_t { loop, sequence, alloc, guarded, compute };

struct Guard {
  SlotValue value;
  int64_t bound = 0;  // value < bound
};

// One statement; which members count follows from its kind.
struct StatementCode {
  StatementKind kind = StatementKind::sequence;
  std::vector<StatementCode> children;    // loop, alloc, guarded: one
  int slot = 0;                           // loop: its variable
  bool parallel = false;                  // loop
  std::vector<SlotValue> extents;         // loop: it runs the least of these
  std::vector<SlotOp> operations;         // loop: at the start of each iteration
  int buffer = 0;                         // alloc
  std::vector<Guard> guards;              // guarded, compute
  std::vector<Instruction> instructions;  // compute
  int coverage = -1;                      // compute: into ProgramCode::coverage
};

struct ProgramCode {
  StatementCode root;
  std::vector<BufferCode> buffers;
  std::vector<SlotOp> slot_operations;  // of opaque indices, run inside statements
  std::vector<AccessName> accesses;
  std::vector<CoverageCode> coverage;
  int registers = 0;
  size_t slots = 0;
};

}  // namespace lathe::interpreter
