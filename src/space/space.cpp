#include "space/space.h"

#include <fmt/format.h>

#include <cstdint>

namespace lathe {

// Where answers do not go together the questions have been asked all the same.
Sketch declared_sketch(std::string name, std::function<Result<Trace>(Chooser&)> write) {
  Sketch sketch{.name = std::move(name), .write = std::move(write)};
  Chooser declaring;
  static_cast<void>(sketch.write(declaring));
  sketch.domain = declaring.domain();
  sketch.preferred = declaring.preferred();
  return sketch;
}

Result<Trace> Space::trace(const Point& point) const {
  if (point.sketch < 0 || static_cast<size_t>(point.sketch) >= sketches_.size())
    return fail(ErrorKind::invalid_argument, fmt::format("there is no sketch {}", point.sketch));
  const Sketch& sketch = sketch_of(point);
  LATHE_TRY_STATUS(check(sketch.domain, point.integers));
  Chooser replaying(sketch.domain, point.integers);
  return sketch.write(replaying);
}

int64_t Space::size() const {
  int64_t total = 0;
  for (const Sketch& sketch : sketches_) {
    const int64_t size = sketch.domain.size();
    if (size > INT64_MAX - total) return INT64_MAX;
    total += size;
  }
  return total;
}

}  // namespace lathe
