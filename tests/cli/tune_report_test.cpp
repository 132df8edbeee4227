// What the table of `tune` and `bench` says beside its figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "records/record_store.h"

namespace lathe {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTune = "tune --workload w.json --cores 1 --trials 1 --enough 0 --records ";

TEST_F(CliTest, GflopsBeyondTheMachinesPeakAreExplained) {
  write_matmul();
  const Outcome tuned = lathe(kTune + std::string("r.db"));
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr(" rel.error\n"));

  // What the table says of the same program as if a run of it took so long.
  Record record = RecordStore::open(folder_.path() / "r.db")->find({}).value().at(0);
  const auto table_of = [&](const std::string& name, double seconds) {
    auto records = RecordStore::open(folder_.path() / (name + ".db"));
    EXPECT_TRUE(records.has_value());
    record.measurement = measurement_of(std::vector<double>(100, seconds));
    EXPECT_TRUE(records->append(record).has_value());
    const Outcome shown = lathe(kTune + name + ".db");
    EXPECT_EQ(shown.status, 0) << shown.err;
    return shown.out;
  };
  EXPECT_THAT(table_of("slow", 1), Not(HasSubstr("GFLOP/s count")));
  EXPECT_THAT(table_of("fast", 1e-11),
              ContainsRegex("\nGFLOP/s count the operations of the formula as it is written; .* "
                            "exceed the [0-9.]+ that the machine reaches in single precision: mm\n"));
}

}  // namespace
}  // namespace lathe
