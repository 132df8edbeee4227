// No command overwrites one file of its own with another.
#include <fmt/format.h>

#include "cli/command_line.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

class CheckApart : public CliTest {
 protected:
  void SetUp() override { write_matmul(); }

  std::string text(const char* name) const { return read_text(folder_.path() / name); }

  static std::string clash(const std::string& one, const std::string& other) {
    return "lathe: " + one + " and " + other + " name the same file, which would be overwritten";
  }
};

TEST_F(CheckApart, AReportIsNeitherTheRecordsNorTheWorkloadByWhateverPath) {
  write("r.db", "kept");
  fs::create_symlink("r.db", folder_.path() / "link");
  fs::create_hard_link(folder_.path() / "r.db", folder_.path() / "hard");
  fs::create_symlink("new.db", folder_.path() / "dangling");
  const std::string workload = text("w.json");
  for (const std::string command : {"tune --trials 1", "bench"}) {
    const std::string start = command + " --workload w.json --cores 1 ";
    for (const std::string path : {"r.db", "./r.db", "link", "hard"}) {
      EXPECT_EQ(sentence(fmt::format("{}--records r.db --json {}", start, path)),
                clash("--json " + path, "--records r.db"));
    }
    EXPECT_EQ(sentence(start + "--records new.db --json dangling"),
              clash("--json dangling", "--records new.db"));
    EXPECT_EQ(sentence(start + "--json lathe.db"), clash("--json lathe.db", "--records ./lathe.db"));
    EXPECT_EQ(sentence(start + "--json lathe.db-wal"),
              clash("--json lathe.db-wal", "--records ./lathe.db-wal"));
    EXPECT_EQ(sentence(start + "--records link --json r.db-wal"),
              clash("--json r.db-wal", "--records r.db-wal"));
    EXPECT_EQ(sentence(start + "--json w.json"), clash("--json w.json", "--workload w.json"));
  }
  EXPECT_EQ(text("r.db"), "kept");
  EXPECT_EQ(text("w.json"), workload);
  EXPECT_FALSE(fs::exists(folder_.path() / "new.db"));
  EXPECT_FALSE(fs::exists(folder_.path() / "lathe.db"));
}

TEST_F(CheckApart, AReportIsNotTheModel) {
  write("m.onnx", "kept");
  EXPECT_EQ(sentence("tune m.onnx --records r.db --json m.onnx"), clash("--json m.onnx", "MODEL m.onnx"));
  EXPECT_EQ(text("m.onnx"), "kept");
}

TEST_F(CheckApart, AnArtifactsFilesAreNoneOfTheOthers) {
  fs::create_directories(folder_.path() / "o/mm");
  write("o/weights.bin", "kept");
  EXPECT_EQ(sentence("tune --workload w.json --records r.db --out o --json o/mm/manifest.json"),
            clash("--json o/mm/manifest.json", "--out o/mm/manifest.json"));
  EXPECT_EQ(sentence("tune --workload w.json --records o/mm/model.so --out o"),
            clash("--out o/mm/model.so", "--records o/mm/model.so"));
  EXPECT_EQ(sentence("compile o/weights.bin --out o"), clash("--out o/weights.bin", "MODEL o/weights.bin"));
  fs::rename(folder_.path() / "w.json", folder_.path() / "o/mm/manifest.json");
  EXPECT_EQ(sentence("compile --workload o/mm/manifest.json --out o"),
            clash("--out o/mm/manifest.json", "--workload o/mm/manifest.json"));
  EXPECT_EQ(text("o/weights.bin"), "kept");
}

// Found before anything is measured or compiled.
TEST_F(CheckApart, AnArtifactTakesThePlaceOfArtifactsAlone) {
  fs::create_directories(folder_.path() / "o/mm");
  for (const char* command :
       {"tune --workload w.json --trials 1 --records r.db --out o", "compile --workload w.json --out o",
        "compile --workload w.json --out o --emit c"}) {
    for (const char* name : {"weights.bin", "model.h", "model.so", "manifest.json", "kernel0.c"}) {
      const std::string file = std::string("o/mm/") + name;
      write(file, R"({"name": "of a browser"})");
      EXPECT_EQ(sentence(command),
                "lathe: " + file +
                    ": the file is no artifact's, as no manifest.json of Lathe lies beside it, and "
                    "would be replaced: give another folder, or remove it");
      EXPECT_EQ(text(file.c_str()), R"({"name": "of a browser"})");
      fs::remove(folder_.path() / file);
    }
    fs::create_directories(folder_.path() / "o/mm/model.so");
    EXPECT_EQ(sentence(command), "lathe: o/mm/model.so: a folder is in the way of the artifact's file");
    fs::remove(folder_.path() / "o/mm/model.so");
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "r.db"));
  // A manifest of somebody else's does not make what lies beside it an artifact.
  write("o/mm/manifest.json", "{}");
  write("o/mm/kernel0.c", "mine");
  EXPECT_NE(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  EXPECT_EQ(text("o/mm/kernel0.c"), "mine");
  fs::remove_all(folder_.path() / "o");
  // An artifact gives way to the next.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
}

TEST_F(CheckApart, ARunsOutputIsNoneOfItsOtherFiles) {
  write_workload(R"({"name": "s", "op": "expression", "text": "C[i:5] = A[i] + 1.0  D[i:5] = A[i] * 2.0"})");
  ASSERT_EQ(lathe("compile --workload w.json --cores 1 --out o").status, 0);
  write_array("a.npy", DType::f32, {5});
  const std::string kept = text("a.npy");
  EXPECT_EQ(sentence("run o/s --input A=a.npy --output ./a.npy"), clash("--output ./a.npy", "--input a.npy"));
  EXPECT_EQ(sentence("run o/s --input a.npy --output o/s/weights.bin"),
            clash("--output o/s/weights.bin", "DIR o/s/weights.bin"));
  EXPECT_EQ(sentence("run o/s --input a.npy --output c.npy --output c.npy"),
            clash("--output c.npy", "--output c.npy"));
  EXPECT_EQ(text("a.npy"), kept);
  // A device keeps nothing that could be lost.
  EXPECT_EQ(lathe("run o/s --repeat 1 --input a.npy --output /dev/null --output /dev/null").status, 0);
}

}  // namespace
}  // namespace lathe
