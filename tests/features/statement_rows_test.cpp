#include "features/statement_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "expr/parse.h"
#include "schedule/apply.h"
#include "target/all.h"

namespace lathe {
namespace {

Task product() {
  return make_task("p", parse_dag("C[i:32, j:64] = sum(k:16) A[i,k] * B[k,j]").value(),
                   generic_target("x86-avx2"))
      .value();
}

std::vector<std::vector<float>> rows_of(const Task& task, const std::string& trace) {
  return statement_rows(apply_trace(task, parse_trace(trace).value()).value());
}

double value(const std::vector<float>& row, const std::string& name) {
  const std::vector<std::string>& names = statement_row_names();
  const auto found = std::ranges::find(names, name);
  EXPECT_NE(found, names.end()) << name;
  return row[static_cast<size_t>(found - names.begin())];
}

double log_of(double x) { return std::log2(1 + x); }

TEST(StatementRows, HaveAHundredAndSixtyFourNumbersEachWithItsName) {
  const std::vector<std::string>& names = statement_row_names();
  EXPECT_EQ(names.size(), 164U);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 164U);
  const auto rows = rows_of(product(), "");
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) EXPECT_EQ(row.size(), 164U);
}

TEST(StatementRows, CountWhatAProductComputesAndReads) {
  const auto rows = rows_of(product(), "reorder C i k j\nvectorize C j\nparallel C i\n");
  const std::vector<float>& row = rows.back();
  constexpr double kInstances = 32.0 * 64 * 16;
  EXPECT_NEAR(value(row, "float_multiply_add"), log_of(kInstances), 1e-5);
  EXPECT_EQ(value(row, "float_multiply"), 0);
  EXPECT_NEAR(value(row, "vectorized.length"), log_of(64), 1e-5);
  EXPECT_EQ(value(row, "vectorized.position=inner_spatial"), 1);
  EXPECT_NEAR(value(row, "parallel.product"), log_of(32), 1e-5);
  EXPECT_EQ(value(row, "parallel.position=outer_spatial"), 1);
  EXPECT_EQ(value(row, "unrolled.position=none"), 1);
  // C is the largest: 8,192 bytes, written and read by every term, used again by the loop over k.
  EXPECT_EQ(value(row, "buffer0.access=read_write"), 1);
  EXPECT_NEAR(value(row, "buffer0.unique_bytes"), log_of(8192), 1e-5);
  EXPECT_EQ(value(row, "buffer0.reuse=loop"), 1);
  EXPECT_NEAR(value(row, "buffer0.reuse_count"), log_of(16), 1e-5);
  EXPECT_NEAR(value(row, "buffer0.reuse_iterations"), log_of(64), 1e-5);
  EXPECT_NEAR(value(row, "buffer0.stride"), log_of(1), 1e-5);
  // B: 4,096 bytes, whose rows come again for each i.
  EXPECT_EQ(value(row, "buffer1.access=read"), 1);
  EXPECT_NEAR(value(row, "buffer1.unique_bytes"), log_of(4096), 1e-5);
  EXPECT_NEAR(value(row, "buffer1.reuse_count"), log_of(32), 1e-5);
  EXPECT_NEAR(value(row, "buffer1.unique_lines"), log_of(64), 1e-5);
  EXPECT_EQ(value(row, "buffer3.bytes"), 0);
}

TEST(StatementRows, MoreOperationsComeToAByteAsMoreLoopsAreTakenIn) {
  const std::vector<float> row = rows_of(product(), "").back();
  EXPECT_LT(value(row, "intensity0"), value(row, "intensity9"));
}

TEST(StatementRows, AnAccumulatorIsAllocatedInsideItsLoops) {
  const auto rows =
      rows_of(product(), "split C j [8]\nreorder C i j.0 k j.1\ncache_write C acc at=j.0 scope=registers\n");
  bool found = false;
  for (const auto& row : rows) {
    if (value(row, "allocation.bytes") == 0) continue;
    found = true;
    EXPECT_NEAR(value(row, "allocation.outside"), log_of(32 * 8), 1e-5);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace lathe
