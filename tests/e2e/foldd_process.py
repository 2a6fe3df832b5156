#!/usr/bin/env python3
"""A foldd of one's own on free loopback ports, for tests.

Usage: foldd_process.py --bin DIR [--workers N] -- COMMAND…
Starts foldd, waits until it is healthy, runs COMMAND with each @SERVER@
replaced by its address and @HTTP@ by that of its HTTP port, then ends foldd
with SIGTERM. Exits with COMMAND's code, or 1 where foldd did not end well.
"""
import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

START_SECONDS = 30
STOP_SECONDS = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Foldd:
    """`with Foldd(bin) as server: … server.address …`

    `scheme` and `probe` are for the probe that waits for it: of its address,
    and flags of `foldctl health`.
    """

    def __init__(self, folder, workers=2, data=None, flags=(),
                 environment=None, scheme="", probe=()):
        self.folder, self.environment = folder, environment
        self.scheme, self.probe = scheme, probe
        self.own_data = data is None
        self.data = data or tempfile.mkdtemp(prefix="fold_data_")
        self.address = f"127.0.0.1:{free_port()}"
        self.http = f"127.0.0.1:{free_port()}"
        self.command = [
            os.path.join(folder, "foldd"), "--listen", self.address, "--http",
            self.http, "--data", self.data, "--workers", str(workers), *flags]
        self.process = None

    def __enter__(self):
        self.log = tempfile.TemporaryFile(mode="w+", prefix="fold_log_")
        self.process = subprocess.Popen(
            self.command, stdout=self.log, stderr=subprocess.STDOUT,
            env=self.environment, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.healthy():
                return self
            time.sleep(0.05)
        text = self.text()
        self.stop()
        raise RuntimeError("foldd did not become healthy: " + text[-2000:])

    def healthy(self):
        done = subprocess.run(
            [os.path.join(self.folder, "foldctl"), "health", "--server",
             self.scheme + self.address, *self.probe], capture_output=True,
            check=False)
        return done.returncode == 0

    def text(self):
        """What foldd has printed so far."""
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        """Ends foldd with SIGTERM; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.own_data:
            shutil.rmtree(self.data, ignore_errors=True)
        return self.process.returncode

    def __exit__(self, *_):
        self.stop()
        self.log.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    with Foldd(args.bin, args.workers) as server:
        command = [word.replace("@SERVER@", server.address)
                   .replace("@HTTP@", server.http) for word in args.command]
        code = subprocess.run(command, check=False).returncode
        text, ended = server.text(), server.stop()
    if ended != 0:
        print(f"foldd ended with {ended}: {text[-2000:]}", file=sys.stderr)
    return code or (1 if ended else 0)


if __name__ == "__main__":
    sys.exit(main())
