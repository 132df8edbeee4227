// How loop/evaluate.h computes: an expression at a time, for many points along one axis at once. Internal.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/watch.h"
#include "expr/dag.h"
#include "loop/evaluate.h"
#include "loop/host_tensor.h"

namespace lathe::evaluator {

// So many points at once.
constexpr int64_t kLanes = 512;
// Parts of a row, and reads of them, between two looks at the clock: some milliseconds.
constexpr uint64_t kStepsAtOnce = 1 << 9;
// Of what is outside of a tensor, or unfinished.
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An integer at each lane: `each` if not null, else base + lane * step.
struct Indices {
  int64_t base = 0;
  int64_t step = 0;
  const int64_t* each = nullptr;

  int64_t operator[](int64_t lane) const { return each != nullptr ? each[lane] : base + lane * step; }
  bool uniform() const { return each == nullptr && step == 0; }
};

// A value at each lane; stride 0: one for all.
struct Values {
  const double* data = nullptr;
  int64_t stride = 0;

  double operator[](int64_t lane) const { return data[lane * stride]; }
};

// Rows of lanes, handed out and taken back in order.
template <class T>
class Rows {
 public:
  T* take() {
    if (used_ == rows_.size()) rows_.push_back(std::make_unique<T[]>(kLanes));
    return rows_[used_++].get();
  }
  size_t used() const { return used_; }
  void release(size_t used) { used_ = used; }

 private:
  std::vector<std::unique_ptr<T[]>> rows_;
  size_t used_ = 0;
};

// What is known of a tensor: the elements of an input or table, or those computed so far.
struct Source {
  const Compute* compute = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::span<const double> elements;  // those of an input where they lie, or what follows
  std::vector<double> kept;
  std::vector<bool> known;                     // of a small compute
  std::unordered_map<int64_t, double> sparse;  // of a large one
  int64_t nodes = 0;  // of the expressions that an element consists of, with those that are computed in place
};

// Whether its elements are computed where they are read, not kept.
bool is_small(const Source& source);

class DagEvaluator {
 public:
  // The inputs outlive it.
  DagEvaluator(Dag dag, std::span<const HostTensor> inputs);

  // What `work` makes of this evaluator's elements; nothing where the watch is over before it is done.
  template <class Work>
  auto within(const Watch& watch, const Work& work) -> std::optional<decltype(work())> {
    if (watch.is_over()) return std::nullopt;
    watch_ = StepWatch(watch, kStepsAtOnce);
    auto result = work();
    const bool is_done = !watch_.is_over();
    watch_ = {};
    return is_done ? std::optional(std::move(result)) : std::nullopt;
  }
  double element(Source& source, int64_t position);
  HostTensor all(const Tensor& tensor);
  Source& source_of(const Tensor& tensor);
  const Excess& excess() const { return excess_; }

 private:
  // The values of axes, lane by lane.
  struct Frame {
    std::vector<std::pair<const AtomNode*, Indices>> axes;
    int64_t lanes = 1;
    int inlined = 0;
  };
  friend struct ExpressionEvaluator;

  Source& add_source(const Tensor& tensor, const Compute* compute);
  void add_known(const Tensor& tensor, std::span<const double> elements);
  int64_t nodes_of(const Expr& body) const;
  double point(const Compute& compute, std::span<const int64_t> index);
  void row(const Compute& compute, std::vector<int64_t>& index, int64_t lanes, double* result);
  void fill(Source& source, double* result);
  double reduced_to(const Compute& compute, double value);

  Values value(const Expr& e, const Frame& frame);
  Indices indices(const Affine& a, const Frame& frame);
  Indices atom(const AtomNode& atom, const Frame& frame);
  Values load(const Load& load, const Frame& frame);
  Values read(const Source& source, std::span<const Indices> index, int64_t lanes);
  Values inlined(const Compute& compute, std::span<const Indices> index, const Frame& frame);
  Values looked_up(Source& source, std::span<const Indices> index, int64_t lanes);

  Dag dag_;
  std::map<const TensorNode*, Source> sources_;
  Rows<double> doubles_;
  Rows<int64_t> integers_;
  Excess excess_;
  StepWatch watch_;
};

}  // namespace lathe::evaluator
