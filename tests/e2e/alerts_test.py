#!/usr/bin/env python3
"""The alerts of deploy/prometheus, by Prometheus' own checker.

`promtool` is in the package `prometheus`; without it the check is skipped, and
says so. That each metric exists is checked by server/metrics_coverage_test.cc.
"""
import argparse
import os
import shutil
import sys
import tempfile

import checks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
RULES = os.path.join(ROOT, "deploy", "prometheus", "alerts.yaml")

# Series in which each alert must fire, or must not: name, seconds, series.
CASES = [
    ("FolddDispatchStopped", True, {
        "foldd_queue_depth": "2x20", 'foldd_jobs{state="running"}': "1x20",
        "foldd_workers": "2x20",
        "foldd_dispatch_last_progress_timestamp_seconds": "0x20"}),
    ("FolddDispatchStopped", False, {  # all workers are busy
        "foldd_queue_depth": "2x20", 'foldd_jobs{state="running"}': "2x20",
        "foldd_workers": "2x20",
        "foldd_dispatch_last_progress_timestamp_seconds": "0x20"}),
    ("FolddDispatchStopped", False, {  # nothing waits
        "foldd_queue_depth": "0x20", 'foldd_jobs{state="running"}': "0x20",
        "foldd_workers": "2x20",
        "foldd_dispatch_last_progress_timestamp_seconds": "0x20"}),
    ("FolddWorkersStuck", True, {
        "foldd_queue_depth": "2x20",
        "foldd_dispatch_last_progress_timestamp_seconds": "0x20"}),
    ("FolddServerErrors", True, {
        'grpc_server_handled_total{grpc_code="OK"}': "0+100x40",
        'grpc_server_handled_total{grpc_code="INTERNAL"}': "0+5x40"}),
    ("FolddServerErrors", False, {
        'grpc_server_handled_total{grpc_code="INVALID_ARGUMENT"}': "0+100x40",
        'grpc_server_handled_total{grpc_code="INTERNAL"}': "0+0x40"}),
    ("FolddCacheCorrupt", True, {
        'foldd_cache_requests_total{tier="disk",result="corrupt"}':
            "0x10 1x10"}),
    ("FolddCompilesCrash", False, {
        'foldd_job_exits_total{reason="MODEL_INVALID"}': "0+9x20"}),
    ("FolddCompilesCrash", True, {
        'foldd_job_exits_total{reason="COMPILER_CRASHED"}': "0+1x20"}),
    ("FolddQueueNearlyFull", True, {
        "foldd_queue_depth": "95x20", "foldd_queue_limit": "100x20"}),
    ("FolddBytesInFlight", True, {
        "foldd_inflight_bytes": "95x20",
        "foldd_inflight_limit_bytes": "100x20"}),
    ("FolddCacheOverLimit", True, {
        'foldd_cache_bytes{tier="disk"}': "120x20",
        'foldd_cache_limit_bytes{tier="disk"}': "100x20"}),
    ("FolddTracesLost", True, {
        'foldd_trace_spans_total{result="lost"}': "0+1x100"}),
    ("FolddTracesLost", False, {
        'foldd_trace_spans_total{result="sent"}': "0+1x100"}),
]


def with_instance(series):
    """The series as one server's."""
    if series.endswith("}"):
        return series[:-1] + ',instance="a"}'
    return series + '{instance="a"}'


def rule_test(name, series):
    """A test file for promtool that expects `name` not to fire."""
    lines = ["rule_files: [%s]" % RULES, "tests:", "  - interval: 1m",
             "    input_series:"]
    for one, values in series.items():
        lines += [f"      - series: '{with_instance(one)}'",
                  f"        values: '{values}'"]
    at = "90m" if "100" in "".join(series.values()) and name.endswith(
        "Lost") else "19m"
    lines += ["    alert_rule_test:", f"      - eval_time: {at}",
              f"        alertname: {name}", "        exp_alerts: []"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--promtool", default=shutil.which("promtool"))
    args = parser.parse_args()
    check = checks.Checks()
    check.check("the alerts are there",
                "" if os.path.exists(RULES) else RULES)
    if not args.promtool:
        print("SKIPPED: promtool is not installed (package prometheus)")
        return check.close()
    done = checks.run([args.promtool, "check", "rules", RULES])
    check.check("promtool takes the rules", "" if done.code == 0 else done.text)
    with tempfile.TemporaryDirectory(prefix="fold_alerts_") as folder:
        path = os.path.join(folder, "test.yaml")
        for name, fires, series in CASES:
            with open(path, "w", encoding="utf-8") as file:
                file.write(rule_test(name, series))
            done = checks.run([args.promtool, "test", "rules", path])
            fired = "got:[" in done.text.replace(" ", "").replace("\n", "") \
                and done.code != 0
            check.check(f"{name} {'fires' if fires else 'stays silent'}",
                        "" if fired == fires else
                        f"exit {done.code}: {done.text[-600:]}")
    return check.close()


if __name__ == "__main__":
    sys.exit(main())
