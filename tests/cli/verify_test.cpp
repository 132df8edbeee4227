// lathe verify, and the names of models.
#include <gtest/gtest.h>

#include <filesystem>

#include "artifact/manifest.h"
#include "cli/command_line.h"

namespace lathe {
namespace {

TEST_F(CliTest, VerifySaysWhetherAnArtifactIsWhole) {
  write_matmul();
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  const std::string folder = (folder_.path() / "o/mm").string();
  const auto manifest = read_manifest(folder);
  ASSERT_TRUE(manifest.has_value()) << manifest.error().to_string();
  const Outcome whole = lathe("verify o/mm");
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(whole.out, "mm: whole, build " + *manifest->build + "\n");
  std::string library = read_text(folder + "/model.so");
  library[library.size() / 2] ^= 1;
  write("o/mm/model.so", library);
  EXPECT_EQ(sentence("verify o/mm"),
            "lathe: " + std::filesystem::absolute(folder).string() +
                "/model.so: the library is damaged, or not the one that belongs to the manifest: its hash is "
                "another one");
  EXPECT_EQ(sentence("verify o"), "lathe: o: this is not an artifact, it has no manifest.json");
}

TEST_F(CliTest, AModelsFunctionsBearItsName) {
  write_matmul();
  const auto has = [&](const char* text) {
    return read_text(folder_.path() / "o/mm/model.h").find(text) != std::string::npos;
  };
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  EXPECT_TRUE(has("int lathe_mm_run("));
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o --name first").status, 0);
  EXPECT_TRUE(has("int lathe_first_run("));
  EXPECT_FALSE(has("lathe_mm_"));
  EXPECT_EQ(lathe("verify o/mm").status, 0);
  EXPECT_EQ(sentence("compile --workload w.json --out o --name a-b"),
            "lathe: --name: 'a-b' names no model: a name has letters, digits and underscores, at most 243");
  EXPECT_EQ(lathe("compile --workload w.json --cores 1 --out o --name " + std::string(243, 'n')).status, 0);
  EXPECT_EQ(sentence("compile --workload w.json --out o --name " + std::string(244, 'n')),
            "lathe: --name: '" + std::string(100, 'n') +
                " ..' names no model: a name has letters, digits and underscores, at most 243");
  write("two.json", R"([{"name": "a", "op": "expression", "text": "B[i:9] = A[i]"},
                        {"name": "b", "op": "expression", "text": "B[i:9] = A[i]"}])");
  for (const char* command : {"compile", "tune --trials 1"}) {
    EXPECT_EQ(sentence(std::string(command) + " --workload two.json --out o --name c"),
              "lathe: --name: one name is given, and 2 models are written");
  }
}

}  // namespace
}  // namespace lathe
