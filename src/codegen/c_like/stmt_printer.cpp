#include "codegen/c_like/stmt_printer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "loop/region.h"

namespace lathe::c_like {
namespace {

constexpr const char* kLane = "lane";

}  // namespace

void StmtPrinter::define(const Var& var, Interval range) {
  variables_.emplace_back(var, range);
  exprs_.ranges().set(var, range);
}

std::string StmtPrinter::extent(const For& loop) {
  exprs_.begin_statement({}, "");
  std::string text;
  for (const Affine& bound : loop.extents) {
    const std::string one = exprs_.print(bound, code_);
    text = text.empty() ? one : fmt::format("lathe_min_i64({}, {})", text, one);
  }
  return text;
}

Interval StmtPrinter::extent_range(const For& loop) {
  Interval range{INT64_MAX, INT64_MAX};
  for (const Affine& bound : loop.extents) {
    const Interval one = bounds(bound, exprs_.ranges()).value_or(Interval{0, INT64_MAX});
    range = {std::min(range.lo, one.lo), std::min(range.hi, one.hi)};
  }
  return range;
}

void StmtPrinter::print_body(const For& loop) {
  define(loop.var, {0, std::max<int64_t>(extent_range(loop).hi - 1, 0)});
  print(loop.body);
  variables_.pop_back();
}

void StmtPrinter::print_range(const For& loop, const std::string& begin, const std::string& end) {
  const std::string var = name(loop.var);
  code_.open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", var, begin, end));
  print_body(loop);
  code_.close();
}

void StmtPrinter::visit(const For& loop) {
  if (runs_at_once(loop.kind)) return at_once_(loop, *this);
  std::string end = extent(loop);
  if (constant_extent(loop) < 0) {
    const std::string variable = names_.fresh(loop.var.name() + "_end");
    code_.line(fmt::format("const int64_t {} = {};", variable, end));
    end = variable;
  }
  print_range(loop, "0", end);
}

void StmtPrinter::visit(const Block&) {
  LATHE_CHECK(false);  // check_lowered lets no block through
}

void StmtPrinter::visit(const Seq& seq) {
  for (const Stmt& stmt : seq.statements) print(stmt);
}

void StmtPrinter::visit(const Alloc& alloc) {
  const BufferPlace* place = memory_.find(alloc.tensor);
  if (place->arena != Arena::registers) return print(alloc.body);
  const DType dtype = alloc.tensor->dtype;
  code_.open();
  code_.line(fmt::format("{} {}[{}] = {{0}};", dialect_.memory_type(dtype), name(alloc.tensor),
                         std::max<int64_t>(place->bytes / bytes_of(dtype), 1)));
  // A copy that a schedule makes and nothing reads: compilers would warn of it.
  if (!region(alloc.body, alloc.tensor, Access::read, {}))
    code_.line(fmt::format("(void){};", name(alloc.tensor)));
  print(alloc.body);
  code_.close();
}

void StmtPrinter::visit(const If& branch) {
  exprs_.begin_statement({}, "");
  std::string text;
  for (const Conjunct& conjunct : branch.conditions) {
    text += fmt::format("{}{} < {}", text.empty() ? "" : " && ", exprs_.print(conjunct.value, code_),
                        exprs_.print(Affine(conjunct.bound), code_));
  }
  code_.open(fmt::format("if ({})", text));
  print(branch.body);
  code_.close();
}

void StmtPrinter::visit(const Store& store) {
  const int lanes = store.value.type().lanes;
  const std::string lane = lanes > 1 ? kLane : "";
  exprs_.begin_statement({store.mask, store.value}, lane);
  Code body(code_.depth() + (lanes > 1 ? 1 : 0));
  print_store(store, body);
  if (lanes > 1) code_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", lane, lanes));
  code_.append(body.text());
  if (lanes > 1) code_.close();
}

void StmtPrinter::print_store(const Store& store, Code& code) {
  if (store.mask.defined()) code.open(fmt::format("if ({})", exprs_.print(store.mask, code)));
  const std::string value = exprs_.print(store.value, code);
  const std::string element = exprs_.element(store.tensor, store.index[0], store.stride, code);
  code.line(element + " = " + value + ";");
  if (store.mask.defined()) code.close();
}

void StmtPrinter::visit(const Barrier& barrier) {
  code_.line(barrier.is_global ? "LATHE_BARRIER_GLOBAL();" : "LATHE_BARRIER_SHARED();");
}

void StmtPrinter::visit(const Prefetch& prefetch) {
  exprs_.begin_statement({}, "");
  const std::string element = exprs_.element(prefetch.tensor, prefetch.index[0], 0, code_);
  code_.line(fmt::format("{}(&{});", dialect_.prefetch, element));
}

}  // namespace lathe::c_like
