// What tuning came to, as a page for a browser (report/page.h), from a records file.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "session/teller.h"

namespace lathe {

struct ReportRequest {
  std::string file;   // of records
  std::string bench;  // what `lathe bench --json` or `lathe tune --json` wrote; empty: none
  std::string out;    // the page
};

// Measures the peaks of the machines of the records that are this one, and writes the page. The number of its
// tasks; an Error where there are no records, or a file cannot be read or written.
Result<size_t> report_records(const ReportRequest& request, const Teller& note);

}  // namespace lathe
