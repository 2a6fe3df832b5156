#!/usr/bin/env python3
"""Prints which tests prove which property, and fails where none does.

Usage: check.py [--root DIR]
properties.tsv has a row a property: its source, the property, its tests with
`; ` between them, and `open: WHY` where something is still to be shown. A test
is one of
  BINARY:Suite.Name            a GoogleTest of that program
  tests/…_test.py:CHECK        a check that a script makes, by its name
  tests/…/SCRIPT.sh:CHECK
  fuzz:PROGRAM                 a libFuzzer program
  stage:NAME                   a stage of tests/run.sh --full
Each must be in the sources. A property without a test and without a reason
fails. An open one is a warning and counts for nothing: neither passed nor
failed.
"""
import argparse
import ast
import os
import re
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(os.path.dirname(HERE), "e2e"),
             os.path.join(os.path.dirname(HERE), "lint")]
import tree  # noqa: E402
from checks import Checks, read  # noqa: E402

TABLE = "tests/properties/properties.tsv"
OPEN = "open: "
# Of a check's name that is put together: what must be written out of it.
FEWEST_LETTERS = 4
WIDTH = 78


class Row:
    def __init__(self, line, fields):
        self.line, self.source, self.text = line, fields[0], fields[1]
        self.tests = [t for t in fields[2].split("; ") if t]
        self.open = fields[3] if len(fields) > 3 else ""


def parse(text):
    """The rows of a table, and what is wrong with it."""
    rows, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        at = f"{TABLE}:{number}"
        if not 3 <= len(fields) <= 4 or not fields[0] or not fields[1]:
            faults.append(f"{at}: not source, property, tests[, {OPEN}why]")
            continue
        row = Row(number, fields)
        rows.append(row)
        if row.open and not row.open[len(OPEN):].strip() or (
                row.open and not row.open.startswith(OPEN)):
            faults.append(f"{at}: the last field is no '{OPEN}WHY'")
    return rows, faults


def source(root, path):
    return read(os.path.join(root, path)).decode(errors="replace")


def without_comments(text, mark):
    return re.sub(rf"{mark}[^\n]*", "", text)


def cmake_calls(text, function):
    """(name, sources) of each call, with loops over `name` unrolled."""
    text = without_comments(text, "#")
    loop = r"foreach\(name ([^)]*)\)(.*?)endforeach\(\)"

    def unroll(match):
        return "".join(match[2].replace("${name}", name)
                       for name in match[1].split())

    text = re.sub(loop, unroll, text, flags=re.S)
    for call in re.finditer(rf"\b{function}\(([^)]*)\)", text):
        words = call[1].split()
        sources = []
        if "SRCS" in words:
            for word in words[words.index("SRCS") + 1:]:
                if not word.endswith(".cc"):
                    break
                sources.append(word)
        yield words[0], sources


def python_checks(text):
    """Patterns of the names that a script gives to its checks."""
    patterns = []
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and node.args and
                isinstance(node.func, ast.Attribute) and
                node.func.attr in ("check", "equal")):
            continue
        name = node.args[0]
        parts = name.values if isinstance(name, ast.JoinedStr) else [name]
        words = [p.value if isinstance(p, ast.Constant) else None
                 for p in parts]
        written = "".join(w for w in words if isinstance(w, str))
        if len(re.sub(r"\W", "", written)) >= FEWEST_LETTERS:
            patterns.append("".join(".+" if w is None else re.escape(str(w))
                                    for w in words))
    return patterns


class Sources:
    """The tests that the repository has."""

    def __init__(self, root):
        self.root = root
        self.files = set(tree.files(root))
        self.gtests, self.fuzzers, self.scripts = {}, set(), {}
        self.stages = None
        for path in self.files:
            if os.path.basename(path) == "CMakeLists.txt" or (
                    path.endswith(".cmake")):
                self._read_cmake(path)

    def _read_cmake(self, path):
        text = source(self.root, path)
        folder = os.path.dirname(path)
        for name, sources in cmake_calls(text, "fold_cc_test"):
            cases = self.gtests.setdefault(name, set())
            for one in sources:
                cases |= self._cases(os.path.normpath(
                    os.path.join(folder, one)))
        for name, _ in cmake_calls(text, "fold_cc_fuzz"):
            self.fuzzers.add(name)

    def _cases(self, path):
        if path not in self.files:
            return set()
        text = without_comments(source(self.root, path), "//")
        found = re.findall(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", text)
        return {f"{suite}.{name}" for suite, name in found}

    def _script(self, path):
        if path not in self.scripts:
            text = source(self.root, path)
            self.scripts[path] = python_checks(text) if (
                path.endswith(".py")) else [
                    re.escape(name) for name in
                    re.findall(r'^\s*check "([^"$]+)"', text, flags=re.M)]
        return self.scripts[path]

    def _stages(self):
        if self.stages is None:
            self.stages = set()
            if "tests/run.sh" in self.files:
                self.stages |= set(subprocess.run(
                    ["bash", os.path.join(self.root, "tests/run.sh"), "--full",
                     "--list"], capture_output=True, text=True,
                    check=False).stdout.split())
        return self.stages

    def fault(self, test):
        """Why there is no such test, or an empty string."""
        where, colon, name = test.partition(":")
        if not colon or not name:
            return "is not PLACE:NAME"
        if where == "fuzz":
            return "" if name in self.fuzzers else "is no fuzz target"
        if where == "stage":
            return "" if name in self._stages() else "is no stage of run.sh"
        if "/" in where:
            if where not in self.files:
                return f"there is no file {where}"
            return "" if any(re.fullmatch(pattern, name) for pattern in
                             self._script(where)) else "is no check of it"
        if where not in self.gtests:
            return f"there is no test program {where}"
        return "" if name in self.gtests[where] else "is no test of it"


def check(root):
    """Faults of each row by its line, the rows, and faults of the table."""
    rows, faults = parse(source(root, TABLE))
    sources = Sources(root)
    by_line = {}
    for row in rows:
        found = [f"{test}: {why}" for test in row.tests
                 if (why := sources.fault(test))]
        if not row.tests and not row.open:
            found.append("no test, and no reason why")
        by_line[row.line] = found
    return by_line, rows, faults


def print_table(rows):
    """The table, its columns aligned."""
    column = max((len(row.source) for row in rows), default=0)
    for row in rows:
        left = textwrap.wrap(row.text, WIDTH)
        right = row.tests + ([row.open] if row.open else [])
        for at in range(max(len(left), len(right))):
            first = row.source if at == 0 else ""
            text = left[at] if at < len(left) else ""
            test = right[at] if at < len(right) else ""
            print(f"{first:{column}} | {text:{WIDTH}} | {test}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    root = parser.parse_args().root
    by_line, rows, faults = check(root)
    print_table(rows)
    checks = Checks()
    for fault in faults:
        checks.check("the table", fault)
    for row in rows:
        found = by_line[row.line]
        if row.open and not found:
            print(f"warning: {row.source}: {row.text}: {row.open}")
            continue
        checks.check(f"{row.source}: {row.text}", "; ".join(found))
    named = {test for row in rows for test in row.tests}
    print(f"{len(rows)} properties, {sum(bool(r.open) for r in rows)} open, "
          f"{len(named)} tests named")
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
