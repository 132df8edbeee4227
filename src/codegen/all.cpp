#include "codegen/all.h"

#include <fmt/format.h>

#include "codegen/c/emit_c.h"
#include "codegen/llvm/emit.h"
#include "codegen/opencl/emit_opencl.h"

namespace lathe {
namespace {

bool is_cpu(const Target& target) { return std::holds_alternative<CpuTarget>(target.kind); }

bool is_opencl(const Target& target) { return target.name == "opencl"; }

constexpr TextForm kLlvmForms[] = {{"llvm", emit_llvm_ir}, {"asm", emit_assembly}};
constexpr TextForm kCForms[] = {{"c", [](const LoweredProgram& lowered, const Target&,
                                         const EntrySymbols& symbols) { return emit_c(lowered, symbols); }}};

constexpr TextForm kOpenClForms[] = {
    {"opencl", [](const LoweredProgram& lowered, const Target&, const EntrySymbols& symbols) {
       return emit_opencl(lowered, symbols);
     }}};

Result<std::string> opencl_module(const LoweredProgram& lowered, const Target&, const EntrySymbols& symbols,
                                  EmitStats*) {
  return emit_opencl(lowered, symbols);
}

constexpr Backend kBackends[] = {
    {"llvm", is_cpu, kObjectForm, emit_object, nullptr, kLlvmForms},
    {"c", is_cpu, kObjectForm, nullptr, nullptr, kCForms},
    {"opencl", is_opencl, "opencl", opencl_module, opencl_launches, kOpenClForms},
};

}  // namespace

std::span<const Backend> all_backends() { return kBackends; }

Result<const Backend*> find_emitter(const Target& target) {
  for (const Backend& backend : kBackends) {
    if (backend.emit != nullptr && backend.takes(target)) return &backend;
  }
  return fail(ErrorKind::unsupported,
              fmt::format("no backend makes machine code for the target '{}'", target.name));
}

Result<const TextForm*> find_form(const Target& target, std::string_view name) {
  for (const Backend& backend : kBackends) {
    if (!backend.takes(target)) continue;
    for (const TextForm& form : backend.forms) {
      if (form.name == name) return &form;
    }
  }
  return fail(ErrorKind::unsupported,
              fmt::format("no backend gives programs for the target '{}' as '{}'", target.name, name));
}

}  // namespace lathe
