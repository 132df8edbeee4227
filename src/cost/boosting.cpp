#include "cost/boosting.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <limits>
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

Result<std::shared_ptr<void>> make_matrix(const FeatureMatrix& rows) {
  LATHE_CHECK(static_cast<int64_t>(rows.values.size()) == rows.rows * rows.columns);
  DMatrixHandle handle = nullptr;
  LATHE_TRY_STATUS(checked(XGDMatrixCreateFromMat_omp(rows.values.data(), rows.rows, rows.columns,
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

}  // namespace

Result<Boosting> Boosting::train(const FeatureMatrix& rows, const Objective& objective,
                                 const BoostingOptions& options) {
  LATHE_TRY(const auto matrix, make_matrix(rows));
  LATHE_TRY(const auto booster, make_booster(matrix.get(), options));
  std::vector<float> gradient(rows.rows), hessian(rows.rows);
  for (int round = 0; round < options.rounds; ++round) {
    bst_ulong count = 0;
    const float* predictions = nullptr;
    LATHE_TRY_STATUS(checked(XGBoosterPredict(booster.get(), matrix.get(), 1, 0, 1, &count, &predictions),
                             "predict while training"));
    std::fill(gradient.begin(), gradient.end(), 0.0f);
    std::fill(hessian.begin(), hessian.end(), 0.0f);
    objective({predictions, count}, gradient, hessian);
    LATHE_TRY_STATUS(
        checked(XGBoosterBoostOneIter(booster.get(), matrix.get(), gradient.data(), hessian.data(), count),
                "add a tree"));
  }
  return Boosting(booster);
}

Result<std::vector<float>> Boosting::predict(const FeatureMatrix& rows) const {
  const std::string array =
      fmt::format(R"({{"data": [{}, true], "shape": [{}, {}], "typestr": "<f4", "version": 3}})",
                  reinterpret_cast<uintptr_t>(rows.values.data()), rows.rows, rows.columns);
  const char* config =
      R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false,
          "cache_id": 0, "missing": NaN})";
  const bst_ulong* shape = nullptr;
  bst_ulong dimensions = 0;
  const float* predictions = nullptr;
  LATHE_TRY_STATUS(checked(XGBoosterPredictFromDense(handle_.get(), array.c_str(), config, nullptr, &shape,
                                                     &dimensions, &predictions),
                           "predict"));
  return std::vector<float>(predictions, predictions + rows.rows);
}

}  // namespace lathe
