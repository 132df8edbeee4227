// The table of rules, and what stands before and behind each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "expr/parse.h"
#include "expr/print.h"
#include "rewrite/rewrite.h"

namespace lathe {
namespace {

const RewriteRule& rule_named(std::string_view name) {
  const auto found = std::ranges::find(rewrite_rules(), name, &RewriteRule::name);
  EXPECT_NE(found, rewrite_rules().end()) << name;
  return *found;
}

constexpr const char* kConvolved = "O[f:4, y:6] = sum(c:3, p:3) X[c, y + p] * W[f, c, p]";

std::string rewritten(const std::string& text, const std::string& rule, const std::string& stage,
                      const RewriteParameters& parameters = {}) {
  const Result<Dag> dag = rewrite(parse_dag(text).value(), rule, stage, parameters);
  if (dag) return to_string(*dag);
  EXPECT_EQ(dag.error().kind, ErrorKind::illegal_schedule);
  return dag.error().message;
}

TEST(RewriteRules, HaveNamesOfTheirOwnAndSaySomething) {
  std::set<std::string> names;
  for (const RewriteRule& rule : rewrite_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(rule.summary.empty()) << rule.name;
    EXPECT_NE(rule.apply, nullptr) << rule.name;
    EXPECT_NE(rule.choices, nullptr) << rule.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"winograd", "trim", "factored_quotient", "phases", "divided_axis",
                                          "factored_sum", "im2col", "flat_places", "strassen"}));
}

TEST(RewriteRules, AreFollowedByRules) {
  for (const RewriteRule& rule : rewrite_rules())
    for (const std::string& next : rule.followed_by) EXPECT_EQ(rule_named(next).name, next);
}

// Each choice is made of parameters that the rule has.
TEST(RewriteRules, ChooseAmongTheirParameters) {
  const Dag dag = parse_dag(kConvolved).value();
  const Dag large = parse_dag("O[i:256, j:256] = sum(k:256) A[i, k] * W[k, j]").value();
  for (const RewriteRule& rule : rewrite_rules()) {
    const std::vector<RewriteParameters> choices = rule.choices(rule.name == "strassen" ? large : dag, "O");
    EXPECT_FALSE(choices.empty()) << rule.name;
    for (const RewriteParameters& choice : choices)
      for (const auto& [name, value] : choice)
        EXPECT_NE(std::ranges::find(rule.parameters, name), rule.parameters.end())
            << rule.name << " " << name;
  }
  EXPECT_EQ(rule_named("factored_sum").choices(dag, "O"),
            (std::vector<RewriteParameters>{{{"axis", 0}}, {{"axis", 1}}}));
  EXPECT_EQ(rule_named("im2col").choices(dag, "O"), std::vector<RewriteParameters>(1));
}

TEST(Rewrite, AppliesTheRuleOfThatName) {
  EXPECT_EQ(rewritten(kConvolved, "im2col", "O"),
            "O.col[y:6, p:3, c:3] = X[c, y + p]\n"
            "O.G[f:4, y:6] = sum(p:3, c:3) O.col[y, p, c] * W[f, c, p]\n"
            "O[f:4, y:6] = O.G[f, y]\n");
}

TEST(Rewrite, NamesARuleThatIsNone) {
  EXPECT_EQ(rewritten(kConvolved, "im2row", "O"), "there is no rewrite rule 'im2row'");
  EXPECT_EQ(rewritten(kConvolved, "", "O"), "there is no rewrite rule ''");
}

TEST(Rewrite, NamesAParameterThatTheRuleDoesNotHave) {
  EXPECT_EQ(rewritten(kConvolved, "im2col", "O", {{"m", 2}}), "rewrite im2col has no parameter 'm'");
  EXPECT_EQ(rewritten(kConvolved, "winograd", "O", {{"m", 2}, {"tiles", 3}}),
            "rewrite winograd has no parameter 'tiles'");
}

TEST(Rewrite, NamesAStageThatIsNone) {
  for (const RewriteRule& rule : rewrite_rules()) {
    EXPECT_EQ(rewritten(kConvolved, rule.name, "X"), "there is no compute 'X' to rewrite");
  }
}

// What a rule adds must not be there already, as a tensor or as an axis of one compute.
TEST(Rewrite, NamesWhatItNeedsAndIsTaken) {
  EXPECT_EQ(rewritten("O[f:4, y:6] = sum(c:3, p:3) X[c, y + p] * O.col[f, c, p]", "im2col", "O"),
            "rewrite im2col does not apply to 'O': it needs the name 'O.col', which is taken");
  EXPECT_EQ(rewritten("O.G[i:4] = B[i] + 1.0\n"
                      "O[f:4, y:6] = sum(c:3, p:3) X[c, y + p] * W[f, c, p]\n",
                      "im2col", "O"),
            "rewrite im2col does not apply to 'O': it needs the name 'O.G', which is taken");
}

}  // namespace
}  // namespace lathe
