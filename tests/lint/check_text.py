#!/usr/bin/env python3
"""Reads every text file for what must not be in it.

Usage: check_text.py [--root DIR]
  - tabs, trailing blanks, no newline at the end (not in Makefiles, .fir, LICENSE)
  - a do-not-submit mark
  - the host of a package registry, or a path of one developer's machine
  - an x.cc without x_test.cc beside it that untested.txt does not list
    (`pattern  test  reason`: the test that covers it instead, or -; a row
    without need is a fault). Operators and passes may
    have x.fir instead; a family of kernels has one test, named as its folder
Needs nothing but Python.
"""
import argparse
import fnmatch
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402

UNTESTED = "tests/lint/untested.txt"
TEXT = (".h", ".cc", ".c", ".inc", ".def", ".py", ".sh", ".md", ".txt",
        ".cmake", ".json", ".proto", ".fbs", ".yaml", ".yml", ".textproto",
        ".service", ".fir", ".tsv", ".toml", ".ld")
NAMES = ("Dockerfile", ".dockerignore", ".gitignore", ".clang-format",
         ".clang-tidy", "run")
GOLDEN_ROOMS = ("compiler/ops", "compiler/passes")
FAMILY_ROOMS = ("runtime/kernels",)
FREE_LAYOUT = (".fir",)

# Written in pieces, so that this file may pass its own check.
MARK = re.compile(r"DO[-_ ]?NOT[-_ ]?" + "SUBMIT")
HOSTS = re.compile("|".join((
    r"pypi\." + "org", r"pythonhosted\." + "org", r"crates\." + "io",
    r"registry\." + r"npmjs", r"proxy\.golang\." + "org",
    r"repo1?\.maven", r"deb\.debian\." + "org", r"security\.debian\." + "org",
    r"archive\." + "ubuntu")))
PATHS = re.compile(r"(?<![\w.$}/-])/" +
                   r"(?:(?:work|root|home/[a-z]+)(?![\w-])|tmp/\w)")


def is_text(path):
    return path.endswith(TEXT) or os.path.basename(path) in NAMES


def line_faults(path, number, line):
    where = f"{path}:{number}"
    if not path.endswith(FREE_LAYOUT):
        if "\t" in line and not path.endswith(".tsv"):
            yield f"{where}: a tab"
        if line != line.rstrip() and not path.endswith(".tsv"):
            yield f"{where}: blanks at the end of the line"
    if MARK.search(line):
        yield f"{where}: marked as not to be submitted"
    if HOSTS.search(line):
        yield f"{where}: names a package registry's host"
    if PATHS.search(line):
        yield f"{where}: a path of one machine: {PATHS.search(line).group()}"


def is_tested(path, present):
    """Whether what tests the C++ file `path` lies beside it."""
    stem, folder = path[:-3], os.path.dirname(path)
    if stem + "_test.cc" in present:
        return True
    if folder in GOLDEN_ROOMS:
        return stem + ".fir" in present
    return (os.path.dirname(folder) in FAMILY_ROOMS and
            f"{folder}/{os.path.basename(folder)}_test.cc" in present)


def test_faults(root, paths):
    present, rows = set(paths), tree.rows(root, UNTESTED)
    needed = [False] * len(rows)
    for path in paths:
        if (not path.endswith(".cc") or tree.is_test(path) or
                is_tested(path, present)):
            continue
        covering = [i for i, row in enumerate(rows)
                    if fnmatch.fnmatch(path, row[0])]
        for i in covering:
            needed[i] = True
        if not covering:
            yield (f"{path}: no {os.path.basename(path)[:-3]}_test.cc beside "
                   f"it, and not in {UNTESTED}")
    for row, used in zip(rows, needed):
        if not used:
            yield f"{UNTESTED}: {row[0]} needs no row (any more)"
        elif len(row) < 3:
            yield f"{UNTESTED}: {row[0]} gives no reason"
        elif row[1] != "-" and row[1] not in present:
            yield f"{UNTESTED}: {row[0]}: there is no {row[1]}"


def check(root=tree.ROOT):
    """(faults, number of files)."""
    everything = tree.files(root)
    faults, seen = [], 0
    for path in everything:
        if not is_text(path):
            continue
        seen += 1
        text = tree.read(root, path)
        for number, line in enumerate(text.split("\n"), 1):
            faults += line_faults(path, number, line)
        if text and not text.endswith("\n"):
            faults.append(f"{path}: no newline at the end")
    faults += test_faults(root, everything)
    return faults, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    faults, seen = check(parser.parse_args().root)
    return tree.report("text", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
