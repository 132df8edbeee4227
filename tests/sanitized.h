// How much of a long test runs under a sanitizer, where programs and interpreters take about ten times as
// long: one in kSanitizedShare of its cases, all of them otherwise. A prime, so that cases which alternate in
// something keep all of its kinds.
#pragma once

namespace lathe::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSanitizedShare = 11;
#else
inline constexpr int kSanitizedShare = 1;
#endif

}  // namespace lathe::testing
