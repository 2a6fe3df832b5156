#!/usr/bin/env python3
"""The same inputs give the same bytes, whatever the machine pretends to be.

Usage: determinism_test.py --bin DIR
Compiles one model again and again: with foldc, with foldc under a capped CPU
level and with libm's CPU variants switched off, in another folder, and with
foldd under one and four workers. Every artifact has to be the same. Then runs
it at each CPU level and with several threads: every output the same.
"""
import argparse
import os
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from checks import Checks, read, run  # noqa: E402
from foldd_process import Foldd  # noqa: E402

SAMPLE = os.path.join(os.path.dirname(HERE), "models", "sample")
MODEL = os.path.join(SAMPLE, "sample.onnx")
IMAGES = os.path.join(SAMPLE, "validation_images.npz")
SHAPE = ["--shape", "image=100,1,12,12"]
LEVELS = ("portable", "avx2", "avx512vnni")
TUNABLES = ("glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX512VL,-FMA4,"
            "-AVX_Fast_Unaligned_Load,-ERMS")


def environments():
    """(name, changes to the environment)"""
    yield "plain", {}
    yield "libm without variants", {"GLIBC_TUNABLES": TUNABLES}
    yield "another locale and zone", {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"}
    for level in LEVELS:
        yield f"CPU level {level}", {"FOLD_CPU_LEVEL": level}


def with_changes(changes):
    return {**os.environ, **changes}


def check_compiler(checks, folder, foldc):
    """Compiles in every environment; the path of an artifact."""
    first = None
    for number, (name, changes) in enumerate(environments()):
        # A folder of its own each time: no path may enter the bytes.
        place = os.path.join(folder, f"place_{number}" * (number + 1))
        os.makedirs(place)
        out = os.path.join(place, "sample.fold")
        done = run([foldc, MODEL, *SHAPE, "--target", "x86-64", "-o", out],
                   environment=with_changes(changes))
        if not checks.check(f"foldc, {name}: compiles", "" if done.code == 0
                            else f"exit {done.code}: {done.text[-300:]}"):
            continue
        first = first or out
        checks.check(f"foldc, {name}: same bytes",
                     "" if read(out) == read(first) else "other bytes")
    return first


def check_server(checks, args, folder, first):
    for workers in (1, 4):
        for name, changes in list(environments())[:2]:
            out = os.path.join(folder, "server.fold")
            what = f"foldd, {workers} workers, {name}"
            with Foldd(args.bin, workers,
                       environment=with_changes(changes)) as server:
                done = run([os.path.join(args.bin, "foldctl"), "compile",
                            MODEL, *SHAPE, "--server", server.address,
                            "--target", "x86-64", "-o", out])
            if checks.check(what, "" if done.code == 0 else
                            f"exit {done.code}: {done.text[-300:]}"):
                checks.check(f"{what}: foldc's bytes", "" if first and read(
                    out) == read(first) else "other bytes")


def check_runtime(checks, args, folder, artifact):
    wanted = None
    for name, changes in environments():
        out = os.path.join(folder, "out.npz")
        done = run([os.path.join(args.bin, "foldrun"), artifact, "--inputs",
                    IMAGES, "--outputs", out],
                   environment=with_changes(changes))
        if not checks.check(f"foldrun, {name}: runs", "" if done.code == 0
                            else f"exit {done.code}: {done.text[-300:]}"):
            continue
        got = dict(np.load(out))
        wanted = wanted or got
        same = got.keys() == wanted.keys() and all(
            np.array_equal(got[k], wanted[k]) for k in wanted)
        checks.check(f"foldrun, {name}: same outputs",
                     "" if same else "other outputs")
    labels = np.load(os.path.join(SAMPLE, "validation_labels.npz"))["label"]
    logits = next(iter(wanted.values())) if wanted else np.zeros((100, 10))
    right = int((logits.argmax(1) == labels).sum())
    checks.equal("foldrun: right digits of 100", right, 99)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_same_") as folder:
        first = check_compiler(checks, folder,
                               os.path.join(args.bin, "foldc"))
        check_server(checks, args, folder, first)
        if first:
            check_runtime(checks, args, folder, first)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
