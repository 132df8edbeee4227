#include "loop/interpret.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "expr/integers.h"
#include "expr/values.h"
#include "loop/interpreter/compile.h"
#include "loop/interpreter/machine.h"

namespace lathe {
namespace {

using interpreter::Cell;
using interpreter::Machine;

Status check_input(const Argument& argument, const HostTensor& input) {
  const Tensor& tensor = argument.tensor;
  if (input.dtype == tensor->dtype && input.shape == tensor->shape &&
      static_cast<int64_t>(input.values.size()) == tensor.elements()) {
    return {};
  }
  return fail(
      ErrorKind::invalid_argument,
      fmt::format("{} takes {} [{}], the input is {} [{}]", tensor->name, to_string(tensor->dtype),
                  fmt::join(tensor->shape, ", "), to_string(input.dtype), fmt::join(input.shape, ", ")));
}

void set_input(const Argument& argument, const HostTensor& input, std::vector<Cell>& cells) {
  const DType dtype = argument.tensor->dtype;
  for_each_offset(argument.layout, input.shape, [&](int64_t position, int64_t offset) {
    const double value = round_to(dtype, input.values[static_cast<size_t>(position)]);
    Cell& cell = cells[static_cast<size_t>(offset)];
    if (is_float(dtype)) {
      cell.f = value;
    } else {
      cell.i = cut_to(dtype, value);
    }
  });
}

Status set_inputs(const Program& program, std::span<const HostTensor> inputs, Machine& machine) {
  size_t next = 0;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    const Argument& argument = program.arguments[i];
    if (argument.is_output) continue;
    if (next == inputs.size()) {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("there is no input for {}", argument.tensor->name));
    }
    LATHE_TRY_STATUS(check_input(argument, inputs[next]));
    set_input(argument, inputs[next++], machine.cells(i));
  }
  if (next == inputs.size()) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("there are {} inputs for {} arguments", inputs.size(), next));
}

HostTensor output_of(const Argument& argument, const std::vector<Cell>& cells) {
  HostTensor output{argument.tensor->dtype, argument.tensor->shape, {}};
  output.values.reserve(cells.size());
  for_each_offset(argument.layout, output.shape, [&](int64_t, int64_t offset) {
    const Cell cell = cells[static_cast<size_t>(offset)];
    output.values.push_back(is_float(output.dtype) ? cell.f : number_kept(output.dtype, cell.i));
  });
  return output;
}

BlockCoverage coverage_of(const interpreter::CoverageCode& code, const interpreter::CoverageCount& count) {
  return {code.block,    code.reduces, code.writes_output, static_cast<int64_t>(count.points.size()),
          count.visited, count.most,   count.same_value};
}

}  // namespace

Result<Interpretation> interpret(const Program& program, std::span<const HostTensor> inputs,
                                 const InterpretOptions& options) {
  LATHE_TRY(const interpreter::ProgramCode code, interpreter::compile(program, options.counts_coverage));
  Machine machine(code, options.shuffle, options.step_limit);
  LATHE_TRY_STATUS(set_inputs(program, inputs, machine));
  LATHE_TRY_STATUS(machine.run());
  Interpretation result;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    if (!program.arguments[i].is_output) continue;
    result.outputs.push_back(output_of(program.arguments[i], machine.cells(i)));
  }
  for (size_t i = 0; i < code.coverage.size(); ++i) {
    result.coverage.push_back(coverage_of(code.coverage[i], machine.coverage()[i]));
  }
  result.instances = machine.instances();
  return result;
}

}  // namespace lathe
