// What artifacts need of the system: by the versions of the symbols that their libraries refer to.
#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "artifact/artifact_fixture.h"
#include "base/read_file.h"
#include "graph/onnx/models.h"

namespace lathe {
namespace {

template <class Value>
Value value_at(const std::string& bytes, size_t offset) {
  Value value;
  EXPECT_LE(offset + sizeof value, bytes.size());
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::vector<Elf64_Shdr> sections_of(const std::string& bytes) {
  const auto head = value_at<Elf64_Ehdr>(bytes, 0);
  std::vector<Elf64_Shdr> sections;
  for (size_t i = 0; i < head.e_shnum; ++i)
    sections.push_back(value_at<Elf64_Shdr>(bytes, head.e_shoff + i * head.e_shentsize));
  return sections;
}

// "library: version" of each that the file needs.
std::set<std::string> needed_versions(const std::string& bytes) {
  std::set<std::string> versions;
  const std::vector<Elf64_Shdr> sections = sections_of(bytes);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_GNU_verneed) continue;
    const char* const names = bytes.data() + sections.at(section.sh_link).sh_offset;
    size_t library = section.sh_offset;
    for (size_t i = 0; i < section.sh_info; ++i) {
      const auto need = value_at<Elf64_Verneed>(bytes, library);
      size_t version = library + need.vn_aux;
      for (size_t k = 0; k < need.vn_cnt; ++k) {
        const auto entry = value_at<Elf64_Vernaux>(bytes, version);
        versions.insert(fmt::format("{}: {}", names + need.vn_file, names + entry.vna_name));
        version += entry.vna_next;
      }
      library += need.vn_next;
    }
  }
  return versions;
}

std::set<std::string> needed_libraries(const std::string& bytes) {
  std::set<std::string> libraries;
  const std::vector<Elf64_Shdr> sections = sections_of(bytes);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNAMIC) continue;
    const char* const names = bytes.data() + sections.at(section.sh_link).sh_offset;
    for (size_t offset = 0; offset < section.sh_size; offset += sizeof(Elf64_Dyn)) {
      const auto entry = value_at<Elf64_Dyn>(bytes, section.sh_offset + offset);
      if (entry.d_tag == DT_NEEDED) libraries.emplace(names + entry.d_un.d_val);
    }
  }
  return libraries;
}

// Every undefined symbol that is no weak one has a version: one without could be any library's.
size_t unversioned_symbols(const std::string& bytes) {
  size_t count = 0;
  const std::vector<Elf64_Shdr> sections = sections_of(bytes);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_GNU_versym) continue;
    const Elf64_Shdr& symbols = sections.at(section.sh_link);
    for (size_t i = 1; i < symbols.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = value_at<Elf64_Sym>(bytes, symbols.sh_offset + i * sizeof(Elf64_Sym));
      const auto version = value_at<Elf64_Half>(bytes, section.sh_offset + i * sizeof(Elf64_Half));
      count += symbol.st_shndx == SHN_UNDEF && version <= VER_NDX_GLOBAL;
    }
  }
  return count;
}

class SystemNeedsTest : public ArtifactTest {
 protected:
  // The versions are listed: a new one is looked up in glibc's history before it is added here.
  void check_needs(const char* what) const {
    SCOPED_TRACE(what);
    const std::string bytes = read_file(folder() + "/model.so").value();
    EXPECT_THAT(needed_libraries(bytes),
                ::testing::ElementsAre("ld-linux-x86-64.so.2", "libc.so.6", "libpthread.so.0"));
    EXPECT_THAT(needed_versions(bytes),
                ::testing::ElementsAre("ld-linux-x86-64.so.2: GLIBC_2.3", "libc.so.6: GLIBC_2.14",
                                       "libc.so.6: GLIBC_2.17", "libc.so.6: GLIBC_2.2.5",
                                       "libc.so.6: GLIBC_2.3.4", "libpthread.so.0: GLIBC_2.2.5"));
    EXPECT_EQ(unversioned_symbols(bytes), 0u);
  }
};

TEST_F(SystemNeedsTest, TheCLibraryOf2012IsEnough) {
  const auto workloads = parse_workloads(
      R"json([
        {"name": "mm", "op": "expression", "text": "C[i:19, j:21] = sum(r:17) A[i,r] * B[r,j]", "constants": ["B"]},
        {"name": "functions", "op": "expression", "text": "T[i:33] = exp(A[i]) + log(B[i]) + tanh(A[i]) + sqrt(B[i])"},
        {"name": "copy", "op": "expression", "text": "D[i:512, j:64] = A[i, j]"},
        {"name": "lookup", "op": "expression", "text": "input E[5, 2] input s[3] i32 O[i:3, d:2] = E[s[i], d]"}
      ])json",
      "test");
  ASSERT_TRUE(workloads.has_value()) << workloads.error().to_string();
  for (const Workload& workload : *workloads) {
    write(compile_operator(workload, options_));
    check_needs(workload.name.c_str());
  }
  OnnxModel onnx;
  onnx.input("x", {1, 3, 9, 9}).output("y").initializer("w", {8, 3, 3, 3});
  onnx.node("conv", "Conv", {"x", "w"}, "c").attribute("kernel_shape", {3, 3});
  onnx.node("relu", "Relu", {"c"}, "y");
  std::ofstream(folder("net.onnx"), std::ios::binary) << onnx.bytes();
  const auto network = load_network(folder("net.onnx"), {}, options_.target);
  ASSERT_TRUE(network.has_value()) << network.error().to_string();
  write(compile_network(*network, options_));
  check_needs("a network");
}

// Relative relocations that are packed need glibc 2.36.
TEST_F(SystemNeedsTest, ACompilerThatPacksRelocationsMakesNoOtherLibrary) {
  const auto workloads = parse_workloads(kMatmul, "test");
  const auto model = compile_operator(workloads->front(), options_);
  ASSERT_TRUE(model.has_value()) << model.error().to_string();
  const std::string compiler = folder("packing");
  std::ofstream(compiler) << "#!/bin/sh\nexec c++ -Wl,-z,pack-relative-relocs \"$@\"\n";
  std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
  const Status written = write_artifact(*model, folder(), {.compiler = compiler, .compiler_version = "test"});
  ASSERT_TRUE(written.has_value()) << written.error().to_string();
  check_needs("packed");
}

}  // namespace
}  // namespace lathe
