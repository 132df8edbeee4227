#include "measure/measurement.h"

#include "measure/statistics.h"

namespace lathe {

const char* to_string(MeasureSource source) {
  switch (source) {
    case MeasureSource::measured: return "measured";
    case MeasureSource::simulated: return "simulated";
    case MeasureSource::modelled: return "modelled";
  }
  return "unknown";
}

std::optional<MeasureSource> parse_measure_source(std::string_view text) {
  for (MeasureSource source : {MeasureSource::measured, MeasureSource::simulated, MeasureSource::modelled}) {
    if (text == to_string(source)) return source;
  }
  return std::nullopt;
}

Measurement measurement_of(std::vector<double> samples) {
  Measurement measurement;
  measurement.seconds = robust_centre(samples);
  measurement.spread = relative_spread(samples);
  measurement.samples = std::move(samples);
  return measurement;
}

Measurement failed_measurement(ErrorKind kind, std::string message) {
  Measurement measurement;
  measurement.failure = MeasureFailure{kind, std::move(message)};
  return measurement;
}

}  // namespace lathe
