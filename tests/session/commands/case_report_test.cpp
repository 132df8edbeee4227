#include "session/commands/case_report.h"

#include <gtest/gtest.h>

namespace lathe {
namespace {

CaseReport row(const std::string& name, double seconds, int64_t trials) {
  CaseReport row;
  row.result.name = name;
  row.result.progress.best_seconds = seconds;
  row.result.progress.trials = trials;
  row.flops = 2000000;
  return row;
}

PeerFigure peer(const std::string& form, std::vector<double> ratios) {
  PeerFigure figure;
  figure.form = form;
  figure.ratios = std::move(ratios);
  return figure;
}

TEST(CaseReport, TheFastestPeerAnswersForTheSpeedUp) {
  CaseReport first = row("a", 1e-3, 4);
  EXPECT_EQ(speed_up_of(first), std::nullopt);
  first.peers = {peer("slow", {4, 5, 6}), peer("fast", {1, 2, 9}), peer("none", {})};
  EXPECT_EQ(speed_up_of(first), 2);
  CaseReport second = row("b", 1e-3, 4);
  second.peers = {peer("slow", {8})};
  const std::optional<MeanSpeedUp> mean = mean_speed_up({first, row("c", 0, 0), second});
  ASSERT_TRUE(mean);
  EXPECT_DOUBLE_EQ(mean->ratio, 4);
  EXPECT_EQ(mean->cases, 2);
  EXPECT_FALSE(mean_speed_up({row("c", 0, 0)}));
}

TEST(CaseReport, NamesWhatHasNoProgramAndWhy) {
  EXPECT_DOUBLE_EQ(gflops_of(row("a", 1e-3, 4)), 2);
  CaseReport failed = row("b", 0, 3);
  failed.result.progress.failed = 3;
  failed.result.failures = {{{ErrorKind::crash, "it ended by SIGSEGV"}, 3}};
  const CaseReport untried = row("c", 0, 0);
  EXPECT_TRUE(is_untried(untried));
  EXPECT_TRUE(check_all_found({row("a", 1e-3, 4), untried}, true));
  const Status status = check_all_found({row("a", 1e-3, 4), failed, untried}, false);
  ASSERT_FALSE(status);
  EXPECT_EQ(
      status.error().to_string(),
      "no valid program was found for b (3 of 3 trials failed, most often crash: it ended by SIGSEGV); c "
      "(nothing was tried in the time given)");
  const std::vector<FailedTrials> kinds = failed_trials({failed, failed});
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].count, 6);
}

TEST(CaseReport, TheNoisiestIsTheOneWhoseTimeIsLeastCertain) {
  CaseReport quiet = row("a", 1e-3, 4);
  EXPECT_EQ(noisiest({quiet}), nullptr);
  CaseReport noisy = quiet;
  noisy.result.progress.slowest_pace = 2;
  noisy.result.progress.best_spread = 0.1;
  std::vector<CaseReport> rows = {quiet, noisy, noisy};
  rows[2].result.progress.best_spread = 0.2;
  EXPECT_EQ(noisiest(rows), &rows[2]);
}

}  // namespace
}  // namespace lathe
