// Lathe's command line run in a folder of its own, and what it printed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "artifact/open/npy.h"
#include "base/shell.h"
#include "base/temporary_folder.h"
#include "folders.h"

namespace lathe {

struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class CliTest : public ::testing::Test {
 protected:
  // Runs lathe with these arguments in the test's folder.
  Outcome lathe(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.path().string() + "' && '" + program_ + "' " + arguments +
                                " > out.txt 2> err.txt < /dev/null";
    const int status = run_in_shell(command);
    return {status, read_text(folder_.path() / "out.txt"), read_text(folder_.path() / "err.txt")};
  }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << bytes;
  }

  // The one sentence of a command that fails through the user's fault.
  std::string sentence(const std::string& arguments) const {
    const Outcome outcome = lathe(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    return outcome.err.substr(0, outcome.err.find('\n'));
  }

  void write_workload(const std::string& entry) const { write("w.json", "[" + entry + "]"); }
  void write_matmul() const {
    write_workload(R"({"name": "mm", "op": "expression", "text": "C[i:9, j:8] = sum(r:7) A[i,r] * B[r,j]"})");
  }
  void write_array(const std::string& name, DType dtype, const std::vector<int64_t>& shape) const {
    NpyArray array{dtype, shape, {}};
    int64_t bytes = bytes_of(dtype);
    for (const int64_t extent : shape) bytes *= extent;
    array.bytes.resize(static_cast<size_t>(bytes));
    ASSERT_TRUE(write_npy((folder_.path() / name).string(), array).has_value());
  }

  TemporaryFolder folder_;
  std::string program_ = LATHE_BINARY_DIR "/bin/lathe";
};

}  // namespace lathe
