#!/usr/bin/env python3
"""Holds files and functions to their sizes.

Usage: check_sizes.py [--root DIR]
  files      warn above 500 lines, fail above 800 (C++, Python, shell, CMake)
  functions  fail above 100 lines (C++ and Python, counted by lizard)
size_exceptions.txt lists what is larger, `path[:function]  lines  reason`.
The list may only shrink: a row must state the present size exactly, and no
row may be new or larger than in the last commit.  Needs: lizard.
"""
import argparse
import os
import sys

import lizard

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402

TABLE = "tests/lint/size_exceptions.txt"
FILE_WARN, FILE_MOST, FUNCTION_MOST = 500, 800, 100
MEASURED = tree.CPP + (".py", ".sh", ".cmake", ".inc", ".proto")


def sizes(root, paths):
    """({file or file:function: lines above the hard limit}, warnings)."""
    large, warnings = {}, []
    for path in paths:
        lines = tree.read(root, path).count("\n")
        if lines > FILE_MOST:
            large[path] = lines
        elif lines > FILE_WARN:
            warnings.append(f"{path}: {lines} lines: look for its second idea")
        if not path.endswith(tree.CPP + (".py",)):
            continue
        for function in lizard.analyze_file(
                os.path.join(root, path)).function_list:
            length = function.end_line - function.start_line + 1
            if length > FUNCTION_MOST:
                key = f"{path}:{function.name}"
                large[key] = max(length, large.get(key, 0))
    return large, warnings


def exceptions(rows):
    return {row[0]: int(row[1]) for row in rows}


def growth(root, now):
    """What the list has that the last commit's list had not."""
    if tree.git(root, "rev-parse", "--verify", "-q", "HEAD") is None:
        return []
    lines = tree.git(root, "show", f"HEAD:{TABLE}")
    if lines is None:
        return []
    rows = [line.split("#")[0].split() for line in lines]
    before = exceptions([row for row in rows if row])
    return [f"{TABLE}: {key} grew from {before.get(key, 0)} to {size} lines: "
            "the list may only shrink"
            for key, size in now.items() if size > before.get(key, 0)]


def check(root=tree.ROOT):
    """(faults, warnings, number of files)."""
    paths = [f for f in tree.files(root) if f.endswith(MEASURED)]
    large, warnings = sizes(root, paths)
    allowed = exceptions(tree.rows(root, TABLE))
    faults = growth(root, allowed)
    for key, lines in sorted(large.items()):
        most = FUNCTION_MOST if ":" in key else FILE_MOST
        if key not in allowed:
            faults.append(f"{key}: {lines} lines, more than {most}")
        elif allowed[key] < lines:
            faults.append(f"{key}: {lines} lines, its exception allows "
                          f"{allowed[key]}")
    for key, size in sorted(allowed.items()):
        if large.get(key, 0) < size:
            now = large.get(key)
            faults.append(f"{TABLE}: {key} is {now or 'small enough'} now: "
                          + ("write that number" if now else "drop the row"))
    return faults, warnings, len(paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    faults, warnings, seen = check(parser.parse_args().root)
    for warning in warnings:
        print(f"sizes: warning: {warning}")
    return tree.report("sizes", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
