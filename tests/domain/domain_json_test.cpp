#include "domain/domain_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lathe {
namespace {

Domain every_kind() {
  return {{{"i", SplitParameter{64, 3, false, 16}},
           {"j", SplitParameter{50, 2, true, 32, {1, 5, 25}}},
           {"unroll", OrderedParameter{{0, 16, 64}}},
           {"order", CategoricalParameter{4}},
           {"loops", PermutationParameter{{"x", "y"}}}}};
}

TEST(DomainJson, WhatIsWrittenIsReadBack) {
  const nlohmann::ordered_json written = json_of(every_kind());
  EXPECT_EQ(written.dump(),
            R"([{"name":"i","split":64,"parts":3,"imperfect":false,"largest_innermost":16},)"
            R"({"name":"j","split":50,"parts":2,"imperfect":true,"largest_innermost":32,"allowed":[1,5,25]},)"
            R"({"name":"unroll","values":[0,16,64]},{"name":"order","categories":4},)"
            R"({"name":"loops","items":["x","y"]}])");
  const Domain read = domain_from(nlohmann::json::parse(written.dump())).value();
  EXPECT_EQ(json_of(read), written);
  EXPECT_EQ(read.size(), every_kind().size());
}

TEST(DomainJson, WhatIsWrongIsASentence) {
  const auto fault = [](const char* text) {
    const auto domain = domain_from(nlohmann::json::parse(text));
    return domain ? "" : domain.error().message;
  };
  EXPECT_EQ(fault("{}"), "a domain must be a list of parameters");
  EXPECT_EQ(fault("[1]"), "a parameter must be an object with a name");
  EXPECT_EQ(fault(R"([{"name":"a"}])"), "parameter 'a': it has no values, categories, split or items");
  EXPECT_EQ(fault(R"([{"name":"a","values":[2,1]}])"),
            "parameter 'a': its values must be whole numbers, increasing");
  EXPECT_EQ(fault(R"([{"name":"a","values":[]}])"),
            "parameter 'a': its values must be whole numbers, increasing");
  EXPECT_EQ(fault(R"([{"name":"a","categories":0}])"),
            "parameter 'a': its categories must be a whole number from 1 on");
  EXPECT_EQ(fault(R"([{"name":"a","split":8,"parts":99,"imperfect":false,"largest_innermost":4}])"),
            "parameter 'a': its split is not one that this version knows");
  EXPECT_EQ(
      fault(R"([{"name":"a","split":8,"parts":2,"imperfect":false,"largest_innermost":4,"allowed":[2]}])"),
      "parameter 'a': its split is not one that this version knows");
  EXPECT_EQ(fault(R"([{"name":"a","items":["x","x"]}])"),
            "parameter 'a': its items must be a list of different names");
  EXPECT_EQ(fault(R"([{"name":"a","categories":2},{"name":"a","categories":2}])"),
            "parameter 'a' is there twice");
}

}  // namespace
}  // namespace lathe
