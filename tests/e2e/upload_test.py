#!/usr/bin/env python3
"""A folder with a model and its external data, larger than a message, is sent
and compiled with one command, and gives foldc's bytes.

Usage: upload_test.py --bin DIR
Needs: onnx, numpy.
"""
import argparse
import os
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)
from checks import Checks, read, run  # noqa: E402
from foldd_process import Foldd  # noqa: E402

ROWS, COLUMNS = 1024, 5000  # 5 MB of weights; a message has 4 MiB at most


def make_folder(folder):
    """model.onnx whose weights are in weights.bin beside it."""
    weights = np.random.default_rng(3).integers(
        -127, 128, [ROWS, COLUMNS], dtype=np.int8)
    constants = {"s": np.float32(0.05), "z": np.int8(3),
                 "ws": np.float32(0.01), "wz": np.int8(0),
                 "ys": np.float32(0.7), "weights": weights}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], name="d"),
        helper.make_node("DequantizeLinear", ["weights", "ws", "wz"], ["w"],
                         name="w"),
        helper.make_node("MatMul", ["d", "w"], ["m"], name="product"),
        helper.make_node("QuantizeLinear", ["m", "ys", "wz"], ["r"], name="r"),
        helper.make_node("DequantizeLinear", ["r", "ys", "wz"], ["y"],
                         name="y")]
    graph = helper.make_graph(
        nodes, "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, ROWS])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, COLUMNS])],
        [numpy_helper.from_array(np.asarray(v), k)
         for k, v in constants.items()])
    model = helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", 17)])
    onnx.save(model, os.path.join(folder, "model.onnx"),
              save_as_external_data=True, location="weights.bin",
              size_threshold=1024)


def check_all(checks, place, folder, binaries):
    def tool(name, *arguments):
        return run([os.path.join(binaries, name), *arguments])

    target = ["--target", "x86-64"]
    wanted = os.path.join(place, "foldc.fold")
    done = tool("foldc", os.path.join(folder, "model.onnx"), *target, "-o",
                wanted)
    if not checks.check("foldc reads the data beside the model",
                        "" if done.code == 0 else done.text[-500:]):
        return
    checks.check("the data is larger than a message", "" if os.path.getsize(
        os.path.join(folder, "weights.bin")) > 4 << 20 else "it is not")
    with Foldd(binaries) as server:
        for turn in ("first", "second"):
            got = os.path.join(place, f"{turn}.fold")
            done = tool("foldctl", "compile", folder, "--server",
                        server.address, *target, "-o", got)
            if checks.check(f"{turn}: one command sends and compiles",
                            "" if done.code == 0 else done.text[-500:]):
                checks.check(f"{turn}: foldc's bytes", "" if read(got) == read(
                    wanted) else "other bytes")
        os.remove(os.path.join(folder, "weights.bin"))
        done = tool("foldctl", "compile", folder, "--server", server.address,
                    *target, "-o", os.path.join(place, "none.fold"))
        checks.equal("without the data it is the sender's error", done.code, 3)
        checks.equal("foldd drains", server.stop(), 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    binaries = os.path.abspath(parser.parse_args().bin)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_upload_") as place:
        folder = os.path.join(place, "model")
        os.mkdir(folder)
        make_folder(folder)
        check_all(checks, place, folder, binaries)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
