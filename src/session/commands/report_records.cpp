#include "session/commands/report_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/compiler_version.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "report/page.h"
#include "session/commands/check_apart.h"
#include "session/commands/task_overviews.h"
#include "session/measured_roofline.h"
#include "session/open_records.h"

namespace lathe {
namespace {

std::string name_of_file(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// None of another machine than this one.
std::optional<ReportPeaks> peaks_of(const ReportMachine& machine) {
  Result<Target> target = parse_target(machine.target);
  if (!target || target->machine != machine.machine) return std::nullopt;
  const std::optional<Roofline> roofline = measured_roofline(with_cores(std::move(*target), machine.cores));
  if (!roofline) return std::nullopt;
  return ReportPeaks{roofline->gflops, roofline->gigabytes[0], roofline->gigabytes[2]};
}

std::vector<ReportMachine> machines_of(const std::vector<TaskOverview>& tasks) {
  std::vector<ReportMachine> machines;
  for (const TaskOverview& task : tasks) {
    if (!task.summary.best_seconds) continue;
    ReportMachine machine = {task.summary.target, task.machine, task.summary.cores};
    const bool is_known = std::ranges::any_of(machines, [&](const ReportMachine& known) {
      return known.target == machine.target && known.machine == machine.machine &&
             known.cores == machine.cores;
    });
    if (is_known) continue;
    machine.peaks = peaks_of(machine);
    machines.push_back(std::move(machine));
  }
  return machines;
}

}  // namespace

Result<size_t> report_records(const ReportRequest& request, const Teller& note) {
  const std::vector<NamedFile> read = {{"FILE", request.file}, {"--bench", request.bench}};
  LATHE_TRY_STATUS(check_apart({"--out", request.out}, read));
  Report report;
  LATHE_TRY(const RecordStore store, open_records_to_read(request.file, [&](const std::string& sentence) {
              tell(note, sentence);
              report.notes.push_back(sentence);
            }));
  LATHE_TRY(report.tasks, task_overviews(store));
  if (report.tasks.empty())
    return fail(ErrorKind::not_found, "the file holds no records that could be reported", request.file);
  report.file = name_of_file(request.file);
  report.compiler_version = compiler_version();
  if (!request.bench.empty()) {
    LATHE_TRY(const std::string text, read_regular_file(request.bench));
    LATHE_TRY(report.bench, read_bench_figures(text, request.bench));
    report.bench_file = name_of_file(request.bench);
  }
  report.machines = machines_of(report.tasks);
  LATHE_TRY_STATUS(write_file(request.out, {report_page(report)}));
  return report.tasks.size();
}

}  // namespace lathe
