#!/usr/bin/env python3
"""One trace through a compile: what a collector of OpenTelemetry receives when
foldctl compiles with a traceparent. The collector is a small HTTP server here.

The compile's spans lie below the RPC's. --no-rpc-span is for a foldd that makes
none: then the compile begins a trace of its own, and only its inner form is
checked.
"""
import argparse
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from checks import Checks, run  # noqa: E402
from foldd_process import Foldd, free_port  # noqa: E402

MODEL = os.path.join(os.path.dirname(HERE), "models", "sample", "sample.onnx")
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
WAIT_SECONDS = 20


class Collector:
    """Takes spans at POST /v1/traces; the first `busy` requests get 503."""

    def __init__(self, busy=0, port=0):
        self.spans, self.resources, self.faults = [], [], []
        self.busy, self.lock = busy, threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                code = collector.take(self.path, self.headers, body)
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port),
                                                      Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        with self.lock:
            if self.busy > 0:
                self.busy -= 1
                return 503
            if path != "/v1/traces" or \
                    headers["Content-Type"] != "application/json":
                self.faults.append(f"{path} {headers['Content-Type']}")
                return 400
            for resource in json.loads(body)["resourceSpans"]:
                self.resources.append({
                    one["key"]: one["value"]["stringValue"]
                    for one in resource["resource"]["attributes"]})
                for scope in resource["scopeSpans"]:
                    self.spans += scope["spans"]
            return 200

    def wait(self, wanted):
        """The spans, once `wanted(spans)` holds or the time is over."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            with self.lock:
                spans = list(self.spans)
            if wanted(spans):
                break
            time.sleep(0.05)
        return spans

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def named(spans, name, **fields):
    return [span for span in spans if span["name"].startswith(name)
            and all(span.get(key) == value for key, value in fields.items())]


def nests(inner, outer):
    """What is wrong with times that should lie within others."""
    low, high = int(outer["startTimeUnixNano"]), int(outer["endTimeUnixNano"])
    start, end = int(inner["startTimeUnixNano"]), int(inner["endTimeUnixNano"])
    if low <= start <= end <= high:
        return ""
    return f"{inner['name']} {start}-{end} is not within {low}-{high}"


def command(args, server, *flags, output="one.fold"):
    return [os.path.join(args.bin, "foldctl"), "compile", MODEL, "--server",
            server.address, "--target", "x86-64", "--shape",
            "image=3,1,12,12", "--fresh", "-o",
            os.path.join(args.folder, output), *flags]


def compile_once(args, server, *flags, environment=None):
    return run(command(args, server, *flags), environment=environment)


def check_tree(checks, spans, parent_id):
    """queue, job and passes below `parent_id`; the job's span."""
    queue, job = named(spans, "queue"), named(spans, "job")
    checks.equal("one queue and one job", (len(queue), len(job)), (1, 1))
    if not queue or not job:
        return None
    queue, job = queue[0], job[0]
    checks.equal("their parent", {queue["parentSpanId"], job["parentSpanId"]},
                 {parent_id})
    checks.check("the queue is over before the job begins",
                 "" if int(queue["endTimeUnixNano"]) <=
                 int(job["startTimeUnixNano"]) else "it is not")
    passes = named(spans, "pass ")
    names = [span["name"] for span in passes]
    checks.check("passes from import to emit",
                 "" if names[:1] == ["pass import"] and
                 names[-1:] == ["pass emit"] else str(names))
    checks.equal("parents of the passes",
                 {span["parentSpanId"] for span in passes}, {job["spanId"]})
    faults = [fault for fault in (nests(one, job) for one in passes) if fault]
    checks.check("passes lie within the job", "; ".join(faults[:3]))
    order = [int(span["startTimeUnixNano"]) for span in passes]
    checks.equal("passes begin one after the other", order, sorted(order))
    return job


def check_form(checks, collector, spans):
    checks.equal("requests are as OTLP wants them", collector.faults, [])
    wrong = [span["name"] for span in spans
             if not re.fullmatch("[0-9a-f]{32}", span["traceId"])
             or not re.fullmatch("[0-9a-f]{16}", span["spanId"])]
    checks.equal("ids are hexadecimal", wrong, [])
    checks.equal("the resource", {one["service.name"]
                                  for one in collector.resources}, {"foldd"})
    checks.equal("one instance", len({one["service.instance.id"]
                                      for one in collector.resources}), 1)


def check_rpc(checks, args, server, collector):
    """With the RPC's span: one trace from the caller down."""
    done = compile_once(args, server, "--traceparent",
                        f"00-{TRACE}-{CALLER}-01")
    checks.equal("a compile within a trace", done.code, 0)
    ours = lambda spans: [one for one in spans if one["traceId"] == TRACE]
    spans = ours(collector.wait(lambda all_: named(
        ours(all_), "foldd.v1.Compiler/") and named(ours(all_), "job")))
    rpc = named(spans, "foldd.v1.Compiler/Compile")
    if not checks.equal("one span of the RPC", len(rpc), 1):
        return
    rpc = rpc[0]
    checks.equal("its parent is the caller", rpc["parentSpanId"], CALLER)
    checks.equal("it is a server's span", rpc["kind"], 2)
    job = check_tree(checks, spans, rpc["spanId"])
    if job:
        checks.check("the job lies within the RPC", nests(job, rpc))
    inherited = dict(os.environ, TRACEPARENT=f"00-{TRACE[::-1]}-{CALLER}-01")
    compile_once(args, server, environment=inherited)
    found = collector.wait(lambda all_: named(all_, "job",
                                              traceId=TRACE[::-1]))
    checks.equal("TRACEPARENT of the environment",
                 len(named(found, "job", traceId=TRACE[::-1])), 1)
    silent = TRACE.replace("4", "5")
    compile_once(args, server, "--traceparent",
                 f"00-{silent}-{CALLER}-00")
    time.sleep(3)
    checks.equal("a trace that is not recorded has no spans",
                 [one["name"] for one in collector.spans
                  if one["traceId"] == silent], [])
    check_shared(checks, args, server, collector)


def check_shared(checks, args, server, collector):
    """Callers who share a compile: the others link to the first."""
    traces = [f"{n:032x}" for n in range(0xaaa1, 0xaaa9)]
    processes = [subprocess.Popen(
        command(args, server, "--traceparent", f"00-{trace}-{CALLER}-01",
                output=trace), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL) for trace in traces]
    checks.equal("eight at once", {p.wait(120) for p in processes}, {0})
    mine = lambda all_: [s for s in named(all_, "foldd.v1.Compiler/Compile")
                         if s["traceId"] in traces]
    spans = collector.wait(lambda all_: len(mine(all_)) == len(traces))
    owners = {s["traceId"]: s["parentSpanId"] for s in named(spans, "job")
              if s["traceId"] in traces}
    wrong = []
    for span in mine(spans):
        links = {(one["traceId"], one["spanId"])
                 for one in span.get("links", [])}
        if span["traceId"] in owners:
            if links:
                wrong.append(f"{span['traceId']} owns its compile and links")
        elif not links or not links <= set(owners.items()):
            wrong.append(f"{span['traceId']}: links {links}")
    checks.equal("callers of a shared compile link to it", wrong, [])


def check_alone(checks, args, server, collector):
    """Without the RPC's span: the compile's own trace."""
    done = compile_once(args, server)
    checks.equal("a compile", done.code, 0)
    spans = collector.wait(lambda all_: named(all_, "compile"))
    own = named(spans, "compile")
    if not checks.equal("one trace of the compile", len(own), 1):
        return
    job = check_tree(checks, spans, own[0]["spanId"])
    checks.equal("one trace id", len({one["traceId"] for one in spans}), 1)
    if job:
        checks.check("the job lies within it", nests(job, own[0]))


def check_flags(checks, args, server):
    for bad in ("x y", "00-\n", "ä"):
        done = compile_once(args, server, "--traceparent", bad)
        checks.equal(f"--traceparent {bad!r} is refused", done.code, 2)
    for odd in ("00-zz", "x y"):
        inherited = dict(os.environ, TRACEPARENT=odd)
        done = compile_once(args, server, environment=inherited)
        checks.equal(f"TRACEPARENT={odd!r} is no error", done.code, 0)


def check_down(checks, args):
    """A collector that comes late, and one that never comes."""
    port = free_port()
    with Foldd(args.bin, flags=["--otlp-endpoint",
                                f"http://127.0.0.1:{port}"]) as server:
        done = compile_once(args, server)
        checks.equal("a compile without a collector", done.code, 0)
        collector = Collector(busy=1, port=port)
        spans = collector.wait(lambda all_: named(all_, "job"))
        checks.equal("spans wait for the collector", len(named(spans, "job")),
                     1)
        collector.close()
        compile_once(args, server)
        start = time.monotonic()
        checks.equal("the end does not wait for the collector", server.stop(),
                     0)
        took = time.monotonic() - start
        checks.check("it takes some seconds at most",
                     "" if took < 15 else f"{took:.1f} s")


def check_file(checks, args):
    path = os.path.join(args.folder, "traces.jsonl")
    with Foldd(args.bin, flags=["--otlp-file", path]) as server:
        compile_once(args, server)
        # A name that is no UTF-8: libraries have something to say about it.
        done = compile_once(args, server, "--shape", os.fsdecode(b"\xff=1"))
        checks.equal("bytes that are no text are refused", done.code, 2)
        checks.equal("foldd ends", server.stop(), 0)
        log, strange = [], []
        for line in server.text().splitlines():
            try:
                log.append(json.loads(line))
            except ValueError:
                strange.append(line)
        checks.equal("nobody else writes into the log", strange, [])
    with open(path, encoding="utf-8") as file:
        requests = [json.loads(line) for line in file]
    names = [span["name"] for request in requests
             for resource in request["resourceSpans"]
             for scope in resource["scopeSpans"] for span in scope["spans"]]
    checks.check("the file has the spans at the end",
                 "" if "job" in names and "queue" in names else str(names))
    wrong = [line for line in log
             if not {"time", "level", "message"} <= set(line)]
    checks.equal("the log is JSON, with its fields", wrong, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--no-rpc-span", action="store_true")
    args = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_trace_") as args.folder:
        collector = Collector(busy=1)
        with Foldd(args.bin, flags=["--otlp-endpoint",
                                    collector.url]) as server:
            if args.no_rpc_span:
                check_alone(checks, args, server, collector)
            else:
                check_rpc(checks, args, server, collector)
            check_flags(checks, args, server)
        check_form(checks, collector, collector.spans)
        collector.close()
        check_down(checks, args)
        check_file(checks, args)
        return checks.close()


if __name__ == "__main__":
    sys.exit(main())
