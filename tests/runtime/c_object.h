// Objects for tests that need machine code but no code generator: C text compiled by the system's compiler.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "base/shell.h"
#include "folders.h"
#include "module/module.h"

namespace lathe {

// The relocatable object of a C99 translation unit; kernel_abi.h is included already.
inline std::string compile_c(const std::string& source) {
  char folder[] = "/tmp/lathe-test-XXXXXX";
  if (mkdtemp(folder) == nullptr) return {};
  const std::string base = std::string(folder) + "/kernel";
  std::ofstream(base + ".c") << "#include \"lathe/kernel_abi.h\"\n" << source;
  const std::string command =
      "cc -std=gnu99 -c -O1 -fPIC -fno-stack-protector -fcf-protection=none -I" LATHE_SOURCE_DIR "/include " +
      base + ".c -o " + base + ".o";
  EXPECT_EQ(run_in_shell(command), 0) << source;
  std::ifstream file(base + ".o", std::ios::binary);
  std::string object((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::remove((base + ".c").c_str());
  std::remove((base + ".o").c_str());
  rmdir(folder);
  return object;
}

// A kernel with one input A and one output B of `count` floats each, from the body of its function.
inline Module unary_module(const std::string& body, int64_t count, const std::string& before = "") {
  const std::string source = before +
                             "\nint kernel(void* const* buffers, const int64_t* sizes, void* workspace,"
                             " const LatheParallel* pool) {\n"
                             "  const float* A = buffers[0]; float* B = buffers[1];\n"
                             "  (void)A; (void)B; (void)sizes; (void)workspace; (void)pool;\n" +
                             body + "\n  return 0;\n}\n";
  return {.object = compile_c(source),
          .kernel_symbol = "kernel",
          .prepare_symbol = "",
          .buffers = {{"A", BufferRole::input, count * 4}, {"B", BufferRole::output, count * 4}},
          .workspace_bytes = 0,
          .threads = 1};
}

}  // namespace lathe
