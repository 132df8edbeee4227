#include "lower/blocks/drop_padding.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/reads.h"
#include "loop/walk.h"
#include "lower/arithmetic/fold_arithmetic.h"
#include "lower/buffers/grow_buffers.h"
#include "lower/map.h"

namespace lathe {
namespace {

// The room in an argument or prepared buffer.
struct Room {
  Tensor tensor;
  std::vector<int64_t> capacity;
};

// A block that writes a tensor, with what is known around it.
struct Writer {
  const Block* block;
  Known known;
};

// Conjuncts of `a && b && c`.
void split_condition(const Expr& e, std::vector<Expr>& parts) {
  const Binary* node = e.as<Binary>();
  if (node != nullptr && node->op == BinaryOp::logical_and) {
    split_condition(node->a, parts);
    split_condition(node->b, parts);
  } else {
    parts.push_back(e);
  }
}

// The bound N of a copy that writes zeros wherever its axis `var` is N or more; -1: it does not.
int64_t zero_from(const Block& block, const Var& var) {
  const Select* choice = block.value.as<Select>();
  const Literal* other = choice != nullptr ? choice->if_false.as<Literal>() : nullptr;
  if (other == nullptr || other->value != 0 || other->integer != 0) return -1;
  std::vector<Expr> parts;
  split_condition(choice->condition, parts);
  for (const Expr& part : parts) {
    const Binary* less = part.as<Binary>();
    if (less == nullptr || less->op != BinaryOp::less) continue;
    const Index* a = less->a.as<Index>();
    const Index* b = less->b.as<Index>();
    if (a != nullptr && b != nullptr && a->value == Affine(var) && b->value.is_constant())
      return b->value.constant();
  }
  return -1;
}

// Whether `e` is the value that the reduction starts from.
bool is_identity(const Expr& e, Reduction reduction) {
  const Literal* value = e.as<Literal>();
  const Expr identity = literal(e.type(), identity_of(reduction));
  const Literal* start = identity.as<Literal>();
  return value != nullptr && start != nullptr && value->value == start->value &&
         value->integer == start->integer;
}

class PaddingDropper {
 public:
  explicit PaddingDropper(const Program& program) {
    for (const Argument& a : program.arguments) add_room(a.tensor, a.layout);
    for (const Prepared& p : program.prepared) add_room(p.tensor, p.layout);
    if (program.prepare) find_writers(program.prepare, Known());
    if (program.main) find_writers(program.main, Known());
  }

  Result<Stmt> visit(const Stmt& stmt, const Known& known) {
    if (const Block* block = as<Block>(stmt)) return visit_block(stmt, *block, known);
    Known inside = known;
    const For* loop = as<For>(stmt);
    if (loop != nullptr) inside.enter(*loop);
    const bool is_vector = loop != nullptr && loop->kind == LoopKind::vectorized;
    if (is_vector) vectors_.push_back(loop);
    if (const Alloc* alloc = as<Alloc>(stmt)) allocated_.push_back(alloc->tensor);
    Status status;
    Stmt result = map_statements(stmt, [&](const Stmt& child) -> Stmt {
      if (!status) return child;
      Result<Stmt> mapped = visit(child, inside);
      if (mapped) return *mapped;
      status = std::unexpected(mapped.error());
      return child;
    });
    if (is_vector) vectors_.pop_back();
    if (!status) return std::unexpected(status.error());
    return result;
  }

 private:
  void add_room(const Tensor& tensor, const Layout& layout) {
    rooms_.push_back({tensor, capacity(layout, tensor->shape)});
  }

  void find_writers(const Stmt& stmt, const Known& known) {
    if (const Block* block = as<Block>(stmt)) writers_.push_back({block, known});
    Known inside = known;
    if (const For* loop = as<For>(stmt)) inside.enter(*loop);
    map_statements(stmt, [&](const Stmt& child) {
      find_writers(child, inside);
      return child;
    });
  }

  Result<Stmt> visit_block(const Stmt& stmt, const Block& block, const Known& known) const {
    Block result = block;
    result.predicate.clear();
    bool drops = false;
    for (const Conjunct& conjunct : block.predicate) {
      if (!pads(block, conjunct, known) || known.holds(conjunct)) {
        result.predicate.push_back(conjunct);
        continue;
      }
      LATHE_TRY_STATUS(check(block, conjunct, known));
      drops = true;
      if (const auto whole = of_whole_vectors(conjunct); whole && !known.holds(*whole))
        result.predicate.push_back(*whole);
      BlockAxis& axis = result.axes[static_cast<size_t>(conjunct.axis)];
      const auto reach = bounds(axis.binding, known.ranges());
      if (reach) axis.axis.extent = std::max(axis.axis.extent, reach->hi + 1);
    }
    return drops ? make_stmt(std::move(result)) : stmt;
  }

  // The condition that the first lane of a vector meets it; none where the axis has no vectors.
  std::optional<Conjunct> of_whole_vectors(const Conjunct& conjunct) const {
    for (const For* loop : vectors_) {
      if (conjunct.value.coefficient(loop->var) != 1) continue;
      const Affine first = conjunct.value - Affine(loop->var);
      if (modulo(first, constant_extent(*loop)) != Affine(0)) continue;
      Conjunct whole = conjunct;
      whole.value = first;
      whole.axis = -1;
      whole.tail = Tail::pad;
      return whole;
    }
    return std::nullopt;
  }

  // A condition on the domain of a padded axis. One on a part of it (a tile in imperfect tiles of its own)
  // stays: beyond that lies the next tile, which is computed elsewhere.
  static bool pads(const Block& block, const Conjunct& conjunct, const Known& known) {
    if (conjunct.axis < 0) return false;
    const BlockAxis& axis = block.axes[static_cast<size_t>(conjunct.axis)];
    if (axis.tail != Tail::pad) return false;
    const Affine binding = simplify(axis.binding, known.ranges());
    const Affine value = simplify(conjunct.value, known.ranges());
    return (value == binding && conjunct.bound >= axis.axis.extent) ||
           (value == binding * -1 && conjunct.bound == 1);
  }

  Status check(const Block& block, const Conjunct& conjunct, const Known& known) const {
    const Axis& axis = block.axes[static_cast<size_t>(conjunct.axis)].axis;
    LATHE_TRY_STATUS(check_access(block, axis, block.output, block.output_index, known, {}));
    LATHE_TRY_STATUS(check_loads(block, axis, block.value, known));
    if (axis.kind == AxisKind::spatial) return {};
    return check_neutral(block, axis, conjunct.bound, known);
  }

  // The conditions of the selects around a load keep it in its tensor where they can.
  Status check_loads(const Block& block, const Axis& axis, const Expr& value, const Known& known) const {
    for (const Read& read : reads_of(value)) {
      std::vector<Affine> facts;
      for (const Affine& fact : read.facts) facts.push_back(bound_index(fact, block));
      LATHE_TRY_STATUS(check_access(block, axis, read.load->tensor, read.load->index, known, facts));
    }
    return {};
  }

  Status check_access(const Block& block, const Axis& axis, const Tensor& tensor,
                      const std::vector<Affine>& index, const Known& known,
                      const std::vector<Affine>& facts) const {
    const auto room = std::ranges::find(rooms_, tensor, &Room::tensor);
    const bool grows = std::ranges::find(allocated_, tensor) != allocated_.end();
    for (size_t dim = 0; dim < index.size(); ++dim) {
      if (!index[dim].uses(axis.var)) continue;
      const Reach reach = reach_of(bound_index(index[dim], block), known.ranges(), facts);
      const bool known_reach = reach.lo && reach.hi;
      if (known_reach && grows) continue;
      const int64_t size = room != rooms_.end() ? room->capacity[dim] : tensor->shape[dim];
      if (known_reach && *reach.lo >= 0 && *reach.hi < size) continue;
      const bool before = known_reach && *reach.lo < 0;
      return fail(
          ErrorKind::illegal_schedule,
          fmt::format("tail pad on axis '{}' of block '{}' touches index {} of dimension {} of '{}', which "
                      "has room for {}; use another tail or a padded layout",
                      axis.var.name(), block.name,
                      known_reach ? std::to_string(before ? *reach.lo : *reach.hi) : "beyond any bound", dim,
                      tensor->name, size));
    }
    return {};
  }

  Status check_neutral(const Block& block, const Axis& axis, int64_t bound, const Known& known) const {
    const auto not_neutral = [&](const std::string& what) {
      return fail(ErrorKind::illegal_schedule,
                  fmt::format("tail pad on reduce axis '{}' of block '{}' needs {}; use another tail",
                              axis.var.name(), block.name, what));
    };
    for (const Load* load : loads_of(block.value)) {
      const bool depends =
          std::ranges::any_of(load->index, [&](const Affine& index) { return index.uses(axis.var); });
      if (depends && !is_zero_beyond(block, axis, bound, *load, known)) {
        return not_neutral(fmt::format("'{}' to be padded with zeros there", load->tensor->name));
      }
    }
    if (!is_identity(fold(with_zeros(block.value, axis.var), Known()), block.reduction)) {
      return not_neutral("a body that gives the reduction's identity for zeros");
    }
    return {};
  }

  static Expr with_zeros(const Expr& e, const Var& axis) {
    const Load* load = e.as<Load>();
    if (load != nullptr) {
      const bool depends =
          std::ranges::any_of(load->index, [&](const Affine& index) { return index.uses(axis); });
      return depends ? literal(e.type(), 0) : e;
    }
    return map_children(e, [&](const Expr& inner) { return with_zeros(inner, axis); }, KeepIndices());
  }

  // Whether what `load` reads where axis >= bound was written as zero by every block that writes the tensor.
  bool is_zero_beyond(const Block& block, const Axis& axis, int64_t bound, const Load& load,
                      const Known& known) const {
    bool written = false;
    for (const Writer& writer : writers_) {
      if (!(writer.block->output == load.tensor)) continue;
      bool zero = false;
      for (size_t dim = 0; dim < load.index.size(); ++dim) {
        zero |= pads_dimension(writer, dim, block, axis, bound, load.index[dim], known);
      }
      if (!zero) return false;
      written = true;
    }
    return written;
  }

  static bool pads_dimension(const Writer& writer, size_t dim, const Block& block, const Axis& axis,
                             int64_t bound, const Affine& index, const Known& known) {
    const std::optional<Var> var = writer.block->output_index[dim].as_var();
    if (!var || !index.uses(axis.var)) return false;
    const int64_t zero = zero_from(*writer.block, *var);
    if (zero < 0) return false;
    // axis >= bound must put the index at `zero` or beyond, and the writer must get as far as the reader.
    Ranges axes;
    for (const BlockAxis& other : block.axes) {
      const auto range = bounds(other.binding, known.ranges());
      if (range) axes.set(other.axis.var, *range);
    }
    const auto lag = bounds(Affine(axis.var) - index, axes);
    if (!lag || lag->hi > bound - zero) return false;
    const auto read = bounds(bound_index(index, block), known.ranges());
    auto write = bounds(bound_index(writer.block->output_index[dim], *writer.block), writer.known.ranges());
    for (const Conjunct& conjunct : writer.block->predicate) {
      const BlockAxis* limited =
          conjunct.axis >= 0 ? &writer.block->axes[static_cast<size_t>(conjunct.axis)] : nullptr;
      if (write && limited != nullptr && limited->axis.var == *var)
        write->hi = std::min(write->hi, conjunct.bound - 1);
    }
    return read && write && write->lo <= read->lo && read->hi <= write->hi;
  }

  std::vector<Room> rooms_;
  std::vector<Tensor> allocated_;
  std::vector<const For*> vectors_;  // the vectorised loops around
  std::vector<Writer> writers_;
};

}  // namespace

Result<Program> drop_padding(const Program& program) {
  PaddingDropper dropper(program);
  LATHE_TRY(const Program dropped,
            try_map_trees(program, [&](const Stmt& tree) { return dropper.visit(tree, Known()); }));
  return map_trees(dropped, [](const Stmt& tree) { return grow_buffers(tree); });
}

}  // namespace lathe
