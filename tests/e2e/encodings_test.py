#!/usr/bin/env python3
"""External tables of encodings: a float model and a table give the integers
that the same model gives with QuantizeLinear and DequantizeLinear in it.

Usage: encodings_test.py --bin DIR
Each table, in both AIMET formats, is bound by foldc and by a server; the
outputs are held against exact arithmetic on the network that the table means.
Damaged tables end as their sender's error, name the entry and cost little.
Needs: onnx, numpy.
"""
import argparse
import copy
import json
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(os.path.dirname(HERE), "conformance")]
import exact_reference  # noqa: E402
from checks import Checks, run  # noqa: E402
from foldd_process import Foldd  # noqa: E402

ADDRESS_SPACE = 4 << 30
LIMIT_CPU_SECONDS = 20
SANITIZED = os.environ.get("FOLD_SANITIZED") == "1"
# (bits, symmetric, scale, offset) of each tensor. Scales that no float32 is
# and such that a float32 is; offsets of unsigned codes.
ACTIVATIONS = {"x": (8, False, 0.05, -131), "r": (8, False, 0.031, 0),
               "y": (8, False, 0.25, -128)}
WEIGHT_SCALES = [0.0123, 0.007, 0.015625, 0.0101]


def network():
    """Conv with Relu, and a MatMul whose weights are transposed first."""
    rng = np.random.default_rng(7)
    constants = {"conv.weight": rng.normal(0, 0.5, [4, 3, 3, 3]),
                 "conv.bias": rng.normal(0, 0.5, [4]),
                 "fc.weight": rng.normal(0, 0.1, [5, 64]),
                 "shape": np.int64([1, 64])}
    nodes = [
        helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["c"],
                         name="conv"),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("Reshape", ["r", "shape"], ["f"], name="flatten"),
        helper.make_node("Transpose", ["fc.weight"], ["t"], perm=[1, 0],
                         name="turn"),
        helper.make_node("MatMul", ["f", "t"], ["y"], name="fc")]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])],
        [numpy_helper.from_array(
            v if v.dtype == np.int64 else v.astype(np.float32), k)
         for k, v in constants.items()])
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)])


def wide(scale):
    """The number as the table writes it, which no float32 need be."""
    return np.asarray(scale, np.float64)


def meant(model, weights):
    """The values of the network with the table's quantizations written in."""
    model = copy.deepcopy(model)
    graph = model.graph
    constants = {}

    def pair(name, scale, zero, axis):
        """Fake-quantizes `name`; whoever read it reads the result."""
        done = name + "_fake"
        for node in graph.node:
            for i, read in enumerate(node.input):
                if read == name:
                    node.input[i] = done
        constants[name + "_s"], constants[name + "_z"] = wide(scale), zero
        inputs = [name + "_s", name + "_z"]
        where = {} if axis is None else {"axis": axis}
        fake = [helper.make_node("QuantizeLinear", [name] + inputs,
                                 [name + "_codes"], **where),
                helper.make_node("DequantizeLinear",
                                 [name + "_codes"] + inputs, [done], **where)]
        made = [i for i, n in enumerate(graph.node) if name in n.output]
        for node in reversed(fake):
            graph.node.insert(made[0] + 1 if made else 0, node)

    for name, (_, _, scale, offset) in ACTIVATIONS.items():
        pair(name, scale, np.uint8(-offset), None)
    for name, scales in weights.items():
        several = len(scales) > 1
        pair(name, scales if several else scales[0],
             np.zeros(len(scales), np.int8) if several else np.int8(0),
             0 if several else None)
    return model, constants


def new_table(weights):
    def entry(name, bits, symmetric, scales, offset):
        kind = "PER_CHANNEL" if len(scales) > 1 else "PER_TENSOR"
        return {"name": name, "enc_type": kind, "dtype": "INT", "bw": bits,
                "is_sym": symmetric, "scale": scales,
                "offset": [offset] * len(scales)}
    return {"version": "1.0.0",
            "activation_encodings": [
                entry(n, b, s, [scale], o)
                for n, (b, s, scale, o) in ACTIVATIONS.items()],
            "param_encodings": [entry(n, 8, True, scales, -128)
                                for n, scales in weights.items()],
            "quantizer_args": {"dtype": "int"}, "excluded_layers": []}


def old_table(weights, by_place=False):
    def one(bits, symmetric, scale, offset):
        return {"bitwidth": bits, "dtype": "int",
                "is_symmetric": str(symmetric), "scale": scale,
                "offset": offset, "min": offset * scale,
                "max": (2 ** bits - 1 + offset) * scale}
    activations = {n: [one(*e)] for n, e in ACTIVATIONS.items()}
    if by_place:
        activations = {
            "conv": {"input": {"0": one(*ACTIVATIONS["x"])}},
            "relu": {"output": {"0": one(*ACTIVATIONS["r"])}},
            "fc": {"output": {"0": one(*ACTIVATIONS["y"])}}}
    return {"version": "0.6.1", "activation_encodings": activations,
            "param_encodings": {
                n: [one(8, True, s, -128) for s in scales]
                for n, scales in weights.items()}}


class Place:
    """Where the test keeps its files, and how it compiles and runs."""

    def __init__(self, checks, folder, programs):
        self.checks, self.folder, self.programs = checks, folder, programs
        self.model = network()
        self.path = self.file("net.onnx")
        onnx.save(self.model, self.path)

    def file(self, name):
        return os.path.join(self.folder, name)

    def tool(self, name):
        return os.path.join(self.programs, name)

    def write(self, name, table):
        text = table if isinstance(table, (str, bytes)) else json.dumps(table)
        data = text if isinstance(text, bytes) else text.encode()
        with open(self.file(name), "wb") as file:
            file.write(data)
        return self.file(name)

    def compile(self, table, out, server=None, flags=()):
        head = ([self.tool("foldctl"), "compile", self.path, "--server",
                 server] if server else [self.tool("foldc"), self.path])
        out = self.file(out)
        return run(head + ["--target", "x86-64", "-o", out, "--report",
                           out + ".json", "--encodings", table, *flags],
                   address_space=None if SANITIZED else ADDRESS_SPACE)

    def differs(self, artifact, values, feed):
        np.savez(self.file("in.npz"), **feed)
        done = run([self.tool("foldrun"), self.file(artifact), "--inputs",
                    self.file("in.npz"), "--outputs", self.file("out.npz")])
        if done.code != 0:
            return f"foldrun exits with {done.code}: {done.text[-300:]}"
        got = np.load(self.file("out.npz"))["y"].astype(np.float64)
        scale, offset = ACTIVATIONS["y"][2:]
        codes = np.rint(got / scale) - offset
        wrong = int((codes != values["y_codes"]).sum())
        return f"{wrong} of {codes.size} codes differ" if wrong else ""


def evaluate(model, constants, feed):
    """The exact values, with scales as the table writes them."""
    return exact_reference.evaluate(model, {**constants, **feed})


def check_meaning(place, server):
    rng = np.random.default_rng(11)
    feeds = [{"x": rng.normal(0, 3, [1, 3, 6, 6]).astype(np.float32)}
             for _ in range(2)]
    by_channel = {"conv.weight": WEIGHT_SCALES,
                  "fc.weight": [0.001, 0.0021, 0.003, 0.0017, 0.002]}
    by_tensor = {"conv.weight": [0.011], "fc.weight": [0.0029]}
    tables = [("1.0.0 by channel", new_table(by_channel), by_channel),
              ("1.0.0 by tensor", new_table(by_tensor), by_tensor),
              ("0.6.1 by channel", old_table(by_channel), by_channel),
              ("0.6.1 by place", old_table(by_tensor, True), by_tensor)]
    for name, table, weights in tables:
        path = place.write("table.json", table)
        done = place.compile(path, "a.fold", None,
                             ["--require", "integer-only"])
        if not place.checks.check(
                f"foldc {name}",
                "" if done.code == 0 else f"exit {done.code}: {done.text}"):
            continue
        model, constants = meant(place.model, weights)
        for i, feed in enumerate(feeds):
            values = evaluate(model, constants, feed)
            place.checks.check(f"foldrun {name}, input {i}",
                               place.differs("a.fold", values, feed))
        done = place.compile(path, "b.fold", server,
                             ["--require", "integer-only"])
        place.checks.equal(f"foldd {name}", done.code, 0)
        check_same(place, name)


def check_same(place, name):
    """The same bytes and the same action, with and without a server."""
    contents = []
    for artifact in ("a.fold", "b.fold"):
        with open(place.file(artifact), "rb") as file:
            contents.append(file.read())
    place.checks.check(f"the same artifact, {name}",
                       "" if contents[0] == contents[1] else "they differ")


def check_digest(place):
    """The table's bytes count in the action's digest."""
    digests = set()
    weights = {"conv.weight": [0.011], "fc.weight": [0.0029]}
    for indent in (None, 1):
        path = place.write("t.json", json.dumps(new_table(weights),
                                                indent=indent))
        place.compile(path, "d.fold")
        with open(place.file("d.fold.json"), encoding="utf-8") as file:
            digests.add(json.load(file)["action_digest"])
    place.checks.equal("other bytes, another action", len(digests), 2)


def damaged():
    """(name, table, word that the diagnostic says)"""
    weights = {"conv.weight": [0.011], "fc.weight": [0.0029]}

    def changed(change):
        table = new_table(weights)
        change(table)
        return table

    def of_first(key, value):
        def change(table):
            table["activation_encodings"][0][key] = value
        return changed(change)

    text = json.dumps(new_table(weights))
    yield "empty", "", "bad_encoding_table"
    yield "no JSON", "x" * 1000, "bad_encoding_table"
    yield "cut off", text[:len(text) // 2], "bad_encoding_table"
    yield "binary", bytes(range(256)) * 100, "bad_encoding_table"
    yield "deep", "[" * 1000000, "levels deep"
    yield "long", "[" + "0," * 8000000 + "0]", "values"
    yield "NaN", text.replace("0.05", "NaN"), "bad_encoding_table"
    yield "a number without end", text.replace(
        "0.05", "9" * 100000), "bad_encoding_table"
    yield "a name without end", text.replace(
        '"x"', '"' + "n" * 1000000 + '"'), "unmatched_encoding"
    yield "zero scale", of_first("scale", [0]), "bad_scale"
    yield "an offset above zero", of_first("offset", [5]), "bad_zero_point"
    yield "text for a scale", of_first("scale", ["1"]), "scale[0]"
    yield "blocks", of_first("enc_type", "PER_BLOCK"), "unsupported_type"
    yield "another version", changed(
        lambda t: t.update(version="3.0.0")), "version"
    yield "a mistyped name", of_first("name", "xx"), "did you mean 'x'"
    yield "forgotten weights", changed(
        lambda t: t["param_encodings"].pop()), "reads 'fc.weight'"
    yield "too many scales", changed(
        lambda t: t["param_encodings"][0].update(
            enc_type="PER_CHANNEL", scale=[1] * 9, offset=[0] * 9)), "bad_axis"
    yield "twice", changed(lambda t: t["activation_encodings"].append(
        dict(t["activation_encodings"][0], scale=[2]))), "conflicting_encoding"
    yield "100,000 strangers", changed(
        lambda t: t["param_encodings"].extend(
            dict(t["param_encodings"][0], name=f"stranger{i}")
            for i in range(100000))), "further names"


def check_damaged(place, server):
    for name, table, word in damaged():
        path = place.write("damaged.json", table)
        for tool, address in (("foldc", None), ("foldd", server)):
            done = place.compile(path, "c.fold", address)
            said = done.text.replace(path, "")
            fault = ""
            if done.code != 3:
                fault = f"exit {done.code}, not 3: {said[-300:]}"
            elif address is None and word.lower() not in said.lower():
                fault = f"does not say {word}: {said[-300:]}"
            elif not SANITIZED and done.cpu_seconds > LIMIT_CPU_SECONDS:
                fault = f"took {done.cpu_seconds:.1f} s"
            elif len(said) > 20000:
                fault = f"said {len(said)} bytes"
            place.checks.check(f"{tool} refuses: {name}", fault)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    args = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_encodings_") as folder, \
            Foldd(args.bin) as server:
        place = Place(checks, folder, args.bin)
        check_meaning(place, server.address)
        check_digest(place)
        check_damaged(place, server.address)
        checks.equal("foldd drains", server.stop(), 0)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
