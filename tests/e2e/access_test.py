#!/usr/bin/env python3
"""Who may do what, as an operator sets it up and a user meets it.

Usage: access_test.py --bin DIR
What foldd refuses to start with; a token from `foldctl token new` to the
tokens file and to a call; TLS and client certificates with certificates made
by openssl; `foldctl audit verify` on a log that was and was not tampered with.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from certificates import make_certificate  # noqa: E402
from checks import Checks, run  # noqa: E402
from foldd_process import Foldd, free_port  # noqa: E402

REFUSED = (
    (("--listen", "0.0.0.0:0"), "nobody would have to say who they are"),
    (("--listen", "0.0.0.0:0", "--insecure-without-authentication", "yes"),
     "must be exactly 'anyone may do anything'"),
    (("--listen", "0.0.0.0:0", "--tokens-file", "t.json"),
     "tokens would cross the network unencrypted"),
    (("--http", "0.0.0.0:0"), "nobody would have to say who they are"),
    (("--tls-certificate", "c.pem"), "go together"),
    (("--tls-client-auth", "require"), "needs tls_certificate"),
    (("--tls-client-auth", "maybe"), "none, request, require"),
    (("--tokens-file", "no-such.json"), "tokens_file: no-such.json"),
    (("--jwt-keys-file", "k.json"), "jwt_issuer: must be set"),
    (("--quota-compiles", "0"), "-1 (unlimited)"),
)


class Place:
    """A folder, the programs, and the checks."""

    def __init__(self, checks, folder, tools):
        self.checks, self.folder, self.tools = checks, folder, tools

    def path(self, name):
        return os.path.join(self.folder, name)

    def foldctl(self, *words, token=None):
        environment = dict(os.environ)
        environment.pop("FOLDD_TOKEN", None)
        if token is not None:
            environment["FOLDD_TOKEN"] = token
        return run([os.path.join(self.tools, "foldctl"), *words],
                   environment=environment)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)


def http_status(server, path, token=None):
    request = urllib.request.Request(f"http://{server.http}{path}")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=10) as page:
            return page.status
    except urllib.error.HTTPError as error:
        return error.code


def check_refusals(place):
    for flags, words in REFUSED:
        done = run([os.path.join(place.tools, "foldd"), "--listen",
                    f"127.0.0.1:{free_port()}", "--http",
                    f"127.0.0.1:{free_port()}", "--data",
                    place.path("refused"), *flags])
        place.checks.check(
            f"refuses {' '.join(flags)}",
            "" if done.code == 2 and words in done.text else
            f"exit {done.code}: {done.text[-300:]}")


def check_tokens(place):
    checks = place.checks
    made = subprocess.run(
        [os.path.join(place.tools, "foldctl"), "token", "new", "--name", "ci",
         "--role", "read"], capture_output=True, text=True, check=False)
    token, row = made.stdout.strip(), made.stderr.strip().splitlines()[-1]
    checks.equal("token new", made.returncode, 0)
    checks.check("the row does not have the token",
                 "" if token and token not in row else row)
    tokens = {"tokens": [json.loads(row)]}
    path = place.write("tokens.json", json.dumps(tokens))
    with Foldd(place.tools, flags=("--tokens-file", path)) as server:
        checks.equal("probes are open", http_status(server, "/livez"), 200)
        checks.equal("metrics want a token",
                     http_status(server, "/metrics"), 401)
        checks.equal("a wrong token",
                     http_status(server, "/metrics", token + "x"), 401)
        checks.equal("the token", http_status(server, "/metrics", token), 200)
        log = os.path.join(server.data, "audit", "audit-000001.jsonl")
        check_audit(place, log)
    for line in ("--name", "a b", "--role", "read"), ("--name", "a"), (
            "--name", "a", "--role", "root"), (
            "--name", "a", "--role", "read", "--instance", "/"), (
            "--name", "a", "--role", "read", "--expires", "soon"):
        checks.equal(f"token new {' '.join(line)}",
                     place.foldctl("token", "new", *line).code, 2)


def check_audit(place, log):
    checks = place.checks
    done = place.foldctl("audit", "verify", log)
    checks.check("the audit log is good",
                 "" if done.code == 0 and "good: " in done.text else done.text)
    with open(log, encoding="utf-8") as file:
        text = file.read()
    bad = place.write("bad.jsonl", text.replace('"why":"', '"why":"x', 1) +
                      text.replace('"sequence":1', '"sequence":2', 1))
    done = place.foldctl("audit", "verify", bad)
    checks.check("a changed line is found",
                 "" if done.code == 8 and "line 2" in done.text else done.text)
    checks.equal("no such log", place.foldctl("audit", "verify", "none").code,
                 8)


def check_tls(place):
    checks = place.checks
    make_certificate(place.folder, "authority")
    make_certificate(place.folder, "server", "authority",
                     "subjectAltName=IP:127.0.0.1")
    make_certificate(place.folder, "bob", "authority")
    flags = ("--tls-certificate", place.path("server.pem"), "--tls-key",
             place.path("server-key.pem"), "--tls-client-ca",
             place.path("authority.pem"), "--tls-client-auth", "require",
             "--unmapped-certificate-role", "compile")
    trust = ("--tls-ca", place.path("authority.pem"))
    who = ("--tls-certificate", place.path("bob.pem"), "--tls-key",
           place.path("bob-key.pem"))
    with Foldd(place.tools, flags=flags, scheme="grpcs://",
               probe=(*trust, *who)) as server:
        checks.check("mutual TLS")
        done = place.foldctl("health", "--server", "grpcs://" + server.address,
                             *trust)
        checks.equal("without a certificate", done.code, 6)
        done = place.foldctl("health", "--server", server.address, "--timeout",
                             "5")
        checks.equal("plaintext", done.code, 6)
    done = place.foldctl("health", "--server", "grpc://192.0.2.1:1",
                         token="secret")
    checks.check("no token off loopback in plaintext",
                 "" if done.code == 2 and "unencrypted" in done.text and
                 "secret" not in done.text else done.text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_access_") as folder:
        place = Place(checks, folder, os.path.abspath(args.bin))
        check_refusals(place)
        check_tokens(place)
        check_tls(place)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
