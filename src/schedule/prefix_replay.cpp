#include "schedule/prefix_replay.h"

#include <algorithm>

#include "schedule/apply.h"

namespace lathe {

Result<Program> PrefixReplay::apply(const Trace& trace) {
  LATHE_TRY_STATUS(check_intrinsics(task_.target, trace));
  const auto is_rewrite = [](const Step& step) { return std::holds_alternative<RewriteStep>(step); };
  const auto first_step = std::ranges::find_if_not(trace, is_rewrite);
  const auto rewrites = static_cast<size_t>(first_step - trace.begin());
  size_t same = static_cast<size_t>(std::ranges::mismatch(trace, taken_).in1 - trace.begin());
  if (programs_.empty() || rewrites != rewrites_ || same < rewrites) {
    programs_.clear();
    taken_.assign(trace.begin(), first_step);
    LATHE_TRY(Program rewritten, apply_trace(task_, taken_));
    programs_.push_back(std::move(rewritten));
    rewrites_ = same = rewrites;
  }
  taken_.resize(same);
  programs_.resize(same - rewrites_ + 1);
  for (size_t next = same; next < trace.size(); ++next) {
    LATHE_TRY(Program program, apply_step(programs_.back(), trace[next]));
    programs_.push_back(std::move(program));
    taken_.push_back(trace[next]);
  }
  return programs_.back();
}

}  // namespace lathe
