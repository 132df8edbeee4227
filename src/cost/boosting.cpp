#include "cost/boosting.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/check.h"

namespace lathe {
namespace {

Status checked(int status, const char* what) {
  if (status == 0) return {};
  // XGBoost's messages carry a stack trace below their first line.
  std::string message = XGBGetLastError();
  message.resize(std::min(message.find('\n'), message.size()));
  return fail(ErrorKind::unsupported, fmt::format("XGBoost could not {}: {}", what, message));
}

Result<std::shared_ptr<void>> make_matrix(const FeatureSet& candidates) {
  LATHE_CHECK(std::ssize(candidates.values) == candidates.rows() * candidates.columns);
  DMatrixHandle handle = nullptr;
  LATHE_TRY_STATUS(
      checked(XGDMatrixCreateFromMat_omp(candidates.values.data(), candidates.rows(), candidates.columns,
                                         std::numeric_limits<float>::quiet_NaN(), &handle, 1),
              "take the feature rows"));
  return std::shared_ptr<void>(handle, XGDMatrixFree);
}

Result<std::shared_ptr<void>> make_booster(DMatrixHandle matrix, const BoostingOptions& options) {
  BoosterHandle handle = nullptr;
  LATHE_TRY_STATUS(checked(XGBoosterCreate(&matrix, 1, &handle), "make a model"));
  std::shared_ptr<void> booster(handle, XGBoosterFree);
  const std::pair<const char*, std::string> parameters[] = {
      {"nthread", "1"},
      {"verbosity", "0"},
      {"tree_method", "hist"},
      {"max_bin", std::to_string(options.bins)},
      {"base_score", "0"},
      {"max_depth", std::to_string(options.depth)},
      {"eta", fmt::format("{}", options.eta)},
      {"gamma", fmt::format("{}", options.gamma)},
      {"min_child_weight", fmt::format("{}", options.child_weight)},
      {"lambda", fmt::format("{}", options.lambda)},
  };
  for (const auto& [name, value] : parameters) {
    LATHE_TRY_STATUS(checked(XGBoosterSetParam(handle, name, value.c_str()), "set a parameter"));
  }
  return booster;
}

std::vector<float> sums(const FeatureSet& candidates, std::span<const float> of_rows) {
  std::vector<float> result(static_cast<size_t>(candidates.size()), 0.0F);
  for (size_t i = 0; i < result.size(); ++i)
    for (int64_t row = candidates.offsets[i]; row < candidates.offsets[i + 1]; ++row)
      result[i] += of_rows[static_cast<size_t>(row)];
  return result;
}

// What is of a candidate is of each of its rows.
std::vector<float> spread(const FeatureSet& candidates, std::span<const float> of_candidates) {
  std::vector<float> result;
  for (size_t i = 0; i < of_candidates.size(); ++i)
    result.insert(result.end(), static_cast<size_t>(candidates.offsets[i + 1] - candidates.offsets[i]),
                  of_candidates[i]);
  return result;
}

// One tree of the library's JSON, its nodes behind those that there are, parents before children.
Status add_tree(const nlohmann::json& tree, std::vector<TreeNode>& nodes, std::vector<int32_t>& roots) {
  const auto left = tree.at("left_children").get<std::vector<int32_t>>();
  const auto right = tree.at("right_children").get<std::vector<int32_t>>();
  const auto features = tree.at("split_indices").get<std::vector<int32_t>>();
  const auto values = tree.at("split_conditions").get<std::vector<float>>();
  const auto missing_left = tree.at("default_left").get<std::vector<int>>();
  roots.push_back(static_cast<int32_t>(nodes.size()));
  struct Open {
    int32_t node;
    int32_t* place;  // in its parent, where its own place is to be written; null: the root
  };
  nodes.reserve(nodes.size() + left.size());  // so that places stay where they are
  std::vector<Open> open{{0, nullptr}};
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    const auto i = static_cast<size_t>(next.node);
    if (i >= left.size() || i >= right.size() || i >= features.size() || i >= values.size() ||
        i >= missing_left.size())
      return fail(ErrorKind::unsupported, "XGBoost's trees are not as this version reads them");
    if (next.place != nullptr) *next.place = static_cast<int32_t>(nodes.size());
    TreeNode& node = nodes.emplace_back();
    node.value = values[i];
    if (left[i] < 0) continue;
    node.feature = features[i];
    node.missing_left = missing_left[i] != 0;
    open.push_back({right[i], &node.right});
    open.push_back({left[i], &node.left});
  }
  return {};
}

Result<FlatTrees> trees_of(BoosterHandle booster, int64_t columns) {
  bst_ulong length = 0;
  const char* text = nullptr;
  LATHE_TRY_STATUS(checked(XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &length, &text),
                           "write its trees"));
  const auto model = nlohmann::json::parse(text, text + length, nullptr, false);
  std::vector<TreeNode> nodes;
  std::vector<int32_t> roots;
  try {
    for (const nlohmann::json& tree : model.at("learner").at("gradient_booster").at("model").at("trees"))
      LATHE_TRY_STATUS(add_tree(tree, nodes, roots));
  } catch (const nlohmann::json::exception&) {
    return fail(ErrorKind::unsupported, "XGBoost's trees are not as this version reads them");
  }
  return FlatTrees::make(columns, std::move(nodes), std::move(roots));
}

}  // namespace

Result<FlatTrees> train_trees(const FeatureSet& candidates, const Objective& objective,
                              const BoostingOptions& options, std::span<const double> margin) {
  LATHE_CHECK(margin.empty() || std::ssize(margin) == candidates.size());
  LATHE_TRY(const auto matrix, make_matrix(candidates));
  LATHE_TRY(const auto booster, make_booster(matrix.get(), options));
  const auto count_of_candidates = static_cast<size_t>(candidates.size());
  std::vector<float> gradient(count_of_candidates);
  std::vector<float> hessian(count_of_candidates);
  for (int round = 0; round < options.rounds; ++round) {
    bst_ulong count = 0;
    const float* predictions = nullptr;
    LATHE_TRY_STATUS(checked(XGBoosterPredict(booster.get(), matrix.get(), 1, 0, 1, &count, &predictions),
                             "predict while training"));
    std::vector<float> present = sums(candidates, {predictions, count});
    for (size_t i = 0; i < margin.size(); ++i) present[i] += static_cast<float>(margin[i]);
    std::ranges::fill(gradient, 0.0F);
    std::ranges::fill(hessian, 0.0F);
    objective(present, gradient, hessian);
    std::vector<float> first = spread(candidates, gradient);
    std::vector<float> second = spread(candidates, hessian);
    LATHE_TRY_STATUS(
        checked(XGBoosterBoostOneIter(booster.get(), matrix.get(), first.data(), second.data(), count),
                "add a tree"));
  }
  return trees_of(booster.get(), candidates.columns);
}

}  // namespace lathe
