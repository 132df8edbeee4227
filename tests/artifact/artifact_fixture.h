// Artifacts of a small matrix product in a temporary folder, compiled for this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "artifact/compile_model.h"
#include "artifact/open/loaded_artifact.h"
#include "artifact/open/npy.h"
#include "artifact/write/write_artifact.h"
#include "base/compiler_version.h"
#include "base/rng.h"
#include "base/temporary_folder.h"
#include "target/detect.h"
#include "task/task_text.h"

namespace lathe {

inline constexpr const char* kMatmul =
    R"([{"name": "mm", "op": "expression", "text": "C[i:19, j:21] = sum(r:17) A[i,r] * B[r,j]", "constants": ["B"]}])";

inline NpyArray array_of(std::vector<int64_t> shape, const std::vector<float>& values) {
  NpyArray array{DType::f32, std::move(shape), std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

inline std::vector<float> floats(const NpyArray& array) {
  std::vector<float> values(array.bytes.size() / sizeof(float));
  std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
  return values;
}

inline std::vector<float> random_floats(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(rng.uniform() * 2 - 1);
  return values;
}

class ArtifactTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<Target> target = detect_target();
    if (!target) GTEST_SKIP() << target.error().message;
    options_.target = with_cores(*target, 2);
  }

  std::string folder(const std::string& name = "model") const { return (folder_.path() / name).string(); }

  void write(const Result<Model>& model) const {
    ASSERT_TRUE(model.has_value()) << model.error().to_string();
    const Status written = write_artifact(*model, folder(), {.compiler_version = "test"});
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
  }

  void write_matmul(const RecordStore* records = nullptr) {
    const auto workloads = parse_workloads(kMatmul, "test");
    ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
    options_.records = records;
    write(compile_operator(workloads->front(), options_));
  }

  // Of this machine, without a program yet.
  Record record_of(const Task& task) const {
    Record record;
    record.task = text_of(task);
    record.target = options_.target.name;
    record.cores = options_.target.cpu().cores;
    record.compiler_version = compiler_version();
    return record;
  }

  // Runs the matmul's artifact on these values and compares.
  static void check_matmul(LoadedArtifact& artifact, const std::vector<float>& a,
                           const std::vector<float>& b) {
    ASSERT_TRUE(artifact.set_input(0, array_of({19, 17}, a), "A").has_value());
    ASSERT_TRUE(artifact.set_input(1, array_of({17, 21}, b), "B").has_value());
    const Status run = artifact.run();
    ASSERT_TRUE(run.has_value()) << run.error().to_string();
    const std::vector<float> c = floats(artifact.output(0));
    for (size_t i = 0; i < 19; ++i) {
      for (size_t j = 0; j < 21; ++j) {
        double expected = 0;
        for (size_t r = 0; r < 17; ++r) expected += static_cast<double>(a[i * 17 + r]) * b[r * 21 + j];
        ASSERT_NEAR(c[i * 21 + j], expected, 1e-5) << i << ", " << j;
      }
    }
  }

  TemporaryFolder folder_;
  CompileModelOptions options_;
};

}  // namespace lathe
