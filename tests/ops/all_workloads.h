// The operators of workloads/operators.json.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "folders.h"
#include "ops/workloads.h"

namespace lathe::testing {

// Read once.
inline const std::vector<Workload>& workloads() {
  static const Result<std::vector<Workload>> loaded =
      load_workloads(LATHE_SOURCE_DIR "/workloads/operators.json");
  EXPECT_TRUE(loaded) << loaded.error().to_string();
  return *loaded;
}

}  // namespace lathe::testing
