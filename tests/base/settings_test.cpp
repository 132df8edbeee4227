#include "base/settings.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

struct Options {
  int chains = 128;
  double heat = 1;
  std::string start = "cold";
};

const std::vector<Setting<Options>>& table() {
  static const std::vector<Setting<Options>> settings{{"chains", &Options::chains, 1, 1000},
                                                      {"heat", &Options::heat, 0, 2.5},
                                                      {"start", &Options::start, 0, 0, {"cold", "warm"}}};
  return settings;
}

Result<Options> read(std::string_view text) {
  LATHE_TRY(const NamedSettings named, parse_named(text));
  return with_settings<Options>({}, table(), named);
}

std::string fault(std::string_view text) {
  const auto options = read(text);
  return options ? "" : options.error().message;
}

TEST(Settings, ANameAloneKeepsTheDefaults) {
  const Options options = read("annealing").value();
  EXPECT_EQ(options.chains, 128);
  EXPECT_EQ(options.start, "cold");
  EXPECT_TRUE(read("annealing:"));
}

TEST(Settings, WhatIsSetIsSet) {
  const Options options = read("annealing:heat=0.25,start=warm,chains=64").value();
  EXPECT_EQ(options.chains, 64);
  EXPECT_EQ(options.heat, 0.25);
  EXPECT_EQ(options.start, "warm");
}

TEST(Settings, WhatIsWrongIsASentence) {
  EXPECT_EQ(fault("annealing:size=2"), "'annealing' has no setting 'size'; it has chains, heat, start");
  EXPECT_EQ(fault("annealing:chains=0"), "chains is '0', but must be a number from 1 to 1000");
  EXPECT_EQ(fault("annealing:chains=7.5"), "chains is '7.5', but must be a number from 1 to 1000");
  EXPECT_EQ(fault("annealing:chains="), "chains is '', but must be a number from 1 to 1000");
  EXPECT_EQ(fault("annealing:heat=nan"), "heat is 'nan', but must be a number from 0 to 2.5");
  EXPECT_EQ(fault("annealing:start=hot"), "start is 'hot', but must be one of cold, warm");
  EXPECT_EQ(fault("annealing:chains"), "'chains' in 'annealing:chains' is not of the form name=value");
  EXPECT_EQ(fault("annealing:=1"), "'=1' in 'annealing:=1' is not of the form name=value");
  EXPECT_EQ(fault("annealing:heat=1,heat=2"), "'heat' is set twice in 'annealing:heat=1,heat=2'");
  EXPECT_EQ(fault("annealing:chains=99999999999999999999"),
            "chains is '99999999999999999999', but must be a number from 1 to 1000");
}

}  // namespace
}  // namespace lathe
