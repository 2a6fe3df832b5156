#!/usr/bin/env python3
"""Damaged and hostile models end as their sender's error, and cost little.

Usage: hostile_test.py --bin DIR [--only SUBSTRING]
Each model of tests/models/hostile.py goes to foldc under a limit of address
space, and then to one foldd: the exit code has to be the expected one (3 for
what must be refused), the diagnostic has to name what is at fault, time and
memory stay bounded; afterwards the same server compiles a good model.
FOLD_SANITIZED=1 drops the limits, which sanitizers cannot bear.
"""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(os.path.dirname(HERE), "models")]
import hostile  # noqa: E402
from checks import Checks, run  # noqa: E402
from foldd_process import Foldd  # noqa: E402

LIMIT_CPU_SECONDS = 10  # processor time, so that a busy machine may be slow
LIMIT_SECONDS = 60
ADDRESS_SPACE = 4 << 30
PEAK_KIB = 1 << 20
SANITIZED = os.environ.get("FOLD_SANITIZED") == "1"


def fault_of(case, done, path):
    """What is wrong with how the compile of a hostile model ended."""
    said = done.text.replace(path, "").replace(os.path.basename(path), "")
    tail = f": {said.strip()[-200:]}"
    if done.code == 124:
        return f"still running after {LIMIT_SECONDS} s"
    if done.code not in case.codes:
        return f"exit {done.code}, not {case.codes}{tail}"
    if not SANITIZED and done.cpu_seconds > LIMIT_CPU_SECONDS:
        return f"took {done.cpu_seconds:.1f} s of processor time"
    if not SANITIZED and done.peak_kib > PEAK_KIB:
        return f"took {done.peak_kib} KiB"
    if done.code == 3:
        words = [w for w in case.words if w]
        if words and not any(w.lower() in said.lower() for w in words):
            return f"names none of {words}{tail}"
        if not said.strip():
            return "exit 3 without a diagnostic"
    return ""


def check_all(checks, cases, folder, tool, command):
    for case, path in cases:
        artifact = os.path.join(folder, "out.fold")
        done = run(command(path) + ["--target", "x86-64", "-o", artifact],
                   3 * LIMIT_SECONDS if SANITIZED else LIMIT_SECONDS,
                   address_space=None if SANITIZED else ADDRESS_SPACE)
        fault = fault_of(case, done, path)
        if not fault and done.code == 3 and os.path.exists(artifact):
            fault = "refused, and wrote an artifact all the same"
        if os.path.exists(artifact):
            os.remove(artifact)
        checks.check(f"{tool} {case.name}", fault)


def check_full_disk(checks, foldc, model):
    """What cannot be written is no result, and the exit code says why."""
    compile_it = [foldc, model, "--target", "x86-64", "-o"]
    place = model + ".fold"
    for name, code, line in (
            ("the artifact", 6, compile_it + ["/dev/full"]),
            ("the report", 6, compile_it + [place, "--report", "/dev/full"]),
            ("in no folder", 5, compile_it + [place + "/none"]),
            ("the dump", 6, ["sh", "-c", 'exec "$@" >/dev/full', "sh",
                             *compile_it, place, "--dump-after", "import"])):
        done = run(line)
        checks.equal(f"cannot be written: {name}", done.code, code)
        checks.equal(f"cannot be written: {name}: no artifact",
                     os.path.exists(place), False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_hostile_") as folder:
        cases = []
        for case in hostile.cases():
            if args.only not in case.name:
                continue
            path = os.path.join(folder, case.name + ".onnx")
            with open(path, "wb") as file:
                file.write(case.data)
            cases.append((case, path))
        foldc = os.path.join(args.bin, "foldc")
        check_all(checks, cases, folder, "foldc", lambda path: [foldc, path])
        foldctl = os.path.join(args.bin, "foldctl")
        good = os.path.join(folder, "good.onnx")
        with open(good, "wb") as file:
            file.write(hostile.good_model())
        check_full_disk(checks, foldc, good)
        with Foldd(args.bin) as server:
            check_all(checks, cases, folder, "foldd", lambda path: [
                foldctl, "compile", path, "--server", server.address])
            done = run([foldctl, "compile", good, "--server", server.address,
                        "--target", "x86-64", "-o",
                        os.path.join(folder, "good.fold")])
            checks.check("foldd still compiles", "" if done.code == 0 else
                         f"exit {done.code}: {done.text[-300:]}")
            checks.equal("foldd still runs", server.process.poll(), None)
            checks.equal("foldd drains", server.stop(), 0)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
