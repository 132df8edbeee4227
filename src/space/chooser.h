// How a rule asks for a decision. A sketch is one function that writes a trace and calls `choose` wherever
// something is open; run once without a point it declares the sketch's domain and the model's own choice, run
// with a point it writes that point's trace. So a parameter is declared, given its default and used in one
// place.
#pragma once

#include <string>
#include <vector>

#include "space/domain.h"

namespace lathe {

class Chooser {
 public:
  // Declares: every call answers its preferred value and adds a parameter. The rules' preference is the
  // model's first choice, or an `alternative` to it, from 1 on.
  explicit Chooser(int alternative = 0) : alternative_(alternative) {}
  // Replays: the calls are answered by these integers, in the order of declaration.
  explicit Chooser(const std::vector<int64_t>& integers) : integers_(&integers) {}

  // One of the increasing `values`; `preferred` (the nearest value below or at it counts) is the model's
  // choice. The list must not depend on earlier answers.
  int64_t choose(std::string name, std::vector<int64_t> values, int64_t preferred);
  // One of `count` unrelated alternatives.
  int64_t choose_kind(std::string name, int64_t count, int64_t preferred);

  // Which of the choices that it finds about equal the model is to prefer, 0 the best. For the `preferred` of
  // a call alone: what a rule asks must not depend on it.
  int alternative() const { return alternative_; }

  // After a declaring run: the domain and the preferred point.
  const Domain& domain() const { return domain_; }
  const std::vector<int64_t>& preferred() const { return preferred_; }

 private:
  int64_t next_integer(int64_t count);
  const std::vector<int64_t>* integers_ = nullptr;
  int alternative_ = 0;
  size_t position_ = 0;
  Domain domain_;
  std::vector<int64_t> preferred_;
};

}  // namespace lathe
