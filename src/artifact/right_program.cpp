#include "artifact/right_program.h"

#include <fmt/format.h>

#include "artifact/check_program.h"
#include "base/memory.h"
#include "records/within.h"

namespace lathe {
namespace {

std::string rejection(const std::string& task, std::optional<int64_t> record, const RecordStore* records,
                      ErrorKind kind, const std::string& message) {
  const std::string program = record ? fmt::format("the program of record {} of {}", *record, records->path())
                                     : "the program of trial 0";
  return fmt::format("{}: {} is not used, {}: {}", task, program, to_string(kind), message);
}

Result<CompiledTask> compile_next(const Task& task, const CompileModelOptions& options,
                                  FreeLayouts free_layouts, size_t number, std::vector<int64_t>& wrong) {
  for (;;) {
    std::optional<CompiledTask> untuned;
    const auto compiles = [&](const Task& same, const Trace& trace) -> Status {
      LATHE_TRY(untuned, compile_task(same, trace, std::nullopt, number));
      return {};
    };
    LATHE_TRY(const ChosenTrace chosen, choose_trace(task, options.records, free_layouts, wrong, compiles));
    if (!chosen.record) return std::move(*untuned);
    Result<CompiledTask> compiled = chosen.trace
                                        ? compile_task(chosen.task, *chosen.trace, chosen.record, number)
                                        : Result<CompiledTask>(std::unexpected(chosen.trace.error()));
    if (compiled) return compiled;
    const Error& error = compiled.error();
    options.rejected(rejection(task.name, chosen.record, options.records, error.kind, error.to_string()));
    wrong.push_back(*chosen.record);
  }
}

Result<CompiledTask> compile_right(const Task& task, CompiledTask compiled,
                                   const CompileModelOptions& options, FreeLayouts free_layouts,
                                   size_t number, std::vector<int64_t> wrong) {
  for (;;) {
    LATHE_TRY(const std::optional<MeasureFailure> failure, check_program(compiled, options));
    if (!failure) return compiled;
    LATHE_TRY(const Trace naive, naive_trace(task));
    if (!compiled.record && compiled.trace == naive) {
      return fail(failure->kind, fmt::format("no program of it is right: {}", failure->message));
    }
    options.rejected(rejection(task.name, compiled.record, options.records, failure->kind, failure->message));
    if (compiled.record) {
      wrong.push_back(*compiled.record);
      LATHE_TRY(compiled, compile_next(task, options, free_layouts, number, wrong));
    } else {
      LATHE_TRY(compiled, compile_task(task, naive, std::nullopt, number));
    }
  }
}

}  // namespace

Result<CompiledTask> first_program(const Task& task, const CompileModelOptions& options,
                                   FreeLayouts free_layouts, size_t number, std::vector<int64_t>& wrong) {
  return within(task.name,
                within_memory([&] { return compile_next(task, options, free_layouts, number, wrong); }));
}

Result<CompiledTask> right_program(const Task& task, CompiledTask first, const CompileModelOptions& options,
                                   FreeLayouts free_layouts, size_t number, std::vector<int64_t> wrong) {
  return within(task.name, within_memory([&] {
                  return compile_right(task, std::move(first), options, free_layouts, number,
                                       std::move(wrong));
                }));
}

}  // namespace lathe
