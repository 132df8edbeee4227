// Machine code of a computation, and the artifact that it is saved as.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "artifact/manifest.h"
#include "lathe/lathe.h"
#include "session/compiled_state.h"
#include "session/network_file.h"
#include "session/session_fixture.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// The product of the workload file, as a formula.
class CompiledFace : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    choice_.worker = worker_;
    choice_.note = teller();
  }
  static Computation product_on(const TargetChoice& target) {
    Formula formula;
    formula.text = "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]";
    formula.name = "mm";
    return make_operator(formula, target).value();
  }
  Result<Compiled> compiled() const { return compile(product_on({"native", 1}), choice_); }
  std::string name_in(const std::string& folder) const {
    const Result<Manifest> manifest = read_manifest(path(folder));
    return manifest ? manifest->name : manifest.error().to_string();
  }

  CompileChoice choice_;
};

TEST(ParseChecked, HasThreeWordsOrNone) {
  EXPECT_EQ(parse_checked("").value(), std::nullopt);
  EXPECT_EQ(parse_checked("full").value(), Checked::full);
  EXPECT_EQ(parse_checked("sampled").value(), Checked::sampled);
  EXPECT_EQ(parse_checked("none").value(), Checked::none);
  for (const std::string wrong : {"Full", "full ", "all"})
    EXPECT_EQ(refusal_of(parse_checked(wrong)), "check: '" + wrong + "' is none of full, sampled and none");
}

TEST_F(CompiledFace, IsComparedAsMuchAsIsAsked) {
  for (const auto& [word, checked] :
       {std::pair("", Checked::full), std::pair("full", Checked::full),
        std::pair("sampled", Checked::sampled), std::pair("none", Checked::none)}) {
    choice_.check = word;
    const Result<Compiled> model = compiled();
    ASSERT_TRUE(model.has_value()) << refusal_of(model);
    EXPECT_EQ(model->state().model.kernels.front().checked, checked) << word;
  }
  EXPECT_THAT(told_, IsEmpty());
  // Without a worker nothing is run.
  choice_.check = "";
  choice_.worker = "";
  EXPECT_EQ(compiled()->state().model.kernels.front().checked, Checked::none);
}

TEST_F(CompiledFace, WhoeverStopsItIsToldWhatWasNotCompared) {
  choice_.stop = [] { return true; };
  const Result<Compiled> model = compiled();
  ASSERT_TRUE(model.has_value()) << refusal_of(model);
  EXPECT_EQ(model->state().model.kernels.front().checked, Checked::none);
  EXPECT_THAT(told_, ElementsAre(StartsWith(
                         "mm: kernels whose results were not all compared with a reference: 1 of 1 (mm: ")));
}

TEST_F(CompiledFace, RecordsGiveTheProgramOrItIsSaidThatTheyDoNot) {
  append({record("split C i [2]\n", 1e-9)});
  choice_.records = path("r.db");
  EXPECT_EQ(compiled()->state().model.kernels.front().record, 1);
  EXPECT_THAT(told_, IsEmpty());
  change_records("UPDATE records SET seconds = -1");
  EXPECT_EQ(compiled()->state().model.kernels.front().record, std::nullopt);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_THAT(told_[0], StartsWith(path("r.db") + ": 1 record is damaged: record 1, "));
  EXPECT_EQ(told_[1],
            "mm: kernels that " + path("r.db") + " has no usable program for, compiled untuned: 1 of 1");
}

TEST_F(CompiledFace, WhatIsMissingIsNamed) {
  choice_.records = path("none.db");
  EXPECT_EQ(refusal_of(compiled()), "there is no records file " + path("none.db"));
  choice_.records = "";
  choice_.worker = path("worker");
  EXPECT_EQ(refusal_of(compiled()),
            path("worker") + ": the program worker is missing, it belongs beside lathe");
}

// Its programs are compiled here and run there.
TEST_F(CompiledFace, ForAnotherMachineNothingIsRun) {
  choice_.worker = path("worker");
  const Result<Compiled> model = compile(product_on({foreign_target(), 2}), choice_);
  ASSERT_TRUE(model.has_value()) << refusal_of(model);
  EXPECT_EQ(model->state().model.kernels.front().checked, Checked::none);
  EXPECT_EQ(model->state().model.target.name, foreign_target());
}

TEST_F(CompiledFace, ANetworkIsCompiledToo) {
  NetworkFile file;
  file.path = model_file(folder_, small_conv_model());
  const Result<Compiled> model = compile(make_network(file, {"native", 1}).value(), choice_);
  ASSERT_TRUE(model.has_value()) << refusal_of(model);
  EXPECT_EQ(model->state().model.name, "net");
  EXPECT_EQ(model->state().model.kernels.front().checked, Checked::full);
}

TEST_F(CompiledFace, IsSavedUnderItsNameOrAnother) {
  const Compiled model = compiled().value();
  ASSERT_EQ(refusal_of(save(model, path("o"))), "");
  EXPECT_EQ(name_in("o"), "mm");
  ASSERT_EQ(refusal_of(save(model, path("o"), "other")), "");
  EXPECT_EQ(name_in("o"), "other");
  EXPECT_EQ(model.state().model.name, "mm");
  EXPECT_EQ(refusal_of(save(model, path("o"), "a b")),
            "--name: 'a b' names no model: a name has letters, digits and underscores, at most 243");
  EXPECT_EQ(name_in("o"), "other");
}

TEST_F(CompiledFace, SomebodyElsesFilesStay) {
  const Compiled model = compiled().value();
  fs::create_directory(path("o"));
  write("o/model.so", "mine");
  EXPECT_THAT(refusal_of(save(model, path("o"))),
              StartsWith(path("o/model.so") + ": the file is no artifact's, "));
  EXPECT_EQ(read_text(path("o/model.so")), "mine");
  EXPECT_FALSE(fs::exists(path("o/manifest.json")));
  EXPECT_THAT(refusal_of(save(model, path("w.json"))), StartsWith(path("w.json")));
}

}  // namespace
}  // namespace lathe
