#include "artifact/runtime/model_runtime.h"

#include <algorithm>
#include <cstring>

namespace lathe {
namespace {

void check_machine(const LatheModelTables& tables) {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (tables.instructions == LATHE_AVX512 ? avx512 : avx2) return;
  throw ModelError(std::string("the model was compiled for processors with ") +
                   (tables.instructions == LATHE_AVX512 ? "AVX-512" : "AVX2 and FMA") +
                   ", which this one lacks");
}

MappedFile map_weights(const LatheModelTables& tables, const std::string& folder) {
  if (tables.weights_bytes == 0) return {};
  const std::string path = folder + "/weights.bin";
  MappedFile file(path, tables.weights_bytes);
  LatheWeightsHead head;
  std::memcpy(&head, file.data(), sizeof head);
  const bool is_ours = std::memcmp(head.magic, LATHE_WEIGHTS_MAGIC, sizeof head.magic) == 0;
  if (!is_ours || head.id != tables.weights_id) {
    throw ModelError("the weights " + path + " belong to another build than model.so");
  }
  return file;
}

std::vector<TensorStaging> stagings(const LatheTensor* tensors, int32_t count) {
  std::vector<TensorStaging> result;
  for (int32_t i = 0; i < count; ++i) result.emplace_back(tensors[i]);
  return result;
}

std::string describe(const char* role, size_t index, const LatheTensor& tensor) {
  return std::string(role) + " " + std::to_string(index) + " ('" + tensor.name + "')";
}

// A kernel would read wherever such an index leads.
void check_indices(size_t index, const LatheTensor& tensor, const void* data) {
  if (tensor.least_index > tensor.most_index) return;
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.shape[d];
  for (int64_t i = 0; i < count; ++i) {
    int32_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(data) + i * static_cast<int64_t>(sizeof value),
                sizeof value);
    if (tensor.least_index <= value && value <= tensor.most_index) continue;
    throw ModelError(describe("input", index, tensor) + " holds " + std::to_string(value) + " as element " +
                     std::to_string(i) + ": indices from " + std::to_string(tensor.least_index) + " to " +
                     std::to_string(tensor.most_index) + " stay inside what they index");
  }
}

}  // namespace

RunningModel::RunningModel(const LatheModelTables& tables, const std::string& folder, int cores) {
  check_machine(tables);
  if (cores < 0)
    throw ModelError("the number of cores is " + std::to_string(cores) + ", it must be at least 0");
  weights_ = map_weights(tables, folder);
  arena_ = AlignedBlock(tables.arena_bytes, "what kernels hand to each other");
  resident_ = AlignedBlock(tables.resident_bytes, "prepared constants");
  workspace_ = AlignedBlock(tables.workspace_bytes, "what kernels work in");
  inputs_ = stagings(tables.inputs, tables.input_count);
  outputs_ = stagings(tables.outputs, tables.output_count);
  constants_.resize(inputs_.size());
  input_places_.resize(inputs_.size());
  output_places_.resize(outputs_.size());
  const int threads = cores == 0 ? tables.threads : std::min(cores, tables.threads);
  if (threads > 1) {
    ThreadPool::Options options;
    options.threads = threads;
    pool_ = std::make_unique<ThreadPool>(options);
  }
  prepares_ = bind(tables.prepares, tables.prepare_count);
  launches_ = bind(tables.launches, tables.launch_count);
}

std::vector<RunningModel::BoundLaunch> RunningModel::bind(const LatheLaunch* launches, int32_t count) {
  std::vector<BoundLaunch> bound;
  for (int32_t i = 0; i < count; ++i) {
    BoundLaunch entry{&launches[i], {}, {}};
    for (int32_t k = 0; k < launches[i].buffer_count; ++k) {
      entry.buffers.push_back(fixed_place(launches[i].buffers[k]));
    }
    if (pool_ && launches[i].threads > 1) {
      entry.parallel = *pool_->parallel();
      entry.parallel.threads = std::min(entry.parallel.threads, launches[i].threads);
    }
    bound.push_back(std::move(entry));
  }
  return bound;
}

void* RunningModel::fixed_place(const LatheBinding& binding) const {
  switch (binding.storage) {
    case LATHE_ARENA: return arena_.data() + binding.place;
    case LATHE_WEIGHTS: return weights_.data() + binding.place;
    case LATHE_RESIDENT: return resident_.data() + binding.place;
    default: return nullptr;
  }
}

void RunningModel::launch_all(std::vector<BoundLaunch>& launches) {
  for (BoundLaunch& bound : launches) {
    for (int32_t k = 0; k < bound.launch->buffer_count; ++k) {
      const LatheBinding& binding = bound.launch->buffers[k];
      const auto place = static_cast<size_t>(binding.place);
      if (binding.storage == LATHE_INPUT) bound.buffers[k] = input_places_[place];
      if (binding.storage == LATHE_OUTPUT) bound.buffers[k] = output_places_[place];
    }
    const LatheParallel* const pool = bound.parallel.threads > 1 ? &bound.parallel : nullptr;
    const int status = bound.launch->entry(bound.buffers.data(), nullptr, workspace_.data(), pool);
    if (status != 0)
      throw ModelError("a kernel ended with status " + std::to_string(status) + " in place of 0");
  }
}

void RunningModel::take_input(size_t index, const void* data) {
  if (data == nullptr) throw ModelError(describe("input", index, inputs_[index].tensor()) + " is null");
  check_indices(index, inputs_[index].tensor(), data);
  input_places_[index] = inputs_[index].import_from(data);
}

// Whether the constant is another one than in the last run.
bool RunningModel::take_constant(size_t index, const void* data) {
  AlignedBlock& known = constants_[index];
  TensorStaging& input = inputs_[index];
  if (data == nullptr) {
    if (known.data() != nullptr) return false;
    throw ModelError("constant " + describe("input", index, input.tensor()) +
                     " is null before it was ever given");
  }
  check_indices(index, input.tensor(), data);
  const auto bytes = static_cast<size_t>(input.bytes());
  if (known.data() == nullptr) {
    known = AlignedBlock(input.bytes(), "a copy of " + describe("input", index, input.tensor()));
  } else if (std::memcmp(known.data(), data, bytes) == 0) {
    return false;
  }
  std::memcpy(known.data(), data, bytes);
  input_places_[index] = input.import_from(known.data());
  return true;
}

void RunningModel::run(const void* const* inputs, void* const* outputs) {
  const auto require = [](bool list_is_there) {
    if (!list_is_there) throw ModelError("the list of inputs or outputs is null");
  };
  require(outputs != nullptr);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    require(inputs != nullptr);
    if (inputs_[i].tensor().is_constant == 0) {
      take_input(i, inputs[i]);
    } else if (take_constant(i, inputs[i])) {
      prepared_ = false;
    }
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs[i] == nullptr) throw ModelError(describe("output", i, outputs_[i].tensor()) + " is null");
    output_places_[i] = outputs_[i].place_for(outputs[i]);
  }
  if (!prepared_) launch_all(prepares_);
  prepared_ = true;
  launch_all(launches_);
  for (size_t i = 0; i < outputs_.size(); ++i) outputs_[i].export_to(outputs[i]);
}

}  // namespace lathe
