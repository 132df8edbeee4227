// One whole sentence of every kind of error, from where a user's fault or a candidate's makes it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "artifact/compile_model.h"
#include "artifact/write/write_artifact.h"
#include "base/temporary_folder.h"
#include "compile/compile.h"
#include "expr/parse.h"
#include "folders.h"
#include "loop/parse.h"
#include "loop/verify.h"
#include "measure/given_input.h"
#include "measure/measurer.h"
#include "records/record_store.h"
#include "runtime/c_object.h"
#include "runtime/device.h"
#include "runtime/loader.h"
#include "target/all.h"

namespace lathe {
namespace {

constexpr int64_t kCount = 1000;

// By the kind's name.
using Sentences = std::map<std::string, std::string>;

class ErrorKinds : public ::testing::Test {
 protected:
  void expect(const Error& error) {
    std::string text = error.to_string();
    const std::string folder = folder_.path().string() + "/";
    if (const size_t at = text.find(folder); at != std::string::npos) text.erase(at, folder.size());
    EXPECT_TRUE(found_.emplace(to_string(error.kind), text).second) << text;
  }
  template <class T>
  void expect(const Result<T>& result) {
    ASSERT_FALSE(result.has_value());
    expect(result.error());
  }

  static Task task_of(const std::string& text) {
    return make_task("task", *parse_dag(text), generic_target("x86-avx2")).value();
  }

  // Of a kernel with this body.
  void measure(const std::string& body, double timeout_seconds) {
    MeasureOptions options;
    options.worker_path = LATHE_BINARY_DIR "/bin/lathe-worker";
    options.timeout_seconds = timeout_seconds;
    Result<Measurer> measurer = Measurer::start(options);
    ASSERT_TRUE(measurer.has_value()) << measurer.error().to_string();
    const Module module = unary_module(body, kCount);
    const std::vector<float> input(kCount, 1);
    MeasureInputs inputs;
    inputs.buffers = {given_input(1, 1, input), {}};
    const Result<Measurement> measured = measurer->measure(module, inputs);
    ASSERT_TRUE(measured.has_value()) << measured.error().to_string();
    ASSERT_FALSE(measured->ok());
    expect(Error{measured->failure->kind, measured->failure->message, {}, {}});
  }

  void make_programs();
  void make_code();
  void make_files();

  TemporaryFolder folder_;
  Sentences found_;
};

void ErrorKinds::make_programs() {
  expect(parse_dag("C[i:4] = A[i] +", "text"));
  expect(compile(task_of("C[i:4] = sum(r:5) A[i, r]"), parse_trace("vectorize C r").value()));
  expect(verify(
      parse_program("input A: f32[12] [0]\noutput C: f32[12] [0]\nmain { store A[0] = 0.0 }").value()));
}

void ErrorKinds::make_code() {
  Module module = unary_module("B[0] = A[0];", 1);
  module.kernel_symbol = "main";
  expect(load_object(module));
  module.form = "none";
  expect(open_on_device(module));
  measure("volatile int on = 1; while (on) {}", 0.3);
  measure("__builtin_trap();", 60);
  measure("((volatile float*)B)[1001] = 1;", 60);
}

void ErrorKinds::make_files() {
  expect(parse_workloads(R"([{"name": "a", "op": "gemv", "m": 3, "k": 4, "colour": 5}])", "w.json"));
  expect(load_workloads((folder_.path() / "none.json").string()));
  expect(load_workloads("."));
  const std::string records = (folder_.path() / "w.json").string();
  std::ofstream(records) << "[]";
  expect(RecordStore::open_read_only(records));
  CompileModelOptions options;
  options.target = generic_target("x86-avx2");
  const auto workloads =
      parse_workloads(R"([{"name": "v", "op": "expression", "text": "C[i:4] = A[i] + 1.0"}])", "v.json");
  const Result<Model> model = compile_operator(workloads->front(), options);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  expect(write_artifact(*model, folder_.path().string(), {.compiler = "false", .compiler_version = ""}));
}

TEST_F(ErrorKinds, EachHasASentence) {
  make_programs();
  make_code();
  make_files();
  const Sentences expected = {
      {"invalid_argument", "w.json: entry 'a': gemv has no parameter 'colour'; its parameters are m, k"},
      {"parse", "text:1:16: expected a value"},
      {"not_found", "none.json: there is no such file, or it cannot be read"},
      {"unsupported", "no device runs modules of the form 'none'"},
      {"illegal_schedule", "vectorize C r: loop 'r' drives a reduce axis of block 'C'; rfactor it first"},
      {"invalid_program", "store to A: the argument A is read-only"},
      {"build", "model.so cannot be linked: the C++ compiler 'false' ended with status 1"},
      {"load", "the object does not define the entry 'main'"},
      {"timeout", "the kernel was still not done after 0.3 s, in its first run"},
      {"crash", "the kernel was ended by SIGILL in its first run"},
      {"wrong_result", "the kernel wrote outside its buffers, 5 bytes past the end of buffer 'B'"},
      {"io", ".: this is a folder, not a file"},
      {"database", "w.json is not a Lathe records file: it is not an SQLite database"},
  };
  EXPECT_EQ(found_, expected);
  // A kind that is added has one too.
  for (int kind = 0; std::string(to_string(static_cast<ErrorKind>(kind))) != "unknown"; ++kind) {
    EXPECT_TRUE(found_.contains(to_string(static_cast<ErrorKind>(kind)))) << kind;
  }
}

}  // namespace
}  // namespace lathe
