#include "codegen/opencl/emit_opencl.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/check.h"
#include "codegen/buffers.h"
#include "codegen/c_like/functions.h"
#include "codegen/c_like/stmt_printer.h"
#include "codegen/check_lowered.h"
#include "expr/walk.h"
#include "loop/walk.h"
#include "lower/map.h"
#include "lower/threads/kernels.h"

namespace lathe {
namespace {

using c_like::Code;

// OpenCL C's names for what C99 has in its headers.
constexpr const char* kHead = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define INT8_MIN CHAR_MIN
#define INT8_MAX CHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LONG_MIN
#define INT64_MAX LONG_MAX
#define UINT64_MAX ULONG_MAX
#define fmaf fma
#define sqrtf sqrt
#define fabsf fabs
#define copysignf copysign
static inline void __attribute__((overloadable)) lathe_copy(uint* to, const float* from) { *to = as_uint(*from); }
static inline void __attribute__((overloadable)) lathe_copy(float* to, const uint* from) { *to = as_float(*from); }
static inline void __attribute__((overloadable)) lathe_copy(ulong* to, const double* from) { *to = as_ulong(*from); }
static inline void __attribute__((overloadable)) lathe_copy(double* to, const ulong* from) { *to = as_double(*from); }
#define memcpy(to, from, size) lathe_copy(to, from)
#define LATHE_PREFETCH(address) ((void)0)
#define LATHE_BARRIER_SHARED() barrier(CLK_LOCAL_MEM_FENCE)
#define LATHE_BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

)";

// Words of the language, and the functions and macros that kernels here call or whose names macros take.
std::set<std::string> reserved_names() {
  std::set<std::string> names = {
      "auto",         "break",     "case",      "char",      "const",     "continue",   "default",
      "do",           "double",    "else",      "enum",      "extern",    "float",      "for",
      "goto",         "if",        "inline",    "int",       "long",      "register",   "return",
      "short",        "signed",    "sizeof",    "static",    "struct",    "switch",     "typedef",
      "union",        "unsigned",  "void",      "volatile",  "while",     "restrict",   "kernel",
      "global",       "local",     "constant",  "private",   "read_only", "write_only", "read_write",
      "half",         "bool",      "uchar",     "ushort",    "uint",      "ulong",      "quad",
      "complex",      "imaginary", "size_t",    "ptrdiff_t", "intptr_t",  "uintptr_t",  "image2d_t",
      "image3d_t",    "sampler_t", "event_t",   "barrier",   "fma",       "fmaf",       "sqrt",
      "sqrtf",        "fabs",      "fabsf",     "copysign",  "copysignf", "memcpy",     "get_group_id",
      "get_local_id", "as_uint",   "as_float",  "as_ulong",  "as_double", "NAN",        "INFINITY",
      "NULL",         "lane",      "workspace", "group",     "exp",       "log",        "M_PI",
      "true",         "false",     "linux",     "unix",      "inline",    "pipe",       "INT_MIN",
      "INT_MAX",      "LONG_MIN",  "LONG_MAX",  "CHAR_MIN",  "CHAR_MAX",  "SHRT_MIN",   "SHRT_MAX",
      "UCHAR_MAX",    "USHRT_MAX", "UINT_MAX",  "ULONG_MAX", "tanh",      "erf",        "sin",
      "cos",          "pow",       "fmod"};
  for (const char* type :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half"}) {
    for (const char* lanes : {"2", "3", "4", "8", "16"}) names.insert(std::string(type) + lanes);
  }
  for (const char* bits : {"8", "16", "32", "64"}) {
    names.insert(fmt::format("int{}_t", bits));
    names.insert(fmt::format("uint{}_t", bits));
  }
  return names;
}

// What each thread has of its own in a buffer that lies around nests of threads has the thread in front
// (lower/threads/distribute_registers.h): without it, in a buffer of one thread's size.
class OwnParts {
 public:
  Stmt visit(const Stmt& stmt, const For* threads) {
    const For* loop = as<For>(stmt);
    if (loop != nullptr && loop->kind == LoopKind::thread) threads = loop;
    const Alloc* alloc = as<Alloc>(stmt);
    if (alloc != nullptr && alloc->scope == Scope::registers && threads == nullptr) {
      const std::vector<int64_t>& shape = alloc->tensor->shape;
      const Tensor own(alloc->tensor->name, {shape.begin() + 1, shape.end()}, alloc->tensor->dtype);
      parts_.emplace_back(alloc->tensor, own);
      Stmt body = visit(alloc->body, threads);
      return make_stmt(Alloc{own, Scope::registers, Layout::row_major(own->shape.size()), std::move(body)});
    }
    const Store* store = as<Store>(stmt);
    if (store == nullptr) return rebuilt(stmt, threads);
    Store result = *store;
    if (const Tensor* own = find(store->tensor)) {
      result.tensor = *own;
      result.index = {without(store->index[0], *threads)};
    }
    result.value = visit(store->value, threads);
    if (store->mask.defined()) result.mask = visit(store->mask, threads);
    return make_stmt(std::move(result));
  }

 private:
  Stmt rebuilt(const Stmt& stmt, const For* threads) {
    return map_statements(stmt, [&](const Stmt& child) { return visit(child, threads); });
  }
  Expr visit(const Expr& e, const For* threads) {
    const auto child = [&](const Expr& inner) { return visit(inner, threads); };
    Expr mapped = map_children(e, child, [&](const Affine& a) { return map_opaque(a, child); });
    const Load* load = mapped.as<Load>();
    const Tensor* own = load != nullptr ? find(load->tensor) : nullptr;
    if (own == nullptr) return mapped;
    return Expr(
        ExprNode{mapped.type(), Load{*own, {without(load->index[0], *threads)}, load->stride, load->mask}});
  }
  const Tensor* find(const Tensor& tensor) const {
    for (const auto& [from, own] : parts_) {
      if (from == tensor) return &own;
    }
    return nullptr;
  }
  static Affine without(const Affine& index, const For& threads) {
    return substitute(index, {{threads.var, Affine(0)}});
  }

  std::vector<std::pair<Tensor, Tensor>> parts_;
};

class Emitter {
 public:
  Emitter(const LoweredProgram& lowered, const EntrySymbols& symbols)
      : lowered_(lowered), names_(reserved_names()) {
    names_.fresh(symbols.kernel);
    names_.fresh(symbols.prepare);
  }

  void add_kernel(const Kernel& kernel, const std::string& name);
  std::string text() const { return kHead + c_like::functions_of(functions_) + tables_ + functions_; }

 private:
  std::string parameters(const std::vector<BufferUse>& uses, const Stmt& body);
  void add_literal(const Tensor& tensor);
  void declare(const Kernel& kernel, const std::vector<BufferUse>& uses, Code& code);
  static void print_threads(const For& loop, c_like::StmtPrinter& printer, int64_t threads);

  const LoweredProgram& lowered_;
  c_like::Names names_;
  std::set<const TensorNode*> literals_;
  std::string tables_;
  std::string functions_;
};

void Emitter::add_literal(const Tensor& tensor) {
  if (!literals_.insert(tensor.get()).second) return;
  const DType dtype = tensor->dtype;
  std::vector<std::string> values;
  for (const double value : tensor->literal)
    values.push_back(is_float(dtype) ? c_like::kC99.float_literal(dtype, value)
                                     : fmt::format("{}", static_cast<int64_t>(value)));
  tables_ +=
      fmt::format("__constant {} {}[{}] = {{{}}};\n", c_like::type_name(dtype),
                  names_.of(tensor.get(), "table_" + tensor->name), values.size(), fmt::join(values, ", "));
}

bool is_written(const Stmt& stmt, const Tensor& tensor) {
  bool found = false;
  for_each(stmt, [&](const StmtNode& node) {
    const Store* store = std::get_if<Store>(&node.node);
    found |= store != nullptr && store->tensor == tensor;
  });
  return found;
}

std::string Emitter::parameters(const std::vector<BufferUse>& uses, const Stmt& body) {
  std::vector<std::string> parameters;
  bool needs_workspace = false;
  for (const BufferUse& use : uses) {
    needs_workspace |= use.storage == Storage::workspace;
    if (use.storage != Storage::argument) continue;
    parameters.push_back(
        fmt::format("__global {}{}* restrict {}", is_written(body, use.tensor) ? "" : "const ",
                    c_like::type_name(use.tensor->dtype), names_.of(use.tensor.get(), use.tensor->name)));
  }
  if (needs_workspace) parameters.emplace_back("__global char* workspace");
  return fmt::format("{}", fmt::join(parameters, ", "));
}

void Emitter::declare(const Kernel& kernel, const std::vector<BufferUse>& uses, Code& code) {
  for (const BufferUse& use : uses) {
    if (use.storage == Storage::literal) add_literal(use.tensor);
    if (use.storage != Storage::workspace) continue;
    code.line(fmt::format("__global {0}* {1} = (__global {0}*)(workspace + {2});",
                          c_like::type_name(use.tensor->dtype), names_.of(use.tensor.get(), use.tensor->name),
                          use.offset));
  }
  for (const Alloc* alloc : kernel.shared) {
    code.line(fmt::format("__local {} {}[{}];", c_like::type_name(alloc->tensor->dtype),
                          names_.of(alloc->tensor.get(), alloc->tensor->name),
                          physical_elements(alloc->layout, alloc->tensor->shape)));
  }
}

void Emitter::print_threads(const For& loop, c_like::StmtPrinter& printer, int64_t threads) {
  Code& code = printer.code();
  const int64_t extent = constant_extent(loop);
  code.open();
  code.line(fmt::format("const int64_t {} = get_local_id(0);", printer.name(loop.var)));
  if (extent < threads) code.open(fmt::format("if ({} < {})", printer.name(loop.var), extent));
  printer.print_body(loop);
  if (extent < threads) code.close();
  code.close();
}

void Emitter::add_kernel(const Kernel& kernel, const std::string& name) {
  const Stmt body = OwnParts().visit(kernel.body, nullptr);
  LoweredProgram own = lowered_;
  for_each(body, [&](const StmtNode& node) {
    const Alloc* alloc = std::get_if<Alloc>(&node.node);
    if (alloc == nullptr || own.memory.find(alloc->tensor) != nullptr) return;
    own.memory.places.push_back(
        {alloc->tensor, Arena::registers, 0,
         physical_elements(alloc->layout, alloc->tensor->shape) * bytes_of(alloc->tensor->dtype)});
  });
  const std::vector<BufferUse> uses = buffers_used(own, body);
  Code code;
  code.line("");
  code.line(fmt::format("__kernel __attribute__((reqd_work_group_size({}, 1, 1)))", kernel.threads));
  code.open(fmt::format("void {}({})", name, parameters(uses, body)));
  declare(kernel, uses, code);
  c_like::StmtPrinter printer(
      c_like::kC99, names_, own.memory, code,
      [&](const For& loop, c_like::StmtPrinter& inner) { print_threads(loop, inner, kernel.threads); });
  if (!kernel.blocks.empty()) code.line("int64_t group = get_group_id(0);");
  for (size_t i = kernel.blocks.size(); i-- > 0;) {
    const For& loop = *kernel.blocks[i];
    const int64_t extent = constant_extent(loop);
    code.line(fmt::format("const int64_t {} = group % {};", printer.name(loop.var), extent));
    if (i > 0) code.line(fmt::format("group /= {};", extent));
    printer.define(loop.var, {0, extent - 1});
  }
  printer.print(body);
  code.close();
  functions_ += code.text();
}

}  // namespace

std::vector<KernelLaunch> opencl_launches(const LoweredProgram& lowered, const Stmt& tree,
                                          const std::string& entry) {
  std::vector<KernelLaunch> launches;
  for (const Kernel& kernel : kernels_of(tree)) {
    KernelLaunch launch{
        fmt::format("{}_{}", entry, launches.size()), kernel.block_count, kernel.threads, {}, false};
    for (const BufferUse& use : buffers_used(lowered, kernel.body)) {
      if (use.storage == Storage::argument) launch.buffers.push_back(use.argument);
      launch.needs_workspace |= use.storage == Storage::workspace;
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

Result<std::string> emit_opencl(const LoweredProgram& lowered, const EntrySymbols& symbols) {
  LATHE_TRY_STATUS(check_lowered_kernels(lowered));
  Emitter emitter(lowered, symbols);
  for (const auto& [tree, entry] :
       {std::pair{lowered.program.main, symbols.kernel}, {lowered.program.prepare, symbols.prepare}}) {
    int number = 0;
    for (const Kernel& kernel : kernels_of(tree))
      emitter.add_kernel(kernel, fmt::format("{}_{}", entry, number++));
  }
  return emitter.text();
}

}  // namespace lathe
