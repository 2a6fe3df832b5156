#!/usr/bin/env python3
"""Compiles a list of models, runs them, and compares with exact arithmetic.

Usage: run.py LIST.tsv --bin DIR [--server HOST:PORT] [--models DIR]
              [--seeds N] [--only SUBSTRING] [--taps]
LIST has a model a line: file, class, shapes, flags (as make_models.py writes
it). Class `exact`: integer outputs are equal, float ones within 2e-6 of their
largest value. Flag `integer`: compiled with --require integer-only. With
--taps every quantized value that the artifact names is compared too. Each
artifact goes through the independent checker (`foldc verify`), which may find
nothing wrong; how many of its lines it could not judge is printed.
Needs: onnx, numpy.
"""
import argparse
import json
import os
import sys
import tempfile

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(os.path.dirname(HERE), "e2e")]
import exact_reference  # noqa: E402
from checks import Checks, run  # noqa: E402

FLOAT_TOLERANCE = 2e-6
DIFFERENCE = 8  # of `foldc verify`: something is wrong, or not judged


def quantizer_of(model, name):
    """(scale, zero point) of the QuantizeLinear that reads `name`, or None."""
    constants = {t.name: onnx.numpy_helper.to_array(t)
                 for t in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "QuantizeLinear" and node.input[0] == name:
            return constants[node.input[1]], constants[node.input[2]]
        if node.op_type == "Div" and node.input[0] == name:
            return constants[node.input[1]], np.int8(0)
        if "Quant" in node.op_type and node.input[0] == name:
            return constants[node.input[1]], np.int8(0)
    return None


def feed_for(model, seed):
    """Inputs over all codes, a little beyond, and on the halves between."""
    rng, feed = np.random.default_rng(seed), {}
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        if value.name in constants:
            continue
        kind = onnx.helper.tensor_dtype_to_np_dtype(
            value.type.tensor_type.elem_type)
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        if np.dtype(kind).kind in "iu":
            info = np.iinfo(kind)
            feed[value.name] = rng.integers(info.min, info.max, shape,
                                            endpoint=True).astype(kind)
            continue
        scale, zero = quantizer_of(model, value.name) or (
            np.float32(0.02), np.int8(0))
        info = np.iinfo(zero.dtype)
        codes = rng.uniform(info.min - 9, info.max + 9, shape) - int(zero)
        halves = np.floor(codes) + 0.5
        chosen = np.where(rng.random(shape) < 0.2, halves, codes)
        feed[value.name] = (chosen * float(scale)).astype(np.float32)
    return feed


def difference(got, want):
    """Why `got` is not what the exact value `want` is, or an empty string."""
    if got.shape != np.shape(want):
        return f"shape {got.shape}, not {np.shape(want)}"
    if want.dtype != object:
        if got.dtype != want.dtype:
            return f"type {got.dtype}, not {want.dtype}"
        wrong = got != want
        if not wrong.any():
            return ""
        far = np.abs(got.astype(int) - want.astype(int)).max()
        return f"{int(wrong.sum())} of {wrong.size} differ, by up to {far}"
    exact = want.astype(np.float64)
    far = np.abs(got.astype(np.float64) - exact)
    limit = FLOAT_TOLERANCE * max(1e-30, float(np.abs(exact).max()))
    return "" if (far <= limit).all() else f"off by up to {far.max():.6g}"


def bound(model, shapes):
    """The model with its inputs' shapes set to those of the list."""
    for item in shapes:
        name, sizes = item.split("=")
        for value in model.graph.input:
            if value.name == name:
                dims = value.type.tensor_type.shape
                dims.Clear()
                for size in sizes.split(","):
                    dims.dim.add().dim_value = int(size)
    return model


def compile_model(args, path, artifact, shapes, flags):
    command = ([os.path.join(args.bin, "foldctl"), "compile", path,
                "--server", args.server] if args.server else
               [os.path.join(args.bin, "foldc"), path])
    command += ["--verify=each", "--target", args.target, "-o", artifact,
                "--report",
                artifact + ".json"]
    for item in shapes:
        command += ["--shape", item]
    if "integer" in flags:
        command += ["--require", "integer-only"]
    return run(command + ["--taps"] * args.taps)


def compare(args, model, artifact, seed, scratch):
    """The first fault of one run, or an empty string."""
    feed = feed_for(model, seed)
    source, target = (os.path.join(scratch, f) for f in ("in.npz", "out.npz"))
    np.savez(source, **feed)
    done = run([os.path.join(args.bin, "foldrun"), artifact, "--inputs",
                source, "--outputs", target] + ["--taps"] * args.taps)
    if done.code != 0:
        return f"foldrun exits with {done.code}: {done.text[-300:]}"
    want, got = exact_reference.evaluate(model, feed), dict(np.load(target))
    outputs = [o.name for o in model.graph.output]
    missing = [name for name in outputs if name not in got]
    if missing:
        return f"no output {missing[0]}"
    for name, value in got.items():
        if name not in want:
            continue  # a value that folding made
        if name in outputs or want[name].dtype != object:
            why = difference(value, want[name])
            if why:
                return f"{name}: {why}"
    return ""


def verify(args, artifact, path, shapes):
    """What the checker finds wrong, or an empty string."""
    command = [os.path.join(args.bin, "foldc"), "verify", artifact, path]
    for item in shapes:
        command += ["--shape", item]
    done = run(command + ["--quiet"])
    lines = done.text.splitlines()
    args.unchecked += sum(line.startswith("unchecked") for line in lines)
    wrong = [line for line in lines if line.startswith("WRONG")]
    if wrong:
        return wrong[0]
    return "" if done.code in (0, DIFFERENCE) else done.text[-300:]


def check(args, path, shapes, flags, scratch):
    artifact = os.path.join(scratch, os.path.basename(path) + ".fold")
    done = compile_model(args, path, artifact, shapes, flags)
    if done.code != 0:
        return f"compile exits with {done.code}: {done.text.strip()[-300:]}"
    with open(artifact + ".json", encoding="utf-8") as file:
        report = json.load(file)
    if "integer" in flags and not report["artifact"]["integer_only"]:
        return "the report does not say integer_only"
    model = bound(onnx.load(path), shapes)
    why = verify(args, artifact, path, shapes)
    if why:
        return f"verify: {why}"
    for seed in range(args.seeds):
        why = compare(args, model, artifact, seed, scratch)
        if why:
            return f"seed {seed}: {why}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("list")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--server")
    parser.add_argument("--models")
    parser.add_argument("--target", default="x86-64")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--taps", action="store_true")
    args = parser.parse_args()
    folder = args.models or os.path.dirname(os.path.abspath(args.list))
    checks = Checks()
    args.unchecked = 0
    with tempfile.TemporaryDirectory(prefix="fold_conformance_") as scratch, \
            open(args.list, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#") or not line.strip():
                continue
            file, _, shapes, flags = (
                line.rstrip("\n").split("\t") + [""] * 3)[:4]
            if args.only not in file:
                continue
            try:
                why = check(args, os.path.join(folder, file), shapes.split(),
                            flags.split(), scratch)
            except Exception as error:  # one model's trouble is its own line
                why = f"{type(error).__name__}: {error}"[:300]
            checks.check(file, why)
    print(f"the checker could not judge {args.unchecked} lines")
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
