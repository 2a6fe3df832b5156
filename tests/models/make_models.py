#!/usr/bin/env python3
"""Builds small ONNX models that exercise every operator that foldd reads.

Usage: make_models.py FOLDER [--only SUBSTRING] | --sample FILE
Writes one model a case and `ops.tsv`, a list in the form of the acceptance
lists: file, class, shapes, flags. The same code gives the same bytes.
--sample writes the trained sample network from its committed weights.
Needs: onnx, numpy.
"""
import argparse
import os
import sys

import onnx

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases_linear  # noqa: E402
import cases_other  # noqa: E402
import cases_qlinear  # noqa: E402
import cases_qonnx  # noqa: E402
import cases_written  # noqa: E402
from network import Network  # noqa: E402
from sample_network import sample_model  # noqa: E402

SAMPLE_SHAPE = "image=2,1,12,12"


def cases():
    """(name, class, shapes, flags, function that returns the model) of each."""
    for room in (cases_linear, cases_other, cases_qlinear, cases_qonnx,
                 cases_written):
        for build, kind, flags in room.CASES:
            opset = getattr(room, "OPSET", {}).get(build, 17)
            yield build.__name__, kind, "", flags, made(build, opset)
    yield "sample", "exact", SAMPLE_SHAPE, "integer", sample_model


def made(build, opset):
    def model():
        net = Network(build.__name__, opset)
        build(net)
        return net.model()
    return model


def save(model, path):
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


def write(folder, only=""):
    """Writes models and list; the number of models."""
    os.makedirs(folder, exist_ok=True)
    lines = ["# file\tclass\tshapes\tflags"]
    for name, kind, shapes, flags, model in cases():
        if only not in name:
            continue
        save(model(), os.path.join(folder, name + ".onnx"))
        lines.append(f"{name}.onnx\t{kind}\t{shapes}\t{flags}")
    with open(os.path.join(folder, "ops.tsv"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return len(lines) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--sample", metavar="FILE")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    if args.sample:
        save(sample_model(), args.sample)
    if not args.folder:
        return 0 if args.sample else parser.error("no folder")
    print(f"{write(args.folder, args.only)} models in {args.folder}, "
          f"onnx {onnx.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
