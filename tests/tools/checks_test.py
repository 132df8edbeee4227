"""The checks of tools/ must fail where they should: each is run over a small tree with one fault."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
RULES = "base:\nexpr: base\nsearch: base expr/one.h\ncli: expr\nborrowed <llvm/>: expr/llvm\n" \
    "words \\bvax|pdp\\d+: expr/vax expr/all.cpp\n"


def new_file(name: str) -> str:
    return f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+int a;\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("src/layers.txt", RULES)

    def write(self, name: str, text: str):
        path = Path(self.folder.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, tool: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, TOOLS / tool, self.folder.name], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout


class NamesTest(Tree):
    def test_a_type_of_one_name_in_two_files(self):
        self.write("src/expr/a.h", "namespace lathe {\nstruct Nest {\n};\n}  // namespace lathe\n")
        self.write("src/search/b.cpp", "namespace lathe {\nnamespace {\nstruct Nest {\n};\n}  // namespace\n"
                   "}  // namespace lathe\n")
        self.assertEqual(self.check("check_names.py")[0], 0)
        self.write("src/search/c.cpp", "namespace lathe {\nclass Nest final {\n};\n}  // namespace lathe\n")
        status, printed = self.check("check_names.py")
        self.assertEqual(status, 1)
        self.assertIn("Nest is defined in src/expr/a.h, src/search/c.cpp", printed)


class DocsTest(Tree):
    def assert_fault(self, text: str, fault: str):
        self.write("docs/a.md", text)
        status, printed = self.check("check_docs.py")
        self.assertEqual(status, 1, printed)
        self.assertIn(fault, printed)

    def test_what_is_there_passes(self):
        self.write("src/tune/finals.h", "")
        self.write("docs/notes/b.md", "# One two, three\n")
        self.write("docs/a.md", "# A\n`tune/finals.h`, [b](notes/b.md#one-two-three), [a](#a), [x](https://x.y/z)\n"
                   "`<name>/a.h`, `NAME/a.h`, `build/x.h`, `a / b`\n```\n[no](link.md) `no/file.h`\n```\n")
        status, printed = self.check("check_docs.py")
        self.assertEqual((status, printed), (0, "documents: 2, 0 faults\n"))

    def test_a_link_to_nothing(self):
        self.assert_fault("# A\n[b](b.md)\n", "docs/a.md:2: the link to b.md leads nowhere")

    def test_a_heading_that_is_not_there(self):
        self.assert_fault("# A\n[b](#b)\n", "docs/a.md:2: docs/a.md has no heading #b")

    def test_a_file_that_is_not_there(self):
        self.assert_fault("see `tune/gone.h`\n", "docs/a.md:1: there is no tune/gone.h")

    def test_a_comment_that_names_a_file(self):
        self.write("src/tune/finals.h", "// See tune/finals.h, a/<name>.h and\n#include \"no/include.h\"\nint a;  // tune/gone.h\n")
        status, printed = self.check("check_docs.py")
        self.assertEqual((status, printed), (1, "src/tune/finals.h:3: there is no tune/gone.h\ndocuments: 0, 1 faults\n"))

    def test_a_long_paragraph_of_a_map(self):
        self.write("docs/architecture.md", "a" * 601 + "\n")
        status, printed = self.check("check_docs.py")
        self.assertEqual(status, 1)
        self.assertIn("docs/architecture.md:1: a paragraph of 601 characters, at most 600", printed)


class ComparisonTest(Tree):
    def test_counted_cells_are_filled(self):
        self.write("src/base/a.h", "// What it promises.\nint one();\n\nint two();\n")
        self.write("src/base/a.cpp", '#include "base/a.h"\nint one() {\n  return 1;\n}\n')
        self.write("tests/base/a_test.cpp", "one\ntwo\n")
        self.write("README.md", "# A\n$ a\n")
        rows = "".join(f"| {i} | point | others | old | tool |\n" for i in (1, 2, 3, 4, 6, 8, 9))
        self.write("docs/comparison.md", rows)
        self.assertEqual(self.check("fill_comparison.py"), (0, ""))
        filled = (Path(self.folder.name) / "docs/comparison.md").read_text().splitlines()
        self.assertIn("| 4 | point | others | old | tool |", filled)
        self.assertIn("| 8 | point | others | 50 % of 2; every header says what it promises | tool |", filled)
        self.assertIn("| 9 | point | others | the first command stands on line 2 of the README and runs the product | tool |",
                      filled)
        self.assertEqual(sum("old" in line for line in filled), 1)


class LayersTest(Tree):
    def assert_fault(self, name: str, line: str, fault: str):
        self.write(name, "// head\n" + line + "\n")
        status, printed = self.check("check_layers.py")
        self.assertEqual(status, 1)
        self.assertIn(f"{name}:2: {fault}", printed)

    def test_downward_includes_pass(self):
        self.write("src/expr/a.cpp", '#include <vector>\n#include "base/b.h"\n#include "expr/a.h"\n')
        self.write("src/expr/llvm/a.cpp", "#include <llvm/IR/Module.h>\n")
        self.write("src/search/a.cpp", '#include "expr/one.h"\n')
        self.write("cli/a.cpp", '#include "command.h"\n#include "expr/a.h"\n')
        self.assertEqual(self.check("check_layers.py")[0], 0)

    def test_upward_include(self):
        self.assert_fault("src/base/a.h", '#include "expr/a.h"', 'base may not include "expr/a.h"')

    def test_another_header_of_a_folder_that_gives_one(self):
        self.assert_fault("src/search/a.h", '#  include "expr/two.h"', 'search may not include "expr/two.h"')

    def test_borrowed_header_outside_its_folder(self):
        self.assert_fault("src/expr/a.h", "#include <llvm/IR/Module.h>", "<llvm/IR/Module.h> belongs to expr/llvm")
        self.assert_fault("cli/b.cpp", "#include <llvm/IR/Module.h>", "<llvm/IR/Module.h> belongs to expr/llvm")

    def test_include_that_does_not_name_its_layer(self):
        self.assert_fault("src/expr/a.h", '#include "b.h"', '"b.h" is not written from the include root')

    def test_test_that_a_preset_of_some_layers_could_not_link(self):
        self.write("CMakePresets.json", '{"configurePresets": [{"name": "all"},'
                   ' {"name": "some", "cacheVariables": {"LATHE_LAYERS": "base;search"}},'
                   ' {"name": "untested", "cacheVariables": {"LATHE_LAYERS": "expr"}}],'
                   ' "testPresets": [{"name": "all"}, {"name": "some", "configurePreset": "some"}]}')
        self.write("tests/expr/a_test.cpp", '#include "expr/a.h"\n')
        self.write("tests/search/a_test.cpp", '#include "base/b.h"\n#include "helper.h"\n#include <expr/a.h>\n')
        self.assertEqual(self.check("check_layers.py")[0], 0)
        self.assert_fault("tests/base/b_test.cpp", '#include "expr/a.h"',
                          'preset some builds this test, but not "expr/a.h"')

    def test_word_outside_of_its_places(self):
        self.write("src/expr/vax/a.h", "int vax;\n")
        self.write("src/expr/all.cpp", "// the VAX and the PDP11\n")
        self.write("src/expr/a.h", "// convax, PDP\n")
        self.assertEqual(self.check("check_layers.py")[0], 0)
        self.assert_fault("src/expr/b.h", "// as on the Vax", "the word 'Vax' belongs to expr/vax, expr/all.cpp alone")
        self.assert_fault("cli/c.cpp", "int pdp11_words;", "the word 'pdp11' belongs to expr/vax, expr/all.cpp alone")

    def test_word_in_the_name_of_a_file(self):
        self.write("src/expr/vax.h", "")
        status, printed = self.check("check_layers.py")
        self.assertEqual(status, 1)
        self.assertIn("src/expr/vax.h:0: the word 'vax' belongs to", printed)

    def test_folder_without_a_rule(self):
        self.write("src/other/a.h", "")
        self.assertEqual(self.check("check_layers.py")[0], 1)

    def test_rules_that_allow_a_cycle(self):
        self.write("src/layers.txt", "base: expr\nexpr: base\n")
        status, printed = self.check("check_layers.py")
        self.assertEqual(status, 1)
        self.assertIn("allows the cycle base -> expr -> base", printed)


class SizesTest(Tree):
    def test_limits_hold_exactly(self):
        body = "  f();\n"
        self.write("src/base/a.cpp", "namespace a {\nvoid g() {\n" + body * 58 + "}\n}\n" + "\n" * 430)
        self.assertEqual(self.check("check_sizes.py")[0], 0)
        self.write("src/base/a.cpp", "namespace a {\nvoid g() {\n" + body * 59 + "}\n}\n")
        status, printed = self.check("check_sizes.py")
        self.assertEqual(status, 1)
        self.assertIn("src/base/a.cpp:2: a function of 61 lines", printed)

    def test_long_file(self):
        self.write("src/base/a.h", "\n" * 501)
        self.assertIn("src/base/a.h: 501 lines", self.check("check_sizes.py")[1])

    def test_shapes_of_functions(self):
        text = (
            "template <class T, int N = (1)>\nclass A : B<int> {\n public:\n"
            "  A() : a_{1}, b_(2) {\n    f();\n  }\n"
            "  auto g(int x = 1) const -> int { return '{'; }\n"
            "  int values_[2] = {1, 2};\n  // not a brace {\n};\n"
            'const char* kText = R"({{)";\n'
            "enum class E { a, b };\n"
            "bool operator==(const A&, const A&) noexcept {\n  return [] { return true; }();\n}\n")
        self.write("src/base/a.h", text)
        self.assertIn("code: 3 functions, median 3, p90 3, p99 3, longest 3", self.check("check_sizes.py")[1])


class TestsTest(Tree):
    def setUp(self):
        super().setUp()
        self.write("src/lower/a/known.cpp", "int f() {\n  return 1;\n}\n")
        self.write("tests/lower/a/known_test.cpp", "TEST(Known, Is) {}\n")

    def assert_fault(self, fault: str):
        status, printed = self.check("check_tests.py")
        self.assertEqual(status, 1)
        self.assertIn(fault, printed)

    def test_a_source_with_its_test(self):
        self.write("src/lower/a/known.h", "int f();\n")
        self.write("src/lower/passes.h", "struct Pass {\n  int (*run)(int);\n};\n")
        self.write("src/other/b.cpp", "int g() {\n  return 1;\n}\n")
        self.assertEqual(self.check("check_tests.py")[0], 0)

    def test_a_source_without_one(self):
        self.write("src/space/b.cpp", "")
        self.assert_fault("src/space/b.cpp has no tests/space/b_test.cpp")

    def test_a_header_with_code_of_its_own(self):
        self.write("src/codegen/c.h", "inline int f() {\n  return 1;\n}\n")
        self.assert_fault("src/codegen/c.h has no tests/codegen/c_test.cpp")

    def test_a_test_file_without_tests(self):
        self.write("tests/lower/a/known_test.cpp", "// TEST(Known, Is)\n")
        self.assert_fault("tests/lower/a/known_test.cpp has no test in it")


class TouchesTest(Tree):
    def setUp(self):
        super().setUp()
        self.write("src/cost/all.cpp", "one\ntwo\nthree\n")
        self.write("src/expr/type.h", "one\n")
        for kind in ("primitive", "lowering_pass", "search_strategy", "space_kind", "backend", "device", "evaluator",
                     "intrinsic"):
            self.sample(kind, new_file(f"src/{kind}.cpp"))
        self.sample("cost_model", new_file("src/cost/mean.cpp") + new_file("src/cost/mean.h") +
                    "--- a/src/cost/all.cpp\n+++ b/src/cost/all.cpp\n@@ -2,2 +2,3 @@\n two\n+more\n three\n")
        self.sample("element_type", "--- a/src/expr/type.h\n+++ b/src/expr/type.h\n@@ -1 +1 @@\n-one\n+two\n")

    def sample(self, kind: str, patch: str):
        self.write(f"tests/touches/{kind}.patch", patch)

    def count(self) -> tuple[int, str]:
        done = subprocess.run([sys.executable, TOOLS / "count_touches.py", "none", "--no-compile", "--root",
                               self.folder.name], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_a_file_and_its_header_are_one(self):
        status, printed = self.count()
        self.assertIn("cost_model: 2 of at most 2", printed)
        self.assertEqual(status, 0, printed)

    def test_more_than_the_bound(self):
        self.sample("element_type", new_file("src/a.cpp") + new_file("src/b.cpp"))
        status, printed = self.count()
        self.assertEqual(status, 1)
        self.assertIn("element_type: a new one touches 2 files, the bound is 1", printed)

    def test_a_sample_that_no_longer_applies(self):
        self.write("src/expr/type.h", "three\n")
        status, printed = self.count()
        self.assertEqual(status, 1)
        self.assertIn("element_type: the sample does not apply", printed)

    def test_samples_and_kinds_go_together(self):
        self.sample("operator", "")
        (Path(self.folder.name) / "tests/touches/backend.patch").unlink()
        status, printed = self.count()
        self.assertEqual(status, 1)
        self.assertIn("there is no sample for backend", printed)
        self.assertIn("operator.patch is a sample of no kind", printed)


class MutationsTest(unittest.TestCase):
    def test_a_table_that_no_longer_fits(self):
        sys.path.insert(0, str(TOOLS))
        import mutate
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "src").mkdir()
            (root / "tests").mkdir()
            (root / "src/a.cpp").write_text("one two two\n")
            (root / "tests/a_test.cpp").write_text("TEST_P(Suite, Name) {}\n")

            def faults(*fields: str) -> list[str]:
                return list(mutate.faults([mutate.Mutation(*fields)], root))
            self.assertEqual(faults("src/a.cpp", "one", "", "*/Suite.*"), [])
            self.assertEqual(faults("src/a.cpp", "two", "", "Suite.Name"), ["src/a.cpp: 2 times, not once: two"])
            self.assertEqual(faults("src/b.cpp", "one", "", "Suite.Name"), ["src/b.cpp: 0 times, not once: one"])
            self.assertEqual(faults("src/a.cpp", "one", "one", "Suite.*"), ["src/a.cpp: nothing changes: one"])
            self.assertEqual(faults("src/a.cpp", "one", "", "Suite.*:Other.*"), ["src/a.cpp: there is no test Other.*"])


if __name__ == "__main__":
    unittest.main()
