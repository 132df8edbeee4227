#include "evaluate/measure_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "schedule/trace.h"
#include "task/task_json.h"

namespace lathe {
namespace {

using nlohmann::json;

std::unexpected<Error> fault(const std::string& source, const std::string& what) {
  return fail(ErrorKind::parse, fmt::format("{}: {}", source, what));
}

// Reads the fields of one JSON object, each of which must be there and of its type.
class Fields {
 public:
  Fields(const json& object, const std::string& source) : object_(object), source_(source) {}

  template <class T>
  Result<T> get(const char* name) const {
    const auto field = object_.find(name);
    if (field == object_.end()) return fault(source_, fmt::format("it has no field '{}'", name));
    if (!holds<T>(*field))
      return fault(source_, fmt::format("its field '{}' is {}", name, field->type_name()));
    return field->template get<T>();
  }

  bool has(const char* name) const { return object_.contains(name); }

 private:
  template <class T>
  static bool holds(const json& value) {
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
    if constexpr (std::is_same_v<T, std::string>) return value.is_string();
    if constexpr (std::is_same_v<T, json>) return value.is_object();
    if constexpr (std::is_same_v<T, double>) return value.is_number();
    if constexpr (std::is_same_v<T, uint64_t>) return value.is_number_unsigned();
    if constexpr (std::is_same_v<T, std::vector<std::string>>) return is_list(value, &json::is_string);
    if constexpr (std::is_same_v<T, std::vector<double>>) return is_list(value, &json::is_number);
    return false;
  }
  static bool is_list(const json& value, bool (json::*holds)() const noexcept) {
    return value.is_array() && std::ranges::all_of(value, [&](const json& item) { return (item.*holds)(); });
  }

  const json& object_;
  const std::string& source_;
};

Result<json> parse_object(std::string_view text, const std::string& source) {
  LATHE_TRY(json object, parse_json(text, source));
  if (!object.is_object()) return fault(source, "it is no object");
  return object;
}

Result<double> seconds_in(const Fields& fields, const char* name, const std::string& source) {
  LATHE_TRY(const double seconds, fields.get<double>(name));
  if (seconds >= 0 && std::isfinite(seconds)) return seconds;
  return fault(source, fmt::format("its field '{}' is {}", name, seconds));
}

}  // namespace

std::string print(const MeasureJob& job) {
  const Task& task = *job.checked.task;
  json object = {{"task", json_of(text_of(task))},
                 {"target", print(task.target)},
                 {"trace", to_string(job.program->trace)},
                 {"seed", job.checked.seed},
                 {"best_seconds", job.best_seconds}};
  if (job.checked.tolerance) object["tolerance"] = *job.checked.tolerance;
  return object.dump();
}

Result<MeasureJob> parse_measure_job(std::string_view text, const std::string& source) {
  LATHE_TRY(const json object, parse_object(text, source));
  const Fields fields(object, source);
  LATHE_TRY(const json task_object, fields.get<json>("task"));
  const Result<TaskText> task_text = task_text_from(task_object);
  if (!task_text) return fault(source, task_text.error().message);
  LATHE_TRY(const std::string target_text, fields.get<std::string>("target"));
  LATHE_TRY(const Target target, parse_target(target_text));
  LATHE_TRY(Task task, task_of(*task_text, target));
  LATHE_TRY(const std::string trace_text, fields.get<std::string>("trace"));
  LATHE_TRY(Trace trace, parse_trace(trace_text));
  MeasureJob job;
  LATHE_TRY(job.program, write_program(task, std::move(trace)));
  LATHE_TRY(job.checked.seed, fields.get<uint64_t>("seed"));
  LATHE_TRY(job.best_seconds, seconds_in(fields, "best_seconds", source));
  if (fields.has("tolerance")) {
    LATHE_TRY(job.checked.tolerance, seconds_in(fields, "tolerance", source));
  }
  job.checked.task = std::make_shared<const Task>(std::move(task));
  return job;
}

std::string print(const Measurement& measurement) {
  json object = {{"source", to_string(measurement.source)},
                 {"samples", measurement.samples},
                 {"seconds", measurement.seconds},
                 {"spread", measurement.spread},
                 {"timed_once", measurement.timed_once}};
  if (measurement.failure)
    object["failure"] = {{"kind", to_string(measurement.failure->kind)},
                         {"message", measurement.failure->message}};
  return object.dump();
}

Result<Measurement> parse_measurement(std::string_view text, const std::string& source) {
  LATHE_TRY(const json object, parse_object(text, source));
  const Fields fields(object, source);
  Measurement measurement;
  LATHE_TRY(const std::string from, fields.get<std::string>("source"));
  const std::optional<MeasureSource> known = parse_measure_source(from);
  if (!known) return fault(source, fmt::format("its field 'source' is '{}'", from));
  measurement.source = *known;
  LATHE_TRY(measurement.samples, fields.get<std::vector<double>>("samples"));
  LATHE_TRY(measurement.seconds, seconds_in(fields, "seconds", source));
  LATHE_TRY(measurement.spread, seconds_in(fields, "spread", source));
  LATHE_TRY(measurement.timed_once, fields.get<bool>("timed_once"));
  if (!fields.has("failure")) return measurement;
  LATHE_TRY(const json failure, fields.get<json>("failure"));
  const Fields parts(failure, source);
  LATHE_TRY(const std::string kind, parts.get<std::string>("kind"));
  const std::optional<ErrorKind> failed = parse_error_kind(kind);
  if (!failed) return fault(source, fmt::format("its failure's kind is '{}'", kind));
  LATHE_TRY(const std::string message, parts.get<std::string>("message"));
  measurement.failure = MeasureFailure{*failed, message};
  return measurement;
}

}  // namespace lathe
