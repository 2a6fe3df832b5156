#!/usr/bin/env python3
"""Models with external data, and models larger than a message, by foldctl.

Usage: external_data_test.py --bin DIR
Splits the sample's weights into a file of their own and compiles the folder
with foldc and with foldctl: the same bytes as from the whole model. What lies
outside of the folder is not read. Pads a model beyond the limit of a message;
starts a compile as an operation, restarts the server and waits for it.
"""
import argparse
import json
import os
import shutil
import signal
import sys
import tempfile

import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from checks import Checks, read, run  # noqa: E402
from foldd_process import Foldd  # noqa: E402

MODEL = os.path.join(os.path.dirname(HERE), "models", "sample", "sample.onnx")
SHAPE = ["--target", "x86-64", "--shape", "image=3,1,12,12"]
PAD_BYTES = 6 << 20


def split(folder, location="weights.bin"):
    """The sample with its large constants in another file."""
    model = onnx.load(MODEL)
    path = os.path.join(folder, "model.onnx")
    onnx.save_model(model, path, save_as_external_data=True,
                    all_tensors_to_one_file=True, location=location,
                    size_threshold=64)
    return path


def relocate(path, location):
    """Lets all external tensors of a model name another file."""
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = location
    onnx.save_model(model, path)


class Tools:
    def __init__(self, folder, tools):
        self.folder, self.tools, self.count = folder, tools, 0

    def output(self):
        self.count += 1
        return os.path.join(self.folder, f"{self.count}.fold")

    def foldc(self, model):
        out = self.output()
        return run([os.path.join(self.tools, "foldc"), model, *SHAPE, "-o",
                    out]), out

    def foldctl(self, server, model, *flags):
        out = self.output()
        return run([os.path.join(self.tools, "foldctl"), "compile", model,
                    *SHAPE, "--server", server.address, "-o", out,
                    *flags]), out


def check_split(checks, tools, server, folder):
    whole, plain = tools.foldc(MODEL)
    checks.equal("foldc compiles the whole model", whole.code, 0)
    path = split(folder)
    done, out = tools.foldc(path)
    checks.check("foldc reads the file beside the model",
                 "" if done.code == 0 else done.text[-300:])
    # The artifact does not say how the model was stored.
    same = done.code == 0 and read(out) == read(plain)
    checks.check("the same bytes as from the whole model",
                 "" if same else "other bytes")
    done, out = tools.foldctl(server, folder)
    checks.check("foldctl compiles the folder in one command",
                 "" if done.code == 0 else done.text[-300:])
    same = done.code == 0 and read(out) == read(plain)
    checks.check("and its artifact is the same", "" if same else "other bytes")
    done, out = tools.foldctl(server, path, "--external",
                              os.path.join(folder, "weights.bin"))
    checks.equal("the file can be named, too", done.code, 0)
    done, _ = tools.foldctl(server, path)
    checks.equal("without it the model is at fault", done.code, 3)
    checks.check("and the message names the file",
                 "" if "weights.bin" in done.text else done.text[-300:])
    shutil.copy(MODEL, os.path.join(folder, "second.onnx"))
    done, _ = tools.foldctl(server, folder)
    checks.equal("a folder with two models is refused", done.code, 3)
    os.remove(os.path.join(folder, "second.onnx"))


def check_outside(checks, tools, folder):
    """No path of a model leads out of its folder."""
    inner = os.path.join(folder, "inner")
    os.mkdir(inner)
    path = split(inner)
    secret = os.path.join(folder, "secret.bin")
    shutil.move(os.path.join(inner, "weights.bin"), secret)
    os.symlink(secret, os.path.join(inner, "link.bin"))
    for location in ("../secret.bin", "inner/../../secret.bin", secret,
                     "link.bin", "/etc/passwd", "."):
        relocate(path, location)
        done, _ = tools.foldc(path)
        checks.equal(f"'{os.path.basename(location)}' by {location[:2]!r} is "
                     "refused", done.code, 3)


def check_large(checks, tools, server, folder):
    model = onnx.load(MODEL)
    model.doc_string = "x" * PAD_BYTES
    path = os.path.join(folder, "large.onnx")
    onnx.save_model(model, path)
    done, out = tools.foldctl(server, path, "--report", path + ".json")
    checks.check("a model larger than a message compiles",
                 "" if done.code == 0 else done.text[-300:])
    done, again = tools.foldctl(server, path, "--report", path + ".json")
    with open(path + ".json", encoding="utf-8") as file:
        cached = json.load(file)["run"]["cached"]
    checks.equal("and is answered from the cache then", cached, True)
    checks.check("with the same bytes",
                 "" if read(out) == read(again) else "other bytes")


def check_detached(checks, tools, folder):
    data = tempfile.mkdtemp(prefix="fold_data_")
    foldctl = os.path.join(tools.tools, "foldctl")
    try:
        with Foldd(tools.tools, data=data) as server:
            done = run([foldctl, "compile", MODEL, *SHAPE, "--server",
                        server.address, "--detach"])
            checks.equal("--detach prints the operation's name", done.code, 0)
            name = done.text.strip()
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        out = os.path.join(folder, "detached.fold")
        with Foldd(tools.tools, data=data) as server:
            done = run([foldctl, "operations", "wait", name, "--server",
                        server.address, "-o", out])
            checks.check("it ends in the next server",
                         "" if done.code == 0 else done.text[-300:])
            done = run([foldctl, "operations", "list", "--server",
                        server.address])
            checks.check("and is listed", "" if name in done.text else
                         done.text[-300:])
            direct, plain = tools.foldctl(server, MODEL)
            same = direct.code == 0 and read(out) == read(plain)
            checks.check("its artifact is that of a call",
                         "" if same else "other bytes")
            done = run([foldctl, "operations", "delete", name, "--server",
                        server.address])
            checks.equal("it can be deleted", done.code, 0)
            done = run([foldctl, "operations", "get", name, "--server",
                        server.address])
            checks.equal("and is unknown then", done.code, 3)
    finally:
        shutil.rmtree(data, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="fold_external_") as folder:
        tools = Tools(folder, arguments.bin)
        model_folder = os.path.join(folder, "model")
        os.mkdir(model_folder)
        with Foldd(arguments.bin) as server:
            check_split(checks, tools, server, model_folder)
            check_large(checks, tools, server, folder)
        check_outside(checks, tools, folder)
        check_detached(checks, tools, folder)
    return checks.close()


if __name__ == "__main__":
    sys.exit(main())
