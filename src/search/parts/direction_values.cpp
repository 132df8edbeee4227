#include "search/parts/direction_values.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "domain/encoding.h"

namespace lathe {
namespace {

constexpr size_t kBatch = 32;

std::vector<size_t> widths(const Domain& domain, const std::vector<Direction>& directions, int width) {
  const auto hidden = static_cast<size_t>(width);
  return {encoding_size(domain), hidden, hidden, hidden, directions.size()};
}

}  // namespace

double direction_target(double discount, double best_next, double reward) {
  return discount * best_next + reward;
}

DirectionValues::DirectionValues(const Domain& domain, const DirectionValueOptions& options, Rng rng)
    : domain_(domain),
      options_(options),
      rng_(rng),
      directions_(lathe::directions(domain)),
      network_(widths(domain, directions_, options.width), rng_),
      target_(network_),
      optimizer_({.rate = static_cast<float>(options.rate)}) {}

nn::Matrix DirectionValues::encoded_rows(const std::vector<const std::vector<int64_t>*>& points) const {
  nn::Matrix rows;
  for (const std::vector<int64_t>* point : points) {
    const std::vector<float> numbers = encoded(domain_, *point);
    rows.columns = numbers.size();
    rows.values.insert(rows.values.end(), numbers.begin(), numbers.end());
    ++rows.rows;
  }
  return rows;
}

std::vector<float> DirectionValues::of(const std::vector<int64_t>& point) const {
  return network_.forward(encoded_rows({&point})).values;
}

void DirectionValues::remember(Move move) {
  if (std::ssize(moves_) < options_.memory) {
    moves_.push_back(std::move(move));
    return;
  }
  moves_[oldest_] = std::move(move);
  oldest_ = (oldest_ + 1) % moves_.size();
}

double DirectionValues::train_batch(const std::vector<size_t>& batch) {
  std::vector<const std::vector<int64_t>*> from;
  std::vector<const std::vector<int64_t>*> to;
  for (const size_t i : batch) {
    from.push_back(&moves_[i].from);
    to.push_back(&moves_[i].to);
  }
  const nn::Matrix next = target_.forward(encoded_rows(to));
  const std::vector<nn::Matrix> kept = network_.forward_kept(encoded_rows(from));
  nn::Matrix slope = nn::Matrix::zeros(batch.size(), directions_.size());
  double loss = 0;
  for (size_t row = 0; row < batch.size(); ++row) {
    const Move& move = moves_[batch[row]];
    const double best_next = *std::max_element(next.row(row), next.row(row) + next.columns);
    const double wanted = direction_target(options_.discount, best_next, move.reward);
    const double error = kept.back().row(row)[move.direction] - wanted;
    loss += error * error;
    slope.row(row)[move.direction] = static_cast<float>(2 * error / static_cast<double>(batch.size()));
  }
  network_.backward(kept, std::move(slope));
  optimizer_.step(network_.weights());
  return loss;
}

double DirectionValues::train() {
  if (moves_.empty()) return 0;
  std::vector<size_t> order(moves_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  double loss = 0;
  for (int pass = 0; pass < options_.passes; ++pass) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    loss = 0;
    for (size_t first = 0; first < order.size(); first += kBatch) {
      const size_t last = std::min(order.size(), first + kBatch);
      loss += train_batch({order.begin() + static_cast<std::ptrdiff_t>(first),
                           order.begin() + static_cast<std::ptrdiff_t>(last)});
    }
  }
  target_ = network_;
  return loss / static_cast<double>(moves_.size());
}

}  // namespace lathe
