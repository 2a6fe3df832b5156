#!/usr/bin/env python3
"""Shows that check.py finds what is there and fails what is not."""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check  # noqa: E402

CMAKE = """
    fold_cc_library(server SRCS server.cc)
    foreach(name queue pool)
      fold_cc_test(${name}_test SRCS ${name}_test.cc DEPS server)
    endforeach()
    # fold_cc_test(gone_test SRCS queue_test.cc)
    fold_cc_test(two_test SRCS queue_test.cc
      pool_test.cc DEPS server)
    foreach(name names marks)
      fold_cc_fuzz(${name}_fuzz SRCS rpc/${name}_fuzz.cc DEPS server)
    endforeach()
"""
SCRIPT = """
    checks.equal("the same bytes", 1, 1)
    checks.check(f"{name}: exit codes", "")
    checks.check(f"{tool} {name}", "")
    print("nothing checks this")
"""


class Properties(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="fold_properties_")
        self.addCleanup(shutil.rmtree, self.root)
        self.write("server/CMakeLists.txt", CMAKE)
        self.write("server/queue_test.cc",
                   "TEST(Queue, IsBounded) {}\n// TEST(Queue, IsGone) {}\n"
                   "TEST_F(QueueTest,\n       HasAVeryLongName) {}\n")
        self.write("server/pool_test.cc", "TEST_P(Pool, Works) {}\n")
        self.write("tests/e2e/cache_test.py", SCRIPT)
        self.write("tests/e2e/container.sh", 'check "drains" test 1\n')
        self.write("tests/run.sh", 'echo "ctest $*"\n')

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))

    def faults(self, tests, why=""):
        row = "point 1\tsomething holds\t" + tests
        self.write(check.TABLE, row + (f"\t{why}" if why else "") + "\n")
        by_line, _, faults = check.check(self.root)
        return faults + [f for found in by_line.values() for f in found]

    def test_finds_what_is_there(self):
        for test in ("queue_test:Queue.IsBounded", "pool_test:Pool.Works",
                     "queue_test:QueueTest.HasAVeryLongName",
                     "two_test:Pool.Works", "fuzz:names_fuzz",
                     "tests/e2e/cache_test.py:the same bytes",
                     "tests/e2e/cache_test.py:32 at once: exit codes",
                     "tests/e2e/container.sh:drains", "stage:ctest",
                     "fuzz:marks_fuzz; pool_test:Pool.Works"):
            self.assertEqual(self.faults(test), [], test)

    def test_fails_what_is_not(self):
        for test in ("queue_test:Queue.IsGone", "queue_test:Pool.Works",
                     "gone_test:Queue.IsBounded", "fuzz:other_fuzz",
                     "tests/e2e/cache_test.py:other bytes",
                     "tests/e2e/cache_test.py:nothing checks this",
                     "tests/e2e/cache_test.py:foldc anything",
                     "tests/e2e/container.sh:starts", "stage:soak",
                     "tests/e2e/none_test.py:the same bytes",
                     "queue_test", "queue_test:", "two_test:Pool.W"):
            self.assertEqual(len(self.faults(test)), 1, test)

    def test_no_test_needs_a_reason(self):
        self.assertEqual(len(self.faults("")), 1)
        self.assertEqual(self.faults("", "open: nobody has written it"), [])
        self.assertNotEqual(self.faults("", "open: "), [])
        self.assertNotEqual(self.faults("fuzz:names_fuzz", "later"), [])
        # A reason does not make a test that is not there.
        self.assertEqual(
            len(self.faults("fuzz:other_fuzz", "open: nobody")), 1)

    def test_a_row_has_its_fields(self):
        self.write(check.TABLE, "point 1\tsomething holds\n")
        self.assertEqual(len(check.check(self.root)[2]), 1)

    def run_program(self):
        return subprocess.run(
            [sys.executable, os.path.join(HERE, "check.py"), "--root",
             self.root], capture_output=True, text=True, check=False)

    def test_the_program_prints_the_table_and_counts(self):
        self.faults("fuzz:names_fuzz; pool_test:Pool.Works")
        done = self.run_program()
        self.assertEqual(done.returncode, 0)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"point 1 \| something holds +\| fuzz:")
        self.assertRegex(lines[1], r" +\| +\| pool_test:Pool.Works")
        self.assertEqual(lines[-1], "1 passed, 0 failed")
        self.faults("fuzz:other_fuzz")
        done = self.run_program()
        self.assertEqual(done.returncode, 1)
        self.assertIn("0 passed, 1 failed", done.stdout)

    def test_what_is_open_is_said_and_does_not_pass(self):
        self.faults("fuzz:names_fuzz", "open: the other half")
        done = self.run_program()
        self.assertIn("warning: point 1", done.stdout)
        self.assertIn("1 open", done.stdout)
        self.assertIn("0 passed, 0 failed", done.stdout)


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=0)
    ran, bad = program.result.testsRun, (len(program.result.failures) +
                                         len(program.result.errors))
    print(f"{ran - bad} passed, {bad} failed")
    sys.exit(1 if bad or not ran else 0)
