// lathe report: a records file as a page for a browser.
#include <memory>

#include "cli/artifact_options.h"
#include "cli/command.h"
#include "cli/console.h"
#include "session/commands/report_records.h"

namespace lathe::cli {
namespace {

Status run(const ReportRequest& request) {
  LATHE_TRY(const size_t tasks, report_records(request, report_note));
  to_stdout("{}: {} task{}\n", request.out, tasks, tasks == 1 ? "" : "s");
  return {};
}

}  // namespace

void add_report(CLI::App& app, Action& chosen) {
  OptionSet command = add_command(app, "report", "write what tuning came to as a page for a browser");
  const auto request = std::make_shared<ReportRequest>();
  command.text("FILE", request->file, "the records file", {.is_required = true});
  command.text("--out", request->out, "the page: one HTML file that needs nothing else",
               {.is_required = true});
  command.text(
      "--bench", request->bench,
      "what bench --json or tune --json wrote: other libraries' times, how often a network uses a task");
  command.action(chosen, [request] { return run(*request); });
}

}  // namespace lathe::cli
