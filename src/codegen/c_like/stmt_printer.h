// Statements as text of a C-like language. Vector stores become loops over their lanes. What a loop is that
// runs at once (parallel, blocks, threads) differs too much between languages: that is the language's own
// part.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/buffers.h"
#include "codegen/c_like/expr_printer.h"

namespace lathe::c_like {

class StmtPrinter {
 public:
  // Prints a loop that runs at once, with this printer's variables in scope.
  using LoopAtOnce = std::function<void(const For& loop, StmtPrinter& printer)>;

  StmtPrinter(const Dialect& dialect, Names& names, const MemoryPlan& memory, Code& code, LoopAtOnce at_once)
      : dialect_(dialect),
        names_(names),
        memory_(memory),
        code_(code),
        at_once_(std::move(at_once)),
        exprs_(dialect, names) {}

  void print(const Stmt& stmt) {
    std::visit([this](const auto& node) { visit(node); }, stmt->node);
  }
  // A variable that the surrounding text defines.
  void define(const Var& var, Interval range);
  // The body of a loop whose variable the surrounding text defines.
  void print_body(const For& loop);
  // The loop for begin .. end-1.
  void print_range(const For& loop, const std::string& begin, const std::string& end);
  // The number of iterations, as text and as far as it is known.
  std::string extent(const For& loop);
  Interval extent_range(const For& loop);

  const std::vector<std::pair<Var, Interval>>& variables() const { return variables_; }
  std::string name(const Var& var) { return names_.of(var.atom().get(), var.name()); }
  std::string name(const Tensor& tensor) { return names_.of(tensor.get(), tensor->name); }
  Code& code() { return code_; }

 private:
  void visit(const For& loop);
  void visit(const Block& block);
  void visit(const Seq& seq);
  void visit(const Alloc& alloc);
  void visit(const If& branch);
  void visit(const Store& store);
  void visit(const Prefetch& prefetch);
  void visit(const Barrier& barrier);
  void print_store(const Store& store, Code& code);

  const Dialect& dialect_;
  Names& names_;
  const MemoryPlan& memory_;
  Code& code_;
  LoopAtOnce at_once_;
  ExprPrinter exprs_;
  std::vector<std::pair<Var, Interval>> variables_;
};

}  // namespace lathe::c_like
