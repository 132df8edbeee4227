// A small table of an operator's whole space, without a measurement: times by a formula of the choices.
#pragma once

#include "experiment/measured_table.h"
#include "session/load_source.h"
#include "space/all.h"
#include "space/thinned_space.h"
#include "target/all.h"

namespace lathe {

inline MeasuredTable table_case(const ProgramSource& source, int64_t points) {
  Target target = generic_target("x86-avx2");
  target.cpu().cores = 1;
  const Task task = task_of(load_workloads(source).value().front(), target, false, false).value();
  const Space space = derive_space(task).value();
  const ThinnedSpace thinned = thin(space, points);
  MeasuredTable table{.name = "mm lathe",
                      .task = text_of(task),
                      .target = print(target),
                      .machine = "a machine",
                      .cores = 1,
                      .compiler_version = "0",
                      .space = "lathe",
                      .sketches = {},
                      .entries = {}};
  for (size_t s = 0; s < space.sketches().size(); ++s)
    table.sketches.push_back(
        {space.sketches()[s].name, thinned.sketches[s].domain, thinned.sketches[s].fixed});
  double seconds = 1e-6;
  for (const Point& point : whole_points(space, thinned)) {
    if (!space.trace(point)) {
      table.entries.push_back({});
    } else {
      table.entries.push_back({TableEntry::Outcome::measured, seconds, 0});
      seconds *= 1.04;
    }
  }
  return table;
}

}  // namespace lathe
