#include "features/relation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lathe {
namespace {

// A number of a loop, or of what it does with one buffer.
using Number = double (*)(const LoopContext&, const BufferTouch&);
double touched(const LoopContext&, const BufferTouch& touch) { return touch.touched; }
double reuse(const LoopContext&, const BufferTouch& touch) { return touch.reuse; }
double top_down(const LoopContext& context, const BufferTouch&) { return context.top_down; }

// `first` where `second` is below each threshold. The paper leaves open which of a pair is which: both are
// taken.
struct Curve {
  const char* name;
  Number first;
  Number second;
};
constexpr std::array kCurves{
    Curve{"reuse_by_touched", reuse, touched}, Curve{"touched_by_reuse", touched, reuse},
    Curve{"touched_by_top_down", touched, top_down}, Curve{"top_down_by_touched", top_down, touched}};

}  // namespace

std::array<double, kThresholds> relation_curve(std::span<const std::pair<double, double>> pairs) {
  std::array<double, kThresholds> curve{};
  for (size_t t = 0; t < kThresholds; ++t)
    for (const auto& [first, second] : pairs)
      if (second < std::ldexp(1.0, static_cast<int>(t))) curve[t] = std::max(curve[t], first);
  return curve;
}

const std::vector<std::string>& relation_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (size_t buffer = 0; buffer < kContextBuffers; ++buffer)
      for (const Curve& curve : kCurves)
        for (size_t t = 0; t < kThresholds; ++t)
          all.push_back(fmt::format("buffer{}.{}.{}", buffer, curve.name, t));
    return all;
  }();
  return names;
}

std::vector<float> relation_features(const std::vector<LoopContext>& chain) {
  std::vector<float> numbers;
  for (size_t buffer = 0; buffer < kContextBuffers; ++buffer) {
    for (const Curve& curve : kCurves) {
      std::vector<std::pair<double, double>> pairs;
      for (const LoopContext& context : chain) {
        if (buffer >= context.touches.size()) continue;
        const BufferTouch& touch = context.touches[buffer];
        pairs.emplace_back(curve.first(context, touch), curve.second(context, touch));
      }
      for (const double value : relation_curve(pairs))
        numbers.push_back(static_cast<float>(std::log2(1 + value)));
    }
  }
  return numbers;
}

}  // namespace lathe
