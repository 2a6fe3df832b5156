#!/usr/bin/env python3
"""Holds every C++ file against clang-format.

Usage: check_format.py [--root DIR] [--changed] [--fix]
  --changed   only files that differ from the last commit
  --fix       rewrite the files instead of complaining
Needs: clang-format 14.
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402


def check(root=tree.ROOT, only_changed=False):
    """(faults, number of files)."""
    chosen = tree.changed(root) if only_changed else tree.files(root)
    sources = [f for f in chosen if tree.is_cpp(f)]
    faults = []
    for path in sources:
        done = subprocess.run(
            ["clang-format", "--style=file", "--dry-run", "-Werror", path],
            cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            where = done.stderr.split("\n")[0].split(": error")[0]
            faults.append(f"{where or path}: not as clang-format writes it "
                          "(check_format.py --fix)")
    return faults, len(sources)


def fix(root, only_changed):
    chosen = tree.changed(root) if only_changed else tree.files(root)
    sources = [f for f in chosen if tree.is_cpp(f)]
    if sources:
        subprocess.run(["clang-format", "--style=file", "-i", *sources],
                       cwd=root, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    parser.add_argument("--changed", action="store_true")
    parser.add_argument("--fix", action="store_true")
    args = parser.parse_args()
    if args.fix:
        fix(args.root, args.changed)
    faults, seen = check(args.root, args.changed)
    return tree.report("format", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
