// Models whose kernels are written by hand, as tables that the runtime of artifacts takes: what it does with
// threads, forks and memory is seen without a compiler, so also under the thread sanitizer.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "artifact/runtime/model_runtime.h"
#include "base/temporary_folder.h"

namespace lathe::written {

constexpr int64_t kRows = 24;
constexpr int64_t kColumns = 40;
constexpr int64_t kCount = kRows * kColumns;
constexpr int64_t kBytes = kCount * static_cast<int64_t>(sizeof(float));

inline const float* floats_at(void* const* buffers, int index) {
  return static_cast<const float*>(buffers[index]);
}

// Calls `row(k)` for each row, on the pool where there is one.
template <class Row>
void for_rows(const LatheParallel* pool, Row row) {
  const auto task = [](void* context, int64_t begin, int64_t end, int32_t) {
    for (int64_t k = begin; k < end; ++k) (*static_cast<Row*>(context))(k);
  };
  if (pool == nullptr) return task(&row, 0, kRows, 0);
  pool->run(pool, task, &row, kRows);
}

// {x, w, y, resident}: the resident memory has 2 w.
inline int prepare_double(void* const* buffers, const int64_t*, void* workspace, const LatheParallel*) {
  auto* const scratch = static_cast<float*>(workspace);
  auto* const resident = static_cast<float*>(buffers[3]);
  for (int64_t i = 0; i < kCount; ++i) scratch[i] = floats_at(buffers, 1)[i];
  for (int64_t i = 0; i < kCount; ++i) resident[i] = scratch[i] + scratch[i];
  return 0;
}
// y = 2 w x - w, by way of the workspace.
inline int scale(void* const* buffers, const int64_t*, void* workspace, const LatheParallel*) {
  auto* const scratch = static_cast<float*>(workspace);
  auto* const y = static_cast<float*>(buffers[2]);
  for (int64_t i = 0; i < kCount; ++i) scratch[i] = floats_at(buffers, 0)[i] * floats_at(buffers, 3)[i];
  for (int64_t i = 0; i < kCount; ++i) y[i] = scratch[i] - floats_at(buffers, 1)[i];
  return 0;
}
// {x, arena}: x + 1.
inline int add_one(void* const* buffers, const int64_t*, void*, const LatheParallel* pool) {
  auto* const sums = static_cast<float*>(buffers[1]);
  for_rows(pool, [&](int64_t row) {
    for (int64_t i = row * kColumns; i < (row + 1) * kColumns; ++i) sums[i] = floats_at(buffers, 0)[i] + 1;
  });
  return 0;
}
// {arena, weights, y}: of each row the sum so far, times the weights.
inline int add_up(void* const* buffers, const int64_t*, void*, const LatheParallel* pool) {
  auto* const y = static_cast<float*>(buffers[2]);
  for_rows(pool, [&](int64_t row) {
    float sum = 0;
    for (int64_t i = row * kColumns; i < (row + 1) * kColumns; ++i) {
      sum += floats_at(buffers, 0)[i];
      y[i] = sum * floats_at(buffers, 1)[i];
    }
  });
  return 0;
}
// {x, y}, both [kColumns, kRows] inside: y = -x.
inline int negate(void* const* buffers, const int64_t*, void*, const LatheParallel*) {
  for (int64_t i = 0; i < kCount; ++i) static_cast<float*>(buffers[1])[i] = -floats_at(buffers, 0)[i];
  return 0;
}
// {x, y}, 16 elements before where they are read: wrong where both lie in the same memory.
inline int shift(void* const* buffers, const int64_t*, void*, const LatheParallel*) {
  for (int64_t i = 0; i < kCount; ++i)
    static_cast<float*>(buffers[1])[i] = floats_at(buffers, 0)[(i + kCount - 16) % kCount];
  return 0;
}

inline constexpr int64_t kShape[] = {kRows, kColumns};
inline constexpr LatheAxis kPlainAxes[] = {{kCount, 1, 1}, {1, 0, 0}};
inline constexpr LatheCopy kPlain[] = {{0, 0, 2, kPlainAxes}};
inline constexpr LatheAxis kTransposedAxes[] = {{kColumns, 1, kRows}, {kRows, kColumns, 1}};
inline constexpr LatheCopy kTransposed[] = {{0, 0, 2, kTransposedAxes}};

constexpr LatheTensor plain_tensor(const char* name, bool is_constant = false) {
  return {name, 4, 0, is_constant ? 1 : 0, 2, kShape, 1, 1, kPlain, kBytes, 0, -1};
}
constexpr LatheTensor transposed_tensor(const char* name) {
  return {name, 4, 0, 0, 2, kShape, 0, 1, kTransposed, kBytes, 0, -1};
}

// An operator with a constant.
inline const LatheModelTables& scaling_model() {
  static const LatheTensor inputs[] = {plain_tensor("x"), plain_tensor("w", true)};
  static const LatheTensor outputs[] = {plain_tensor("y")};
  static const LatheBinding buffers[] = {
      {LATHE_INPUT, 0}, {LATHE_INPUT, 1}, {LATHE_OUTPUT, 0}, {LATHE_RESIDENT, 0}};
  static const LatheLaunch prepare = {prepare_double, buffers, 4, 1};
  static const LatheLaunch step = {scale, buffers, 4, 1};
  static const LatheModelTables tables = {
      "x86-avx2", 0,
      1,          2,
      inputs,     1,
      outputs,    1,
      &prepare,   1,
      &step,      0,
      nullptr,    0,
      nullptr,    0,
      64,         kBytes,
      kBytes,     {sizeof(lathe_model_info), "scaling", 1, 0, nullptr, 0, nullptr, 1, nullptr},
      nullptr};
  return tables;
}
// Two launches on two cores that hand on what they compute.
inline const LatheModelTables& summing_model() {
  static const LatheTensor inputs[] = {plain_tensor("x")};
  static const LatheTensor outputs[] = {plain_tensor("y")};
  static const LatheBinding first[] = {{LATHE_INPUT, 0}, {LATHE_ARENA, 0}};
  static const LatheBinding second[] = {{LATHE_ARENA, 0}, {LATHE_WEIGHTS, 64}, {LATHE_OUTPUT, 0}};
  static const LatheLaunch steps[] = {{add_one, first, 2, 2}, {add_up, second, 3, 2}};
  static const LatheModelTables tables = {
      "x86-avx2",  0, 2,       1,
      inputs,      1, outputs, 0,
      nullptr,     2, steps,   0,
      nullptr,     0, nullptr, kBytes,
      64 + kBytes, 0, 0,       {sizeof(lathe_model_info), "summing", 2, 0, nullptr, 0, nullptr, 2, nullptr},
      nullptr};
  return tables;
}
// Other layouts inside.
inline const LatheModelTables& negating_model() {
  static const LatheTensor inputs[] = {transposed_tensor("x")};
  static const LatheTensor outputs[] = {transposed_tensor("y")};
  static const LatheBinding buffers[] = {{LATHE_INPUT, 0}, {LATHE_OUTPUT, 0}};
  static const LatheLaunch step = {negate, buffers, 2, 1};
  static const LatheModelTables tables = {
      "x86-avx2", 0, 1,       1,
      inputs,     1, outputs, 0,
      nullptr,    1, &step,   0,
      nullptr,    0, nullptr, 0,
      64,         0, 0,       {sizeof(lathe_model_info), "negating", 3, 0, nullptr, 0, nullptr, 1, nullptr},
      nullptr};
  return tables;
}
inline const LatheModelTables& shifting_model() {
  static const LatheTensor inputs[] = {plain_tensor("x")};
  static const LatheTensor outputs[] = {plain_tensor("y")};
  static const LatheBinding buffers[] = {{LATHE_INPUT, 0}, {LATHE_OUTPUT, 0}};
  static const LatheLaunch step = {shift, buffers, 2, 1};
  static const LatheModelTables tables = {
      "x86-avx2", 0, 1,       1,
      inputs,     1, outputs, 0,
      nullptr,    1, &step,   0,
      nullptr,    0, nullptr, 0,
      64,         0, 0,       {sizeof(lathe_model_info), "shifting", 4, 0, nullptr, 0, nullptr, 1, nullptr},
      nullptr};
  return tables;
}

// Values aligned as kernels use them in place, and two elements more than a tensor has.
struct alignas(64) Values {
  float at[kCount + 16];

  friend bool operator==(const Values& one, const Values& other) {
    return std::memcmp(one.at, other.at, kBytes) == 0;
  }
};
inline Values values_from(int seed) {
  Values values = {};
  for (int64_t i = 0; i < kCount; ++i) values.at[i] = static_cast<float>((i * 7 + seed * 13) % 29 - 14);
  return values;
}

// A folder with the weights of one model: element i of the weights is i % 5.
class WrittenWeights {
 public:
  explicit WrittenWeights(const LatheModelTables& tables) {
    LatheWeightsHead head = {};
    std::memcpy(head.magic, LATHE_WEIGHTS_MAGIC, sizeof head.magic);
    head.build = tables.info.build;
    std::strncpy(head.name, tables.info.name, sizeof head.name - 1);
    std::ofstream file(path() + "/weights.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&head), sizeof head);
    for (int64_t i = 0; i < (tables.weights_bytes - 64) / 4; ++i) {
      const auto weight = static_cast<float>(i % 5);
      file.write(reinterpret_cast<const char*>(&weight), sizeof weight);
    }
  }
  std::string path() const { return folder_.path().string(); }

 private:
  TemporaryFolder folder_;
};

// One of them, open.
class WrittenModel {
 public:
  explicit WrittenModel(const LatheModelTables& tables, int calls = 0) : weights_(tables) {
    const lathe_open_options options = {sizeof options, 0, calls};
    EXPECT_TRUE(model_.open(tables, weights_.path().c_str(), &options)) << last_model_error();
  }

  // False where the run fails; `w` is the constant of the model that has one.
  bool run(const float* x, const float* w, float* y) {
    const void* const inputs[] = {x, w};
    void* const outputs[] = {y};
    return model_.run(inputs, outputs);
  }
  RunningModel& model() { return model_; }

 private:
  WrittenWeights weights_;
  RunningModel model_;
};

}  // namespace lathe::written
