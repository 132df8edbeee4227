// What a compiled computation does (lathe/artifact.h).
#include <fmt/format.h>

#include "lathe/artifact.h"
#include "session/commands/write_model.h"
#include "session/compiled_state.h"
#include "session/computation_state.h"
#include "session/open_records.h"
#include "session/start_measurer.h"
#include "target/all.h"

namespace lathe {

Result<std::optional<Checked>> parse_checked(const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (const Checked checked : {Checked::full, Checked::sampled, Checked::none})
    if (text == to_string(checked)) return checked;
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is none of full, sampled and none", text),
              "check");
}

Result<Compiled> compile(const Computation& computation, const CompileChoice& choice) {
  const Computation::State& state = computation.state();
  CompileModelOptions options;
  options.target = state.target;
  options.exact_specials = state.source.exact_specials;
  LATHE_TRY(options.check, parse_checked(choice.check));
  options.rejected = [&](const std::string& sentence) { tell(choice.note, sentence); };
  options.note = options.rejected;
  options.watch.stop = choice.stop;
  std::optional<RecordStore> records;
  if (!choice.records.empty()) {
    LATHE_TRY(records, open_records_to_read(choice.records, choice.note));
    options.records = &*records;
  }
  std::optional<Measurer> measurer;
  if (!choice.worker.empty() && check_runs_here(state.target)) {
    LATHE_TRY(measurer, start_measurer(choice.worker, cores_of(state.target), KeptInputs::present));
    options.runner = &*measurer;
    options.another_runner = more_measurers(choice.worker, cores_of(state.target));
  }
  auto compiled = std::make_shared<Compiled::State>();
  LATHE_TRY(compiled->model, state.network ? compile_network(*state.network, options)
                                           : compile_operator(*state.workload, options));
  if (const auto note = untuned_note(compiled->model, choice.records)) tell(choice.note, *note);
  if (const auto note = uncompared_note(compiled->model)) tell(choice.note, *note);
  return Compiled(std::move(compiled));
}

Status save(const Compiled& compiled, const std::string& folder, const std::string& name) {
  LATHE_TRY_STATUS(check_name(name, 1));
  Model model = compiled.state().model;
  if (!name.empty()) model.name = name;
  return write_untimed(std::move(model), folder);
}

}  // namespace lathe
