#!/usr/bin/env python3
"""Runs clang-tidy on the C++ files that changed since the last commit.

Usage: check_tidy.py --build DIR [--all] [--limit-seconds N] [--jobs N]
  --build          a build folder with compile_commands.json
  --all            every file, not only the changed ones
  --limit-seconds  start no further file after so long; what was left out is
                   listed and is not a fault (default 240)
Needs: clang-tidy 14.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402

FINDING = re.compile(r"^(.*?):(\d+):\d+: (?:warning|error): (.*)$")


def compiled(build):
    with open(os.path.join(build, "compile_commands.json"),
              encoding="utf-8") as file:
        return {os.path.realpath(os.path.join(c["directory"], c["file"]))
                for c in json.load(file)}


def tidy(root, build, path, deadline):
    """Faults of one file, or None where time was up."""
    if time.monotonic() > deadline:
        return None
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", build, "--extra-arg=-Wno-everything",
         os.path.join(root, path)],
        cwd=root, capture_output=True, text=True, check=False)
    faults = []
    for line in done.stdout.splitlines():
        match = FINDING.match(line)
        if match:
            where = os.path.relpath(os.path.join(root, match.group(1)),
                                    root)
            if where.startswith(("build/", "..")):
                continue  # generated, or not ours
            faults.append(f"{where}:{match.group(2)}: {match.group(3)}")
    if done.returncode != 0 and not faults and not done.stdout.strip():
        faults.append(f"{path}: clang-tidy failed: {done.stderr[-300:]}")
    return faults


def check(root, build, everything, limit_seconds, jobs):
    """(faults, files looked at, files left out)."""
    known = compiled(build)
    chosen = tree.files(root) if everything else tree.changed(root)
    sources = [f for f in chosen if f.endswith(".cc") and
               os.path.realpath(os.path.join(root, f)) in known]
    deadline = time.monotonic() + limit_seconds
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(
            lambda path: tidy(root, build, path, deadline), sources))
    faults = sorted({fault for found in results for fault in found or []})
    left = [path for path, found in zip(sources, results) if found is None]
    return faults, len(sources) - len(left), left


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    parser.add_argument("--build", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--limit-seconds", type=float, default=240)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    faults, seen, left = check(args.root, args.build, args.all,
                               args.limit_seconds, args.jobs)
    if left:
        print(f"tidy: {len(left)} files not looked at within "
              f"{args.limit_seconds:.0f} s: {' '.join(left[:5])} …")
    return tree.report("tidy", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
