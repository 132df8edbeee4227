// A record for the tests of the records file.
#pragma once

#include "records/record.h"

namespace lathe {

inline Record sample_record(double seconds) {
  Record record;
  record.task = {.hash = 1,
                 .name = "matmul.1024",
                 .dag = "C[i:1024, j:1024] = sum(r:1024) A[i,r] * B[r,j]",
                 .constants = {"B"},
                 .free_layouts = true,
                 .layouts = {"", "[1][0]", ""}};
  record.target = "x86-avx2";
  record.machine = "test machine";
  record.cores = 1;
  record.compiler_version = "0.1";
  record.trace = "split C i [12 12]\nparallel C i.0";
  record.point = {"lathe", "tile", {{"i", {12, 12}}, {"order", {3}}}};
  record.measurement = measurement_of({seconds, seconds});
  record.strategy = "evolutionary";
  record.seed = 7;
  record.created_at = 1'700'000'000'123;
  record.wall_seconds = 0.125;
  return record;
}

}  // namespace lathe
