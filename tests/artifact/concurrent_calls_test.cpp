// Several artifacts called from many threads at once, with forks between: all that they compute is bit by bit
// what one caller gets.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <latch>
#include <span>
#include <thread>

#include "artifact/artifact_fixture.h"
#include "artifact/open/artifact_library.h"
#include "base/child.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

constexpr int kInputSets = 3;
constexpr size_t kMostTensors = 4;  // inputs or outputs of a model

using Tensors = std::vector<std::vector<float>>;

size_t elements_of(const lathe_tensor_info& tensor) {
  size_t count = 1;
  for (int d = 0; d < tensor.rank; ++d) count *= static_cast<size_t>(tensor.shape[d]);
  return count;
}

// One artifact with some sets of inputs and what a single caller gets for each.
class CalledModel {
 public:
  CalledModel(const std::string& folder, int cores) {
    const auto manifest = read_manifest(folder);
    auto library = ArtifactLibrary::load(folder, *manifest);
    EXPECT_TRUE(library.has_value()) << library.error().to_string();
    library_ = std::move(*library);
    model_ = library_.open(folder.c_str(), cores);
    EXPECT_NE(model_, nullptr) << library_.error();
    const lathe_model_info& info = *library_.interface();
    for (int set = 0; set < kInputSets; ++set) {
      Tensors& inputs = inputs_.emplace_back();
      for (int i = 0; i < info.input_count; ++i)
        inputs.push_back(
            random_floats(elements_of(info.inputs[i]),
                          static_cast<uint64_t>(10) * static_cast<uint64_t>(set) + static_cast<uint64_t>(i)));
      Tensors outputs = outputs_of_a_caller();
      EXPECT_TRUE(run(set, outputs));
      expected_.push_back(std::move(outputs));
    }
  }
  ~CalledModel() { library_.close(model_); }
  CalledModel(const CalledModel&) = delete;
  CalledModel& operator=(const CalledModel&) = delete;

  Tensors outputs_of_a_caller() const {
    const lathe_model_info& info = *library_.interface();
    Tensors outputs;
    for (int i = 0; i < info.output_count; ++i) outputs.emplace_back(elements_of(info.outputs[i]));
    return outputs;
  }

  // Allocates nothing: `outputs` are the caller's own.
  bool is_right(int set, Tensors& outputs) {
    for (std::vector<float>& output : outputs) std::ranges::fill(output, -1.0F);
    return run(set, outputs) && outputs == expected_.at(static_cast<size_t>(set));
  }

 private:
  bool run(int set, Tensors& outputs) {
    std::array<const void*, kMostTensors> from = {};
    std::array<void*, kMostTensors> into = {};
    const Tensors& inputs = inputs_.at(static_cast<size_t>(set));
    for (size_t i = 0; i < inputs.size(); ++i) from.at(i) = inputs[i].data();
    for (size_t i = 0; i < outputs.size(); ++i) into.at(i) = outputs[i].data();
    return library_.run(model_, from.data(), into.data()) == 0;
  }

  ArtifactLibrary library_;
  lathe_model* model_ = nullptr;
  std::vector<Tensors> inputs_;
  std::vector<Tensors> expected_;
};

// The models and the memory of one caller of them all.
class Caller {
 public:
  explicit Caller(std::span<CalledModel* const> models) : models_(models) {
    for (const CalledModel* model : models) outputs_.push_back(model->outputs_of_a_caller());
  }
  bool all_right(int set) {
    for (size_t i = 0; i < models_.size(); ++i) {
      if (!models_[i]->is_right(set, outputs_[i])) return false;
    }
    return true;
  }

 private:
  std::span<CalledModel* const> models_;
  std::vector<Tensors> outputs_;
};

class ConcurrentCallsTest : public ArtifactTest {
 protected:
  // A product on two cores with a constant, which the calls change, a sum of rows, a network, and one with a
  // loop.
  void write_models() {
    write_operator("mm", "C[i:65, j:70] = sum(r:67) A[i,r] * B[r,j]", 2, true);
    write_operator("rows", R"(T[i:40] = sum(r:30) A[i,r]\nS[i:40, j:30] = A[i,j] * 2.0 + T[i])", 1, false);
    OnnxModel onnx;
    onnx.input("x", {1, 3, 9, 9}).output("y").initializer("w", {8, 3, 3, 3}).initializer("v", {8, 8, 3, 3});
    onnx.node("conv", "Conv", {"x", "w"}, "c").attribute("kernel_shape", {3, 3});
    onnx.node("relu", "Relu", {"c"}, "r");
    onnx.node("next", "Conv", {"r", "v"}, "y").attribute("kernel_shape", {3, 3});
    OnnxModel steps;
    steps.input("x", {9, 1, 8}).initializer("w", {1, 96, 8}).initializer("r", {1, 96, 24});
    steps.node("n", "LSTM", {"x", "w", "r"}, "y").gives("h").attribute("hidden_size", 24);
    steps.output("y").output("h");
    options_.target.cpu().cores = 1;
    write_network("net", onnx);
    write_network("steps", steps);
  }

  void write_network(const std::string& name, const OnnxModel& onnx) {
    const std::string path = folder(name + ".onnx");
    std::ofstream(path, std::ios::binary) << onnx.bytes();
    const auto network = load_network(path, {}, options_.target);
    ASSERT_TRUE(network.has_value()) << network.error().to_string();
    write_to(name, compile_network(*network, options_));
  }

  void call_from_threads(int threads, int calls, int pause_milliseconds) {
    write_models();
    if (HasFatalFailure()) return;
    CalledModel product(folder("mm"), 2);
    CalledModel rows(folder("rows"), 1);
    CalledModel network(folder("net"), 1);
    CalledModel steps(folder("steps"), 1);
    const std::array<CalledModel*, 4> models = {&product, &rows, &network, &steps};
    std::atomic<int> wrong{0};
    std::atomic<int> running{threads};
    // A child of the address sanitizer waits for ever where another thread allocated as it was forked. So
    // nobody allocates then: each caller has its memory, and has called once.
    std::latch begun(threads + 1);
    std::vector<std::thread> callers;
    for (int thread = 0; thread < threads; ++thread) {
      callers.emplace_back([&, thread] {
        Caller caller(models);
        for (int call = 0; call < calls; ++call) {
          if (!caller.all_right((thread + call / 10) % kInputSets)) ++wrong;
          if (call == 0) begun.arrive_and_wait();
        }
        --running;
      });
    }
    Caller forked(models);
    begun.arrive_and_wait();
    int children = 0;
    for (; running > 0; ++children) {
      EXPECT_EQ(exit_status(start_child([&] { return forked.all_right(0) && forked.all_right(1) ? 0 : 1; })),
                0);
      std::this_thread::sleep_for(std::chrono::milliseconds(pause_milliseconds));
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
    RecordProperty("children", children);
  }

 private:
  void write_operator(const std::string& name, const std::string& text, int cores, bool has_constant) {
    const std::string entry = R"([{"name": ")" + name + R"(", "op": "expression", "text": ")" + text + "\"" +
                              (has_constant ? R"(, "constants": ["B"])" : "") + "}]";
    const auto workloads = parse_workloads(entry, "test");
    ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
    options_.target.cpu().cores = cores;
    write_to(name, compile_operator(workloads->front(), options_));
  }
  void write_to(const std::string& name, const Result<Model>& model) {
    ASSERT_TRUE(model.has_value()) << model.error().to_string();
    const Status written = write_artifact(*model, folder(name), {.compiler_version = "test"});
    ASSERT_TRUE(written.has_value()) << written.error().to_string();
  }
};

TEST_F(ConcurrentCallsTest, ThreeModelsAtOnceWithForksBetween) { call_from_threads(8, 100, 5); }

// The same for as long as it takes to believe it: --gtest_also_run_disabled_tests.
TEST_F(ConcurrentCallsTest, DISABLED_TenThousandCallsFromEightThreads) { call_from_threads(8, 10000, 200); }

}  // namespace
}  // namespace lathe
