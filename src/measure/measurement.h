// What is known about a program's run time. Never a bare number: how it came about, the samples, their robust
// centre and spread, or the named failure of the candidate. A plain value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace lathe {

// Run on the machine, simulated cycle by cycle, or computed from a formula; the surest first.
enum class MeasureSource { measured, simulated, modelled };

// "measured", "simulated" or "modelled", as records spell it.
const char* to_string(MeasureSource source);
std::optional<MeasureSource> parse_measure_source(std::string_view text);

// Why a candidate has no time: load, crash, timeout, wrong_result, invalid_program, build where it never ran,
// or what lowering says of a program that it cannot write (unsupported, illegal_schedule).
struct MeasureFailure {
  ErrorKind kind = ErrorKind::crash;
  std::string message;  // one sentence
  bool operator==(const MeasureFailure&) const = default;
};

struct Measurement {
  MeasureSource source = MeasureSource::measured;
  std::vector<double> samples;  // seconds for one run, in the order taken
  double seconds = 0;           // robust centre of the samples (statistics.h); 0 where it failed
  double spread = 0;            // relative (statistics.h); 0 where there is one sample
  bool timed_once = false;      // so far behind the best that one warm run was all it got
  std::optional<MeasureFailure> failure;

  bool ok() const { return !failure.has_value(); }
  bool operator==(const Measurement&) const = default;
};

// A measurement from its samples (seconds, at least one).
Measurement measurement_of(std::vector<double> samples);
// The measurement of a candidate that failed.
Measurement failed_measurement(ErrorKind kind, std::string message);

}  // namespace lathe
