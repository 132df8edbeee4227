#include "graph/onnx/nodes/losses.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <optional>

namespace lathe {

namespace {

constexpr size_t kScores = 0, kTargets = 1, kWeights = 2;

Status check_targets(const OnnxNode& node) {
  const Shape &scores = node.shape(kScores), &targets = node.shape(kTargets);
  Shape expected = scores;
  if (scores.size() >= 2) expected.erase(expected.begin() + 1);
  if (scores.size() >= 2 && targets == expected) return {};
  return fail(ErrorKind::invalid_argument, fmt::format("its scores {} and targets {} do not fit together",
                                                       to_string(scores), to_string(targets)));
}

class LossSteps {
 public:
  explicit LossSteps(OnnxNode& node) : node_(node), steps_(node.input_count()) {}

  StepList& steps() { return steps_; }

  // Adds the loss of logarithms of probabilities, reduced as the node says.
  Status add_loss(size_t logarithms) {
    const std::string reduction = node_.text("reduction", "mean");
    if (reduction != "none" && reduction != "sum" && reduction != "mean") {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("attribute 'reduction' is '{}', and must be none, sum or mean", reduction));
    }
    size_t loss = loss_of(logarithms);
    const std::optional<size_t> weights = weights_of_targets();
    if (weights) loss = zip(ZipFunction::mul, loss, *weights);
    if (reduction == "none") return {};
    const bool is_plain_mean = reduction == "mean" && !weights;
    loss = reduced(is_plain_mean ? ReduceFunction::mean : ReduceFunction::sum, loss);
    if (reduction == "mean" && weights) zip(ZipFunction::div, loss, reduced(ReduceFunction::sum, *weights));
    return {};
  }

 private:
  size_t zip(ZipFunction function, size_t a, size_t b) { return steps_.add(ZipOp{function}, {a, b}); }

  size_t reduced(ReduceFunction function, size_t x) {
    ReduceOp op;
    op.function = function;
    op.axes.resize(node_.shape(kTargets).size());
    std::iota(op.axes.begin(), op.axes.end(), size_t{0});
    op.keeps_axes = false;
    return steps_.add(op, {x});
  }

  // What is said of each target's class, with the other sign; 0 where the target is to be ignored.
  size_t loss_of(size_t logarithms) {
    const Shape& targets = node_.shape(kTargets);
    Shape column = targets;
    column.insert(column.begin() + 1, 1);
    find_ignored();
    GatherElementsOp gather;
    gather.axis = 1;
    const size_t places = steps_.add(ReshapeOp{column}, {classes_});
    const size_t said = steps_.add(ReshapeOp{targets}, {steps_.add(gather, {logarithms, places})});
    size_t loss = steps_.add(MapOp{MapFunction::negate}, {said});
    if (!ignored_) return loss;
    if (!is_place(ignored_target())) loss = steps_.add(WhereOp{}, {are_classes(), loss, steps_.real(NAN)});
    return steps_.add(WhereOp{}, {*ignored_, steps_.real(0), loss});
  }

  int64_t ignored_target() { return node_.integer("ignore_index", 0); }
  int64_t class_count() const { return node_.shape(kScores)[1]; }
  bool is_place(int64_t target) const { return target >= -class_count() && target < class_count(); }

  // Integers of the targets' type.
  size_t number(int64_t value) {
    const DType dtype = node_.type(kTargets).dtype;
    const std::vector<double> values{static_cast<double>(value)};
    return steps_.add(OnnxConstant{{dtype, {}}, to_bytes(dtype, values)});
  }

  // Whether each target is a class. Where no class is ignored, targets between the ignored one and the
  // classes pass as inputs (index_range), and are no class.
  size_t are_classes() {
    const size_t are_large = zip(ZipFunction::greater_equal, classes_, number(-class_count()));
    const size_t are_small = zip(ZipFunction::less, classes_, number(class_count()));
    return zip(ZipFunction::logical_and, are_large, are_small);
  }

  // A target that is to be ignored may be no class at all: the first class stands for it where classes are
  // looked up.
  void find_ignored() {
    if (!node_.has("ignore_index")) return;
    ignored_ = zip(ZipFunction::equal, kTargets, number(ignored_target()));
    classes_ = steps_.add(WhereOp{}, {*ignored_, number(0), kTargets});
  }

  // How much each target counts; nothing where all count the same.
  std::optional<size_t> weights_of_targets() {
    std::optional<size_t> weights;
    if (node_.has_input(kWeights)) weights = steps_.add(GatherByOp{}, {kWeights, classes_});
    if (!ignored_) return weights;
    const size_t counted = weights ? *weights : steps_.real(1);
    return steps_.add(WhereOp{}, {*ignored_, steps_.real(0), counted});
  }

  OnnxNode& node_;
  StepList steps_;
  std::optional<size_t> ignored_;  // whether each target is to be ignored
  size_t classes_ = kTargets;      // each target as a class that there is
};

}  // namespace

ImportedOutputs import_likelihood_loss(OnnxNode& node) {
  LATHE_TRY_STATUS(check_targets(node));
  LossSteps loss(node);
  LATHE_TRY_STATUS(loss.add_loss(kScores));
  return std::vector<ImportedOutput>{loss.steps().finish()};
}

ImportedOutputs import_cross_entropy(OnnxNode& node) {
  LATHE_TRY_STATUS(check_targets(node));
  LossSteps loss(node);
  SoftmaxOp softmax;
  softmax.axes = {1};
  softmax.logarithm = true;
  const size_t logarithms = loss.steps().add(softmax, {kScores});
  LATHE_TRY_STATUS(loss.add_loss(logarithms));
  std::vector<ImportedOutput> outputs{loss.steps().finish()};
  loss.steps().add(IdentityOp{}, {logarithms});
  outputs.emplace_back(loss.steps().finish());
  return outputs;
}

}  // namespace lathe
