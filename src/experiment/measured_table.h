// A table: every point of a thinned space, measured once. What searches are compared on, without noise and on
// any machine. The file: one line of JSON, then three bytes a point, in the order of the sketches and of
// all_points (domain/domain.h): sixteen bits of the logarithm of its time, eight of its spread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "domain/choices.h"
#include "domain/domain.h"
#include "task/task_text.h"

namespace lathe {

struct TableSketch {
  std::string name;
  Domain domain;
  Choices fixed = {};  // the same at every point
};

// What came of a point.
struct TableEntry {
  enum class Outcome : uint8_t { illegal, failed, measured };
  Outcome outcome = Outcome::illegal;
  double seconds = 0;  // of a measured one
  double spread = 0;   // relative, as in Measurement
};

struct MeasuredTable {
  std::string name;
  TaskText task;
  std::string target;  // its whole text (target/target.h): spaces depend on its caches
  std::string machine;
  int cores = 1;
  std::string compiler_version;
  std::string space;  // a row of space/all.h
  std::vector<TableSketch> sketches;
  std::vector<TableEntry> entries;  // one a point of the sketches

  // How many points the sketches have, saturating.
  int64_t size() const;
};

// The place of every point, and back.
class TableIndex {
 public:
  explicit TableIndex(const MeasuredTable& table);
  std::optional<size_t> place_of(const Point& point) const;
  const std::vector<Point>& points() const { return points_; }

 private:
  struct HashPoint {
    size_t operator()(const Point& point) const { return hash_of(point); }
  };
  std::vector<Point> points_;
  std::unordered_map<Point, size_t, HashPoint> places_;
};

// Times are kept to within 0.03 %, from a nanosecond to a thousand seconds; spreads to 0.1 %, at most 25.4 %.
std::string table_bytes(const MeasuredTable& table);
// An Error names `source` and what is wrong with it.
Result<MeasuredTable> read_table(std::string_view bytes, const std::string& source);

}  // namespace lathe
