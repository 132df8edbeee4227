#include "codegen/c/emit_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "codegen/c_like/functions.h"
#include "codegen/c_like/stmt_printer.h"
#include "codegen/check_lowered.h"
#include "loop/walk.h"

namespace lathe {
namespace {

using c_like::Code;

// What `c_like`'s functions rest on, and the types of the entries.
constexpr const char* kHead = R"(#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef LATHE_KERNEL_ABI_H
typedef void (*LatheTask)(void* context, int64_t begin, int64_t end, int32_t thread);
typedef struct LatheParallel {
  void (*run)(const struct LatheParallel* pool, LatheTask task, void* context, int64_t count);
  int32_t threads;
  void* state;
} LatheParallel;
#endif

#ifdef __GNUC__
#define LATHE_PREFETCH(address) __builtin_prefetch((address), 0, 2)
#else
#define LATHE_PREFETCH(address) ((void)(address))
#endif

)";

std::set<std::string> reserved_names() {
  return {"auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
          "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
          "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
          "volatile", "while", "buffers", "sizes", "workspace", "pool", "thread", "context", "context_",
          "begin", "end", "count", "lane", "main", "linux", "unix",
          // what <math.h> and <string.h> declare under short names
          "exp", "log", "sqrt", "tanh", "erf", "abs", "floor", "pow", "y0", "y1", "yn", "j0", "j1", "jn",
          "gamma", "fma", "sin", "cos", "tan", "sinh", "cosh", "index", "rindex", "signgam", "memcpy",
          "memset", "INFINITY", "NAN", "div", "remainder", "logb", "scalb", "round", "ceil", "trunc", "rint",
          "drem", "significand", "fmax", "fmin", "fmod"};
}

bool is_stored(const Stmt& stmt, const Tensor& tensor) {
  bool found = false;
  for_each(stmt, [&](const StmtNode& node) {
    const auto* store = std::get_if<Store>(&node.node);
    if (store != nullptr && store->tensor == tensor) found = true;
  });
  return found;
}

// The statement without its parallel loops, which are functions of their own; null: nothing is left.
Stmt outside_parallel_loops(const Stmt& stmt) {
  return rebuild(stmt, [](const Stmt& part) -> std::optional<Stmt> {
    const For* loop = as<For>(part);
    if (loop != nullptr && loop->kind == LoopKind::parallel) return Stmt();
    return std::nullopt;
  });
}

class CEmitter {
 public:
  CEmitter(const LoweredProgram& lowered, const EntrySymbols& symbols)
      : lowered_(lowered), names_(reserved_names()) {
    names_.fresh(symbols.kernel);
    names_.fresh(symbols.prepare);
  }

  void add_entry(const Stmt& body, const std::string& symbol);
  std::string text() const { return kHead + c_like::functions_of(functions_) + tables_ + functions_; }

 private:
  void add_literal(const Tensor& tensor);
  void declare_buffers(const Stmt& body, Code& code);
  void print_parallel(const For& loop, c_like::StmtPrinter& printer, const std::string& entry);
  // The function that runs a part of the loop; gives the name of its context's struct.
  void add_task(const For& loop, c_like::StmtPrinter& outer, const std::string& name);
  c_like::StmtPrinter::LoopAtOnce parallel_printer(const std::string& entry) {
    return [this, entry](const For& loop, c_like::StmtPrinter& printer) {
      print_parallel(loop, printer, entry);
    };
  }

  const LoweredProgram& lowered_;
  c_like::Names names_;
  std::set<const TensorNode*> literals_;
  std::string tables_;
  std::string functions_;
};

void CEmitter::add_literal(const Tensor& tensor) {
  if (!literals_.insert(tensor.get()).second) return;
  const DType dtype = tensor->dtype;
  std::string values;
  for (size_t i = 0; i < tensor->literal.size(); ++i) {
    const double value = tensor->literal[i];
    values += i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ";
    values += is_float(dtype) ? c_like::kC99.float_literal(dtype, value)
                              : fmt::format("{}", static_cast<int64_t>(value));
  }
  tables_ += fmt::format("static const {} {}[{}] = {{\n    {}}};\n", c_like::kC99.memory_type(dtype),
                         names_.of(tensor.get(), tensor->name), tensor->literal.size(), values);
}

void CEmitter::declare_buffers(const Stmt& body, Code& code) {
  for (const BufferUse& use : buffers_used(lowered_, body)) {
    const std::string type = c_like::kC99.memory_type(use.tensor->dtype);
    const std::string& name = names_.of(use.tensor.get(), use.tensor->name);
    const MemoryPlan& plan = lowered_.memory;
    switch (use.storage) {
      case Storage::argument: {
        const char* qualifier = is_stored(body, use.tensor) ? "" : "const ";
        code.line(fmt::format("{0}{1}* restrict {2} = ({0}{1}*)buffers[{3}];", qualifier, type, name,
                              use.argument));
        break;
      }
      case Storage::workspace:
        code.line(fmt::format("{0}* {1} = ({0}*)(workspace + {2});", type, name, use.offset));
        break;
      case Storage::thread:
        code.line(fmt::format("{0}* {1} = ({0}*)(workspace + {2} + (int64_t)thread * {3});", type, name,
                              plan.shared_bytes + use.offset, plan.thread_bytes));
        break;
      case Storage::literal: add_literal(use.tensor); break;
      case Storage::registers: break;
      case Storage::shared: LATHE_CHECK(false);  // check_lowered lets no blocks through
    }
  }
}

void CEmitter::add_entry(const Stmt& body, const std::string& symbol) {
  Code code;
  code.line("");
  code.line(fmt::format("int {}(void* const* buffers, const int64_t* sizes, void* workspace_,", symbol));
  code.open(std::string(symbol.size() + 5, ' ') + "const LatheParallel* pool)");
  code.line("char* workspace = (char*)workspace_;");
  code.line("const int32_t thread = 0;");
  code.line("(void)buffers, (void)sizes, (void)workspace, (void)pool, (void)thread;");
  if (const Stmt outside = outside_parallel_loops(body)) declare_buffers(outside, code);
  c_like::StmtPrinter printer(c_like::kC99, names_, lowered_.memory, code, parallel_printer(symbol));
  printer.print(body);
  code.line("return 0;");
  code.close();
  functions_ += code.text();
}

void CEmitter::add_task(const For& loop, c_like::StmtPrinter& outer, const std::string& name) {
  Code code;
  code.line("");
  code.open(fmt::format("struct {}_context", name));
  code.line("void* const* buffers;");
  code.line("char* workspace;");
  for (const auto& [var, range] : outer.variables()) code.line(fmt::format("int64_t {};", outer.name(var)));
  code.close("};");
  code.line("");
  code.open(fmt::format("static void {}(void* context_, int64_t begin, int64_t end, int32_t thread)", name));
  code.line(fmt::format("const struct {0}_context* context = (const struct {0}_context*)context_;", name));
  code.line("void* const* buffers = context->buffers;");
  code.line("char* workspace = context->workspace;");
  code.line("(void)buffers, (void)workspace, (void)thread;");
  c_like::StmtPrinter printer(c_like::kC99, names_, lowered_.memory, code, parallel_printer(name));
  for (const auto& [var, range] : outer.variables()) {
    code.line(fmt::format("const int64_t {0} = context->{0};", outer.name(var)));
    code.line(fmt::format("(void){};", outer.name(var)));
    printer.define(var, range);
  }
  declare_buffers(loop.body, code);
  printer.print_range(loop, "begin", "end");
  code.close();
  functions_ += code.text();
}

void CEmitter::print_parallel(const For& loop, c_like::StmtPrinter& printer, const std::string& entry) {
  const std::string name = names_.fresh(entry + "_part");
  add_task(loop, printer, name);
  Code& code = printer.code();
  const std::string extent = printer.extent(loop);
  std::string values = "buffers, workspace";
  for (const auto& [var, range] : printer.variables()) values += ", " + printer.name(var);
  code.open();
  code.line(fmt::format("const int64_t count = {};", extent));
  code.line(fmt::format("struct {}_context context = {{{}}};", name, values));
  code.open("if (pool != 0)");
  code.line(fmt::format("pool->run(pool, {}, &context, count);", name));
  code.close("} else {");
  code.line(fmt::format("  {}(&context, 0, count, 0);", name));
  code.line("}");
  code.close();
}

}  // namespace

Result<std::string> emit_c(const LoweredProgram& lowered, const EntrySymbols& symbols) {
  LATHE_TRY_STATUS(check_lowered(lowered));
  CEmitter emitter(lowered, symbols);
  if (lowered.program.main) emitter.add_entry(lowered.program.main, symbols.kernel);
  if (lowered.program.prepare) emitter.add_entry(lowered.program.prepare, symbols.prepare);
  return emitter.text();
}

}  // namespace lathe
