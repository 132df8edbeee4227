#include "artifact/open/trace_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lathe {
namespace {

using nlohmann::ordered_json;

constexpr int kProcess = 1;

ordered_json metadata(const char* what, int thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", kProcess}, {"tid", thread}, {"args", {{"name", name}}}};
}

ordered_json launch_arguments(const ManifestLaunch& launch, size_t number) {
  ordered_json arguments = {{"launch", number}, {"operators", launch.operators}};
  if (launch.runs != 1) arguments["runs"] = launch.runs;
  if (launch.flops) arguments["flops"] = *launch.flops;
  if (launch.bytes) arguments["bytes"] = *launch.bytes;
  return arguments;
}

class Timeline {
 public:
  explicit Timeline(const Manifest& manifest) : manifest_(manifest) {}

  void add(const RunTimes& times, int run) {
    if (run == 0) origin_ = times.call.begin;
    add_event(fmt::format("run {}", run + 1), "run", 0, times.call, ordered_json::object());
    add_event("inputs", "conversion", 0, times.inputs, ordered_json::object());
    add_event("constants", "conversion", 0, times.constants, ordered_json::object());
    int64_t drawn = 0;
    for (size_t i = 0; i < times.launches.size(); ++i) {
      // Those of a loop take turns: each is drawn as one that takes as long, behind the one before.
      const ManifestLaunch& launch = manifest_.launches[i];
      lathe_interval time = times.launches[i];
      if (time.begin == 0) continue;  // it did not run
      const int64_t shift = std::max<int64_t>(drawn - time.begin, 0);
      time = {time.begin + shift, time.end + shift};
      drawn = time.end;
      add_event(launch.name, "launch", 0, time, launch_arguments(launch, i));
    }
    for (const lathe_part& part : times.parts) {
      const auto number = static_cast<size_t>(part.launch);
      add_event(manifest_.launches[number].name, "part", part.thread, part.time, {{"launch", number}});
      threads_ = std::max(threads_, part.thread + 1);
    }
    add_event("outputs", "conversion", 0, times.outputs, ordered_json::object());
  }

  std::string text() const {
    ordered_json events = ordered_json::array();
    events.push_back(metadata("process_name", 0, manifest_.name));
    for (int thread = 0; thread < threads_; ++thread) {
      const char* const role = thread == 0 ? " (the caller's)" : "";
      events.push_back(metadata("thread_name", thread, fmt::format("thread {}{}", thread, role)));
    }
    for (const ordered_json& event : events_) events.push_back(event);
    const ordered_json trace = {
        {"displayTimeUnit", "ns"},
        {"otherData",
         {{"model", manifest_.name}, {"target", manifest_.target}, {"build", manifest_.build.value_or("")}}},
        {"traceEvents", std::move(events)}};
    return trace.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

 private:
  void add_event(const std::string& name, const char* category, int thread, const lathe_interval& time,
                 ordered_json arguments) {
    const auto microseconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; };
    events_.push_back({{"name", name},
                       {"cat", category},
                       {"ph", "X"},
                       {"ts", microseconds(time.begin - origin_)},
                       {"dur", microseconds(time.end - time.begin)},
                       {"pid", kProcess},
                       {"tid", thread},
                       {"args", std::move(arguments)}});
  }

  const Manifest& manifest_;
  int64_t origin_ = 0;
  int threads_ = 1;
  std::vector<ordered_json> events_;
};

}  // namespace

Result<std::string> trace_runs(LoadedArtifact& artifact, int runs) {
  Timeline timeline(artifact.manifest());
  for (int run = 0; run < runs; ++run) {
    LATHE_TRY(const RunTimes times, artifact.run_timed(/*with_parts=*/true));
    timeline.add(times, run);
  }
  return timeline.text();
}

}  // namespace lathe
