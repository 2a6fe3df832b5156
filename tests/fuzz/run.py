#!/usr/bin/env python3
"""Runs every libFuzzer program in a folder for a bounded time.

Usage: run.py --folder DIR [--seconds N] [--jobs N] [--only SUBSTRING]
Seeds are the files below tests/fuzz/corpus/<program> where that exists, and
the .fir files of the tree for programs whose names contain `text`. A crash,
leak or time-out is a failure; its input is kept in DIR/<program>.crash-….
"""
import argparse
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from checks import Checks  # noqa: E402

SLOWEST_INPUT_SECONDS = 10
MEMORY_MIB = 2048
# Where files are synced in no time.
MEMORY_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def programs(folder, only):
    return sorted(path for path in glob.glob(os.path.join(folder, "*"))
                  if os.access(path, os.X_OK) and os.path.isfile(path) and
                  only in os.path.basename(path))


def seed_files(name):
    seeds = glob.glob(os.path.join(HERE, "corpus", name, "*"))
    if "text" in name:
        for top in ("compiler", "tests"):
            seeds += glob.glob(os.path.join(ROOT, top, "**", "*.fir"),
                               recursive=True)
    return seeds


def fuzz(path, seconds):
    """What went wrong with one program, or an empty string."""
    name = os.path.basename(path)
    if not seed_files(name):
        return f"no seeds in corpus/{name}"
    with tempfile.TemporaryDirectory(prefix="fold_fuzz_",
                                     dir=MEMORY_FOLDER) as place:
        corpus, files = (os.path.join(place, x) for x in ("corpus", "files"))
        os.mkdir(corpus)
        os.mkdir(files)
        for number, seed in enumerate(seed_files(name)):
            shutil.copy(seed, os.path.join(corpus, f"seed_{number}"))
        done = subprocess.run(
            [path, corpus, f"-max_total_time={seconds}", "-seed=1",
             f"-timeout={SLOWEST_INPUT_SECONDS}",
             f"-rss_limit_mb={MEMORY_MIB}", f"-artifact_prefix={path}.",
             "-print_final_stats=1"], env=dict(os.environ, TMPDIR=files),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            timeout=4 * seconds + 120)
    text = done.stdout.decode(errors="replace")
    print(f"--- {name}\n{text[-2000:]}")
    return "" if done.returncode == 0 else text[-600:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    found = programs(args.folder, args.only)
    checks = Checks()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        faults = list(pool.map(lambda path: fuzz(path, args.seconds), found))
    for path, fault in zip(found, faults):
        checks.check(f"{os.path.basename(path)} for {args.seconds} s", fault)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
