// What is said of a network in a narrow type, and that it is what the artifacts' outputs differ by.
#include "session/commands/precision_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "artifact/open/verify_artifact.h"
#include "base/read_file.h"
#include "session/commands/compile_session.h"
#include "session/commands/tune_session.h"
#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

NpyArray array_of(const std::vector<float>& values) {
  NpyArray array;
  array.shape = {static_cast<int64_t>(values.size())};
  array.bytes.resize(values.size() * sizeof(float));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

TEST(OutputError, IsAShareOfTheLargestMagnitudeOfAllDraws) {
  const OutputError error =
      output_error("y", {array_of({1, -2}), array_of({4, 0})}, {array_of({1, -2.5F}), array_of({4, 1})});
  EXPECT_EQ(error.output, "y");
  EXPECT_DOUBLE_EQ(error.largest, 0.25);
  EXPECT_DOUBLE_EQ(error.mean, 1.5 / 4 / 4);
}

TEST(OutputError, SpecialsThatAreTheSameAreNoError) {
  const float infinity = std::numeric_limits<float>::infinity();
  const NpyArray exact = array_of({NAN, infinity, 2});
  EXPECT_EQ(output_error("y", {exact}, {exact}).largest, 0);
  EXPECT_EQ(output_error("y", {exact}, {array_of({0, infinity, 2})}).largest,
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(output_error("y", {array_of({0, 0})}, {array_of({0, 0})}).largest, 0);
}

TEST(PrecisionError, IsToldInASentence) {
  EXPECT_EQ(
      to_string(PrecisionError{"bf16", {{"y", 0.0031, 0.00042}, {"z", 0, 0}}}),
      "precision bf16: output 'y' is off by at most 0.31 % of its largest magnitude, 0.042 % in the mean; "
      "output 'z' is off by at most 0 % of its largest magnitude, 0 % in the mean");
}

class PrecisionErrorTest : public SessionTest {
 protected:
  // A product of 64 terms and a rectifier.
  ProgramSource source_of_product(const std::string& precision) const {
    OnnxModel model;
    std::vector<float> weights(64 * 64);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.01F * static_cast<float>(i % 97);
    model.input("x", {3, 64}).initializer("w", {64, 64}, weights);
    model.node("m", "MatMul", {"x", "w"}, "t").node("r", "Relu", {"t"}, "y").output("y");
    ProgramSource source;
    source.model = model_file(folder_, model);
    source.cores = 1;
    source.precision = precision;
    return source;
  }

  // Expects the artifact to be whole and to say that it is off by something, and not by much.
  void expect_stated(const WrittenModel& written, const std::string& precision, double most) const {
    ASSERT_TRUE(written.precision.has_value());
    ASSERT_EQ(written.precision->outputs.size(), 1U);
    const OutputError& error = written.precision->outputs[0];
    EXPECT_EQ(error.output, "y");
    EXPECT_GT(error.mean, 0);
    EXPECT_GT(error.largest, error.mean);
    EXPECT_LT(error.largest, most);
    EXPECT_EQ(refusal_of(verify_artifact(written.folder)), "");
    const auto manifest = nlohmann::json::parse(*read_file(written.folder + "/manifest.json"));
    EXPECT_EQ(manifest["precision"]["type"], precision);
    EXPECT_EQ(manifest["precision"]["errors"][0]["name"], "y");
    EXPECT_DOUBLE_EQ(manifest["precision"]["errors"][0]["largest"].get<double>(), error.largest);
    EXPECT_THAT(manifest["kernels"][0]["dag"].get<std::string>(), HasSubstr(precision));
  }
};

TEST_F(PrecisionErrorTest, CompileStatesIt) {
  for (const auto& [precision, most] : {std::pair{"bf16", 2e-2}, {"f16", 2e-3}}) {
    CompileRequest request;
    request.source = source_of_product(precision);
    request.out = path(precision);
    request.worker = worker_;
    CompileListener listener;
    listener.written = [&](const WrittenModel& written) { expect_stated(written, precision, most); };
    EXPECT_EQ(refusal_of(compile_artifacts(request, listener)), "");
    EXPECT_TRUE(verify_artifact(request.out).has_value());
  }
  // What has none says nothing of it.
  CompileRequest request;
  request.source = source_of_product("");
  request.out = path("own");
  request.worker = worker_;
  EXPECT_EQ(refusal_of(compile_artifacts(request, {})), "");
  EXPECT_FALSE(nlohmann::json::parse(*read_file(path("own") + "/manifest.json")).contains("precision"));
  EXPECT_LT(std::filesystem::file_size(path("f16") + "/weights.bin"),
            std::filesystem::file_size(path("own") + "/weights.bin") * 6 / 10);
}

TEST_F(PrecisionErrorTest, TuneStatesIt) {
  TuneRequest request;
  request.source = source_of_product("bf16");
  request.trials = 1;
  request.records = path("r.db");
  request.out = path("o");
  request.worker = worker_;
  TuneListener listener;
  bool is_written = false;
  listener.written = [&](const WrittenModel& written) {
    is_written = true;
    expect_stated(written, "bf16", 2e-2);
  };
  Result<TuneSession> session = TuneSession::start(request, listener);
  ASSERT_TRUE(session) << session.error().to_string();
  const auto rows = session->tune();
  ASSERT_TRUE(rows) << rows.error().to_string();
  EXPECT_EQ(refusal_of(session->write(*rows)), "");
  EXPECT_TRUE(is_written);
}

TEST_F(PrecisionErrorTest, AnotherTypeIsRefused) {
  for (const char* precision : {"i8", "f3"}) {
    EXPECT_EQ(refusal_of(load_network(source_of_product(precision), target_)),
              std::string("--precision: '") + precision + "' is no precision: bf16 and f16 are");
  }
}

}  // namespace
}  // namespace lathe
