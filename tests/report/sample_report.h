// Overviews and reports for the tests of the page.
#pragma once

#include <string>
#include <vector>

#include "records/own_record.h"
#include "report/page.h"

namespace lathe {

inline Record failed_record(ErrorKind kind, const std::string& message) {
  Record record = own_record(1);
  record.measurement = failed_measurement(kind, message);
  return record;
}

// Of these records, numbered from `first_id` on.
inline TaskOverview sample_overview(std::vector<Record> records, int64_t first_id = 1) {
  TaskSummary summary;
  summary.task = records.front().task;
  summary.target = records.front().target;
  summary.cores = records.front().cores;
  for (Record& record : records) {
    record.id = first_id++;
    ++summary.trials;
    if (!record.measurement.ok()) {
      ++summary.failed;
    } else if (!summary.best_seconds || record.measurement.seconds < *summary.best_seconds) {
      summary.best_seconds = record.measurement.seconds;
      summary.best_id = record.id;
    }
  }
  return overview_of(summary, records);
}

inline Report sample_report(std::vector<TaskOverview> tasks) {
  Report report;
  report.file = "lathe.db";
  report.compiler_version = "1.2.3";
  report.tasks = std::move(tasks);
  report.machines = {{"x86-avx2", "test machine", 1, ReportPeaks{100, 200, 20}}};
  return report;
}

}  // namespace lathe
