// The module _lathe: Lathe's public face for the package's own files, which check what they are given.
// Results become values or exceptions (lathe/errors.py); the interpreter's lock is released while Lathe
// works.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lathe/lathe.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

[[noreturn]] void raise(const lathe::Error& error) {
  const nb::object exception =
      nb::module_::import_("lathe.errors").attr("error_of")(lathe::to_string(error.kind), error.to_string());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

template <class T>
T value_of(lathe::Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// Runs `work` without the interpreter's lock.
template <class Work>
auto unlocked(const Work& work) {
  const nb::gil_scoped_release released;
  return work();
}

// What a long call asks and tells the interpreter, from the thread that made it: signals such as Ctrl-C, and
// functions of the caller's. The first exception ends the call, and comes out of it.
class Listener {
 public:
  bool stop() {
    if (error_) return true;
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) error_.emplace();
    return error_.has_value();
  }
  void tell(const nb::object& function, const std::string& sentence) {
    if (error_) return;
    const nb::gil_scoped_acquire locked;
    if (function.is_none()) return;
    try {
      function(sentence);
    } catch (nb::python_error& error) {
      error_.emplace(error);
    }
  }
  // With the lock held.
  void finish() {
    if (error_) throw nb::python_error(*error_);
  }

 private:
  std::optional<nb::python_error> error_;
};

lathe::TargetChoice target_choice(const std::string& target, int cores) {
  lathe::TargetChoice choice;
  choice.name = target;
  choice.cores = cores;
  return choice;
}

lathe::Computation make_operator(const std::string& text, const std::vector<std::string>& constants,
                                 const std::string& name, const std::string& target, int cores,
                                 bool exact_specials) {
  lathe::Formula formula;
  formula.text = text;
  formula.constants = constants;
  formula.name = name;
  formula.exact_specials = exact_specials;
  return value_of(unlocked([&] { return lathe::make_operator(formula, target_choice(target, cores)); }));
}

lathe::Computation make_network(const std::string& path,
                                const std::map<std::string, std::vector<int64_t>>& inputs,
                                const std::map<std::string, std::vector<lathe::FreeSize>>& free,
                                int64_t batch, const std::string& target, int cores, bool exact_specials) {
  lathe::NetworkFile file;
  file.path = path;
  file.inputs = inputs;
  file.free = free;
  file.batch = batch;
  file.exact_specials = exact_specials;
  return value_of(unlocked([&] { return lathe::make_network(file, target_choice(target, cores)); }));
}

lathe::Compiled compile(const lathe::Computation& computation, const std::string& records,
                        const std::string& check, const std::string& worker, const nb::object& note) {
  Listener listener;
  lathe::CompileChoice choice;
  choice.records = records;
  choice.check = check;
  choice.worker = worker;
  choice.note = [&](const std::string& sentence) { listener.tell(note, sentence); };
  choice.stop = [&] { return listener.stop(); };
  auto compiled = unlocked([&] { return lathe::compile(computation, choice); });
  listener.finish();
  return value_of(std::move(compiled));
}

// A list of the tasks, and the programs.
nb::tuple tune(const lathe::Computation& computation, const std::string& worker, const std::string& records,
               std::optional<int64_t> trials, std::optional<double> seconds, std::optional<double> enough,
               uint64_t seed, const std::string& strategy, const std::string& cost_model,
               const nb::object& progress, const nb::object& note) {
  Listener listener;
  lathe::TuneChoice choice;
  choice.worker = worker;
  choice.records = records;
  choice.trials = trials;
  choice.seconds = seconds;
  choice.enough = enough;
  choice.seed = seed;
  choice.strategy = strategy;
  choice.cost_model = cost_model;
  choice.stop = [&] { return listener.stop(); };
  if (!progress.is_none())
    choice.progress = [&](const std::string& sentence) { listener.tell(progress, sentence); };
  choice.note = [&](const std::string& sentence) { listener.tell(note, sentence); };
  auto tuned = unlocked([&] { return lathe::tune(computation, choice); });
  listener.finish();
  const lathe::TuneResult result = value_of(std::move(tuned));
  return nb::make_tuple(result.tasks, *result.compiled);
}

void save(const lathe::Compiled& compiled, const std::string& folder, const std::string& name) {
  value_of(unlocked([&] { return lathe::save(compiled, folder, name); }));
}

lathe::Artifact open_artifact(const std::string& folder, int cores) {
  return value_of(unlocked([&] { return lathe::Artifact::open(folder, cores); }));
}

lathe::Artifact open_compiled(const lathe::Compiled& compiled, const std::string& scratch) {
  return value_of(unlocked([&] { return lathe::Artifact::open(compiled, scratch); }));
}

// Addresses of arrays that the caller holds.
void run(const lathe::Artifact& artifact, const std::vector<uintptr_t>& inputs,
         const std::vector<uintptr_t>& outputs) {
  std::vector<const void*> read;
  std::vector<void*> written;
  for (const uintptr_t address : inputs) read.push_back(reinterpret_cast<const void*>(address));
  for (const uintptr_t address : outputs) written.push_back(reinterpret_cast<void*>(address));
  value_of(unlocked([&] { return artifact.run(read, written); }));
}

// The same at the sizes of the inputs.
void run_sized(const lathe::Artifact& artifact, const std::vector<uintptr_t>& inputs,
               const lathe::Artifact::Shapes& shapes, const std::vector<uintptr_t>& outputs) {
  std::vector<const void*> read;
  std::vector<void*> written;
  for (const uintptr_t address : inputs) read.push_back(reinterpret_cast<const void*>(address));
  for (const uintptr_t address : outputs) written.push_back(reinterpret_cast<void*>(address));
  value_of(unlocked([&] { return artifact.run(read, shapes, written); }));
}

}  // namespace

NB_MODULE(_lathe, module) {
  nb::class_<lathe::TensorInfo>(module, "TensorInfo")
      .def_ro("name", &lathe::TensorInfo::name)
      .def_ro("type", &lathe::TensorInfo::type)
      .def_prop_ro("shape", [](const lathe::TensorInfo& info) { return nb::tuple(nb::cast(info.shape)); })
      .def_prop_ro("least", [](const lathe::TensorInfo& info) { return nb::tuple(nb::cast(info.least)); })
      .def_ro("is_constant", &lathe::TensorInfo::is_constant);
  nb::class_<lathe::FreeSize>(module, "FreeSize")
      .def("__init__", [](lathe::FreeSize* size, int64_t axis, int64_t least, int64_t most,
                          const std::string& name) { new (size) lathe::FreeSize{axis, least, most, name}; });
  nb::class_<lathe::TunedTask>(module, "TunedTask")
      .def_ro("name", &lathe::TunedTask::name)
      .def_ro("trials", &lathe::TunedTask::trials)
      .def_ro("failed", &lathe::TunedTask::failed)
      .def_ro("seconds", &lathe::TunedTask::seconds)
      .def_ro("spread", &lathe::TunedTask::spread)
      .def_ro("gflops", &lathe::TunedTask::gflops)
      .def_ro("uses", &lathe::TunedTask::uses);
  nb::class_<lathe::Computation>(module, "Computation")
      .def_prop_ro("name", &lathe::Computation::name)
      .def_prop_ro("inputs", &lathe::Computation::inputs)
      .def_prop_ro("outputs", &lathe::Computation::outputs)
      .def_prop_ro("notes", &lathe::Computation::notes);
  nb::class_<lathe::Compiled>(module, "Compiled");
  nb::class_<lathe::Artifact>(module, "Artifact")
      .def_prop_ro("inputs", &lathe::Artifact::inputs)
      .def_prop_ro("outputs", &lathe::Artifact::outputs)
      .def_prop_ro("has_free_sizes", &lathe::Artifact::has_free_sizes)
      .def("output_shapes",
           [](const lathe::Artifact& artifact, const lathe::Artifact::Shapes& shapes) {
             return value_of(artifact.output_shapes(shapes));
           })
      .def("run", &run)
      .def("run_sized", &run_sized);
  module.def("make_operator", &make_operator);
  module.def("make_network", &make_network);
  module.def("compile", &compile, "computation"_a, "records"_a, "check"_a, "worker"_a, "note"_a.none());
  module.def("tune", &tune, "computation"_a, "worker"_a, "records"_a, "trials"_a.none(), "seconds"_a.none(),
             "enough"_a.none(), "seed"_a, "strategy"_a, "cost_model"_a, "progress"_a.none(), "note"_a.none());
  module.def("save", &save);
  module.def("open_artifact", &open_artifact);
  module.def("open_compiled", &open_compiled);
  module.def("describe_target", [](const std::string& target, int cores) {
    return value_of(unlocked([&] { return lathe::describe_target(target_choice(target, cores)); }));
  });
  module.def("version", &lathe::version);
}
