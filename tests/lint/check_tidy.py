#!/usr/bin/env python3
"""Runs clang-tidy on the C++ files that changed since the last commit.

Usage: check_tidy.py --build DIR [--all] [--limit-seconds N] [--jobs N]
  --build          a build folder with compile_commands.json
  --all            every file, not only the changed ones
  --limit-seconds  start no further file after so long; what was left out is
                   listed and is not a fault (default 240)
A file that was clean is not looked at again while all that it includes, its
command, .clang-tidy and clang-tidy are the same (DIR/tidy_clean has a mark for
each).
Needs: clang-tidy 14, ninja.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402

FINDING = re.compile(r"^(.*?):(\d+):\d+: (?:warning|error): (.*)$")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def parse_deps(text):
    """{object: [files]} of what `ninja -t deps` prints."""
    deps, files = {}, []
    for line in text.splitlines():
        if line.startswith(" "):
            files.append(line.strip())
        elif ": #deps" in line:
            files = deps[line.split(": #deps", 1)[0]] = []
    return deps


def output_of(command):
    """The object of an entry of compile_commands.json: a field of it with
    newer CMake; Debian 12's has it only in the command."""
    if "output" in command:
        return command["output"]
    words = shlex.split(command["command"])
    return words[words.index("-o") + 1] if "-o" in words else ""


class Marks:
    """Which files were clean, by all that the verdict depends on."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.folder = os.path.join(build, "tidy_clean")
        os.makedirs(self.folder, exist_ok=True)
        with open(os.path.join(build, "compile_commands.json"),
                  encoding="utf-8") as file:
            self.commands = {
                os.path.realpath(os.path.join(c["directory"], c["file"])): c
                for c in json.load(file)}
        done = subprocess.run(["ninja", "-C", build, "-t", "deps"],
                              capture_output=True, text=True, check=False)
        self.deps = parse_deps(done.stdout)
        self.version = subprocess.run(["clang-tidy", "--version"],
                                      capture_output=True, check=False).stdout
        self.hashes = {}

    def content(self, path):
        """Of our own files their bytes, of others their size and age."""
        if path not in self.hashes:
            ours = path.startswith(os.path.join(self.root, "")) and \
                not path.startswith(os.path.join(self.build, ""))
            stat = os.stat(path)
            self.hashes[path] = hashlib.sha256(read(path)).hexdigest() \
                if ours else f"{stat.st_size} {stat.st_mtime_ns}"
        return self.hashes[path]

    def mark(self, path):
        """The place of a file's mark; None where its includes are unknown."""
        source = os.path.realpath(os.path.join(self.root, path))
        command = self.commands[source]
        files = self.deps.get(output_of(command))
        if not files:
            return None
        key = hashlib.sha256(command["command"].encode())
        key.update(self.version)
        key.update(read(os.path.join(self.root, ".clang-tidy")))
        key.update(read(os.path.abspath(__file__)))
        for name in sorted({source, *files}):
            name = os.path.normpath(os.path.join(self.build, name))
            try:
                key.update(f"{name} {self.content(name)}\n".encode())
            except OSError:
                return None
        return os.path.join(self.folder, key.hexdigest())


def tidy(root, marks, path, deadline):
    """Faults of one file, or None where time was up."""
    mark = marks.mark(path)
    if mark and os.path.exists(mark):
        return []
    if time.monotonic() > deadline:
        return None
    build = marks.build
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
    if mark and not faults:
        with open(mark, "w", encoding="utf-8"):
            pass
    return faults


def check(root, build, everything, limit_seconds, jobs):
    """(faults, files looked at, files left out)."""
    marks = Marks(root, build)
    chosen = tree.files(root) if everything else tree.changed(root)
    sources = [f for f in chosen if f.endswith(".cc") and
               os.path.realpath(os.path.join(root, f)) in marks.commands]
    deadline = time.monotonic() + limit_seconds
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(
            lambda path: tidy(root, marks, path, deadline), sources))
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
    faults, seen, left = check(
        os.path.realpath(args.root), os.path.realpath(args.build), args.all,
        args.limit_seconds, args.jobs)
    if left:
        print(f"tidy: {len(left)} files not looked at within "
              f"{args.limit_seconds:.0f} s: {' '.join(left[:5])} …")
    return tree.report("tidy", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
