#include "search/strategies/flextensor.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "search/sampler.h"

namespace lathe {
namespace {

enum class Method : uint8_t { q, p, r };

constexpr int kRoundsWithoutAPoint = 16;  // after which a random point is tried: all around was visited

class FlexTensor : public Strategy {
 public:
  FlexTensor(SearchSpace space, uint64_t seed, const FlexTensorOptions& options, Method method)
      : space_(std::move(space)), options_(options), method_(method), sampler_(space_, Rng(seed)) {
    const DirectionValueOptions network{options.width, options.discount, options.passes, options.memory,
                                        options.rate};
    for (const Domain& domain : space_.sketches)
      values_.emplace_back(domain, network, sampler_.rng().split());
  }

  Proposal propose(int at_most, const Predictor&) override {
    Proposal proposal;
    while (std::ssize(proposal.points) < at_most) {
      if (ready_.empty() && !proposal.points.empty()) break;  // what comes next follows from what these give
      if (ready_.empty()) prepare();
      if (ready_.empty()) {
        proposal.exhausted = true;
        break;
      }
      proposal.points.push_back(std::move(ready_.front()));
      ready_.pop_front();
    }
    return proposal;
  }

  void observe(std::span<const Trial> trials) override {
    for (const Trial& trial : trials) {
      sampler_.use(trial.point);
      const double value = std::isfinite(trial.seconds) ? 1 / trial.seconds : 0;
      const auto step = steps_.find(space_.identity_of(trial.point));
      if (step != steps_.end()) learn(step->second, trial.point, value);
      ++observed_;
      if (value == 0 || !space_.legal(trial.point)) continue;
      evaluated_.push_back({trial.point, value});
      best_ = std::max(best_, value);
    }
  }

 private:
  struct Evaluated {
    Point point;
    double value = 0;  // 1 / seconds
  };
  // A step that was proposed, until it is measured.
  struct Step {
    Evaluated from;
    size_t direction = 0;
    int steps_left = 0;
  };

  // Fills `ready_` with what can be measured now; with nothing where the space is used up.
  void prepare() {
    const int missing = options_.warm_up - observed_;
    for (int i = 0; i < missing; ++i) add_random();
    for (int tries = 0; ready_.empty() && !evaluated_.empty() && tries < kRoundsWithoutAPoint; ++tries)
      begin_round();
    if (ready_.empty()) add_random();
  }

  void add_random() {
    if (auto point = sampler_.draw()) ready_.push_back(std::move(*point));
  }

  // The next step of walks that go on, or the first one of new ones.
  void begin_round() {
    std::vector<std::pair<Evaluated, int>> walks = std::exchange(walks_, {});
    if (walks.empty()) {
      ++round_;
      if (method_ == Method::q && round_ % options_.train_every == 0)
        for (DirectionValues& values : values_) values.train();
      for (Evaluated& start : starts()) walks.emplace_back(std::move(start), options_.steps);
    }
    for (const auto& [from, steps] : walks) {
      const std::vector<size_t> open = open_directions(from.point);
      if (method_ == Method::p)
        for (const size_t direction : open) take({from, direction, 0});
      else if (const auto direction = chosen(from.point, open))
        take({from, *direction, steps - 1});
    }
  }

  // Distinct points: each drawn uniformly and accepted by its probability, or the best that is left.
  std::vector<Evaluated> starts() {
    std::vector<Evaluated> left = evaluated_;
    std::vector<Evaluated> chosen;
    Rng& rng = sampler_.rng();
    while (std::ssize(chosen) < options_.starts && !left.empty()) {
      auto pick = left.begin() + static_cast<std::ptrdiff_t>(rng.below(left.size()));
      if (!rng.chance(start_probability(options_.gamma, best_, pick->value)))
        pick = std::ranges::max_element(left, {}, &Evaluated::value);
      chosen.push_back(std::move(*pick));
      left.erase(pick);
    }
    return chosen;
  }

  std::optional<Point> neighbour(const Point& from, size_t direction) const {
    const auto sketch = static_cast<size_t>(from.sketch);
    auto integers = step(space_.sketches[sketch], from.integers, values_[sketch].directions()[direction]);
    if (!integers) return std::nullopt;
    Point point{from.sketch, std::move(*integers)};
    if (sampler_.used(point) || (space_.violation && space_.violation(point))) return std::nullopt;
    return point;
  }

  // Those that lead to a legal point that was not visited.
  std::vector<size_t> open_directions(const Point& from) const {
    std::vector<size_t> open;
    for (size_t i = 0; i < values_[static_cast<size_t>(from.sketch)].directions().size(); ++i)
      if (neighbour(from, i)) open.push_back(i);
    return open;
  }

  std::optional<size_t> chosen(const Point& from, const std::vector<size_t>& open) {
    if (open.empty()) return std::nullopt;
    Rng& rng = sampler_.rng();
    const double exploration = std::max(0.1, 0.8 * std::exp(-0.01 * round_));
    if (method_ == Method::r || rng.chance(exploration)) return open[rng.below(open.size())];
    const std::vector<float> worth = values_[static_cast<size_t>(from.sketch)].of(from.integers);
    return *std::ranges::max_element(open, {}, [&](size_t direction) { return worth[direction]; });
  }

  void take(Step step) {
    auto point = neighbour(step.from.point, step.direction);
    if (!point) return;  // two directions, or two starts, led there
    sampler_.use(*point);
    steps_.emplace(space_.identity_of(*point), std::move(step));
    ready_.push_back(std::move(*point));
  }

  void learn(const Step& step, const Point& to, double value) {
    const Point& from = step.from.point;
    if (method_ == Method::q)
      values_[static_cast<size_t>(from.sketch)].remember(
          {from.integers, step.direction, to.integers, (value - step.from.value) / step.from.value});
    if (step.steps_left > 0 && value > 0) walks_.push_back({{to, value}, step.steps_left});
    steps_.erase(space_.identity_of(to));
  }

  SearchSpace space_;
  FlexTensorOptions options_;
  Method method_;
  Sampler sampler_;
  std::vector<DirectionValues> values_;  // one a sketch
  std::vector<Evaluated> evaluated_;     // H, failures apart
  int observed_ = 0;                     // trials
  double best_ = 0;
  int round_ = 0;
  std::deque<Point> ready_;
  std::unordered_map<uint64_t, Step> steps_;
  std::vector<std::pair<Evaluated, int>> walks_;  // that go on, with the steps that they have left
};

}  // namespace

double start_probability(double gamma, double best, double value) {
  return std::exp(-gamma * (best - value) / best);
}

std::vector<Setting<FlexTensorOptions>> flextensor_settings() {
  return {{"warm-up", &FlexTensorOptions::warm_up, 1, 1e6},
          {"starts", &FlexTensorOptions::starts, 1, 1e6},
          {"steps", &FlexTensorOptions::steps, 1, 1000},
          {"gamma", &FlexTensorOptions::gamma, 0, 1000},
          {"train-every", &FlexTensorOptions::train_every, 1, 1e6},
          {"width", &FlexTensorOptions::width, 1, 4096},
          {"discount", &FlexTensorOptions::discount, 0, 1},
          {"passes", &FlexTensorOptions::passes, 1, 1000},
          {"memory", &FlexTensorOptions::memory, 1, 1e6},
          {"rate", &FlexTensorOptions::rate, 0, 10}};
}

std::unique_ptr<Strategy> make_flextensor_q(SearchSpace space, uint64_t seed,
                                            const FlexTensorOptions& options) {
  return std::make_unique<FlexTensor>(std::move(space), seed, options, Method::q);
}

std::unique_ptr<Strategy> make_flextensor_p(SearchSpace space, uint64_t seed,
                                            const FlexTensorOptions& options) {
  return std::make_unique<FlexTensor>(std::move(space), seed, options, Method::p);
}

std::unique_ptr<Strategy> make_flextensor_r(SearchSpace space, uint64_t seed,
                                            const FlexTensorOptions& options) {
  return std::make_unique<FlexTensor>(std::move(space), seed, options, Method::r);
}

}  // namespace lathe
