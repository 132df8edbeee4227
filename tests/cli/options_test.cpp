// Values on the command line: numbers that are none or too large, names that look like options.
#include <gmock/gmock.h>

#include "cli/command_line.h"

namespace lathe {
namespace {

class Options : public CliTest {
 protected:
  void expect(const std::string& arguments, const std::string& what) const {
    EXPECT_EQ(sentence(arguments), "lathe: " + what + " (lathe --help tells more)");
  }
};

TEST_F(Options, WhatIsNoWholeNumberIsToldSo) {
  expect("tune --trials many", "--trials: 'many' is no whole number");
  expect("tune --trials 1.5", "--trials: '1.5' is no whole number");
  expect("tune --trials ''", "--trials: '' is no whole number");
  expect("tune --cores 2x", "--cores: '2x' is no whole number");
  expect("tune --seed 1e3", "--seed: '1e3' is no whole number");
  expect("replay r.db --record -", "--record: '-' is no whole number");
}

TEST_F(Options, WholeNumbersOutOfRangeAreNeverTheNearestWithin) {
  expect("tune --cores 0", "--cores: Value 0 not in range 1 to 4096");
  expect("tune --cores 4294967297", "--cores: Value 4294967297 not in range 1 to 4096");
  expect("tune --trials 0", "--trials: Value 0 not in range 1 to 1099511627776");
  expect("tune --trials 99999999999999999999",
         "--trials: Value 99999999999999999999 not in range 1 to 1099511627776");
  expect("tune --seed -1", "--seed: Value -1 not in range 0 to 18446744073709551615");
  expect("tune --seed 18446744073709551616",
         "--seed: Value 18446744073709551616 not in range 0 to 18446744073709551615");
  expect("replay r.db --record 99999999999999999999",
         "--record: Value 99999999999999999999 not in range -9223372036854775808 to 9223372036854775807");
}

TEST_F(Options, TooFewAndTooManyValuesAreToldPlainly) {
  expect("tune --trials", "--trials needs a value");
  expect("tune --workload", "--workload needs a value");
  expect("tune --trials 1 --trials 2", "--trials is given 2 times");
  expect("tune --workload w.json --workload v.json --workload u.json", "--workload is given 3 times");
}

// Shapes of several inputs behind one name, with sizes that stay free too; a word of another form is none.
TEST_F(Options, ShapesFollowEachOther) {
  const std::string none = "lathe: none.onnx: there is no such file";
  for (const char* shapes : {"a=1,3 b=2", "a=1..16,3 b=n:1..512 c=4", "a=1 b=tokens:1..5,3 --cores 1"})
    EXPECT_EQ(sentence("compile none.onnx --out o --input " + std::string(shapes)).substr(0, none.size()),
              none)
        << shapes;
  EXPECT_EQ(sentence("compile --out o --input a=1 none.onnx").substr(0, none.size()), none);
  expect("compile none.onnx --out o --input a=1 b=c", "there is no option or argument 'b=c' here");
}

TEST_F(Options, AFolderMayBeginWithADash) {
  write_matmul();
  EXPECT_EQ(lathe("compile --workload w.json --cores 1 --out=-x").status, 0);
  EXPECT_THAT(sentence("run ./-x/mm --output y.npy"), ::testing::HasSubstr("input"));
}

TEST_F(Options, WholeNumbersAreDecimal) {
  write_matmul();
  EXPECT_EQ(sentence("compile --workload w.json --out o --cores 04000").substr(0, 26),
            "lathe: --cores: 4000 cores");
  const std::string tune = "tune --workload w.json --cores 1 --trials 1 --records r.db --seed ";
  EXPECT_EQ(lathe(tune + "18446744073709551615").status, 0);
}

TEST_F(Options, RealNumbersHaveTheirRangesToo) {
  expect("tune --time soon", "--time: 'soon' is no number");
  expect("tune --time 5s", "--time: '5s' is no number");
  expect("tune --time nan", "--time: Value nan not in range 0 to 1000000000");
  expect("tune --time inf", "--time: Value inf not in range 0 to 1000000000");
  expect("tune --tolerance 2", "--tolerance: Value 2 not in range 0 to 1");
}

}  // namespace
}  // namespace lathe
