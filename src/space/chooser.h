// How a rule asks for a decision. A sketch is one function that writes a trace and calls `choose` wherever
// something is open; run once without a point it declares the sketch's domain and the model's own choice, run
// with a point it writes that point's trace. So a parameter is declared, given its default and used in one
// place. Answers are found by the names of the questions: one that nobody asks for is ignored, and a question
// that the domain does not have gets what is preferred.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "domain/domain.h"

namespace lathe {

class Chooser {
 public:
  // Declares: every call answers its preferred value and adds a parameter. The rules' preference is the
  // model's first choice, or an `alternative` to it, from 1 on.
  explicit Chooser(int alternative = 0) : alternative_(alternative) {}
  // Replays: the calls are answered by these integers, a point of the domain. Both must outlive the chooser.
  Chooser(const Domain& domain, const std::vector<int64_t>& integers)
      : answered_(&domain), integers_(integers) {}

  // One of the increasing `values`; `preferred` (the nearest value below or at it counts) is the model's
  // choice. Of a list that depends on earlier answers the nearest value to the answer counts likewise.
  int64_t choose(std::string name, std::vector<int64_t> values, int64_t preferred);
  // One of `count` unrelated alternatives.
  int64_t choose_kind(std::string name, int64_t count, int64_t preferred);
  // The inner factors of a split, outermost first; `preferred` must be some.
  std::vector<int64_t> choose_split(std::string name, const SplitParameter& split,
                                    std::vector<int64_t> preferred);
  // The items in some order; the model's is that in which they come.
  std::vector<std::string> choose_order(std::string name, std::vector<std::string> items);

  // Which of the choices that it finds about equal the model is to prefer, 0 the best. For the `preferred` of
  // a call alone: what a rule asks must not depend on it.
  int alternative() const { return alternative_; }

  // After a declaring run: the domain and the preferred point.
  const Domain& domain() const { return domain_; }
  const std::vector<int64_t>& preferred() const { return preferred_; }

 private:
  // An answer, and the parameter that it is one of.
  struct Answer {
    const Parameter* parameter = nullptr;
    std::span<const int64_t> integers;
  };
  std::optional<Answer> answer(const std::string& name);
  void declare(Parameter parameter, const std::vector<int64_t>& preferred);

  const Domain* answered_ = nullptr;  // null: declares
  std::span<const int64_t> integers_ = {};
  size_t next_ = 0;       // the parameter that is asked for if questions come in the order of the domain
  size_t next_slot_ = 0;  // its first integer
  int alternative_ = 0;
  Domain domain_;
  std::vector<int64_t> preferred_;
};

}  // namespace lathe
