// The public face (include/lathe) as a program of one's own uses it.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "base/temporary_folder.h"
#include "folders.h"
#include "lathe/lathe.h"

namespace lathe {
namespace {

constexpr const char* kProduct = "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]";
constexpr const char* kWorker = LATHE_BINARY_DIR "/bin/lathe-worker";

Result<Computation> product() {
  Formula formula;
  formula.text = kProduct;
  formula.constants = {"B"};
  formula.name = "mm";
  TargetChoice target;
  target.cores = 1;
  return make_operator(formula, target);
}

// The sum of what it computes of ones: 9 * 8 * 7.
float sum_of_ones(const Artifact& artifact) {
  const std::array<float, 63> a = [] {
    std::array<float, 63> all;
    all.fill(1);
    return all;
  }();
  const std::array<float, 56> b = [] {
    std::array<float, 56> all;
    all.fill(1);
    return all;
  }();
  std::array<float, 72> c = {};
  const std::array<const void*, 2> inputs = {a.data(), b.data()};
  const std::array<void*, 1> outputs = {c.data()};
  EXPECT_TRUE(artifact.run(inputs, outputs));
  float sum = 0;
  for (const float value : c) sum += value;
  return sum;
}

TEST(Face, AnOperatorSaysWhatItTakesAndGives) {
  const Result<Computation> computation = product();
  ASSERT_TRUE(computation);
  const std::vector<TensorInfo> inputs = computation->inputs();
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[1].name, "B");
  EXPECT_EQ(inputs[1].type, "f32");
  EXPECT_EQ(inputs[1].shape, (std::vector<int64_t>{7, 8}));
  EXPECT_TRUE(inputs[1].is_constant);
  EXPECT_EQ(computation->outputs()[0].name, "C");
  EXPECT_EQ(computation->name(), "mm");
}

TEST(Face, WhatIsWrongWithAFormulaIsASentence) {
  Formula formula;
  formula.text = "C[i:9] = A[j]";
  EXPECT_FALSE(make_operator(formula));
  formula.text = kProduct;
  formula.constants = {"X"};
  const Result<Computation> wrong = make_operator(formula);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().to_string().find("'X'"), std::string::npos) << wrong.error().to_string();
  NetworkFile file;
  file.path = "missing.onnx";
  const Result<Computation> network = make_network(file);
  ASSERT_FALSE(network);
  EXPECT_NE(network.error().to_string().find("missing.onnx"), std::string::npos);
}

TEST(Face, IsCompiledSavedAndOpened) {
  const TemporaryFolder folder;
  CompileChoice choice;
  choice.worker = kWorker;
  const Result<Compiled> compiled = compile(*product(), choice);
  ASSERT_TRUE(compiled) << compiled.error().to_string();
  const Result<Artifact> opened = Artifact::open(*compiled, folder.path().string());
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(sum_of_ones(*opened), 504);
  const std::string saved = (folder.path() / "saved").string();
  ASSERT_TRUE(save(*compiled, saved, "mine"));
  const Result<Artifact> loaded = Artifact::open(saved);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(sum_of_ones(*loaded), 504);
  EXPECT_FALSE(save(*compiled, saved, "not a name"));
  choice.check = "some";
  EXPECT_EQ(compile(*product(), choice).error().to_string(),
            "check: 'some' is none of full, sampled and none");
}

TEST(Face, TuningKeepsItsRecordsAndStopsWhenAsked) {
  const TemporaryFolder folder;
  TuneChoice choice;
  choice.worker = kWorker;
  choice.records = (folder.path() / "r.db").string();
  choice.trials = 4;
  const Result<TuneResult> tuned = tune(*product(), choice);
  ASSERT_TRUE(tuned) << tuned.error().to_string();
  ASSERT_EQ(tuned->tasks.size(), 1U);
  EXPECT_EQ(tuned->tasks[0].trials, 4);
  EXPECT_GT(tuned->tasks[0].seconds, 0);
  ASSERT_TRUE(tuned->compiled);
  EXPECT_EQ(sum_of_ones(*Artifact::open(*tuned->compiled, folder.path().string())), 504);
  choice.stop = [] { return true; };
  choice.trials = 100;
  const Result<TuneResult> stopped = tune(*product(), choice);
  ASSERT_TRUE(stopped) << stopped.error().to_string();
  EXPECT_FALSE(stopped->compiled);
  choice.trials = 0;
  EXPECT_EQ(tune(*product(), choice).error().to_string(), "trials: the number of trials must be at least 1");
}

}  // namespace
}  // namespace lathe
