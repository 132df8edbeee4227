#include "compile/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "codegen/all.h"
#include "codegen/needed_extensions.h"
#include "loop/print.h"
#include "lower/lower.h"
#include "schedule/apply.h"

namespace lathe {
namespace {

// What every target's programs are, whatever the backend.
constexpr const char* kLoops = "loops";
constexpr const char* kLowered = "lowered";

class Stopwatch {
 public:
  // Seconds since the last call or the beginning.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(start_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int64_t storage_bytes(const Tensor& tensor, const Layout& layout) {
  return physical_elements(layout, tensor->shape) * bytes_of(tensor->dtype);
}

std::vector<ModuleBuffer> buffers_of(const Program& program) {
  std::vector<ModuleBuffer> buffers;
  for (const Argument& argument : program.arguments) {
    const BufferRole role = argument.is_output     ? BufferRole::output
                            : argument.is_constant ? BufferRole::constant
                                                   : BufferRole::input;
    buffers.push_back({argument.tensor->name, role, storage_bytes(argument.tensor, argument.layout)});
  }
  for (const Prepared& prepared : program.prepared) {
    buffers.push_back(
        {prepared.tensor->name, BufferRole::prepared, storage_bytes(prepared.tensor, prepared.layout)});
  }
  return buffers;
}

LowerOptions lower_options(const CompileOptions& options) {
  LowerOptions lowering;
  lowering.max_statements = options.max_statements;
  return lowering;
}

}  // namespace

Result<Module> compile_program(const Program& program, const Target& target, const CompileOptions& options,
                               CompileStats* stats) {
  Stopwatch watch;
  LATHE_TRY(const Backend* const backend, find_emitter(target));
  LATHE_TRY(const LoweredProgram lowered, lower(program, target, lower_options(options)));
  const double lower_seconds = watch.lap();
  const EntrySymbols symbols = entry_symbols(options.symbol_prefix);
  EmitStats emission;
  Module module;
  LATHE_TRY(module.object, backend->emit(lowered, target, symbols, &emission));
  module.form = backend->form;
  if (backend->launches != nullptr) {
    module.kernels = backend->launches(lowered, lowered.program.main, symbols.kernel);
    module.prepare_kernels = backend->launches(lowered, lowered.program.prepare, symbols.prepare);
  }
  module.extensions = needed_extensions(lowered, target);
  module.kernel_symbol = symbols.kernel;
  if (lowered.program.prepare) module.prepare_symbol = symbols.prepare;
  module.buffers = buffers_of(program);
  module.threads = cores_of(target);
  module.workspace_bytes = lowered.memory.shared_bytes + module.threads * lowered.memory.thread_bytes;
  if (stats != nullptr) {
    stats->lower_seconds = lower_seconds;
    stats->emit_seconds = emission.emit_seconds;
    stats->passes_seconds = emission.passes_seconds;
    stats->machine_seconds = emission.machine_seconds;
    stats->innermost_loops = emission.spills.innermost_loops;
    stats->stack_references = emission.spills.stack_references;
  }
  return module;
}

Result<Module> compile(const Task& task, const Trace& trace, const CompileOptions& options,
                       CompileStats* stats) {
  Stopwatch watch;
  LATHE_TRY(const Program program, apply_trace(task, trace));
  if (stats != nullptr) stats->apply_seconds = watch.lap();
  return compile_program(program, task.target, options, stats);
}

std::vector<std::string> code_forms() {
  std::vector<std::string> names = {kLoops, kLowered};
  for (const Backend& backend : all_backends()) {
    for (const TextForm& form : backend.forms) names.emplace_back(form.name);
  }
  return names;
}

Result<std::string> emit_text(const Task& task, const Trace& trace, const std::string& form,
                              const CompileOptions& options) {
  const std::vector<std::string> forms = code_forms();
  if (std::ranges::find(forms, form) == forms.end()) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is no form of code: one of {}", form, fmt::join(forms, ", ")));
  }
  LATHE_TRY(const Program program, apply_trace(task, trace));
  if (form == kLoops) return to_string(program);
  LATHE_TRY(const LoweredProgram lowered, lower(program, task.target, lower_options(options)));
  if (form == kLowered) return to_string(lowered.program);
  LATHE_TRY(const TextForm* const text, find_form(task.target, form));
  return text->print(lowered, task.target, entry_symbols(options.symbol_prefix));
}

}  // namespace lathe
