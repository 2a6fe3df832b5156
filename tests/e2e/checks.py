"""What the end-to-end scripts share: named checks, and programs run bounded."""
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time


class Checks:
    """Counts named checks and prints a line for each."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, fault=""):
        """A check holds when `fault` is empty."""
        self.passed += not fault
        self.failed += bool(fault)
        print(f"{'FAIL' if fault else 'ok  '} {name}"
              f"{': ' if fault else ''}{fault or ''}", flush=True)
        return not fault

    def equal(self, name, got, wanted):
        return self.check(name, "" if got == wanted else
                          f"got {got!r}, wanted {wanted!r}")

    def close(self):
        """Prints the closing line; the script's exit code."""
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


class Done:
    """A finished program. `cpu_seconds` is its processor time, `peak_kib` its
    largest resident set."""

    def __init__(self, code, text, usage):
        self.code, self.text = code, text
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.peak_kib = usage.ru_maxrss


def run(command, limit_seconds=120, environment=None, address_space=None):
    """Runs `command` without input; a time-out gives the code 124."""
    def bound():
        if address_space:
            resource.setrlimit(resource.RLIMIT_AS,
                               (address_space, address_space))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, env=environment, preexec_fn=bound)
        timer = threading.Timer(limit_seconds, process.kill)
        timer.start()
        # wait4 and not wait: the usage of this child alone is wanted.
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        seconds = time.monotonic() - start
        code = process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if code == -9 and seconds >= limit_seconds:
        code = 124
    return Done(code, text, usage)


def read(path):
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    sys.exit("checks.py is imported by the scripts beside it")
