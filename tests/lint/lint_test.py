#!/usr/bin/env python3
"""Shows of every lint that it passes what is right and fails what is wrong."""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check_duplicates  # noqa: E402
import check_format  # noqa: E402
import check_layers  # noqa: E402
import check_sizes  # noqa: E402
import check_text  # noqa: E402
import check_tidy  # noqa: E402
import tree  # noqa: E402


class Tree(unittest.TestCase):
    """A scratch repository; files are written by their path in it."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fold_lint_")
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))

    def commit(self):
        for command in (["init", "-q"], ["add", "-A"],
                        ["-c", "user.name=t", "-c", "user.email=t@t",
                         "-c", "commit.gpgsign=false", "commit", "-qm", "t"]):
            subprocess.run(["git", "-C", self.root, *command], check=True)

    def assert_one(self, faults, *words):
        self.assertEqual(len(faults), 1, faults)
        for word in words:
            self.assertIn(word, faults[0])


class Layers(Tree):
    TABLE = """
        room base       @absl
        room ir         base
        room kernels    @simd
        room kernels/*  kernels/*.h @simd
        room passes     ir base
        room face.h     base/diagnostic.h
        testing ir      passes
        solo passes     pass.h
        group absl      absl/
        group simd      immintrin.h
        group testing   gtest/
        group os        unistd.h sys/
    """

    def faults(self, path, include):
        self.write(check_layers.TABLE, self.TABLE)
        self.write(path, f"#include {include}\n")
        return check_layers.check(self.root)[0]

    def test_allows_what_the_table_allows(self):
        for path, include in (
                ("ir/graph.cc", '"base/ids.h"'), ("ir/a.cc", '"ir/b/c.h"'),
                ("ir/graph.cc", "<vector>"), ("base/x.cc", '"absl/s.h"'),
                ("kernels/gemm/a.cc", "<immintrin.h>"),
                ("kernels/gemm/a.cc", '"kernels/parallel.h"'),
                ("kernels/gemm/a.cc", '"kernels/gemm/gemm.h"'),
                ("ir/graph_test.cc", "<gtest/gtest.h>"),
                ("ir/graph_test.cc", '"passes/fold.h"'),
                ("passes/fold_test.cc", '"passes/fold.h"'),
                ("passes/fold.cc", '"passes/pass.h"'),
                ("face.h", '"base/diagnostic.h"')):
            self.assertEqual(self.faults(path, include), [], (path, include))

    def test_an_arrow_backwards_names_both_ends_and_the_rule(self):
        self.assert_one(self.faults("base/ids.h", '"ir/graph.h"'),
                        "base/ids.h:1", "ir/graph.h", "room base",
                        "room ir", "it may: @absl")

    def test_an_include_between_siblings_that_are_rooms(self):
        self.assert_one(self.faults("kernels/gemm/a.cc", '"kernels/pool/p.h"'),
                        "kernels/gemm/a.cc", "kernels/*")

    def test_another_pass(self):
        self.assert_one(self.faults("passes/fold.cc", '"passes/fuse.h"'),
                        "no sibling")

    def test_a_room_of_one_file_is_not_its_folder(self):
        self.assert_one(self.faults("face.h", '"base/ids.h"'), "room face.h")

    def test_third_party_and_system_headers(self):
        self.assert_one(self.faults("ir/graph.cc", '"absl/s.h"'), "@absl")
        self.assert_one(self.faults("ir/graph.cc", "<sys/stat.h>"), "@os")

    def test_gtest_outside_a_test(self):
        self.assert_one(self.faults("ir/graph.cc", "<gtest/gtest.h>"),
                        "@testing")

    def test_what_only_a_test_may_include(self):
        self.assert_one(self.faults("ir/graph.cc", '"passes/fold.h"'),
                        "room passes")

    def test_a_header_of_tests(self):
        self.assertEqual(self.faults("ir/graph_test.cc", '"ir/test_graph.h"'),
                         [])
        self.assert_one(self.faults("ir/graph.cc", '"ir/test_graph.h"'),
                        "no test")

    def test_an_unknown_header_and_a_file_in_no_room(self):
        self.assert_one(self.faults("ir/graph.cc", "<boost/any.hpp>"),
                        "boost/any.hpp", "nor a known")
        os.remove(os.path.join(self.root, "ir/graph.cc"))
        self.assert_one(self.faults("attic/x.cc", "<vector>"), "no room")

    def test_a_table_with_an_unknown_group(self):
        self.write(check_layers.TABLE, "room base @absent\n")
        self.assert_one(check_layers.check(self.root)[0], "@absent")


class Sizes(Tree):
    def faults(self):
        return check_sizes.check(self.root)[0]

    def function(self, lines):
        return "int F() {\n" + "  G();\n" * (lines - 2) + "}\n"

    def test_limits_of_a_file(self):
        self.write("a.cc", "int x;\n" * 800)
        self.assertEqual(self.faults(), [])
        self.assertEqual(len(check_sizes.check(self.root)[1]), 1)
        self.write("a.cc", "int x;\n" * 801)
        self.assert_one(self.faults(), "a.cc", "801")

    def test_limits_of_a_function(self):
        self.write("a.cc", self.function(100))
        self.assertEqual(self.faults(), [])
        self.write("a.cc", self.function(101))
        self.assert_one(self.faults(), "a.cc:F", "101")

    def test_an_exception_states_the_size_exactly(self):
        self.write("a.cc", "int x;\n" * 900)
        self.write(check_sizes.TABLE, "a.cc 900 why\n")
        self.assertEqual(self.faults(), [])
        self.write(check_sizes.TABLE, "a.cc 899 why\n")
        self.assert_one(self.faults(), "allows 899")
        self.write(check_sizes.TABLE, "a.cc 901 why\n")
        self.assert_one(self.faults(), "900 now")
        self.write("a.cc", "int x;\n")
        self.assert_one(self.faults(), "drop the row")

    def test_exceptions_only_shrink(self):
        self.write("a.cc", "int x;\n" * 900)
        self.write(check_sizes.TABLE, "a.cc 900 why\n")
        self.commit()
        self.assertEqual(self.faults(), [])
        self.write("a.cc", "int x;\n" * 910)
        self.write(check_sizes.TABLE, "a.cc 910 why\n")
        self.assert_one(self.faults(), "only shrink")


class Format(Tree):
    def test_style(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("a.cc", "int F() { return 1; }\n")
        self.assertEqual(check_format.check(self.root)[0], [])
        self.write("a.cc", "int F()\n{ return  1; }\n")
        self.assert_one(check_format.check(self.root)[0], "a.cc:1")
        check_format.fix(self.root, False)
        self.assertEqual(check_format.check(self.root)[0], [])


class Duplicates(Tree):
    def body(self, name):
        steps = "".join(f"  if (a[{i}] > b) {{ c += a[{i}] * {name}(b); }}\n"
                        f"  while (b < {i}) b = Next{i}(c, b + a[{i}]);\n"
                        for i in range(14))
        return (f"int {name}(int* a, int b) {{\n  int c = 0;\n{steps}"
                "  return c;\n}\n")

    def test_the_same_code_twice(self):
        self.write("a.cc", self.body("First"))
        self.assertEqual(check_duplicates.check(self.root)[0], [])
        self.write("b.cc", self.body("Second"))
        self.assert_one(check_duplicates.check(self.root)[0], "a.cc", "b.cc")
        self.write(check_duplicates.TABLE, "b.cc a.cc on purpose\n")
        self.assertEqual(check_duplicates.check(self.root)[0], [])
        self.write("b.cc", "int x;\n")
        self.assert_one(check_duplicates.check(self.root)[0], "drop the row")


class Text(Tree):
    def faults(self, path, text):
        self.write(path, text)
        found = check_text.check(self.root)[0]
        os.remove(os.path.join(self.root, path))
        return found

    def test_clean_text(self):
        self.assertEqual(self.faults("a.md", "see build/work, a/root/b\n"), [])

    def test_each_fault(self):
        for text, word in (
                ("a\tb\n", "tab"), ("a \n", "blanks"), ("a", "newline"),
                ("DO NOT SUB" + "MIT\n", "submitted"),
                ("get it from py" + "pi.org\n", "registry"),
                ("cd /wo" + "rk/main\n", "path"),
                ("cat /ro" + "ot\n", "path"), ("/tm" + "p/x\n", "path")):
            self.assert_one(self.faults("a.md", text), "a.md", word)

    def test_a_source_without_a_test(self):
        self.assert_one(self.faults("a/x.cc", "int x;\n"), "x_test.cc")
        self.write("a/x_test.cc", "int y;\n")
        self.assertEqual(self.faults("a/x.cc", "int x;\n"), [])

    def test_goldens_and_families_count_as_tests(self):
        for path in ("compiler/passes/x.cc", "runtime/kernels/gemm/x.cc"):
            self.assert_one(self.faults(path, "int x;\n"), "x_test.cc")
        self.write("compiler/passes/x.fir", "fir 1 folded\n")
        self.write("runtime/kernels/gemm/gemm_test.cc", "int y;\n")
        for path in ("compiler/passes/x.cc", "runtime/kernels/gemm/x.cc"):
            self.assertEqual(self.faults(path, "int x;\n"), [])

    def test_excuses(self):
        self.write(check_text.UNTESTED, "a/*.cc  -  a thin main\n")
        self.assertEqual(self.faults("a/x.cc", "int x;\n"), [])
        self.assert_one(self.faults("a/x_test.cc", "int x;\n"), "no row")
        self.write(check_text.UNTESTED, "a/x.cc  -\n")
        self.assert_one(self.faults("a/x.cc", "int x;\n"), "no reason")
        self.write(check_text.UNTESTED, "a/x.cc  a/y_test.cc  through y\n")
        self.assert_one(self.faults("a/x.cc", "int x;\n"), "no a/y_test.cc")


class Tidy(Tree):
    def check(self, text, limit=60):
        self.write("a.cc", text)
        self.write(".clang-tidy", "Checks: '-*,bugprone-*'\n")
        self.write("build/compile_commands.json",
                   f'[{{"directory": "{self.root}", "file": "a.cc", '
                   '"command": "c++ -o a.o -c a.cc"}]')
        return check_tidy.check(self.root, os.path.join(self.root, "build"),
                                False, limit, 1)

    def test_finding(self):
        faults, seen, left = self.check("int F(int x) { return x; }\n")
        self.assertEqual((faults, seen, left), ([], 1, []))
        faults, _, _ = self.check(
            "int F(int x) { return sizeof(sizeof(x)); }\n")
        self.assert_one(faults, "a.cc:1", "bugprone-sizeof-expression")

    def test_time_limit_leaves_files_out_and_says_which(self):
        faults, seen, left = self.check("int x;\n", limit=-1)
        self.assertEqual((faults, seen, left), ([], 0, ["a.cc"]))

    def marks(self):
        marks = check_tidy.Marks(self.root, os.path.join(self.root, "build"))
        marks.deps = {"a.o": ["../a.cc", "../a.h"]}
        return marks

    def test_a_clean_file_is_remembered_with_what_it_includes(self):
        self.write("a.h", "int y;\n")
        self.check('#include "a.h"\n')
        marks = self.marks()
        mark = marks.mark("a.cc")
        self.assertEqual(check_tidy.tidy(self.root, marks, "a.cc", 1e18), [])
        self.assertTrue(os.path.exists(mark))
        self.assertEqual(self.marks().mark("a.cc"), mark)
        for path, text in (("a.h", "int z;\n"), ("a.cc", "int z;\n"),
                           (".clang-tidy", "Checks: '-*,misc-*'\n")):
            before = self.marks().mark("a.cc")
            self.write(path, text)
            self.assertNotEqual(self.marks().mark("a.cc"), before, path)
        marks.deps = {}
        self.assertIsNone(marks.mark("a.cc"))

    def test_a_file_with_a_finding_is_not_remembered(self):
        self.check("int F(int x) { return sizeof(sizeof(x)); }\n")
        self.write("a.h", "")
        marks = self.marks()
        self.assertEqual(
            len(check_tidy.tidy(self.root, marks, "a.cc", 1e18)), 1)
        self.assertFalse(os.path.exists(marks.mark("a.cc")))

    def test_what_ninja_says_of_includes(self):
        self.assertEqual(check_tidy.parse_deps(
            "a.o: #deps 2, deps mtime 1 (VALID)\n    ../a.cc\n    /u/a.h\n\n"
            "b.o: #deps 1, deps mtime 1 (STALE)\n    ../b.cc\n"),
            {"a.o": ["../a.cc", "/u/a.h"], "b.o": ["../b.cc"]})


class Changed(Tree):
    def commit_again(self):
        self.write("b.cc", "int u;\n")
        self.commit()

    def test_files_since_the_last_commit(self):
        self.write("a.cc", "int x;\n")
        self.write("b.cc", "int x;\n")
        self.commit()
        self.assertEqual(tree.changed(self.root), ["a.cc", "b.cc"])
        self.commit_again()
        self.assertEqual(tree.changed(self.root), ["b.cc"])
        self.write("b.cc", "int y;\n")
        self.write("c.cc", "int z;\n")
        self.assertEqual(tree.changed(self.root), ["b.cc", "c.cc"])


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=0)
    ran, bad = program.result.testsRun, (len(program.result.failures) +
                                         len(program.result.errors))
    print(f"{ran - bad} passed, {bad} failed")
    sys.exit(1 if bad or not ran else 0)
