// How much of a long test runs: one in so many of its cases. A prime, so that cases which alternate in
// something keep all of its kinds.
#pragma once

namespace lathe::testing {

// Under a sanitizer programs and interpreters take about ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSanitizedShare = 11;
#else
inline constexpr int kSanitizedShare = 1;
#endif

// Of cases that are drawn `make test` takes a part, -DLATHE_LONG_TESTS=ON all.
#ifdef LATHE_LONG_TESTS
inline constexpr int kDrawnShare = kSanitizedShare;
#else
inline constexpr int kDrawnShare = kSanitizedShare > 1 ? kSanitizedShare : 5;
#endif

}  // namespace lathe::testing
