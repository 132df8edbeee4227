// A row of numbers in the making. With a list for the names, each number's goes there with it, so that the
// two cannot drift apart; without one no name is put together, for rows are made of every candidate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace lathe {

// How counts enter rows; what is below 0 counts as 0.
inline float log_of_one_more(double value) {
  return static_cast<float>(std::log2(1.0 + std::max(value, 0.0)));
}

class NamedRow {
 public:
  // `names` may be null.
  explicit NamedRow(std::vector<std::string>* names) : names_(names) {}

  // What the names of the numbers that follow begin with.
  void prefix(std::string prefix) { prefix_ = std::move(prefix); }
  void add(const char* name, float value) {
    values_.push_back(value);
    if (names_ != nullptr) names_->push_back(prefix_ + name);
  }
  void add_log(const char* name, double value) { add(name, log_of_one_more(value)); }
  // One number for each of the choices, 1 for the one that it is.
  template <size_t count>
  void add_kind(const char* name, const std::array<const char*, count>& kinds, size_t chosen) {
    for (size_t i = 0; i < count; ++i) {
      values_.push_back(i == chosen ? 1.0F : 0.0F);
      if (names_ != nullptr) names_->push_back(prefix_ + name + "=" + kinds[i]);
    }
  }
  std::vector<float> take() { return std::move(values_); }

 private:
  std::vector<std::string>* names_;
  std::string prefix_;
  std::vector<float> values_;
};

}  // namespace lathe
