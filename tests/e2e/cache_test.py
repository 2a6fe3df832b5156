#!/usr/bin/env python3
"""The second compile of the same thing comes from the cache, byte for byte.

Usage: cache_test.py --bin DIR
Checks reports and artifacts of repeated compiles on one server, 32 at once,
after a restart on the same data folder, and after kill -9 of the server
while it compiles; and that a damaged blob is never served.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from checks import Checks, read, run  # noqa: E402
from foldd_process import Foldd  # noqa: E402

MODEL = os.path.join(os.path.dirname(HERE), "models", "sample", "sample.onnx")
AT_ONCE = 32


class Client:
    def __init__(self, folder, tools):
        self.folder, self.tools, self.count = folder, tools, 0

    def command(self, server, batch):
        """(command, artifact, report) of one more compile."""
        self.count += 1
        out = os.path.join(self.folder, f"{self.count}.fold")
        return [os.path.join(self.tools, "foldctl"), "compile", MODEL,
                "--server", server.address, "--target", "x86-64", "--shape",
                f"image={batch},1,12,12", "-o", out, "--report",
                out + ".json"], out, out + ".json"

    def compile(self, server, batch=3):
        """(artifact's bytes, report) or (None, what was said)."""
        command, out, report = self.command(server, batch)
        done = run(command)
        if done.code != 0:
            return None, f"exit {done.code}: {done.text[-300:]}"
        with open(report, encoding="utf-8") as file:
            return read(out), json.load(file)


def compiles_run(server):
    """How many compiles really ran, by the server's own count."""
    with urllib.request.urlopen(f"http://{server.http}/metrics",
                                timeout=10) as page:
        lines = page.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if
               line.startswith("foldd_compile_duration_seconds_count"))


def cached(report):
    return isinstance(report, dict) and report.get("run", {}).get("cached")


def check_twice(checks, client, server):
    first, report = client.compile(server)
    if not checks.check("first compile", "" if first else str(report)):
        return None
    checks.equal("the first is not from the cache", bool(cached(report)), False)
    second, again = client.compile(server)
    checks.equal("the second is from the cache", bool(cached(again)), True)
    checks.check("the same bytes", "" if first == second else "other bytes")
    for side in (report, again):
        if isinstance(side, dict):
            side.pop("run", None)
    checks.equal("the same report but for `run`", again, report)
    checks.equal("one compile ran", compiles_run(server), 1)
    other, _ = client.compile(server, batch=4)
    checks.check("another shape is another artifact",
                 "" if other and other != first else "the same bytes")
    return first


def check_explain(checks, client, server):
    """The story of a model's nodes, from a report with sheets."""
    command, _, report = client.command(server, batch=5)
    done = run(command + ["--sheets"])
    if not checks.check("compiles with --sheets",
                        "" if done.code == 0 else done.text[-300:]):
        return
    with open(report, encoding="utf-8") as file:
        facts = json.load(file)
    explain = [os.path.join(client.tools, "foldctl"), "explain", "--report",
               report]
    wrong = []
    for node in facts["imported"]["nodes"]:
        for name in [node["name"]] + node["results"]:
            told = run(explain + [name])
            ends = ("in the artifact", "in the end", "gone: ")
            if told.code != 0 or not any(end in told.text for end in ends):
                wrong.append(name)
    for op in facts["ops"]:
        told = run(explain + [op["name"]])
        if told.code != 0 or "ONNX node" not in told.text:
            wrong.append(op["name"])
    checks.equal("every node, tensor and op has a story", wrong, [])
    name = facts["ops"][0]["name"]
    told = run(explain + [name + "x"])
    checks.equal("an unknown name: exit code", told.code, 3)
    checks.check("an unknown name: a near one", "" if
                 f"did you mean '{name}'" in told.text else told.text[-200:])


def check_at_once(checks, client, server):
    before = compiles_run(server)
    started = []
    for _ in range(AT_ONCE):
        command, out, _ = client.command(server, batch=17)
        started.append((subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL), out))
    codes = [process.wait(120) for process, _ in started]
    checks.equal(f"{AT_ONCE} at once: exit codes", set(codes), {0})
    results = {read(out) for _, out in started if os.path.exists(out)}
    checks.equal(f"{AT_ONCE} at once: different artifacts", len(results), 1)
    checks.equal(f"{AT_ONCE} at once: compiles", compiles_run(server) - before,
                 1)


def files_below(folder):
    return [os.path.join(place, name) for place, _, names in os.walk(folder)
            for name in names]


def check_restart(checks, args, client, data, wanted):
    with Foldd(args.bin, data=data) as server:
        got, report = client.compile(server)
        checks.equal("after a restart: from the cache", bool(cached(report)),
                     True)
        checks.check("after a restart: the same bytes",
                     "" if got == wanted else "other bytes")


def check_damage(checks, args, client, data, wanted):
    """Flips one byte in each large file of the store."""
    for path in files_below(data):
        if os.path.getsize(path) < 512 or path.endswith(".log"):
            continue
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 0x40]))
    with Foldd(args.bin, data=data) as server:
        got, report = client.compile(server)
        fault = "" if got == wanted else f"served {len(got or b'')} other bytes"
        if got is None:
            fault = f"did not recover: {report}"
        checks.check("a damaged store: recovers with the right bytes", fault)


def check_killed(checks, args, client, folder, wanted):
    data = os.path.join(folder, "killed")
    for round_ in range(4):
        with Foldd(args.bin, data=data) as server:
            command, _, _ = client.command(server, batch=3)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            time.sleep(0.01 + 0.04 * round_)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            code = process.wait(60)
            checks.check(f"kill -9 of foldd, round {round_}: its caller ends",
                         "" if code in (0, 6) else f"exit {code}")
        with Foldd(args.bin, data=data) as server:
            got, report = client.compile(server)
            checks.check(f"kill -9 of foldd, round {round_}: right bytes after",
                         "" if got == wanted else f"{str(report)[:200]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_cache_") as folder:
        data = os.path.join(folder, "data")
        client = Client(folder, args.bin)
        with Foldd(args.bin, data=data) as server:
            wanted = check_twice(checks, client, server)
            check_at_once(checks, client, server)
            check_explain(checks, client, server)
        if wanted:
            check_restart(checks, args, client, data, wanted)
            check_damage(checks, args, client, data, wanted)
            check_killed(checks, args, client, folder, wanted)
        shutil.rmtree(data, ignore_errors=True)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
