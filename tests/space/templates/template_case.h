// Small tasks of the space `autotvm`: what its sketch writes for some answers, and that all that it writes is
// right.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "domain/choices.h"
#include "loop/verify.h"
#include "lower/lower.h"
#include "ops/workloads.h"
#include "schedule/programs.h"
#include "space/templates/derive_templates.h"

namespace lathe::testing {

struct TemplateCase {
  std::string workload;  // an object of a workload file, without its name
  std::string target = "x86-avx2";
  int cores = 1;
  bool free_layouts = false;
};

inline Task task_of_case(const TemplateCase& small) {
  const auto workloads = parse_workloads(R"([{"name":"small", )" + small.workload + "}]", "template_case");
  EXPECT_TRUE(workloads) << workloads.error().to_string();
  Result<Task> task = make_task(workloads->front(), with_cores(generic_target(small.target), small.cores),
                                small.free_layouts);
  EXPECT_TRUE(task) << task.error().to_string();
  return std::move(*task);
}

inline Task task_of_formula(const std::string& text, const std::vector<std::string>& constants = {},
                            const Target& target = generic_target("x86-avx2")) {
  return make_task("formula", parse_dag(text).value(), target, constants).value();
}

inline Space templates_of(const Task& task) {
  Result<Space> space = derive_templates(task);
  EXPECT_TRUE(space) << space.error().to_string();
  return std::move(*space);
}

// The names of the knobs.
inline std::vector<std::string> knobs_of(const Task& task) {
  std::vector<std::string> names;
  const Space space = templates_of(task);
  for (const Parameter& parameter : space.sketches().front().domain.parameters)
    names.push_back(parameter.name);
  return names;
}

// Where these knobs are answered so, and all others are neutral.
inline Result<Trace> trace_with(const Task& task, const Choices& answers) {
  const Space space = templates_of(task);
  const Sketch& sketch = space.sketches().front();
  const auto integers = integers_of(sketch.domain, answers, sketch.preferred);
  EXPECT_TRUE(integers) << "an answer is none of its knob's values";
  return space.trace({0, *integers});
}

inline std::string text_with(const Task& task, const Choices& answers) {
  const Result<Trace> trace = trace_with(task, answers);
  return trace ? to_string(*trace) : trace.error().to_string();
}

// Applies, lowers, and computes what the naive program does, as the interpreter sees it.
inline void expect_right(const Task& task, const Trace& trace) {
  SCOPED_TRACE(task.name + " on " + task.target.name + "\n" + to_string(trace));
  const Result<Program> program = apply_trace(task, trace);
  ASSERT_TRUE(program) << program.error().to_string();
  const Status sound = verify(*program);
  EXPECT_TRUE(sound) << sound.error().to_string();
  LowerOptions options;
  options.verifies = true;
  const Result<LoweredProgram> lowered = lower(*program, task.target, options);
  ASSERT_TRUE(lowered) << lowered.error().to_string();
  const Program naive = naive_program(task);
  expect_same_result(naive, *program);
  expect_same_result(naive, lowered->program);
}

// The legal ones among some points, all of which are right; gives how many they were.
inline int expect_points_are_right(const Task& task, int draws) {
  const Space space = templates_of(task);
  Rng rng(3);
  int legal = 0;
  for (int draw = 0; draw < draws; ++draw) {
    const Result<Trace> trace = space.trace({0, sample(space.sketches().front().domain, rng)});
    if (!trace) {
      EXPECT_EQ(trace.error().kind, ErrorKind::illegal_schedule) << trace.error().to_string();
      continue;
    }
    ++legal;
    expect_right(task, *trace);
  }
  return legal;
}

// On processors of two widths, with layouts given and free, for one core and for two.
inline void expect_case_is_right(const std::string& workload, int draws) {
  for (const bool is_wide : {false, true}) {
    const TemplateCase small{workload, is_wide ? "x86-avx512" : "x86-avx2", is_wide ? 2 : 1, is_wide};
    EXPECT_GT(expect_points_are_right(task_of_case(small), draws), draws / 2) << workload;
  }
}

}  // namespace lathe::testing
