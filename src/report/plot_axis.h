// The axes of the report's plots: from a value to a place, and the marks beside them. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace lathe {

struct Tick {
  double value = 0;
  std::string label;  // empty: a thin line alone
};

// A range of values on a stretch of so many units, which begins at `start` and may run backwards.
struct PlotAxis {
  double least = 0;
  double most = 1;
  double start = 0;
  double length = 1;
  double step = 0;  // between its marks; 0: it is logarithmic

  // Values beyond the range lie at its ends.
  double place(double value) const;
};

// An axis that holds both, `most` being the larger one, and ends at round numbers.
PlotAxis linear_axis(double least, double most, double start, double length);
// One that holds both, above 0, and ends at powers of ten or their halves and fifths.
PlotAxis logarithmic_axis(double least, double most, double start, double length);
std::vector<Tick> ticks_of(const PlotAxis& axis);

}  // namespace lathe
