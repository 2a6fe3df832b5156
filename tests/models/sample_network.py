"""Writes the trained sample network as ONNX with fake-quantization in it.

Three convolutions keep float weights behind QuantizeLinear and
DequantizeLinear and have BatchNormalization; the fourth and the Gemm have
int8 weights. The batch is symbolic. The same weights give the same bytes.
"""
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sample")
BATCH = "batch"


class Writer:
    def __init__(self, weights):
        self.w, self.nodes, self.constants = weights, [], {}

    def constant(self, name, value):
        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def node(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name,
                                           **attributes))
        return name

    def fake(self, x, name):
        """An activation rounded to the codes that training chose."""
        scale = self.constant(name + "_scale", self.w["act_" + name])
        zero = self.constant(name + "_zero", self.w["zero_" + name])
        codes = self.node("QuantizeLinear", [x, scale, zero], name + "_codes")
        return self.node("DequantizeLinear", [codes, scale, zero],
                         name + "_value")

    def float_weight(self, name):
        """Float weights, rounded in the graph, per output channel."""
        w = self.constant(name + "_weight", self.w[name])
        scale = self.constant(name + "_weight_scale", self.w[name + "_scale"])
        zero = self.constant(name + "_weight_zero",
                             np.zeros(len(self.w[name]), np.int8))
        codes = self.node("QuantizeLinear", [w, scale, zero],
                          name + "_weight_codes", axis=0)
        return self.node("DequantizeLinear", [codes, scale, zero],
                         name + "_weight_value", axis=0)

    def integer_weight(self, name):
        w, scale = self.w[name], self.w[name + "_scale"]
        ratio = (w.astype(np.float64) /
                 scale.astype(np.float64).reshape([-1] + [1] * (w.ndim - 1)))
        codes = np.clip(np.rint(ratio), -127, 127).astype(np.int8)
        return self.node("DequantizeLinear", [
            self.constant(name + "_weight", codes),
            self.constant(name + "_weight_scale", scale),
            self.constant(name + "_weight_zero", np.zeros(len(w), np.int8))],
            name + "_weight_value", axis=0)

    def integer_bias(self, name, input_scale):
        scale = (np.float64(input_scale) *
                 self.w[name + "_scale"].astype(np.float64))
        codes = np.rint(self.w[name + "_bias"].astype(np.float64) / scale)
        return self.node("DequantizeLinear", [
            self.constant(name + "_bias", codes.astype(np.int32)),
            self.constant(name + "_bias_scale", scale.astype(np.float32))],
            name + "_bias_value", axis=0)

    def normed(self, x, name, relu, **attributes):
        """Convolution, BatchNormalization, perhaps Relu, rounding."""
        y = self.node("Conv", [x, self.float_weight(name)], name + "_conv",
                      **attributes)
        parameters = [self.constant(f"{name}_{key}", self.w[f"{name}_{key}"])
                      for key in ("gamma", "beta", "mean", "var")]
        y = self.node("BatchNormalization", [y] + parameters, name + "_norm",
                      epsilon=1e-5)
        if relu:
            y = self.node("Relu", [y], name + "_relu")
        return self.fake(y, name)


def sample_model(folder=FOLDER):
    """The ModelProto, from the committed weights."""
    net = Writer(dict(np.load(os.path.join(folder, "weights.npz"))))
    net.w["act_image"], net.w["zero_image"] = np.float32(1 / 255), np.uint8(0)
    x = net.fake("image", "image")
    first = net.normed(x, "first", True, pads=[1, 1, 1, 1])
    wise = net.normed(first, "wise", True, pads=[1, 1, 1, 1], group=8)
    point = net.normed(wise, "point", False)
    y = net.node("Relu", [net.node("Add", [first, point], "sum_add")],
                 "sum_relu")
    y = net.node("MaxPool", [net.fake(y, "sum")], "pool",
                 kernel_shape=[2, 2], strides=[2, 2])
    bias = net.constant("second_bias", net.w["second_bias"])
    y = net.node("Conv", [y, net.integer_weight("second"), bias],
                 "second_conv")
    y = net.fake(net.node("Relu", [y], "second_relu"), "second")
    y = net.node("AveragePool", [y], "mean_pool", kernel_shape=[2, 2],
                 strides=[2, 2])
    y = net.node("Flatten", [net.fake(y, "mean")], "flat")
    y = net.node("Gemm", [y, net.integer_weight("dense"),
                          net.integer_bias("dense", net.w["act_mean"])],
                 "dense_gemm", transB=1)
    net.fake(y, "logits")
    graph = helper.make_graph(
        net.nodes, "sample_digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT,
                                       [BATCH, 1, 12, 12])],
        [helper.make_tensor_value_info("logits_value", TensorProto.FLOAT,
                                       [BATCH, 10])],
        list(net.constants.values()))
    return helper.make_model(graph, ir_version=8,
                             opset_imports=[helper.make_opsetid("", 17)],
                             producer_name="foldd sample")
