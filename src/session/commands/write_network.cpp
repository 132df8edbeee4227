#include "session/commands/write_network.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "artifact/check_program.h"
#include "artifact/network_model.h"
#include "base/scratch_folder.h"
#include "measure/timing.h"
#include "session/commands/challengers.h"
#include "session/commands/race_in_place.h"
#include "target/detect.h"

namespace lathe {
namespace {

// Some rounds of longer runs would take longer than anybody waits.
constexpr double kLongestRun = 2;

// What a network's programs are written with.
struct Writer {
  const Network& network;
  const CompileModelOptions& options;
  const NetworkFolder& folder;

  Result<Model> model(std::vector<CompiledTask> programs) const {
    LATHE_TRY(Model model, network_model(network, std::move(programs)));
    if (!folder.name.empty()) model.name = folder.name;
    return model;
  }
  Result<WrittenNetwork> write(std::vector<CompiledTask> programs) const {
    LATHE_TRY(Model compiled, model(std::move(programs)));
    WrittenNetwork done;
    done.uncompared = uncompared_note(compiled);
    done.untuned = untuned_note(compiled, options.records->path());
    LATHE_TRY(done.model, write_model(std::move(compiled), folder.path, folder.deadline, folder.work));
    return done;
  }
};

// Whether an artifact that is open, and another beside it, have room on the disk and in memory.
bool has_room(const Model& another, const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::space_info disk = std::filesystem::space(folder, ignored);
  const auto weights = static_cast<uint64_t>(another.weights_bytes);
  return !ignored && weights < disk.available / 4 && run_bytes(another) < free_memory_bytes() / 4;
}

// Of the challengers those that are faster in a run of the network than what is written; none where they have
// no room.
Result<Challengers> winners(const Writer& writer, const std::vector<CompiledTask>& programs,
                            const Challengers& challengers) {
  const std::string& folder = writer.folder.path;
  LATHE_TRY(Model model, writer.model(with(programs, challengers)));
  if (!has_room(model, folder)) return Challengers();
  std::vector<size_t> task_of;
  for (const ModelLaunch& launch : model.launches) task_of.push_back(launch.kernel);
  std::optional<InPlaceRace> race;
  {
    LATHE_TRY(const ScratchFolder scratch, ScratchFolder::create(folder));
    const std::string beside = scratch.at("untuned");
    LATHE_TRY_STATUS(write_untimed(std::move(model), beside));
    LATHE_TRY(race, InPlaceRace::open(folder, beside, cores_of(writer.options.target)));
  }
  LATHE_TRY(const InPlace rounds, race->run());
  std::set<size_t> asked;
  for (const auto& [task, program] : challengers) asked.insert(task);
  Challengers faster;
  for (const size_t task : faster_in(rounds.other, rounds.first, task_of, asked))
    faster.emplace(task, challengers.at(task));
  return faster;
}

// Those that compute what they must, as far as the options have it compared.
Result<Challengers> right_ones(Challengers challengers, const CompileModelOptions& options) {
  Challengers right;
  for (auto& [task, program] : challengers) {
    LATHE_TRY(const std::optional<MeasureFailure> failure, check_program(program, options));
    if (!failure) right.emplace(task, std::move(program));
  }
  return right;
}

}  // namespace

// The second artifact is compared with nothing, of a third one what won.
double race_in_place_seconds(double first_seconds, double run_seconds) {
  constexpr double kTimesOfFirst = 1.5;
  constexpr double kOpenAndRace = 3;
  constexpr double kRuns = 14;  // of either one the first two and five rounds
  return kTimesOfFirst * first_seconds + kOpenAndRace + kRuns * run_seconds;
}

Result<WrittenNetwork> write_network(const Network& network, const CompileModelOptions& options,
                                     const NetworkFolder& folder) {
  const double begin = monotonic_seconds();
  LATHE_TRY(const std::vector<CompiledTask> programs, compile_programs(network, options));
  const Writer writer{network, options, folder};
  LATHE_TRY(WrittenNetwork first, writer.write(programs));
  const std::optional<ArtifactTime>& run = first.model.time;
  // Of free sizes the largest alone would race, and decide for all.
  const bool may_race =
      options.runner != nullptr && network.free.empty() && run && run->seconds < kLongestRun;
  if (!may_race) return first;
  const double race_seconds = race_in_place_seconds(monotonic_seconds() - begin, run->seconds);
  if (race_seconds > folder.deadline.seconds_left() || (folder.stop && folder.stop())) return first;
  // The artifact is there already: what keeps it from being better is no failure.
  const auto keep_first = [&](const Error& error) {
    options.note(
        fmt::format("{}: programs did not race in their place: {}", network.name, error.to_string()));
    return first;
  };
  const Result<Challengers> challengers = challengers_of(network, options, programs);
  if (!challengers) return keep_first(challengers.error());
  if (challengers->empty()) return first;
  if (folder.work) folder.work({network.name + ": programs race in their place", 0, race_seconds});
  Result<Challengers> faster = winners(writer, programs, *challengers);
  if (faster) faster = right_ones(std::move(*faster), options);
  if (!faster) return keep_first(faster.error());
  if (faster->empty()) return first;
  const Result<WrittenNetwork> last = writer.write(with(programs, *faster));
  const std::string lost =
      fmt::format("{}: in the network {} of {} tuned programs {} slower than the untuned one", network.name,
                  faster->size(), challengers->size(), faster->size() == 1 ? "is" : "are");
  options.note(last ? lost + ", which stays"
                    : fmt::format("{}, and stay{} all the same: {}", lost, faster->size() == 1 ? "s" : "",
                                  last.error().to_string()));
  return last ? *last : first;
}

}  // namespace lathe
