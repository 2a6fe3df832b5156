#!/usr/bin/env python3
"""Builds models that foldd must refuse: damaged, contradictory, hostile.

Usage: hostile.py FOLDER
Writes a file a case and `hostile.tsv`: file, exit codes, words. The compile
has to end with one of the codes; where it is 3 the diagnostic has to contain
one of the words (the name of a node, tensor or field).
Needs: onnx, numpy.
"""
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from network import Network  # noqa: E402

REFUSED = (3,)
EITHER = (0, 3)  # may compile; must not crash, hang or grow
FLOAT, I8 = TensorProto.FLOAT, TensorProto.INT8
UNREADABLE = ("parse", "protobuf", "truncated", "at byte")


class Case:
    def __init__(self, name, data, words, codes=REFUSED):
        self.name, self.data, self.codes = name, data, codes
        self.words = (words,) if isinstance(words, str) else words


# Pieces of small models.

def tensor(name, value):
    return numpy_helper.from_array(np.asarray(value), name)


def value(name, shape, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model(nodes, constants=(), inputs=None, outputs=None, opset=17, **more):
    graph = helper.make_graph(
        nodes, "hostile", inputs or [value("x", [1, 2, 4, 4])],
        outputs or [value("y", None)], list(constants))
    if opset is not None:
        more["opset_imports"] = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, ir_version=8, **more)


def node(kind, inputs, output="y", name=None, **attributes):
    return helper.make_node(kind, inputs, [output], name=name or
                            "the_" + kind.lower(), **attributes)


def quantized(scale, zero=np.int8(1), extra=(), **attributes):
    """Q and DQ around nothing, with the given parameters."""
    return model(
        [node("QuantizeLinear", ["x", "the_scale", "the_zero"], "codes",
              **attributes),
         node("DequantizeLinear", ["codes", "the_scale", "the_zero"],
              **attributes)],
        [tensor("the_scale", scale), tensor("the_zero", zero), *extra])


def conv(weight=(3, 2, 3, 3), weight_constant=None, **attributes):
    """A quantized Conv of [1, 2, 4, 4]."""
    w = weight_constant or tensor("the_weight", np.ones(weight, np.int8))
    return model(
        [node("QuantizeLinear", ["x", "s", "z"], "codes"),
         node("DequantizeLinear", ["codes", "s", "z"], "a"),
         node("DequantizeLinear", ["the_weight", "s", "z"], "w", "weight_dq"),
         node("Conv", ["a", "w"], "conv_result", **attributes),
         node("QuantizeLinear", ["conv_result", "s", "z"], "y", "last")],
        [tensor("s", np.float32(0.1)), tensor("z", np.int8(0)), w],
        outputs=[value("y", None, I8)])


def one(kind, inputs=("x",), constants=(), more_inputs=(), **attributes):
    """One operator between a quantized input and a QuantizeLinear."""
    nodes = [node("QuantizeLinear", ["x", "s", "z"], "codes"),
             node("DequantizeLinear", ["codes", "s", "z"], "a"),
             node(kind, ["a" if i == "x" else i for i in inputs], "result",
                  **attributes),
             node("QuantizeLinear", ["result", "s", "z"], "y", "last")]
    return model(nodes, [tensor("s", np.float32(0.1)),
                         tensor("z", np.int8(0)), *constants],
                 [value("x", [1, 2, 4, 4]), *more_inputs],
                 [value("y", None, I8)])


def raw_tensor(name, dims, kind=FLOAT, data=b""):
    result = TensorProto(name=name, data_type=kind, raw_data=data)
    result.dims.extend(dims)
    return result


# Bytes written by hand, for what the library would not write.

def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested_ifs(depth):
    """An If in a branch of an If in a branch …"""
    graph = field(2, b"innermost")
    for _ in range(depth):
        attribute = field(1, b"then_branch") + field(6, graph) + b"\xa0\x01\x05"
        graph = field(1, field(3, b"the_if") + field(4, b"If") +
                      field(2, b"y") + field(5, attribute)) + field(2, b"g")
    shape = field(1, b"\x08\x01" + field(2, b""))
    graph += field(12, field(1, b"y") + field(2, shape))
    return b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11")


def damaged_files():
    whole = conv().SerializeToString()
    yield Case("empty", b"", ("empty", "ir_version", "graph", *UNREADABLE))
    rng = np.random.default_rng(1)
    yield Case("garbage", rng.bytes(4096), UNREADABLE)
    yield Case("text", b"This is not a model.\n" * 40, UNREADABLE)
    yield Case("truncated", whole[:len(whole) * 3 // 5], UNREADABLE)
    yield Case("claims_2_gib", b"\x08\x08\x3a\xff\xff\xff\xff\x07" + b"x" * 90,
               UNREADABLE)
    yield Case("nested_500_ifs", nested_ifs(500),
               ("the_if", "If", "nest", *UNREADABLE))
    yield Case("nested_20_ifs", nested_ifs(20), ("the_if", "If", "then"))
    for number in range(24):
        bytes_ = bytearray(whole)
        for place in rng.integers(0, len(bytes_), 1 + number % 4):
            bytes_[place] ^= 1 << int(rng.integers(0, 8))
        yield Case(f"flipped_{number}", bytes(bytes_), "", EITHER)
    for number in range(8):
        end = int(rng.integers(1, len(whole)))
        yield Case(f"cut_{number}", whole[:end], "", EITHER)


def bad_tensors():
    def with_weight(w):
        return conv(weight_constant=w)
    for name, w in (
            ("negative", raw_tensor("the_weight", [-1, 2, 3, 3], I8)),
            ("overflowing", raw_tensor("the_weight", [1 << 40, 1 << 40, 3, 3],
                                       I8)),
            ("huge_in_100_bytes", raw_tensor("the_weight", [1 << 31], I8)),
            ("short_data", raw_tensor("the_weight", [3, 2, 3, 3], I8,
                                      b"\x01" * 53)),
            ("long_data", raw_tensor("the_weight", [3, 2, 3, 3], I8,
                                     b"\x01" * 55)),
            ("unknown_type", raw_tensor("the_weight", [3, 2, 3, 3], 999,
                                        b"\x01" * 54)),
            ("string_type", helper.make_tensor(
                "the_weight", TensorProto.STRING, [1], [b"text"]))):
        codes = EITHER if name == "long_data" else REFUSED
        yield Case("weight_" + name, with_weight(w),
                   ("the_weight", "weight_dq", "999"), codes)
    for name, where in (("absolute", "/etc/passwd"),
                        ("outside", "../../../../etc/passwd"),
                        ("absent", "no_such_file.bin"), ("folder", ".")):
        w = raw_tensor("the_weight", [3, 2, 3, 3], I8)
        w.data_location = TensorProto.EXTERNAL
        w.external_data.add(key="location", value=where)
        yield Case("external_" + name, with_weight(w),
                   ("the_weight", "external"))
    w = raw_tensor("the_weight", [3, 2, 3, 3], I8)
    w.data_location = TensorProto.EXTERNAL
    for key, text in (("location", "hostile.tsv"), ("offset", "-9"),
                      ("length", "99999999999999999999")):
        w.external_data.add(key=key, value=text)
    yield Case("external_offset", with_weight(w), ("the_weight", "external"))
    for name, shape in (("negative", [1, -2, 4, 4]),
                        ("overflowing", [1 << 40, 1 << 40, 4, 4])):
        bad = quantized(np.float32(0.1))
        bad.graph.input[0].CopyFrom(value("the_input", shape))
        bad.graph.node[0].input[0] = "the_input"
        yield Case("input_" + name, bad, "the_input")


def bad_graphs():
    relu = node("Relu", ["x"])
    yield Case("cycle", model([node("Relu", ["b"], "a", "loop_a"),
                               node("Relu", ["a"], "b", "loop_b"),
                               node("Add", ["x", "a"])]),
               ("loop_a", "loop_b", "cycle", "topological"))
    yield Case("cycle_of_one", model([node("Add", ["x", "y"])]),
               ("the_add", "cycle", "topological"))
    yield Case("absent_input", model([node("Relu", ["ghost"])]), "ghost")
    yield Case("absent_output", model([relu], outputs=[value("ghost", None)]),
               "ghost")
    yield Case("output_twice", model([relu, node("Sigmoid", ["x"])]),
               ("the_sigmoid", "'y'", '"y"', "y "))
    yield Case("constant_twice", model(
        [node("Add", ["x", "same"])],
        [tensor("same", np.float32(1)), tensor("same", np.float32(2))]),
        "same")
    yield Case("nothing", model([], outputs=[value("x", None)]), "", EITHER)
    bare = model([relu])
    del bare.graph.output[:]
    yield Case("no_output", bare, "output")
    yield Case("no_graph", b"\x08\x08" + field(8, b"\x10\x11"),
               ("graph", "output", "name"))
    yield Case("no_opset", without_opsets(model([relu])), "opset")
    yield Case("opset_9999", model([relu], opset=9999), ("opset", "9999"))
    yield Case("unknown_operator", model([node("Frobnicate", ["x"])]),
               "Frobnicate")
    strange = model([node("Frobnicate", ["x"], domain="acme")])
    strange.opset_import.append(helper.make_opsetid("acme", 1))
    yield Case("unknown_domain", strange, ("Frobnicate", "acme"))
    yield Case("loop_operator", with_loop(), ("the_loop", "Loop"))
    yield Case("function_of_itself", with_functions(1, itself=True),
               ("f0", "function", "recurs"))
    yield Case("function_bomb", with_functions(40), ("f0", "f1", "function"))
    yield Case("chain_of_3000", model(
        [node("Relu", [f"v{i}" if i else "x"], f"v{i + 1}", f"n{i}")
         for i in range(3000)], outputs=[value("v3000", None)]), "", EITHER)


def without_opsets(bad):
    del bad.opset_import[:]
    return bad


def with_loop():
    body = helper.make_graph(
        [node("Identity", ["c"], "c_out"), node("Identity", ["v"], "v_out")],
        "body", [value("i", [], TensorProto.INT64),
                 value("c", [], TensorProto.BOOL), value("v", [1, 2, 4, 4])],
        [value("c_out", [], TensorProto.BOOL), value("v_out", [1, 2, 4, 4])])
    return model([node("Loop", ["trips", "", "x"], body=body)],
                 [tensor("trips", np.int64(1 << 40))])


def with_functions(count, itself=False):
    """f0 calls f1 twice, which calls f2 twice …: 2^count nodes once inlined."""
    made = []
    for i in range(count):
        callee = "f0" if itself else f"f{i + 1}"
        kind = {"domain": "acme"} if itself or i + 1 < count else {}
        callee = callee if kind else "Relu"
        body = [helper.make_node(callee, ["a"], ["m"], name=f"call_{i}", **kind),
                helper.make_node(callee, ["m"], ["r"], name=f"again_{i}",
                                 **kind)]
        made.append(helper.make_function(
            "acme", f"f{i}", ["a"], ["r"], body,
            [helper.make_opsetid("", 17), helper.make_opsetid("acme", 1)]))
    result = model([node("f0", ["x"], domain="acme")], functions=made)
    result.opset_import.append(helper.make_opsetid("acme", 1))
    return result


def bad_quantization():
    named = ("the_scale", "the_quantizelinear", "the_dequantizelinear")
    for name, scale in (("zero", 0.0), ("negative", -0.5), ("nan", np.nan),
                        ("infinite", np.inf)):
        yield Case("scale_" + name, quantized(np.float32(scale)), named)
    yield Case("scale_one_of_many_zero",
               quantized(np.float32([0.1, 0]), np.int8([0, 0])), named)
    yield Case("scale_too_many",
               quantized(np.float32([0.1] * 3), np.int8([0] * 3)), named)
    yield Case("scale_of_integers", quantized(np.int64(1)), named)
    zero = ("the_zero", *named[1:])
    yield Case("zero_of_another_length",
               quantized(np.float32([0.1, 0.2]), np.int8([0] * 3)), zero)
    yield Case("zero_of_floats", quantized(np.float32(0.1), np.float32(0)),
               zero)
    for axis in (4, -5, 1 << 40):
        yield Case(f"axis_{axis}", quantized(
            np.float32([0.1, 0.2]), np.int8([0, 0]), axis=axis),
            (*named, "axis"))
    for kind in ("ReduceMean", "ReduceMax"):
        yield Case(f"dynamic_scale_by_{kind.lower()}", model(
            [node(kind, ["x"], "top", keepdims=0),
             node("Div", ["top", "k"], "run_time_scale"),
             node("QuantizeLinear", ["x", "run_time_scale", "z"], "codes"),
             node("DequantizeLinear", ["codes", "run_time_scale", "z"])],
            [tensor("k", np.float32(127)), tensor("z", np.int8(0))]),
            ("the_quantizelinear", "run_time_scale", "the_reducemax"))
    yield Case("scale_is_an_input", model(
        [node("QuantizeLinear", ["x", "given", "z"], "codes"),
         node("DequantizeLinear", ["codes", "given", "z"])],
        [tensor("z", np.int8(0))],
        [value("x", [1, 2, 4, 4]), value("given", [])]),
        ("the_quantizelinear", "given"))
    yield Case("dynamic_quantize_linear", model(
        [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"],
                          name="the_dynamic"),
         node("DequantizeLinear", ["q", "s", "z"])]),
        ("the_dynamic", "DynamicQuantizeLinear"))


def bad_attributes():
    for name, attributes in (
            ("group_zero", {"group": 0}), ("group_negative", {"group": -1}),
            ("group_3", {"group": 3}), ("group_huge", {"group": 1 << 40}),
            ("stride_zero", {"strides": [0, 1]}),
            ("stride_negative", {"strides": [-1, 1]}),
            ("strides_too_few", {"strides": [1]}),
            ("dilation_zero", {"dilations": [0, 1]}),
            ("dilation_huge", {"dilations": [1 << 40, 1]}),
            ("pads_huge", {"pads": [1 << 60] * 4}),
            ("pads_large", {"pads": [1 << 20] * 4}),
            ("pads_too_few", {"pads": [1, 1, 1]}),
            ("kernel_shape_wrong", {"kernel_shape": [5, 5]}),
            ("auto_pad_unknown", {"auto_pad": "SIDEWAYS"}),
            ("strides_of_text", {"strides": "two"}),
            ("unknown_attribute", {"frobnication": 3})):
        yield Case("conv_" + name, conv(**attributes),
                   ("the_conv", "conv_result"))
    for name, weight in (("channels", (3, 5, 3, 3)), ("rank", (3, 2, 3)),
                         ("kernel_too_large", (3, 2, 9, 9)),
                         ("no_channels", (0, 2, 3, 3))):
        yield Case("conv_" + name, conv(weight),
                   ("the_conv", "the_weight", "conv_result"),
                   EITHER if 0 in weight else REFUSED)
    pool = {"kernel_shape": [2, 2]}
    for name, attributes in (
            ("kernel_zero", {"kernel_shape": [0, 2]}),
            ("kernel_negative", {"kernel_shape": [-2, 2]}),
            ("kernel_too_large", {"kernel_shape": [9, 9]}),
            ("no_kernel", {}), ("stride_zero", {**pool, "strides": [0, 1]}),
            ("pads_not_smaller", {**pool, "pads": [2, 2, 2, 2]})):
        codes = EITHER if name == "pads_not_smaller" else REFUSED
        for kind in ("MaxPool", "AveragePool"):
            yield Case(f"{kind.lower()}_{name}", one(kind, **attributes),
                       (f"the_{kind.lower()}", "'result'"), codes)


def bad_operands():
    def axes(*numbers):
        return [tensor("k", np.int64(numbers))]
    for name, kind, constants, attributes in (
            ("element_count", "Reshape", axes(3, 11), {}),
            ("two_unknown", "Reshape", axes(-1, -1), {}),
            ("minus_two", "Reshape", axes(-2, 16), {}),
            ("overflow", "Reshape", axes(1 << 32, 1 << 32), {}),
            ("wrap", "Reshape", axes((1 << 60) + 1, 16), {}),
            ("not_one", "Squeeze", axes(1), {}),
            ("out_of_range", "Squeeze", axes(7), {}),
            ("out_of_range", "Unsqueeze", axes(9), {}),
            ("twice", "Unsqueeze", axes(1, 1), {}),
            ("mismatch", "Add", [tensor("k", np.ones(3, np.float32))], {}),
            ("type", "Add", [tensor("k", np.int64([1]))], {}),
            ("mismatch", "MatMul", [tensor("k", np.ones((3, 3),
                                                        np.float32))], {}),
            ("rank", "Gemm", [tensor("k", np.ones((4, 4), np.float32))], {}),
            ("other_sizes", "Concat", [tensor("k", np.ones((1, 2, 3, 4),
                                                           np.float32))],
             {"axis": 1})):
        yield Case(f"{kind.lower()}_{name}", one(kind, ("x", "k"), constants,
                                                 **attributes),
                   f"the_{kind.lower()}")
    for name, kind, attributes in (
            ("axis", "Softmax", {"axis": 4}), ("axis", "Flatten", {"axis": 9}),
            ("axis", "Concat", {"axis": -9}), ("no_axis", "Concat", {}),
            ("repeated", "Transpose", {"perm": [0, 1, 1, 3]}),
            ("too_short", "Transpose", {"perm": [0, 1]}),
            ("outside", "Transpose", {"perm": [0, 1, 2, 99]}),
            ("axis", "ReduceMean", {"axes": [8]}),
            ("no_type", "Cast", {}), ("unknown_type", "Cast", {"to": 999}),
            ("few_inputs", "Conv", {}), ("few_inputs", "Gemm", {})):
        yield Case(f"{kind.lower()}_{name}", one(kind, **attributes),
                   f"the_{kind.lower()}")
    yield Case("relu_many_inputs", one("Relu", ("x", "x", "x")), "the_relu")
    yield Case("relu_of_strings", model(
        [node("Relu", ["t"])], inputs=[value("t", [1], TensorProto.STRING)]),
        ("the_relu", "'t'", "t "))
    yield Case("gather_out_of_range", model(
        [node("Shape", ["x"], "shape"),
         node("Gather", ["shape", "k"], "one"),
         node("Reshape", ["x", "one"])], axes(77)), "the_gather")
    yield Case("constant_of_huge_shape", model(
        [node("ConstantOfShape", ["k"], "fill"), node("Add", ["x", "fill"])],
        axes(1 << 36, 1, 1, 1, 1)), ("the_constantofshape", "fill", "the_add"))
    yield Case("constant_of_negative_shape", model(
        [node("ConstantOfShape", ["k"], "fill"), node("Add", ["x", "fill"])],
        axes(-5)), ("the_constantofshape", "fill"))
    yield Case("constant_without_value", model(
        [helper.make_node("Constant", [], ["k"], name="the_constant"),
         node("Add", ["x", "k"])]), "the_constant")
    yield Case("negative_variance", one(
        "BatchNormalization", ("x", "k", "k", "k", "v"),
        [tensor("k", np.ones(2, np.float32)),
         tensor("v", np.float32([1, -4]))]), "the_batchnormalization")
    yield Case("batch_norm_length", one(
        "BatchNormalization", ("x", "k", "k", "k", "k"),
        [tensor("k", np.ones(5, np.float32))]), "the_batchnormalization")


def shaped_outputs(bad):
    """Gives outputs a shape, so that its lack is not the fault that is found.

    Only the rank is taken from inference: sizes would state the fault twice.
    """
    inferred = bad
    try:
        if not bad.functions:  # else the library would inline the bomb
            inferred = shape_inference.infer_shapes(bad)
    except Exception:  # the library refuses what it cannot infer
        pass
    for output, found in zip(bad.graph.output, inferred.graph.output):
        kind = output.type.tensor_type
        if not kind.HasField("shape"):
            known = found.type.tensor_type.HasField("shape")
            rank = len(found.type.tensor_type.shape.dim) if known else 4
            output.type.CopyFrom(value("", [f"d{i}" for i in range(rank)],
                                       kind.elem_type).type)
    return bad


def cases():
    """Every case; data is bytes."""
    for group in (damaged_files, bad_tensors, bad_graphs, bad_quantization,
                  bad_attributes, bad_operands):
        for case in group():
            if not isinstance(case.data, bytes):
                case.data = shaped_outputs(case.data).SerializeToString()
            yield case


def good_model():
    """A model that does compile, to show that a server still serves."""
    net = Network("good")
    y = net.node("Relu", [net.fake(net.input([1, 6]))])
    net.finish(y)
    return net.model().SerializeToString()


def write(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "hostile.tsv"), "w",
              encoding="utf-8") as table:
        table.write("# file\texit codes\twords\n")
        for case in cases():
            with open(os.path.join(folder, case.name + ".onnx"), "wb") as file:
                file.write(case.data)
            codes = ",".join(map(str, case.codes))
            table.write(f"{case.name}.onnx\t{codes}\t{'|'.join(case.words)}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(sys.argv[1])
