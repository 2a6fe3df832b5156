#!/usr/bin/env python3
"""Prints the gist of a compile report. Usage: show_report.py REPORT.json"""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    artifact = report["artifact"]
    print(f"artifact {artifact['digest']}, {artifact['size_bytes']} bytes")
    print(f"exactness {artifact['exactness']}, integer only: "
          f"{artifact['integer_only']}")
    print(f"arena {artifact['arena_bytes_before_folding']} -> "
          f"{artifact['arena_bytes']} bytes")
    passes = report["passes"]
    if passes:
        most = max(int(p["fake_quant_before"]) for p in passes)
        print(f"fake-quantization nodes {most} -> "
              f"{passes[-1]['fake_quant_after']}")
    for op in report["ops"]:
        print(f"  {op['name']:28s} {op['kind']:16s} {op['exactness']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
