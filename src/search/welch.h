// Welch's test: whether two means differ, where neither the variances nor the counts are alike. Pure
// functions.
#pragma once

namespace lathe {

// What was seen of one thing. The variance is of single values, with count - 1 below; of one value it is 0.
struct SampleSummary {
  double mean = 0;
  double variance = 0;
  double count = 1;
};

struct WelchTest {
  double t = 0;  // (a - b) / its standard error; infinite where there is no variance and the means differ
  double degrees = 0;      // of freedom (Welch and Satterthwaite)
  double probability = 1;  // that means which are equal differ by so much or more, either way
};

WelchTest welch_test(const SampleSummary& a, const SampleSummary& b);

// The regularised incomplete beta function I_x(a, b), of which Student's distribution is made; x from 0 to 1.
double incomplete_beta(double a, double b, double x);

}  // namespace lathe
