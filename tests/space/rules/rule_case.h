// A formula as a rule sees it: deciding one of its stages with some answers by name, and writing what was
// decided.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "domain/choices.h"
#include "expr/parse.h"
#include "schedule/apply.h"
#include "space/rules/decider.h"
#include "target/all.h"

namespace lathe::testing {

class RuleCase {
 public:
  explicit RuleCase(const std::string& text, const std::vector<std::string>& constants = {}, int cores = 1)
      : RuleCase(text, constants, with_cores(generic_target("x86-avx2"), cores)) {}
  RuleCase(const std::string& text, const std::vector<std::string>& constants, const Target& target)
      : task_(make_task("case", parse_dag(text).value(), target, constants, true).value()),
        stages_(classify(task_, task_.dag)) {}

  Task& task() { return task_; }
  const Task& task() const { return task_; }
  const Dag& dag() const { return task_.dag; }
  const Stage& stage(size_t compute) const { return stages_.of(compute); }
  const Classified& stages() const { return stages_; }
  Analysis analysis() const { return {task_, task_.dag, stages_, costs_}; }
  Decider decider(Chooser& chooser) const { return {analysis(), chooser}; }

  // What `decide`, a function of a Decider, gives where these choices are answered so, and all others as it
  // prefers.
  template <class Decide>
  auto decided(const Choices& answers, const Decide& decide) const {
    Chooser declaring;
    Decider first = decider(declaring);
    static_cast<void>(decide(first));
    const auto integers = integers_of(declaring.domain(), answers, declaring.preferred());
    EXPECT_TRUE(integers) << "an answer is none of its parameter's values";
    Chooser replaying(declaring.domain(), *integers);
    Decider second = decider(replaying);
    return decide(second);
  }
  // The names of what `decide` asks.
  template <class Decide>
  std::vector<std::string> asked(const Decide& decide) const {
    Chooser declaring;
    Decider first = decider(declaring);
    static_cast<void>(decide(first));
    std::vector<std::string> names;
    for (const Parameter& parameter : declaring.domain().parameters) names.push_back(parameter.name);
    return names;
  }

  // The steps that `write`, a function of a Writer, appends.
  template <class Write>
  std::string written(const Write& write) const {
    Writer writer{analysis()};
    write(writer);
    return to_string(writer.trace);
  }

 private:
  CostConstants costs_;
  Task task_;
  Classified stages_;
};

// Of places, or other steps, as text.
inline std::string text_of(const Trace& steps) { return to_string(steps); }

}  // namespace lathe::testing
