#include "codegen/lowered_builder.h"

#include <utility>

namespace lathe::testing {

Tensor LoweredBuilder::argument(const std::string& name, int64_t elements, DType dtype, bool is_output) {
  Tensor tensor(name, {elements}, dtype);
  lowered_.program.arguments.push_back(
      {.tensor = tensor, .is_output = is_output, .layout = Layout::row_major(1)});
  return tensor;
}

Tensor LoweredBuilder::input(const std::string& name, int64_t elements, DType dtype) {
  return argument(name, elements, dtype, false);
}

Tensor LoweredBuilder::output(const std::string& name, int64_t elements, DType dtype) {
  return argument(name, elements, dtype, true);
}

Tensor LoweredBuilder::prepared(const std::string& name, int64_t elements) {
  Tensor tensor(name, {elements});
  lowered_.program.prepared.push_back({tensor, Layout::row_major(1)});
  return tensor;
}

Tensor LoweredBuilder::buffer(const std::string& name, int64_t elements, Arena arena) {
  Tensor tensor(name, {elements});
  const int64_t bytes = elements * 4;
  const int64_t room = (bytes + 63) / 64 * 64;
  MemoryPlan& memory = lowered_.memory;
  int64_t offset = 0;
  if (arena == Arena::workspace) offset = std::exchange(memory.shared_bytes, memory.shared_bytes + room);
  if (arena == Arena::thread) offset = std::exchange(memory.thread_bytes, memory.thread_bytes + room);
  memory.places.push_back({tensor, arena, offset, bytes});
  return tensor;
}

Tensor LoweredBuilder::overlapping(const std::string& name, const Tensor& other) {
  BufferPlace place = *lowered_.memory.find(other);
  place.tensor = Tensor(name, other->shape);
  lowered_.memory.places.push_back(place);
  return place.tensor;
}

Stmt LoweredBuilder::scoped(const Tensor& tensor, Stmt body) const {
  const Arena arena = lowered_.memory.find(tensor)->arena;
  const Scope scope = arena == Arena::workspace ? Scope::workspace
                      : arena == Arena::thread  ? Scope::thread
                                                : Scope::registers;
  return make_stmt(Alloc{tensor, scope, Layout::row_major(1), std::move(body)});
}

Stmt loop(const Var& var, Affine extent, Stmt body, LoopKind kind) {
  return make_stmt(For{var, {std::move(extent)}, kind, std::move(body)});
}

Stmt store(const Tensor& tensor, Affine offset, Expr value) {
  return make_stmt(Store{tensor, {std::move(offset)}, std::move(value), 0, {}});
}

Stmt vector_store(const Tensor& tensor, Affine offset, Expr value, int64_t stride, Expr mask) {
  return make_stmt(Store{tensor, {std::move(offset)}, std::move(value), stride, std::move(mask)});
}

Expr vector_load(const Tensor& tensor, Affine offset, int lanes, int64_t stride, Expr mask) {
  return Expr(ExprNode{{tensor->dtype, lanes}, Load{tensor, {std::move(offset)}, stride, std::move(mask)}});
}

Expr ramp(Affine base, int lanes, int64_t stride) {
  return Expr(ExprNode{{DType::i64, lanes}, Ramp{std::move(base), stride}});
}

Expr lanes_below(Affine first, int64_t bound, int lanes) {
  return ramp(std::move(first), lanes) < broadcast(Expr(bound), lanes);
}

namespace {

struct GemmBuilder {
  GemmShape shape{};
  LoweredBuilder builder;
  Tensor a, b, c;
  Var panel{"panel"}, row{"row"}, r{"r"};

  int64_t width() const { return static_cast<int64_t>(shape.vectors) * shape.lanes; }

  // The tile of `rows` rows from `first` on.
  Stmt tile(const Affine& first, int rows) {
    const Tensor acc = builder.buffer("acc", rows * width(), Arena::registers);
    std::vector<Stmt> init, update, out;
    for (int i = 0; i < rows; ++i) {
      for (int v = 0; v < shape.vectors; ++v) {
        const Affine at = i * width() + v * shape.lanes;
        init.push_back(vector_store(acc, at, broadcast(Expr(0.0), shape.lanes)));
        const Expr left = broadcast(load(a, {(first + i) * shape.k + Affine(r)}), shape.lanes);
        const Affine panel_row = Affine(panel) * (shape.k * width()) + Affine(r) * width() + v * shape.lanes;
        const Expr right = vector_load(b, panel_row, shape.lanes);
        update.push_back(vector_store(acc, at, vector_load(acc, at, shape.lanes) + left * right));
        const Affine column = Affine(panel) * width() + v * shape.lanes;
        const Expr mask = shape.n % width() == 0 ? Expr() : lanes_below(column, shape.n, shape.lanes);
        out.push_back(
            vector_store(c, (first + i) * shape.n + column, vector_load(acc, at, shape.lanes), 1, mask));
      }
    }
    return builder.scoped(acc, make_seq({make_seq(init), loop(r, shape.k, make_seq(update)), make_seq(out)}));
  }

  LoweredProgram build() {
    const int64_t panels = (shape.n + width() - 1) / width();
    a = builder.input("A", shape.m * shape.k);
    b = builder.input("B", panels * width() * shape.k);
    c = builder.output("C", shape.m * shape.n);
    const int64_t tiles = shape.m / shape.rows;
    std::vector<Stmt> rows;
    if (tiles > 0) rows.push_back(loop(row, tiles, tile(Affine(row) * shape.rows, shape.rows)));
    const int rest = static_cast<int>(shape.m % shape.rows);
    if (rest > 0) rows.push_back(tile(tiles * shape.rows, rest));
    builder.main(loop(panel, panels, make_seq(rows), shape.parallel ? LoopKind::parallel : LoopKind::serial));
    return builder.lowered();
  }
};

}  // namespace

LoweredProgram gemm(const GemmShape& shape) {
  GemmBuilder builder;
  builder.shape = shape;
  return builder.build();
}

int64_t packed_offset(const GemmShape& shape, int64_t r, int64_t j) {
  const int64_t width = static_cast<int64_t>(shape.vectors) * shape.lanes;
  return j / width * shape.k * width + r * width + j % width;
}

}  // namespace lathe::testing
