#include "loop/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "expr/parse.h"
#include "expr/print.h"
#include "loop/print.h"
#include "loop/walk.h"

namespace lathe {
namespace {

constexpr int kMaxDepth = 200;
constexpr int64_t kMaxExtent = int64_t{1} << 31;
constexpr int64_t kMaxElements = int64_t{1} << 40;
constexpr int64_t kMaxTableElements = int64_t{1} << 20;

class ProgramParser {
 public:
  ProgramParser(std::string_view text, const std::string& name) : cursor_(text, name) {
    loop_names_.variable = [this](const std::string& word) { return find(loops_, word); };
    axis_names_.variable = [this](const std::string& word) { return find(axes_, word); };
    for (ExprNames* names : {&loop_names_, &axis_names_}) {
      names->tensor = [this](const std::string& word, size_t, bool) { return find_tensor(word); };
    }
  }

  Result<Program> program();

 private:
  Result<bool> declaration();
  Status argument(std::string_view role);
  Status prepared();
  Status table();
  Result<Tensor> typed_tensor();
  Result<Layout> layout_of(const Tensor& tensor);
  Result<int64_t> bounded(int64_t lo, int64_t hi, const char* what);

  Result<Stmt> body();
  Result<Stmt> body_of(std::string_view what);
  Result<Stmt> statement();
  Result<Stmt> loop(LoopKind kind);
  Result<std::vector<Affine>> extents();
  Result<Stmt> alloc();
  Result<Stmt> barrier();
  Result<Stmt> branch();
  Result<Stmt> block();
  Status axis(Block& block);
  Status update(Block& block);
  Result<Stmt> store();
  Result<Stmt> prefetch();
  Result<std::vector<Conjunct>> conditions();
  Result<Conjunct> condition();
  Tail tail();
  // An access as it stands in an expression.
  Result<Expr> access(const ExprNames& names);
  // A value for `tensor`; an integer constant becomes one of its type.
  Result<Expr> value_for(const Tensor& tensor, int lanes, const ExprNames& names);

  // Where the next token begins.
  size_t next_token() {
    cursor_.peek();
    return cursor_.position();
  }
  bool word(std::string_view keyword) { return cursor_.accept_word(keyword); }
  static Expr find(const std::vector<Var>& vars, const std::string& word) {
    const auto found = std::ranges::find(vars, word, &Var::name);
    return found == vars.end() ? Expr() : Expr(*found);
  }
  Tensor find_tensor(const std::string& word) const {
    const auto found =
        std::ranges::find_if(tensors_, [&](const Tensor& tensor) { return tensor->name == word; });
    return found == tensors_.end() ? Tensor() : *found;
  }

  TextCursor cursor_;
  Program program_;
  std::vector<Tensor> tensors_;  // what can be accessed here
  std::vector<Var> loops_;       // around here
  std::vector<Var> axes_;        // of the block
  ExprNames loop_names_;
  ExprNames axis_names_;
  int depth_ = 0;
};

Result<int64_t> ProgramParser::bounded(int64_t lo, int64_t hi, const char* what) {
  LATHE_TRY(const int64_t value, cursor_.integer());
  if (value >= lo && value <= hi) return value;
  return cursor_.error(fmt::format("{} is {} to {}, not {}", what, lo, hi, value));
}

Result<Program> ProgramParser::program() {
  for (;;) {
    LATHE_TRY(const bool found, declaration());
    if (!found) break;
  }
  program_.flat = word("flat");
  loop_names_.flat = axis_names_.flat = program_.flat;
  if (word("prepare")) {
    LATHE_TRY(program_.prepare, body());
  }
  if (!word("main")) return cursor_.error("expected 'main'");
  LATHE_TRY(program_.main, body());
  if (!cursor_.at_end()) return cursor_.error("expected the end of the program");
  return program_;
}

Result<bool> ProgramParser::declaration() {
  for (const char* role : {"input", "constant", "output"}) {
    if (!word(role)) continue;
    LATHE_TRY_STATUS(argument(role));
    return true;
  }
  if (word("prepared")) {
    LATHE_TRY_STATUS(prepared());
    return true;
  }
  if (word("table")) {
    LATHE_TRY_STATUS(table());
    return true;
  }
  return false;
}

// "NAME : TYPE[extent, ..]", a name that is free here.
Result<Tensor> ProgramParser::typed_tensor() {
  const size_t here = next_token();
  LATHE_TRY(std::string name, cursor_.identifier());
  if (find_tensor(name).defined()) {
    cursor_.rewind(here);
    return cursor_.error(fmt::format("there is a tensor '{}' already", name));
  }
  LATHE_TRY_STATUS(cursor_.expect(":"));
  LATHE_TRY(const std::string type, cursor_.identifier());
  const Result<DType> dtype = parse_dtype(type);
  if (!dtype) return cursor_.error(dtype.error().message);
  LATHE_TRY_STATUS(cursor_.expect("["));
  std::vector<int64_t> shape;
  int64_t elements = 1;
  while (!cursor_.accept("]")) {
    if (!shape.empty()) LATHE_TRY_STATUS(cursor_.expect_comma("]"));
    LATHE_TRY(const int64_t extent, bounded(1, kMaxExtent, "an extent"));
    if (extent > kMaxElements / elements) return cursor_.error(fmt::format("'{}' is too large", name));
    elements *= extent;
    shape.push_back(extent);
  }
  return Tensor(std::move(name), std::move(shape), *dtype);
}

Result<Layout> ProgramParser::layout_of(const Tensor& tensor) {
  const size_t here = next_token();
  LATHE_TRY(Layout layout, parse_layout(cursor_));
  if (const Status status = verify(layout, tensor->shape); !status) {
    cursor_.rewind(here);
    return cursor_.error(status.error().message);
  }
  return layout;
}

Status ProgramParser::argument(std::string_view role) {
  Argument argument;
  argument.is_constant = role == "constant";
  argument.is_output = role == "output";
  LATHE_TRY(argument.tensor, typed_tensor());
  LATHE_TRY(argument.layout, layout_of(argument.tensor));
  argument.layout_is_free = word("free");
  argument.streams = argument.is_output && word("streams");
  tensors_.push_back(argument.tensor);
  program_.arguments.push_back(std::move(argument));
  return {};
}

Status ProgramParser::prepared() {
  Prepared prepared;
  LATHE_TRY(prepared.tensor, typed_tensor());
  LATHE_TRY(prepared.layout, layout_of(prepared.tensor));
  tensors_.push_back(prepared.tensor);
  program_.prepared.push_back(std::move(prepared));
  return {};
}

Status ProgramParser::table() {
  LATHE_TRY(const Tensor tensor, typed_tensor());
  if (tensor->dtype != DType::f32) return cursor_.error("a table is f32");
  if (tensor.elements() > kMaxTableElements) {
    return cursor_.error(fmt::format("a table has at most {} elements", kMaxTableElements));
  }
  LATHE_TRY_STATUS(cursor_.expect("="));
  LATHE_TRY_STATUS(cursor_.expect("{"));
  std::vector<double> values;
  while (!cursor_.accept("}")) {
    if (!values.empty()) LATHE_TRY_STATUS(cursor_.expect_comma("}"));
    LATHE_TRY(const double value, cursor_.number());
    values.push_back(value);
  }
  if (static_cast<int64_t>(values.size()) != tensor.elements()) {
    return cursor_.error(
        fmt::format("table '{}' needs {} values, not {}", tensor->name, tensor.elements(), values.size()));
  }
  tensors_.push_back(Tensor::literal(tensor->name, tensor->shape, std::move(values)));
  return {};
}

// "{ stmt* }"; null for none.
Result<Stmt> ProgramParser::body() {
  LATHE_TRY_STATUS(cursor_.expect("{"));
  if (++depth_ > kMaxDepth) {
    return cursor_.error(fmt::format("statements are nested at most {} deep", kMaxDepth));
  }
  std::vector<Stmt> statements;
  while (!cursor_.accept("}")) {
    LATHE_TRY(Stmt stmt, statement());
    statements.push_back(std::move(stmt));
  }
  --depth_;
  return make_seq(std::move(statements));
}

// The same where there must be one.
Result<Stmt> ProgramParser::body_of(std::string_view what) {
  LATHE_TRY(Stmt stmt, body());
  if (stmt == nullptr) return cursor_.error(fmt::format("{} holds a statement", what));
  return stmt;
}

Result<Stmt> ProgramParser::statement() {
  for (const LoopKind kind : {LoopKind::serial, LoopKind::unrolled, LoopKind::vectorized, LoopKind::parallel,
                              LoopKind::tensorized, LoopKind::block, LoopKind::thread}) {
    if (word(to_string(kind))) return loop(kind);
  }
  if (word("alloc")) return alloc();
  if (word("if")) return branch();
  if (word("block")) return block();
  if (word("store")) return store();
  if (word("prefetch")) return prefetch();
  if (word("barrier")) return barrier();
  return cursor_.error("expected a statement or '}'");
}

Result<Stmt> ProgramParser::loop(LoopKind kind) {
  For loop;
  loop.kind = kind;
  const size_t here = next_token();
  LATHE_TRY(const std::string name, cursor_.identifier());
  if (find(loops_, name).defined()) {
    cursor_.rewind(here);
    return cursor_.error(fmt::format("there is a loop '{}' around this one", name));
  }
  if (!word("in")) return cursor_.error("expected 'in'");
  LATHE_TRY(loop.extents, extents());
  if (kind == LoopKind::tensorized) {
    if (!word("by")) return cursor_.error("expected 'by'");
    LATHE_TRY(loop.intrinsic, cursor_.identifier());
  }
  loop.var = Var(name);
  const int64_t largest = largest_extent(loop, loop_names_.ranges);
  if (largest > 0) loop_names_.ranges.set_extent(loop.var, largest);
  loops_.push_back(loop.var);
  LATHE_TRY(loop.body, body_of("a loop"));
  loops_.pop_back();
  return make_stmt(std::move(loop));
}

Result<std::vector<Affine>> ProgramParser::extents() {
  std::vector<Affine> list;
  if (!word("min")) {
    LATHE_TRY(const Affine extent, parse_affine(cursor_, loop_names_));
    list.push_back(extent);
    return list;
  }
  LATHE_TRY_STATUS(cursor_.expect("("));
  do {
    LATHE_TRY(const Affine extent, parse_affine(cursor_, loop_names_));
    list.push_back(extent);
  } while (cursor_.accept(","));
  LATHE_TRY_STATUS(cursor_.expect(")"));
  return list;
}

Result<Stmt> ProgramParser::alloc() {
  Alloc alloc;
  LATHE_TRY(alloc.tensor, typed_tensor());
  constexpr std::array kScopes = {Scope::registers, Scope::thread, Scope::workspace, Scope::shared};
  const auto scope = std::ranges::find_if(kScopes, [&](Scope scope) { return word(to_string(scope)); });
  if (scope == kScopes.end()) return cursor_.error("expected 'registers', 'thread', 'workspace' or 'shared'");
  alloc.scope = *scope;
  LATHE_TRY(alloc.layout, layout_of(alloc.tensor));
  tensors_.push_back(alloc.tensor);
  LATHE_TRY(alloc.body, body_of("an alloc"));
  tensors_.pop_back();
  return make_stmt(std::move(alloc));
}

Result<Stmt> ProgramParser::barrier() {
  Barrier barrier{word("global")};
  if (!barrier.is_global && !word("shared")) return cursor_.error("expected 'global' or 'shared'");
  return make_stmt(barrier);
}

Result<Stmt> ProgramParser::branch() {
  If branch;
  LATHE_TRY(branch.conditions, conditions());
  LATHE_TRY(branch.body, body_of("an if"));
  return make_stmt(std::move(branch));
}

Result<std::vector<Conjunct>> ProgramParser::conditions() {
  std::vector<Conjunct> list;
  do {
    LATHE_TRY(Conjunct conjunct, condition());
    list.push_back(std::move(conjunct));
  } while (cursor_.accept(","));
  return list;
}

Result<Conjunct> ProgramParser::condition() {
  const size_t here = next_token();
  LATHE_TRY(const Expr comparison, parse_expr(cursor_, loop_names_));
  const Binary* less = comparison.as<Binary>();
  const auto index = [](const Expr& e) { return e.as<Index>(); };
  if (less == nullptr || less->op != BinaryOp::less || index(less->a) == nullptr ||
      index(less->b) == nullptr || !index(less->b)->value.is_constant()) {
    cursor_.rewind(here);
    return cursor_.error("expected a condition like 'i + 4*j < 100'");
  }
  Conjunct conjunct;
  conjunct.value = index(less->a)->value;
  conjunct.bound = index(less->b)->value.constant();
  if (word("axis")) {
    LATHE_TRY(const int64_t axis, bounded(0, 1 << 20, "an axis"));
    conjunct.axis = static_cast<int>(axis);
  }
  conjunct.tail = tail();
  conjunct.is_neutral = word("neutral");
  return conjunct;
}

// A tail's name, unless it is the name of the axis or tensor on the next line; guard where there is none.
Tail ProgramParser::tail() {
  for (const Tail tail : {Tail::guard, Tail::bound, Tail::peel, Tail::mask, Tail::overlap, Tail::pad}) {
    const size_t here = next_token();
    if (!word(to_string(tail))) continue;
    if (cursor_.peek() != ':' && cursor_.peek() != '[') return tail;
    cursor_.rewind(here);
  }
  return Tail::guard;
}

Result<Stmt> ProgramParser::block() {
  Block block;
  LATHE_TRY(block.name, cursor_.identifier());
  if (word("where")) {
    LATHE_TRY(block.predicate, conditions());
  }
  LATHE_TRY_STATUS(cursor_.expect("{"));
  axes_.clear();
  axis_names_.ranges = {};
  for (;;) {
    const size_t here = next_token();
    if (word("reduce") && cursor_.peek() != ':' && cursor_.peek() != '[') {
      LATHE_TRY_STATUS(axis(block));
      block.axes.back().axis.kind = AxisKind::reduce;
      continue;
    }
    cursor_.rewind(here);
    LATHE_TRY_STATUS(cursor_.identifier());
    const bool is_axis = cursor_.peek() == ':';
    cursor_.rewind(here);
    if (!is_axis) break;
    LATHE_TRY_STATUS(axis(block));
  }
  LATHE_TRY_STATUS(update(block));
  LATHE_TRY_STATUS(cursor_.expect("}"));
  return make_stmt(std::move(block));
}

Status ProgramParser::axis(Block& block) {
  BlockAxis axis;
  const size_t here = next_token();
  LATHE_TRY(const std::string name, cursor_.identifier());
  if (find(axes_, name).defined()) {
    cursor_.rewind(here);
    return cursor_.error(fmt::format("the block has an axis '{}' already", name));
  }
  axis.axis.var = Var(name);
  LATHE_TRY_STATUS(cursor_.expect(":"));
  LATHE_TRY(axis.axis.extent, bounded(1, kMaxExtent, "an extent"));
  LATHE_TRY_STATUS(cursor_.expect("="));
  LATHE_TRY(axis.binding, parse_affine(cursor_, loop_names_));
  axis.tail = tail();
  axes_.push_back(axis.axis.var);
  axis_names_.ranges.set_extent(axis.axis.var, axis.axis.extent);
  block.axes.push_back(std::move(axis));
  return {};
}

Status ProgramParser::update(Block& block) {
  LATHE_TRY(const Expr target, access(axis_names_));
  if (target.type().lanes != 1 || target.as<Load>()->mask.defined()) {
    return cursor_.error("a block's output is one element");
  }
  block.output = target.as<Load>()->tensor;
  block.output_index = target.as<Load>()->index;
  block.initialises = word("init");
  for (const Reduction reduction : {Reduction::sum, Reduction::max, Reduction::min, Reduction::product}) {
    if (!word(to_string(reduction))) continue;
    block.reduction = reduction;
    break;
  }
  if (block.initialises && block.reduction == Reduction::none) {
    return cursor_.error("expected 'sum=', 'max=', 'min=' or 'product=' after 'init'");
  }
  LATHE_TRY_STATUS(cursor_.expect("="));
  LATHE_TRY(block.value, value_for(block.output, 1, axis_names_));
  return {};
}

Result<Expr> ProgramParser::access(const ExprNames& names) {
  const size_t here = next_token();
  LATHE_TRY(Expr target, parse_expr(cursor_, names));
  if (target.as<Load>() != nullptr) return target;
  cursor_.rewind(here);
  return cursor_.error("expected an access like 'C[i, j]'");
}

Result<Expr> ProgramParser::value_for(const Tensor& tensor, int lanes, const ExprNames& names) {
  const size_t here = next_token();
  LATHE_TRY(Expr value, parse_expr(cursor_, names));
  const Type type{tensor->dtype, lanes};
  if (value.type() == type) return value;
  const Index* constant = value.as<Index>();
  if (constant != nullptr && constant->value.is_constant() && type.dtype != DType::boolean) {
    return literal(type, static_cast<double>(constant->value.constant()));
  }
  cursor_.rewind(here);
  return cursor_.error(
      fmt::format("the value is {}, but {} is stored", to_string(value.type()), to_string(type)));
}

Result<Stmt> ProgramParser::store() {
  LATHE_TRY(const Expr target, access(loop_names_));
  const Load& load = *target.as<Load>();
  LATHE_TRY_STATUS(cursor_.expect("="));
  LATHE_TRY(Expr value, value_for(load.tensor, target.type().lanes, loop_names_));
  return make_stmt(Store{load.tensor, load.index, std::move(value), load.stride, load.mask});
}

Result<Stmt> ProgramParser::prefetch() {
  LATHE_TRY(const Expr target, access(loop_names_));
  const Load& load = *target.as<Load>();
  if (target.type().lanes != 1) return cursor_.error("a prefetch names one element");
  return make_stmt(Prefetch{load.tensor, load.index});
}

}  // namespace

Result<Program> parse_program(std::string_view text, const std::string& name) {
  return ProgramParser(text, name).program();
}

}  // namespace lathe
