#include "session/program_source.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

std::string sentence(const Status& status) { return status ? "" : status.error().to_string(); }

TEST(ProgramSource, NamesAModelOrAWorkloadAndWhatBelongsToIt) {
  ProgramSource source;
  EXPECT_EQ(sentence(check_source(source)), "nothing to work on: give MODEL.onnx or --workload FILE.json");
  source.model = "m.onnx";
  EXPECT_EQ(sentence(check_source(source)), "");
  source.filter = "x";
  EXPECT_EQ(sentence(check_source(source)), "--filter: only the entries of --workload can be filtered");
  source.workload = "w.json";
  EXPECT_EQ(sentence(check_source(source)),
            "give either a model or --workload, not both: 'm.onnx' and 'w.json'");
  source.model = "";
  EXPECT_EQ(sentence(check_source(source)), "");
  source.workload = "m.onnx";
  EXPECT_EQ(sentence(check_source(source)), "m.onnx: a model is given without --workload");
  source.workload = "w.json";
  source.input_shapes["a"] = {1};
  EXPECT_EQ(sentence(check_source(source)), "--input: only the inputs of a model can be given shapes");
  source.input_shapes.clear();
  source.precision = "bf16";
  EXPECT_EQ(sentence(check_source(source)),
            "--precision: only a model is given a precision; the types of operators stand in their file");
}

TEST(ProgramSource, ReadsTheRecordsWithTheLogBesideThem) {
  ProgramSource source;
  source.workload = "w.json";
  const std::vector<NamedFile> files = files_read(source, "r.db");
  ASSERT_EQ(files.size(), 5U);
  EXPECT_EQ(files[1].path, "w.json");
  EXPECT_EQ(files[3].path, "r.db-wal");
  EXPECT_EQ(files_read(source, "").size(), 2U);
}

TEST(ProgramSource, RefusesATargetThatThereIsNot) {
  ProgramSource source;
  source.target = "pdp11";
  const Result<Target> target = target_of(source);
  ASSERT_FALSE(target);
  EXPECT_EQ(target.error().where, "--target");
}

}  // namespace
}  // namespace lathe
