// When work is to end: a moment of the steady clock, passed down to whatever takes long. A plain value.
#pragma once

#include <chrono>
#include <limits>

namespace lathe {

class Deadline {
 public:
  // Never.
  Deadline() = default;
  static Deadline in(double seconds) { return Deadline(now() + seconds); }

  // Infinity where there is no end; below 0 once it is past.
  double seconds_left() const { return at_ - now(); }
  bool is_past() const { return seconds_left() <= 0; }
  Deadline earlier_by(double seconds) const { return Deadline(at_ - seconds); }
  Deadline or_earlier(const Deadline& other) const { return at_ < other.at_ ? *this : other; }

 private:
  explicit Deadline(double at) : at_(at) {}
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  double at_ = std::numeric_limits<double>::infinity();
};

}  // namespace lathe
