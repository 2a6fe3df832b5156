"""Builds small quantized ONNX networks, node by node, from a seed.

A network's name is its seed: the same name gives the same bytes. Scales are
random float32 numbers unless given; zero points are odd ones on purpose.
"""
import zlib

import numpy as np
from onnx import TensorProto, helper, numpy_helper, shape_inference

I8, U8, I32 = np.int8, np.uint8, np.int32
ONNX_KIND = {np.dtype(np.float32): TensorProto.FLOAT,
             np.dtype(I8): TensorProto.INT8, np.dtype(U8): TensorProto.UINT8,
             np.dtype(I32): TensorProto.INT32,
             np.dtype(np.int64): TensorProto.INT64}
OTHERS_DOMAIN = "com.microsoft"


class Coded:
    """A quantized tensor: the name of its codes, and what they mean."""

    def __init__(self, codes, scale, zero, kind):
        self.codes, self.scale, self.zero, self.kind = codes, scale, zero, kind


class Network:
    def __init__(self, name, opset=17):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.constants, self.inputs = [], [], []
        self.outputs, self.counts, self.uses_others = [], {}, False
        self.domains = {}  # further operator sets, by version
        self.omitted = set()  # those that the model does not import after all

    # Names and plain nodes.

    def fresh(self, tag):
        number = self.counts.get(tag, 0)
        self.counts[tag] = number + 1
        return tag if number == 0 else f"{tag}_{number}"

    def node(self, kind, inputs, output=None, domain="", **attributes):
        """Appends a node with one output; the output's name."""
        output = output or self.fresh(kind.lower())
        self.uses_others |= domain == OTHERS_DOMAIN
        self.nodes.append(helper.make_node(
            kind, inputs, [output], name=self.fresh("n_" + kind.lower()),
            domain=domain, **attributes))
        return output

    def constant(self, value, tag="constant"):
        name = self.fresh(tag)
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def input(self, shape, kind=np.float32, name="x"):
        self.inputs.append(helper.make_tensor_value_info(
            name, ONNX_KIND[np.dtype(kind)], shape))
        return name

    def output(self, name, kind=np.float32, shape=None):
        """Names a graph output. Only operators outside ONNX need a shape."""
        self.outputs.append(helper.make_tensor_value_info(
            name, ONNX_KIND[np.dtype(kind)], shape))
        return name

    # Quantization.

    def scale(self, low=0.004, high=0.06, count=None):
        return np.float32(self.rng.uniform(low, high, count))

    def zero(self, kind):
        """An odd zero point away from the ends of the codes."""
        info = np.iinfo(kind)
        middle = (info.min + info.max + 1) // 2
        return kind(middle + 2 * self.rng.integers(-30, 30) + 1)

    def codes(self, shape, kind):
        info = np.iinfo(kind)
        return self.rng.integers(info.min, info.max, shape,
                                 endpoint=True).astype(kind)

    def quantize(self, x, kind=I8, scale=None, zero=None, axis=None):
        scale = self.scale() if scale is None else np.asarray(scale,
                                                              np.float32)
        zero = self.zero(kind) if zero is None else np.asarray(zero, kind)
        inputs = [x, self.constant(scale, "scale"), self.constant(zero, "zero")]
        where = {} if axis is None else {"axis": axis}
        return Coded(self.node("QuantizeLinear", inputs, **where), inputs[1],
                     inputs[2], kind)

    def dequantize(self, coded, axis=None):
        where = {} if axis is None else {"axis": axis}
        return self.node("DequantizeLinear",
                         [coded.codes, coded.scale, coded.zero], **where)

    def fake(self, x, kind=I8, scale=None, zero=None):
        return self.dequantize(self.quantize(x, kind, scale, zero))

    def coded_constant(self, codes, scale, zero, tag="weight"):
        """Integer codes as an initializer, with scale and zero point."""
        return Coded(self.constant(codes, tag), self.constant(scale, "scale"),
                     self.constant(zero, "zero"), codes.dtype.type)

    def weight(self, shape, kind=I8, axis=None, zero=0, as_float=False,
               scale=None):
        """The real weights' name: int codes, or floats, behind Q and DQ."""
        count = None if axis is None else shape[axis]
        if scale is None:
            scale = self.scale(0.001, 0.01, count)
        zeros = np.full(np.shape(scale), zero, kind)
        if as_float:
            per_axis = ([-1 if i == axis else 1 for i in range(len(shape))]
                        if axis is not None else [])
            width = np.reshape(scale, per_axis) * 100
            values = (self.rng.normal(0, 1, shape) * width / 2)
            name = self.constant(values.astype(np.float32), "weight")
            coded = self.quantize(name, kind, scale, zeros, axis)
        else:
            coded = self.coded_constant(self.codes(shape, kind), scale, zeros)
        return self.dequantize(coded, axis)

    def bias(self, count, scale=None):
        """A float bias, or int32 codes at `scale` behind a DequantizeLinear."""
        if scale is None:
            return self.constant(
                self.rng.normal(0, 1, count).astype(np.float32), "bias")
        codes = self.rng.integers(-4000, 4000, count).astype(I32)
        coded = self.coded_constant(codes, np.asarray(scale, np.float32),
                                    np.zeros(np.shape(scale), I32), "bias")
        return self.dequantize(coded, 0 if np.ndim(scale) else None)

    def finish(self, x, kind=I8, scale=None, zero=None, real=False,
               shape=None):
        """Quantizes `x`; the codes, or (real) their values, are the output."""
        coded = self.quantize(x, kind, scale, zero)
        if real:
            return self.output(self.dequantize(coded))
        return self.output(coded.codes, kind, shape)

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs,
                                  self.outputs, self.constants)
        opsets = [helper.make_opsetid("", self.opset)]
        if self.uses_others:
            opsets.append(helper.make_opsetid(OTHERS_DOMAIN, 1))
        opsets += [helper.make_opsetid(name, version)
                   for name, version in self.domains.items()]
        model = shaped(helper.make_model(
            graph, opset_imports=opsets, ir_version=8,
            producer_name="foldd tests"))
        kept = [o for o in model.opset_import if o.domain not in self.omitted]
        del model.opset_import[:]
        model.opset_import.extend(kept)
        return model


def shaped(model):
    """The model with the shapes of its outputs written down."""
    inferred = shape_inference.infer_shapes(model)
    for output, found in zip(model.graph.output, inferred.graph.output):
        output.CopyFrom(found)
    return model
