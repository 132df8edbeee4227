// oneDNN as a peer: products and convolutions of all kinds, directly and, where it has them so, by Winograd's
// algorithm. The library chooses the layouts of all tensors; what brings them there is done when a case is
// opened.
#include <sched.h>

#include <oneapi/dnnl/dnnl.hpp>

#include "bench/peers/onednn_convolution.h"
#include "bench/peers/onednn_plan.h"
#include "bench/peers/plugin.h"

// Of the run-time system that libdnnl brings with it: to link one here could make two.
extern "C" {
void omp_set_num_threads(int threads);
int omp_get_thread_num();
void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned flags);
}

namespace lathe::peers {
namespace {

class PrimitiveCase : public Case {
 public:
  PrimitiveCase(const Plan& plan, const dnnl::engine& engine)
      : engine_(engine),
        stream_(engine_),
        primitive_(plan.primitive),
        output_(plan.output, engine_),
        output_shape_(plan.output_shape) {
    for (const Operand& operand : plan.operands) {
      dnnl::memory given(operand.given, engine_, const_cast<float*>(operand.values.data()));
      dnnl::memory& chosen = operands_.emplace_back(operand.chosen, engine_);
      dnnl::reorder(given, chosen).execute(stream_, given, chosen);
      stream_.wait();
      arguments_.push_back({operand.argument, chosen.get()});
    }
    arguments_.push_back({DNNL_ARG_DST, output_.get()});
  }

  // The C face, because the C++ one gathers its arguments anew in every call.
  void run() override {
    const dnnl_status_t ran = dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                     static_cast<int>(arguments_.size()), arguments_.data());
    if (ran != dnnl_success || dnnl_stream_wait(stream_.get()) != dnnl_success) {
      throw std::runtime_error("oneDNN could not run its primitive");
    }
  }

  void read(std::span<float> output) override {
    const dnnl::memory::desc row_major = row_major_layout(output_shape_);
    if (row_major.get_size() != output.size_bytes()) throw std::runtime_error("the output has another size");
    dnnl::memory result(row_major, engine_, output.data());
    dnnl::reorder(output_, result).execute(stream_, output_, result);
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> operands_;
  dnnl::memory output_;
  Dims output_shape_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

Plan plan_product(const Operand& left, const Operand& right, const Dims& output, const dnnl::engine& engine) {
  const dnnl::matmul::primitive_desc product(
      dnnl::matmul::desc(left.chosen, right.chosen, any_layout(output)), engine);
  return {.primitive = dnnl::matmul(product),
          .output = product.dst_desc(),
          .output_shape = output,
          .operands = {{DNNL_ARG_SRC, product.src_desc(), left.given, left.values},
                       {DNNL_ARG_WEIGHTS, product.weights_desc(), right.given, right.values}}};
}

Plan plan_matmul(const Request& request, const dnnl::engine& engine) {
  const int64_t m = request.entry["m"];
  const int64_t n = request.entry["n"];
  const int64_t k = request.entry["k"];
  const int64_t batch = request.entry.value_or("batch", 1);
  const Dims head = batch == 1 ? Dims{} : Dims{batch};
  const auto shape = [&](int64_t rows, int64_t columns) {
    Dims dims = head;
    dims.insert(dims.end(), {rows, columns});
    return dims;
  };
  return plan_product(operand_of(DNNL_ARG_SRC, request, 0, shape(m, k)),
                      operand_of(DNNL_ARG_WEIGHTS, request, 1, shape(k, n)), shape(m, n), engine);
}

// y^T = x^T A^T: the matrix, which is constant, becomes the weights.
Plan plan_gemv(const Request& request, const dnnl::engine& engine) {
  const int64_t m = request.entry["m"];
  const int64_t k = request.entry["k"];
  Operand matrix = operand_of(DNNL_ARG_WEIGHTS, request, 0, {k, m});
  matrix.given = {{k, m}, dnnl::memory::data_type::f32, Dims{1, k}};
  return plan_product(operand_of(DNNL_ARG_SRC, request, 1, {1, k}), matrix, {1, m}, engine);
}

Plan plan(const Request& request, bool by_winograd, const dnnl::engine& engine) {
  const std::string& op = request.entry.op();
  if (const std::optional<Convolution> convolution = convolution_of(request.entry)) {
    return plan_convolution(*convolution, request, by_winograd, engine);
  }
  if (by_winograd) throw Unsupported("Winograd's algorithm is for convolutions");
  if (op == "matmul") return plan_matmul(request, engine);
  if (op == "gemv") return plan_gemv(request, engine);
  throw Unsupported("oneDNN has no primitive for this operator");
}

// The calling thread's cpus, in their order.
std::vector<size_t> allowed_cpus() {
  cpu_set_t set;
  std::vector<size_t> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// Gives each thread of a team but the caller's a cpu of its own, none of them the first. They sleep between
// calls, and where the system may choose it wakes them at times on the caller's and leaves them there for
// seconds: two cores are no faster than one then.
void keep_threads_apart(int cores) {
  const auto pin = [](void* data) {
    const auto& cpus = *static_cast<const std::vector<size_t>*>(data);
    const auto thread = static_cast<size_t>(omp_get_thread_num());
    if (thread == 0 || thread >= cpus.size()) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpus[thread], &set);
    sched_setaffinity(0, sizeof set, &set);
  };
  std::vector<size_t> cpus = allowed_cpus();
  if (cores > 1) GOMP_parallel(pin, &cpus, static_cast<unsigned>(cores), 0);
}

std::unique_ptr<Case> open(const Request& request, bool by_winograd) {
  omp_set_num_threads(request.cores);
  keep_threads_apart(request.cores);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  try {
    return std::make_unique<PrimitiveCase>(plan(request, by_winograd, engine), engine);
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented) throw;
    throw Unsupported(by_winograd ? "oneDNN does not have this convolution by Winograd's algorithm"
                                  : "oneDNN has no primitive of these sizes");
  }
}

}  // namespace

Plugin describe_plugin() {
  const dnnl_version_t* version = dnnl_version();
  const auto number = [](int part) { return std::to_string(part); };
  return {"oneDNN " + number(version->major) + "." + number(version->minor) + "." + number(version->patch),
          {{"onednn", "", [](const Request& request) { return open(request, false); }},
           {"onednn_winograd", "winograd", [](const Request& request) { return open(request, true); }}}};
}

}  // namespace lathe::peers
