#include "loop/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "expr/print.h"
#include "expr/walk.h"
#include "loop/walk.h"

namespace lathe {
namespace {

std::string typed(const Tensor& tensor) {
  return fmt::format("{}[{}]", to_string(tensor->dtype), fmt::join(tensor->shape, ", "));
}

// `name`, or with the first free number behind it.
template <class Taken>
std::string free_name(const std::string& name, const Taken& taken) {
  std::string candidate = name;
  for (int i = 2; taken(candidate); ++i) candidate = fmt::format("{}_{}", name, i);
  return candidate;
}

class Printer {
 public:
  std::string program(const Program& program);
  std::string statement(const Stmt& stmt, int depth = 0);

 private:
  struct Visitor;

  // Declares a tensor under its own or a free name.
  void declare(const Tensor& tensor);
  // Declares a variable after all others; the fresh one orders the terms of sums.
  std::string declare(const Var& var, Substitution& names);
  std::string declare_tables(const Program& program);
  std::string name_of(const Tensor& tensor) const { return renamed(tensor)->name; }
  Tensor renamed(const Tensor& tensor) const;
  Affine renamed(const Affine& a) const;
  Expr renamed(const Expr& e) const;

  std::string text(const Affine& a, const Substitution& names) const {
    return to_string(renamed(substitute(a, names)));
  }
  std::string text(const Expr& e, const Substitution& names) const {
    return to_string(renamed(substitute(e, names)));
  }
  std::string text(const std::vector<Conjunct>& conjuncts) const;
  std::string access(const Tensor& tensor, const std::vector<Affine>& index, const Substitution& names) const;

  std::string block(const Block& block, int depth);
  std::string alloc(const Alloc& alloc, int depth);
  std::string loop(const For& loop, int depth);
  std::string store(const Store& store) const;
  std::string braced(const std::string& head, const Stmt& body, int depth);

  Substitution vars_;                               // the loops around
  std::vector<std::pair<Tensor, Tensor>> tensors_;  // declared, and under which name
};

std::string indent(int depth) { return std::string(static_cast<size_t>(2 * depth), ' '); }

Tensor Printer::renamed(const Tensor& tensor) const {
  const auto known = std::ranges::find(tensors_, tensor, &std::pair<Tensor, Tensor>::first);
  return known == tensors_.end() ? tensor : known->second;
}

Affine Printer::renamed(const Affine& a) const {
  return map_opaque(a, [this](const Expr& value) { return renamed(value); });
}

Expr Printer::renamed(const Expr& e) const {
  const bool as_they_are =
      std::ranges::all_of(tensors_, [](const auto& entry) { return entry.first == entry.second; });
  if (as_they_are) return e;
  const auto rename_load = [&](const Expr& node) {
    const Load* load = node.as<Load>();
    if (load == nullptr || renamed(load->tensor) == load->tensor) return Expr();
    Load copy = *load;
    copy.tensor = renamed(load->tensor);
    return Expr(ExprNode{node.type(), std::move(copy)});
  };
  return rebuild(e, {rename_load, [&](const Affine& a) { return renamed(a); }});
}

void Printer::declare(const Tensor& tensor) {
  const std::string name = free_name(tensor->name, [&](const std::string& candidate) {
    return std::ranges::any_of(tensors_, [&](const auto& entry) { return entry.second->name == candidate; });
  });
  tensors_.emplace_back(tensor, name == tensor->name ? tensor : Tensor(name, tensor->shape, tensor->dtype));
}

std::string Printer::declare(const Var& var, Substitution& names) {
  std::string name = free_name(var.name(), [&](const std::string& candidate) {
    return std::ranges::any_of(names,
                               [&](const auto& entry) { return entry.second.as_var()->name() == candidate; });
  });
  names.emplace_back(var, Affine(Var(name)));
  return name;
}

std::string Printer::text(const std::vector<Conjunct>& conjuncts) const {
  std::vector<std::string> parts;
  for (Conjunct conjunct : conjuncts) {
    conjunct.value = renamed(substitute(conjunct.value, vars_));
    parts.push_back(to_string(conjunct));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Printer::access(const Tensor& tensor, const std::vector<Affine>& index,
                            const Substitution& names) const {
  return text(Expr(ExprNode{{tensor->dtype, 1}, Load{tensor, index, 0, {}}}), names);
}

std::string Printer::braced(const std::string& head, const Stmt& body, int depth) {
  std::string inside = body ? statement(body, depth + 1) : "";
  return indent(depth) + head + " {\n" + inside + indent(depth) + "}\n";
}

std::string Printer::loop(const For& loop, int depth) {
  std::vector<std::string> extents;
  for (const Affine& extent : loop.extents) extents.push_back(text(extent, vars_));
  const std::string extent =
      extents.size() == 1 ? extents[0] : fmt::format("min({})", fmt::join(extents, ", "));
  const std::string name = declare(loop.var, vars_);
  const std::string intrinsic = loop.intrinsic.empty() ? "" : " by " + loop.intrinsic;
  std::string result =
      braced(fmt::format("{} {} in {}{}", to_string(loop.kind), name, extent, intrinsic), loop.body, depth);
  vars_.pop_back();
  return result;
}

std::string Printer::alloc(const Alloc& alloc, int depth) {
  declare(alloc.tensor);
  const std::string head = fmt::format("alloc {}: {} {} {}", name_of(alloc.tensor), typed(alloc.tensor),
                                       to_string(alloc.scope), to_string(alloc.layout));
  std::string result = braced(head, alloc.body, depth);
  tensors_.pop_back();
  return result;
}

std::string Printer::block(const Block& block, int depth) {
  std::string result = indent(depth) + "block " + block.name;
  if (!block.predicate.empty()) result += " where " + text(block.predicate);
  result += " {\n";
  Substitution axes;
  for (const BlockAxis& axis : block.axes) {
    const char* kind = axis.axis.kind == AxisKind::reduce ? "reduce " : "";
    const std::string name = declare(axis.axis.var, axes);
    result += fmt::format("{}{}{}: {} = {}", indent(depth + 1), kind, name, axis.axis.extent,
                          text(axis.binding, vars_));
    if (axis.tail != Tail::guard) result += fmt::format(" {}", to_string(axis.tail));
    result += "\n";
  }
  const std::string reduction = block.reduction == Reduction::none ? "" : to_string(block.reduction);
  result += fmt::format("{}{} {}{}= {}\n", indent(depth + 1), access(block.output, block.output_index, axes),
                        block.initialises ? "init " : "", reduction, text(block.value, axes));
  return result + indent(depth) + "}\n";
}

std::string Printer::store(const Store& store) const {
  const Load target{store.tensor, store.index, store.stride, store.mask};
  const Type type{store.tensor->dtype, store.value.type().lanes};
  return fmt::format("store {} = {}", text(Expr(ExprNode{type, target}), vars_), text(store.value, vars_));
}

struct Printer::Visitor {
  Printer& self;
  int depth;

  std::string operator()(const For& s) const { return self.loop(s, depth); }
  std::string operator()(const Block& s) const { return self.block(s, depth); }
  std::string operator()(const Seq& s) const {
    std::string result;
    for (const Stmt& child : s.statements) result += self.statement(child, depth);
    return result;
  }
  std::string operator()(const Alloc& s) const { return self.alloc(s, depth); }
  std::string operator()(const If& s) const {
    return self.braced("if " + self.text(s.conditions), s.body, depth);
  }
  std::string operator()(const Store& s) const { return indent(depth) + self.store(s) + "\n"; }
  std::string operator()(const Prefetch& s) const {
    return indent(depth) + "prefetch " + self.access(s.tensor, s.index, self.vars_) + "\n";
  }
  std::string operator()(const Barrier& s) const {
    return indent(depth) + "barrier " + (s.is_global ? "global" : "shared") + "\n";
  }
};

std::string Printer::statement(const Stmt& stmt, int depth) {
  return std::visit(Visitor{*this, depth}, stmt->node);
}

// The tables that a program reads, in order of first use.
std::vector<Tensor> tables_of(const Program& program) {
  std::vector<Tensor> tables;
  const auto visit_expr = [&](const Expr& e) {
    if (!e.defined()) return;
    for (const Load* load : loads_of(e)) {
      if (load->tensor->literal.empty() || std::ranges::find(tables, load->tensor) != tables.end()) continue;
      tables.push_back(load->tensor);
    }
  };
  const auto visit = [&](const StmtNode& node) {
    if (const Block* block = std::get_if<Block>(&node.node)) visit_expr(block->value);
    if (const Store* store = std::get_if<Store>(&node.node)) {
      visit_expr(store->value);
      visit_expr(store->mask);
    }
  };
  if (program.prepare) for_each(program.prepare, visit);
  if (program.main) for_each(program.main, visit);
  return tables;
}

std::string Printer::declare_tables(const Program& program) {
  std::string result;
  for (const Tensor& table : tables_of(program)) {
    declare(table);
    std::vector<std::string> values;
    for (const double value : table->literal) values.push_back(to_string(Expr(value)));
    result += fmt::format("table {}: {} = {{{}}}\n", name_of(table), typed(table), fmt::join(values, ", "));
  }
  return result;
}

std::string Printer::program(const Program& program) {
  std::string result;
  for (const Argument& argument : program.arguments) {
    declare(argument.tensor);
    const char* role = argument.is_output ? "output" : argument.is_constant ? "constant" : "input";
    result += fmt::format("{} {}: {} {}{}{}\n", role, name_of(argument.tensor), typed(argument.tensor),
                          to_string(argument.layout), argument.layout_is_free ? " free" : "",
                          argument.streams ? " streams" : "");
  }
  for (const Prepared& prepared : program.prepared) {
    declare(prepared.tensor);
    result += fmt::format("prepared {}: {} {}\n", name_of(prepared.tensor), typed(prepared.tensor),
                          to_string(prepared.layout));
  }
  result += declare_tables(program);
  if (program.flat) result += "flat\n";
  if (program.prepare) result += braced("prepare", program.prepare, 0);
  return result + braced("main", program.main, 0);
}

}  // namespace

std::string to_string(const Program& program) { return Printer().program(program); }

std::string to_string(const Stmt& stmt) { return stmt ? Printer().statement(stmt) : ""; }

std::string to_string(const Conjunct& conjunct) {
  std::string text = fmt::format("{} < {}", to_string(conjunct.value), conjunct.bound);
  if (conjunct.axis >= 0) text += fmt::format(" axis {}", conjunct.axis);
  if (conjunct.tail != Tail::guard) text += fmt::format(" {}", to_string(conjunct.tail));
  if (conjunct.is_neutral) text += " neutral";
  return text;
}

const char* to_string(LoopKind kind) {
  switch (kind) {
    case LoopKind::serial: return "for";
    case LoopKind::unrolled: return "unroll";
    case LoopKind::vectorized: return "vector";
    case LoopKind::parallel: return "parallel";
    case LoopKind::tensorized: return "tensor";
    case LoopKind::block: return "blocks";
    case LoopKind::thread: return "threads";
  }
  return "";
}

const char* to_string(Scope scope) {
  switch (scope) {
    case Scope::registers: return "registers";
    case Scope::thread: return "thread";
    case Scope::workspace: return "workspace";
    case Scope::shared: return "shared";
  }
  return "";
}

const char* to_string(Tail tail) {
  switch (tail) {
    case Tail::guard: return "guard";
    case Tail::bound: return "bound";
    case Tail::peel: return "peel";
    case Tail::mask: return "mask";
    case Tail::overlap: return "overlap";
    case Tail::pad: return "pad";
  }
  return "";
}

}  // namespace lathe
