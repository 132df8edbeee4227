#include "features/statement_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "features/block_summary.h"
#include "features/named_row.h"

namespace lathe {
namespace {

constexpr size_t kBuffers = 5;
constexpr size_t kCurvePoints = 10;
constexpr double kLineBytes = 64;

// What one instance of a statement computes.
enum Operation : size_t {
  float_multiply_add,
  float_add_subtract,
  float_multiply,
  float_divide,
  float_compare,
  float_function,
  float_other,
  int_multiply_add,
  int_add_subtract,
  int_multiply,
  int_divide,
  int_compare,
  int_function,
  int_other,
  logic,
  selection,
  kOperations
};
constexpr std::array<const char*, kOperations> kOperationNames{
    "float_multiply_add", "float_add_subtract", "float_multiply", "float_divide",
    "float_compare",      "float_function",     "float_other",    "int_multiply_add",
    "int_add_subtract",   "int_multiply",       "int_divide",     "int_compare",
    "int_function",       "int_other",          "logic",          "selection"};
using Operations = std::array<double, kOperations>;

bool is_product(const Expr& e) {
  const Binary* binary = e.as<Binary>();
  return binary != nullptr && binary->op == BinaryOp::mul;
}

Operation operation_of(const Binary& binary) {
  const bool real = is_float(binary.a.type().dtype);
  switch (binary.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
      if (is_product(binary.a) || is_product(binary.b)) return real ? float_multiply_add : int_multiply_add;
      return real ? float_add_subtract : int_add_subtract;
    case BinaryOp::mul: return real ? float_multiply : int_multiply;
    case BinaryOp::div:
    case BinaryOp::mod: return real ? float_divide : int_divide;
    case BinaryOp::less:
    case BinaryOp::less_equal:
    case BinaryOp::equal:
    case BinaryOp::not_equal: return real ? float_compare : int_compare;
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: return logic;
    case BinaryOp::pow: return real ? float_function : int_function;
    default: return real ? float_other : int_other;
  }
}

Operation operation_of(const Unary& unary) {
  const bool real = is_float(unary.operand.type().dtype);
  if (unary.op == UnaryOp::logical_not) return logic;
  const bool is_cheap = unary.op == UnaryOp::negate || unary.op == UnaryOp::abs;
  if (is_cheap) return real ? float_other : int_other;
  return real ? float_function : int_function;
}

// A sum that a reduction adds to takes its product along.
void add_reduction(const Block& block, Operations& operations) {
  if (block.reduction == Reduction::none) return;
  const bool real = is_float(block.value.type().dtype);
  if (block.reduction != Reduction::sum) {
    operations[real ? float_compare : int_compare] += 1;
  } else if (is_product(block.value)) {
    operations[real ? float_multiply : int_multiply] -= 1;
    operations[real ? float_multiply_add : int_multiply_add] += 1;
  } else {
    operations[real ? float_add_subtract : int_add_subtract] += 1;
  }
}

Operations operations_of(const Block& block) {
  Operations operations{};
  std::set<const ExprNode*> taken;  // products that an addition takes along
  for_each(block.value, [&](const Expr& e) {
    if (const Binary* binary = e.as<Binary>()) {
      if (taken.contains(e.get())) return;
      const Operation operation = operation_of(*binary);
      operations[operation] += 1;
      if (operation != float_multiply_add && operation != int_multiply_add) return;
      taken.insert((is_product(binary->a) ? binary->a : binary->b).get());
    } else if (const Unary* unary = e.as<Unary>()) {
      operations[operation_of(*unary)] += 1;
    } else if (e.as<Select>() != nullptr) {
      operations[selection] += 1;
    }
  });
  add_reduction(block, operations);
  return operations;
}

// Where a loop stands among those of its own kind around the statement.
constexpr std::array<const char*, 8> kPositions{"none",          "inner_spatial", "middle_spatial",
                                                "outer_spatial", "inner_reduce",  "middle_reduce",
                                                "outer_reduce",  "mixed"};
size_t position_of(const BlockSummary& block, size_t level) {
  const bool reduces = block.levels[level].reduces;
  bool has_outer = false;
  bool has_inner = false;
  for (size_t i = 0; i < block.levels.size(); ++i) {
    if (block.levels[i].reduces != reduces || i == level) continue;
    (i < level ? has_outer : has_inner) = true;
  }
  const size_t first = reduces ? 4 : 1;
  if (!has_inner) return first;
  return has_outer ? first + 1 : first + 2;
}

void add_loops_of(NamedRow& row, const BlockSummary& block, const char* prefix, LoopKind kind) {
  double number = 0;
  double product = 1;
  double length = 0;
  size_t position = 0;
  for (size_t i = 0; i < block.levels.size(); ++i) {
    if (block.levels[i].kind != kind) continue;
    number += 1;
    length = static_cast<double>(block.levels[i].extent);
    product *= length;
    const size_t here = position_of(block, i);
    position = position == 0 || position == here ? here : kPositions.size() - 1;
  }
  row.prefix(prefix);
  row.add_log("number", number);
  row.add_log("product", number > 0 ? product : 0);
  row.add_log("length", length);
  row.add_kind("position", kPositions, position);
}

void add_computation(NamedRow& row, const BlockSummary& block, const Operations& operations) {
  for (size_t i = 0; i < kOperations; ++i) row.add_log(kOperationNames[i], operations[i] * block.instances);
  add_loops_of(row, block, "vectorized.", LoopKind::vectorized);
  add_loops_of(row, block, "unrolled.", LoopKind::unrolled);
  add_loops_of(row, block, "parallel.", LoopKind::parallel);
  // Of a device's blocks and threads, which other loops than a processor's run in.
  row.prefix("");
  row.add("is_device", 0);
  row.prefix("device.");
  for (const char* name : {"block_x", "block_y", "block_z", "thread_x", "thread_y", "thread_z", "virtual"})
    row.add(name, 0);
}

// What a statement does with one buffer, all its accesses to it together.
struct BufferUse {
  const TensorNode* tensor = nullptr;
  bool reads = false;
  bool writes = false;
  std::vector<const AccessSummary*> accesses;

  // Bytes that one run of the loops from this level inwards touches.
  double touched(size_t level) const {
    double bytes = 0;
    for (const AccessSummary* access : accesses) bytes += static_cast<double>(access->footprint[level]);
    return bytes;
  }
  bool moves_with(size_t level) const {
    return std::ranges::any_of(accesses, [&](const AccessSummary* access) {
      return access->footprint[level] != access->footprint[level + 1];
    });
  }
};

std::vector<BufferUse> uses_of(const BlockSummary& block) {
  std::vector<BufferUse> uses;
  for (const AccessSummary& access : block.accesses) {
    auto known = std::ranges::find(uses, access.tensor, &BufferUse::tensor);
    if (known == uses.end())
      known = uses.insert(uses.end(), BufferUse{.tensor = access.tensor, .accesses = {}});
    known->accesses.push_back(&access);
    (access.writes ? known->writes : known->reads) = true;
  }
  if (block.block != nullptr && block.block->reduction != Reduction::none) uses.front().reads = true;
  // Those that most bytes are touched of first.
  std::ranges::stable_sort(uses, std::greater<>(), [](const BufferUse& use) { return use.touched(0); });
  return uses;
}

struct Reuse {
  size_t kind = 2;  // 0: a loop reads it again, 1: another statement does, 2: nothing
  double iterations = 0;
  double bytes = 0;  // touched between two uses
  double count = 0;
};

// The innermost loop that does not move the buffer runs over the same elements again.
Reuse reuse_of(const BlockSummary& block, const std::vector<BufferUse>& uses, const BufferUse& use,
               bool is_used_elsewhere) {
  for (size_t level = block.levels.size(); level-- > 0;) {
    if (block.levels[level].extent < 2 || use.moves_with(level)) continue;
    double bytes = 0;
    for (const BufferUse& other : uses) bytes += other.touched(level + 1);
    return {0, block.iterations(level + 1, block.levels.size()), bytes,
            static_cast<double>(block.levels[level].extent)};
  }
  if (!is_used_elsewhere) return {};
  double bytes = 0;
  for (const BufferUse& other : uses) bytes += other.touched(0);
  return {1, block.instances, bytes, 1};
}

constexpr std::array<const char*, 3> kAccessKinds{"read", "write", "read_write"};
constexpr std::array<const char*, 3> kReuseKinds{"loop", "statement", "none"};

// The step of the innermost loop that moves the first access, in elements; 0: none does.
double stride_of(const BlockSummary& block, const BufferUse& use) {
  const AccessSummary& access = *use.accesses.front();
  for (size_t level = block.levels.size(); level-- > 0;)
    if (block.levels[level].extent > 1 && use.moves_with(level))
      return std::abs(static_cast<double>(access.strides[level]));
  return 0;
}

void add_buffer(NamedRow& row, const BlockSummary& block, const std::vector<BufferUse>& uses,
                const BufferUse& use, bool is_used_elsewhere) {
  const auto element = static_cast<double>(bytes_of(use.tensor->dtype));
  const double bytes = block.instances * element * static_cast<double>(use.accesses.size());
  const double unique_bytes = use.touched(0);
  const double stride = stride_of(block, use);
  // Elements that follow each other share a cache line.
  const double line_share = std::min(1.0, std::max(stride, 1.0) * element / kLineBytes);
  const double lines = std::max(1.0, bytes / element * line_share);
  const double unique_lines = std::max(1.0, unique_bytes / element * line_share);
  const Reuse reuse = reuse_of(block, uses, use, is_used_elsewhere);
  const double per_use = std::max(reuse.count, 0.5);
  row.add_kind("access", kAccessKinds, use.reads && use.writes ? 2 : use.writes ? 1 : 0);
  row.add_log("bytes", bytes);
  row.add_log("unique_bytes", unique_bytes);
  row.add_log("lines", lines);
  row.add_log("unique_lines", unique_lines);
  row.add_kind("reuse", kReuseKinds, reuse.kind);
  row.add_log("reuse_iterations", reuse.iterations);
  row.add_log("reuse_bytes", reuse.bytes);
  row.add_log("reuse_count", reuse.count);
  row.add_log("bytes_per_use", bytes / per_use);
  row.add_log("unique_bytes_per_use", unique_bytes / per_use);
  row.add_log("lines_per_use", lines / per_use);
  row.add_log("unique_lines_per_use", unique_lines / per_use);
  row.add_log("stride", stride);
}

// Its numbers have the names that they have where there is a buffer.
void add_no_buffer(NamedRow& row) {
  constexpr size_t kPerBuffer = 18;
  for (size_t i = 0; i < kPerBuffer; ++i) row.add("", 0);
}

// Operations for a byte touched, from the innermost loop alone to all of them, at ten places of equal
// distance in the logarithm of the operations.
void add_curve(NamedRow& row, const BlockSummary& block, const std::vector<BufferUse>& uses,
               double operations) {
  std::vector<double> work;  // of one run of the loops from a level inwards, innermost first
  std::vector<double> intensity;
  for (size_t level = block.levels.size() + 1; level-- > 0;) {
    double bytes = 0;
    for (const BufferUse& use : uses) bytes += use.touched(level);
    work.push_back(std::log2(1 + std::max(operations, 1.0) * block.iterations(level, block.levels.size())));
    intensity.push_back(std::exp2(work.back()) / std::max(bytes, 1.0));
  }
  constexpr std::array<const char*, kCurvePoints> kNames{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  row.prefix("intensity");
  for (size_t point = 0; point < kCurvePoints; ++point) {
    const double share = static_cast<double>(point) / (kCurvePoints - 1);
    const double wanted = work.front() + share * (work.back() - work.front());
    size_t above = 0;
    while (above + 1 < work.size() && work[above] < wanted) ++above;
    double value = intensity[above];
    if (above > 0 && work[above] > work[above - 1]) {
      const double way = (wanted - work[above - 1]) / (work[above] - work[above - 1]);
      value = intensity[above - 1] + way * (intensity[above] - intensity[above - 1]);
    }
    row.add_log(kNames[point], value);
  }
}

// Where a buffer of the program's own is allocated.
struct Allocation {
  double bytes = 0;
  double outside = 1;  // iterations of the loops around it
};

class Allocations {
 public:
  explicit Allocations(const Program& program) { visit(program.main, 1); }
  Allocation of(const TensorNode* tensor) const {
    const auto found = found_.find(tensor);
    return found == found_.end() ? Allocation{} : found->second;
  }

 private:
  void visit(const Stmt& stmt, double outside) {
    if (const For* loop = as<For>(stmt)) {
      const int64_t extent = std::max<int64_t>(1, largest_extent(*loop, ranges_));
      ranges_.set_extent(loop->var, extent);
      visit(loop->body, outside * static_cast<double>(extent));
    } else if (const Seq* seq = as<Seq>(stmt)) {
      for (const Stmt& child : seq->statements) visit(child, outside);
    } else if (const Alloc* alloc = as<Alloc>(stmt)) {
      const auto bytes = static_cast<double>(alloc->tensor.elements() * bytes_of(alloc->tensor->dtype));
      found_[alloc->tensor.get()] = {bytes, outside};
      visit(alloc->body, outside);
    } else if (const If* branch = as<If>(stmt)) {
      visit(branch->body, outside);
    }
  }

  Ranges ranges_;
  std::map<const TensorNode*, Allocation> found_;
};

std::vector<float> statement_row(const BlockSummary& block, const std::vector<BlockSummary>& all,
                                 const Allocations& allocations, std::vector<std::string>* names) {
  NamedRow row(names);
  const Operations operations = operations_of(*block.block);
  add_computation(row, block, operations);
  const std::vector<BufferUse> uses = uses_of(block);
  for (size_t i = 0; i < kBuffers; ++i) {
    if (i >= uses.size()) {
      add_no_buffer(row);
      continue;
    }
    row.prefix("buffer" + std::to_string(i) + ".");
    const bool is_used_elsewhere = std::ranges::any_of(all, [&](const BlockSummary& other) {
      return other.block != block.block && std::ranges::find(other.accesses, uses[i].tensor,
                                                             &AccessSummary::tensor) != other.accesses.end();
    });
    add_buffer(row, block, uses, uses[i], is_used_elsewhere);
  }
  double operations_of_instance = 0;
  for (size_t i = 0; i <= float_other; ++i) operations_of_instance += operations[i];
  add_curve(row, block, uses, operations_of_instance);
  const Allocation allocation = allocations.of(block.block->output.get());
  row.prefix("allocation.");
  row.add_log("bytes", allocation.bytes);
  row.add_log("outside", allocation.outside);
  row.add_log("inside", block.instances / allocation.outside);
  row.add_log("all", block.instances);
  const bool is_unrolled = std::ranges::any_of(
      block.levels, [](const LoopLevel& level) { return level.kind == LoopKind::unrolled; });
  row.prefix("outside.");
  row.add_log("iterations", block.instances);
  row.add_log("loops", static_cast<double>(block.levels.size()));
  row.add("unrolls", is_unrolled ? 1.0F : 0.0F);
  return row.take();
}

}  // namespace

// Those of a statement with as many buffers as there is room for, so that every number has its name.
const std::vector<std::string>& statement_row_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    Block block;
    block.output = Tensor("w", {1});
    block.value = literal({block.output->dtype}, 0);
    BlockSummary summary;
    summary.block = &block;
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < kBuffers; ++i)
      tensors.emplace_back("b" + std::to_string(i), std::vector<int64_t>{1});
    for (const Tensor& tensor : tensors)
      summary.accesses.push_back({.tensor = tensor.get(), .strides = {}, .footprint = {4}});
    Program program;
    static_cast<void>(statement_row(summary, {summary}, Allocations(program), &list));
    return list;
  }();
  return names;
}

std::vector<std::vector<float>> statement_rows(const Program& program) {
  const std::vector<BlockSummary> blocks = summarise_blocks(program);
  const Allocations allocations(program);
  std::vector<std::vector<float>> rows;
  for (const BlockSummary& block : blocks) rows.push_back(statement_row(block, blocks, allocations, nullptr));
  return rows;
}

}  // namespace lathe
