#include "cost/tree_gru.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "cost/objective.h"
#include "cost/syntax_network.h"
#include "cost/tree_network.h"
#include "nn/optimizer.h"

namespace lathe {
namespace {

constexpr size_t kPredictedAtOnce = 256;
constexpr size_t kBuffers = 5;  // of a loop's context
constexpr size_t kPerBuffer = 3;
constexpr int64_t kMostTreeColumns = 1 << 16;
constexpr size_t kIdentifierRows = 1024;  // those of features/syntax_tree.h
constexpr size_t kHeldOut = 10;           // each tenth candidate
constexpr int64_t kLeastToHoldOut = 100;  // with fewer candidates all are learned from

void shuffle(std::vector<size_t>& order, Rng& rng) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
}

// What the two models differ in.
struct TreeGruKind {
  const char* name;  // their rows in the table of models
  FeatureKind features;
  int64_t least_columns;
  std::unique_ptr<CostNetwork> (*make)(size_t columns, const TreeGruOptions& options, Rng& rng);
};

std::unique_ptr<CostNetwork> make_context_network(size_t columns, const TreeGruOptions& options, Rng& rng) {
  const TreeRow row{.own = columns - kBuffers * kPerBuffer, .per_buffer = kPerBuffer, .buffers = kBuffers};
  return std::make_unique<TreeNetwork>(row, static_cast<size_t>(options.states),
                                       static_cast<size_t>(options.slots), rng);
}

std::unique_ptr<CostNetwork> make_syntax_network(size_t columns, const TreeGruOptions& options, Rng& rng) {
  return std::make_unique<SyntaxNetwork>(kIdentifierRows, columns - 1, static_cast<size_t>(options.states),
                                         rng);
}

constexpr TreeGruKind kOfContexts{"tree-gru-context", FeatureKind::loop_tree, kBuffers * kPerBuffer + 1,
                                  make_context_network};
constexpr TreeGruKind kOfIdentifiers{"tree-gru", FeatureKind::syntax_tree, 2, make_syntax_network};

class TreeGruModel : public CostModel {
 public:
  TreeGruModel(const TreeGruKind& kind, const TreeGruOptions& options)
      : kind_(kind),
        options_(options),
        rng_(static_cast<uint64_t>(options.seed)),
        optimizer_({.rate = static_cast<float>(options.rate)}) {}

  FeatureKind wants() const override { return kind_.features; }
  bool fitted() const override { return fitted_; }

  Status fit(const CostSamples& samples, std::span<const double> margin) override {
    fitted_ = anything_to_learn(samples);
    if (!fitted_) return {};
    if (!network_ || columns_ != samples.features.columns) begin(samples.features.columns);
    split(samples);
    double best = std::numeric_limits<double>::infinity();
    int without_gain = 0;
    for (int epoch = 0; epoch < options_.epochs && without_gain < options_.patience; ++epoch) {
      double loss = 0;
      for (const std::vector<size_t>& batch : batches()) loss += train(samples, margin, batch);
      if (!held_out_.empty()) loss = held_out_loss(samples, margin);
      without_gain = loss < best ? 0 : without_gain + 1;
      best = std::min(best, loss);
    }
    return {};
  }

  Result<Prediction> predict(const FeatureSet& candidates) const override {
    if (!fitted_)
      return fail(ErrorKind::invalid_argument, "the cost model predicts only after it was fitted");
    if (candidates.size() == 0) return Prediction{};
    if (candidates.columns != columns_)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the cost model was fitted on {} features a row, not {}", columns_,
                              candidates.columns));
    Prediction prediction;
    std::vector<size_t> order(static_cast<size_t>(candidates.size()));
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t first = 0; first < order.size(); first += kPredictedAtOnce) {
      const size_t count = std::min(kPredictedAtOnce, order.size() - first);
      for (const float cost : network_->costs(candidates, std::span(order).subspan(first, count)))
        prediction.mean.push_back(cost);
    }
    prediction.stddev.assign(prediction.mean.size(), 0);
    return prediction;
  }

  Result<std::string> save() const override {
    if (!fitted_) return fail(ErrorKind::invalid_argument, "the cost model is kept only after it was fitted");
    std::string numbers;
    const std::unique_ptr<CostNetwork> network = network_->copy();
    for (const nn::Weights* weights : network->weights()) {
      const std::vector<float>& values = weights->value.values;
      numbers.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    }
    return bytes_of({fmt::format("{}:states={},slots={}", kind_.name, options_.states, options_.slots),
                     kind_.features, columns_, std::move(numbers)});
  }

  Status take(const SavedModel& saved, const std::string& source) {
    if (saved.columns < kind_.least_columns || saved.columns > kMostTreeColumns)
      return fail(ErrorKind::parse, "its columns are none of such a tree's nodes", source);
    begin(saved.columns);
    size_t taken = 0;
    for (nn::Weights* weights : network_->weights()) {
      std::vector<float>& values = weights->value.values;
      const size_t bytes = values.size() * sizeof(float);
      if (saved.numbers.size() - taken < bytes)
        return fail(ErrorKind::parse, "it has fewer weights than its layers need", source);
      std::memcpy(values.data(), saved.numbers.data() + taken, bytes);
      taken += bytes;
    }
    if (taken != saved.numbers.size())
      return fail(ErrorKind::parse, "it has more weights than its layers need", source);
    fitted_ = true;
    return {};
  }

 private:
  void begin(int64_t columns) {
    columns_ = columns;
    network_ = kind_.make(static_cast<size_t>(columns), options_, rng_);
    optimizer_ = nn::Adam({.rate = static_cast<float>(options_.rate)});
  }

  // What is learned from, by task, and what is held out.
  void split(const CostSamples& samples) {
    learned_.clear();
    held_out_.clear();
    for (size_t i = 0; i < samples.tasks.size(); ++i) {
      const bool is_held_out = samples.size() >= kLeastToHoldOut && i % kHeldOut == kHeldOut - 1;
      if (is_held_out) {
        held_out_.push_back(i);
      } else {
        learned_[samples.tasks[i]].push_back(i);
      }
    }
  }

  // Of one task each, in a new order every time.
  std::vector<std::vector<size_t>> batches() {
    std::vector<std::vector<size_t>> all;
    for (auto& [task, members] : learned_) {
      shuffle(members, rng_);
      for (size_t first = 0; first < members.size(); first += static_cast<size_t>(options_.batch)) {
        const size_t last = std::min(members.size(), first + static_cast<size_t>(options_.batch));
        all.emplace_back(members.begin() + static_cast<std::ptrdiff_t>(first),
                         members.begin() + static_cast<std::ptrdiff_t>(last));
      }
    }
    std::vector<size_t> order(all.size());
    std::iota(order.begin(), order.end(), size_t{0});
    shuffle(order, rng_);
    std::vector<std::vector<size_t>> shuffled;
    for (const size_t i : order) shuffled.push_back(std::move(all[i]));
    return shuffled;
  }

  // The slope of the loss by each cost of the chosen, and how large the slopes are.
  std::vector<float> slopes(const CostSamples& samples, std::span<const double> margin,
                            std::span<const size_t> chosen, std::span<const float> costs) const {
    std::vector<float> present(costs.begin(), costs.end());
    for (size_t k = 0; k < chosen.size() && !margin.empty(); ++k)
      present[k] += static_cast<float>(margin[chosen[k]]);
    std::vector<float> first(chosen.size(), 0.0F);
    std::vector<float> second(chosen.size(), 0.0F);
    make_objective(options_.objective, samples, chosen)(present, first, second);
    return first;
  }

  double train(const CostSamples& samples, std::span<const double> margin, std::span<const size_t> batch) {
    double size = 0;
    network_->train(samples.features, batch, [&](std::span<const float> costs) {
      std::vector<float> slope = slopes(samples, margin, batch, costs);
      for (float& each : slope) {
        size += std::abs(static_cast<double>(each));
        each /= static_cast<float>(batch.size());
      }
      return slope;
    });
    optimizer_.step(network_->weights());
    return size;
  }

  double held_out_loss(const CostSamples& samples, std::span<const double> margin) const {
    double size = 0;
    for (const float each : slopes(samples, margin, held_out_, network_->costs(samples.features, held_out_)))
      size += std::abs(static_cast<double>(each));
    return size;
  }

  const TreeGruKind& kind_;
  TreeGruOptions options_;
  Rng rng_;
  nn::Adam optimizer_;
  std::unique_ptr<CostNetwork> network_;
  int64_t columns_ = 0;
  bool fitted_ = false;
  std::map<int, std::vector<size_t>> learned_;
  std::vector<size_t> held_out_;
};

}  // namespace

std::vector<Setting<TreeGruOptions>> tree_gru_settings() {
  return {{"objective", &TreeGruOptions::objective, 0, 0, objective_names()},
          {"states", &TreeGruOptions::states, 1, 4096},
          {"slots", &TreeGruOptions::slots, 1, 256},
          {"epochs", &TreeGruOptions::epochs, 1, 1e5},
          {"patience", &TreeGruOptions::patience, 1, 1e5},
          {"batch", &TreeGruOptions::batch, 2, 1e5},
          {"rate", &TreeGruOptions::rate, 1e-9, 1},
          {"seed", &TreeGruOptions::seed, 0, 1e9}};
}

std::unique_ptr<CostModel> make_tree_gru(const TreeGruOptions& options) {
  return std::make_unique<TreeGruModel>(kOfIdentifiers, options);
}

std::unique_ptr<CostModel> make_tree_gru_context(const TreeGruOptions& options) {
  return std::make_unique<TreeGruModel>(kOfContexts, options);
}

Result<std::unique_ptr<CostModel>> load_tree_gru(const SavedModel& saved, const std::string& source) {
  LATHE_TRY(const NamedSettings named, parse_named(saved.model));
  LATHE_TRY(const TreeGruOptions options, with_settings(TreeGruOptions(), tree_gru_settings(), named));
  const TreeGruKind& kind = named.name == kOfContexts.name ? kOfContexts : kOfIdentifiers;
  if (saved.features != kind.features)
    return fail(ErrorKind::parse, "its features are none of such a model", source);
  auto model = std::make_unique<TreeGruModel>(kind, options);
  LATHE_TRY_STATUS(model->take(saved, source));
  return model;
}

}  // namespace lathe
