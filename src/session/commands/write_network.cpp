#include "session/commands/write_network.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <vector>

#include "base/scratch_folder.h"
#include "measure/timing.h"
#include "session/commands/race_in_place.h"
#include "target/detect.h"
#include "tune/choose_trace.h"

namespace lathe {
namespace {

// Some rounds of longer runs would take longer than anybody waits.
constexpr double kLongestRun = 2;

// What was written, and the record of each task's program that has one.
struct Attempt {
  WrittenNetwork network;
  std::vector<std::optional<int64_t>> records;
};

Result<Attempt> write_one(const Network& network, const CompileModelOptions& options,
                          const NetworkFolder& folder) {
  LATHE_TRY(Model model, compile_network(network, options));
  Attempt done;
  for (const CompiledTask& kernel : model.kernels) done.records.push_back(kernel.record);
  done.network.uncompared = uncompared_note(model);
  done.network.untuned = untuned_note(model, options.records->path());
  if (!folder.name.empty()) model.name = folder.name;
  LATHE_TRY(done.network.model, write_model(std::move(model), folder.path, folder.deadline, folder.work));
  return done;
}

// Tasks by number whose recorded program is another than the untuned one, which has a record too: it ran in a
// worker, and what it computed was looked at.
Result<std::set<size_t>> tasks_with_both(const Network& network, const Attempt& written,
                                         const RecordStore& records) {
  std::set<size_t> both;
  for (size_t i = 0; i < written.records.size(); ++i) {
    if (!written.records[i]) continue;
    LATHE_TRY(const std::optional<ChosenTrace> untuned,
              recorded_untuned(network.tasks.tasks[i].task, records));
    if (untuned && untuned->record != written.records[i]) both.insert(i);
  }
  return both;
}

// Whether another artifact has room beside that in the folder: on the disk, and both in memory at once.
bool has_room(const std::string& folder) {
  std::error_code ignored;
  const auto weights = std::filesystem::file_size(std::filesystem::path(folder) / "weights.bin", ignored);
  if (ignored) return true;  // it has none
  const std::filesystem::space_info disk = std::filesystem::space(folder, ignored);
  return !ignored && weights < disk.available / 4 && static_cast<int64_t>(weights) < free_memory_bytes() / 4;
}

// What the first artifact's compilation told is not told again.
void be_silent(CompileModelOptions& options) {
  options.note = [](const std::string&) {};
  options.progress = [](size_t, size_t) {};
}

// Of those asked about the tasks whose untuned programs are faster in a run of the network.
Result<std::set<size_t>> outrun(const Network& network, CompileModelOptions options,
                                const std::set<size_t>& asked, const std::string& folder) {
  LATHE_TRY(const ScratchFolder scratch, ScratchFolder::create(folder));
  options.untuned = asked;
  options.check = Checked::none;  // what stays in the end is compared then
  be_silent(options);
  LATHE_TRY(Model model, compile_network(network, options));
  std::vector<size_t> task_of;
  for (const ModelLaunch& launch : model.launches) task_of.push_back(launch.kernel);
  const std::string beside = scratch.at("untuned");
  LATHE_TRY_STATUS(write_untimed(std::move(model), beside));
  LATHE_TRY(const InPlace race, race_in_place(folder, beside, cores_of(options.target)));
  return faster_in(race.other, race.first, task_of, asked);
}

}  // namespace

// The second artifact is compared with nothing, of a third one what has no record yet.
double race_in_place_seconds(double first_seconds, double run_seconds) {
  constexpr double kTimesOfFirst = 1.5;
  constexpr double kOpenAndRace = 3;
  constexpr double kRuns = 14;  // of either one the first two and five rounds
  return kTimesOfFirst * first_seconds + kOpenAndRace + kRuns * run_seconds;
}

Result<WrittenNetwork> write_network(const Network& network, CompileModelOptions options,
                                     const NetworkFolder& folder) {
  const double begin = monotonic_seconds();
  LATHE_TRY(const Attempt written, write_one(network, options, folder));
  const WrittenNetwork& first = written.network;
  const std::optional<ArtifactTime>& run = first.model.time;
  if (options.runner == nullptr || !run || run->seconds > kLongestRun || !has_room(folder.path)) return first;
  const double race_seconds = race_in_place_seconds(monotonic_seconds() - begin, run->seconds);
  if (race_seconds > folder.deadline.seconds_left() || (folder.stop && folder.stop())) return first;
  LATHE_TRY(const std::set<size_t> both, tasks_with_both(network, written, *options.records));
  if (both.empty()) return first;
  if (folder.work) folder.work({network.name + ": programs race in their place", 0, race_seconds});
  // The artifact is there already: what keeps it from being better is no failure.
  const auto keep_first = [&first, &network, note = options.note](const Error& error) {
    note(fmt::format("{}: programs did not race in their place: {}", network.name, error.to_string()));
    return first;
  };
  Result<std::set<size_t>> slower = outrun(network, options, both, folder.path);
  if (!slower) return keep_first(slower.error());
  if (slower->empty()) return first;
  options.note(
      fmt::format("{}: in the network {} of {} tuned programs {} slower than the untuned one, which stays",
                  network.name, slower->size(), both.size(), slower->size() == 1 ? "is" : "are"));
  options.untuned = std::move(*slower);
  be_silent(options);
  Result<Attempt> last = write_one(network, options, folder);
  return last ? std::move(last->network) : keep_first(last.error());
}

}  // namespace lathe
