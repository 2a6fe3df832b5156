"""Networks around elementwise ops, pools, softmax and data movement."""
import numpy as np
from onnx import TensorProto, helper

from network import I8, U8


def two(net, kind, shape=(1, 4, 5, 5), other=None, **parameters):
    return (net.fake(net.input(shape, name="a"), kind, **parameters),
            net.fake(net.input(other or shape, name="b"), kind))


def add(net):
    net.finish(net.node("Add", two(net, I8)), I8, scale=0.08)


def add_uint8_relu(net):
    y = net.node("Relu", [net.node("Add", two(net, U8))])
    net.finish(y, U8, scale=0.03, zero=0)


def add_ties(net):
    """Scales 0.08 and 0.12 to 0.16: many sums lie on half codes."""
    a = net.fake(net.input([1, 4096], name="a"), I8, scale=0.08, zero=0)
    b = net.fake(net.input([1, 4096], name="b"), I8, scale=0.12, zero=0)
    net.finish(net.node("Add", [a, b]), I8, scale=0.16, zero=0)


def add_broadcast(net):
    a, b = two(net, I8, other=(4, 1, 1))
    net.finish(net.node("Add", [a, b]), U8, scale=0.08, real=True)


def add_twice_the_same(net):
    x = net.fake(net.input([2, 9]), I8)
    net.finish(net.node("Add", [x, x]), I8)


def add_constant(net):
    x = net.fake(net.input([1, 3, 4, 4]), U8)
    value = net.rng.normal(0, 1, (3, 1, 1)).astype(np.float32)
    net.finish(net.node("Add", [x, net.constant(value)]), U8)


def mul(net):
    net.finish(net.node("Mul", two(net, I8)), I8, scale=0.09)


def mul_uint8_broadcast(net):
    a, b = two(net, U8, other=(1, 4, 1, 1))
    net.finish(net.node("Mul", [a, b]), U8, scale=0.07)


def mul_constant(net):
    x = net.fake(net.input([2, 11]), I8)
    y = net.node("Mul", [x, net.constant(np.float32(-1.37))])
    net.finish(y, I8)


def div_constant(net):
    x = net.fake(net.input([2, 3, 4, 4]), I8)
    value = np.float32([2.0, -0.3, 7.0]).reshape(3, 1, 1)
    net.finish(net.node("Div", [x, net.constant(value)]), I8, scale=0.03)


def coded(net, codes, scale, zero, kind=I8):
    """A constant behind a DequantizeLinear."""
    return net.dequantize(net.coded_constant(
        np.asarray(codes, dtype=kind), np.float32(scale), kind(zero), "codes"))


def constant_over_value(net):
    x = net.fake(net.input([64, 3, 2]), U8, scale=0.02, zero=100)
    y = net.node("Div", [net.constant(np.float32(0.7)), x])
    net.finish(y, I8, scale=0.05)


def channels_over_value(net):
    x = net.fake(net.input([64, 3, 2]), I8, scale=0.02, zero=-7)
    value = np.float32([0.7, -2, 0]).reshape(3, 1)
    y = net.node("Relu", [net.node("Div", [net.constant(value), x])])
    net.finish(y, U8, scale=0.05, zero=3)


def tensor_over_value(net):
    x = net.fake(net.input([64, 3, 2]), U8, scale=0.02, zero=100)
    c = coded(net, [[1, 2], [-3, 4], [5, -100]], 0.03, 1)
    net.finish(net.node("Div", [c, x]), I8, scale=0.05)


def value_over_value(net):
    a, b = two(net, I8)
    net.finish(net.node("Div", [a, b]), I8, scale=0.05)


def coded_constants(net):
    """Factor, addend and bounds of a clip behind DequantizeLinear."""
    x = net.fake(net.input([2, 3, 4, 4]), I8, scale=0.02)
    factor = coded(net, [[[5]], [[-9]], [[77]]], 0.03, 4)
    y = net.node("Mul", [factor, x])
    y = net.node("Add", [y, coded(net, 9, 0.1, -3)])
    low = coded(net, 128, 0.05, 138, U8)
    y = net.node("Clip", [y, low, coded(net, 248, 0.05, 128, U8)])
    net.finish(y, U8, scale=0.03, zero=30)


def constant_tensor_added(net):
    x = net.fake(net.input([64, 3, 2]), U8, scale=0.02, zero=100)
    c = coded(net, [[1, 2], [-3, 4], [5, -100]], 0.03, 1)
    net.finish(net.node("Add", [x, c]), I8, scale=0.05)


def relu_alone(net):
    x = net.fake(net.input([3, 50]), I8)
    net.finish(net.node("Relu", [x]), U8, scale=0.021, zero=0)


def clip_alone(net):
    x = net.fake(net.input([3, 50]), I8, scale=0.03)
    y = net.node("Clip", [x, net.constant(np.float32(-1), "low"),
                          net.constant(np.float32(1), "high")])
    net.finish(y, U8, scale=0.01, zero=128)


def requantize(net):
    coded = net.quantize(net.input([5, 60]), U8, scale=0.04)
    net.finish(net.dequantize(coded), I8, scale=0.05)


def max_pool(net):
    x = net.fake(net.input([1, 3, 8, 7]), I8, scale=0.03, zero=5)
    y = net.node("MaxPool", [x], kernel_shape=[3, 2], strides=[2, 2],
                 pads=[1, 0, 1, 1])
    net.finish(y, I8, scale=0.03, zero=5)


def max_pool_ceil_dilated(net):
    x = net.fake(net.input([1, 2, 9, 10]), U8)
    y = net.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 3],
                 dilations=[2, 1], ceil_mode=1)
    net.finish(y, U8, scale=0.05)


def average(net, kind, **attributes):
    x = net.fake(net.input([1, 3, 8, 9]), kind)
    net.finish(net.node("AveragePool", [x], **attributes), kind, scale=0.02)


def average_pool(net):
    average(net, I8, kernel_shape=[3, 2], strides=[2, 1])


def average_pool_ties(net):
    """Equal scales and six elements: exact halves are common."""
    x = net.fake(net.input([1, 2, 8, 9]), U8, scale=0.03, zero=7)
    y = net.node("AveragePool", [x], kernel_shape=[2, 3])
    net.finish(y, U8, scale=0.03, zero=7)


def average_pool_pads_left_out(net):
    average(net, U8, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


def average_pool_pads_counted(net):
    average(net, U8, kernel_shape=[3, 3], pads=[0, 0, 1, 2],
            count_include_pad=1)


def average_pool_ceil(net):
    average(net, I8, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)


def global_average_pool(net):
    x = net.fake(net.input([2, 5, 7, 6]), I8)
    net.finish(net.node("GlobalAveragePool", [x]), I8, scale=0.01, real=True)


def reduce_mean(net):
    x = net.fake(net.input([2, 5, 3, 5]), U8)
    net.finish(net.node("ReduceMean", [x], axes=[2, 3], keepdims=0), U8,
               scale=0.02)


def reduce_mean_axes_input(net):
    x = net.fake(net.input([2, 5, 6]), I8)
    axes = net.constant(np.int64([-1]), "axes")
    net.finish(net.node("ReduceMean", [x, axes], keepdims=1), I8, scale=0.02)


def pool_into_gemm(net):
    """A mean that reaches a Gemm without being rounded first."""
    x = net.fake(net.input([1, 6, 5, 5]), I8)
    y = net.node("Flatten", [net.node("GlobalAveragePool", [x])])
    y = net.node("Gemm", [y, net.weight([4, 6], axis=0), net.bias(4)],
                 transB=1)
    net.finish(y, I8, scale=0.02)


def softmax(net):
    x = net.fake(net.input([3, 12]), I8, scale=0.08)
    net.finish(net.node("Softmax", [x], axis=-1), U8, scale=1 / 256, zero=0)


def softmax_middle_axis(net):
    x = net.fake(net.input([2, 7, 3]), U8, scale=0.05)
    net.finish(net.node("Softmax", [x], axis=1), I8, scale=1 / 256, zero=-128,
               real=True)


def moved(net, move, shape=(2, 3, 4, 5), kind=I8):
    """Q, DQ, a movement of data, Q with the same parameters."""
    coded = net.quantize(net.input(shape), kind, scale=0.031, zero=9)
    y = move(net.dequantize(coded))
    again = net.node("QuantizeLinear", [y, coded.scale, coded.zero])
    net.output(again, kind)


def reshape(net):
    moved(net, lambda x: net.node(
        "Reshape", [x, net.constant(np.int64([0, -1, 10]), "shape")]))


def flatten(net):
    moved(net, lambda x: net.node("Flatten", [x], axis=2), kind=U8)


def transpose(net):
    moved(net, lambda x: net.node("Transpose", [x], perm=[0, 2, 3, 1]))


def squeeze_unsqueeze(net):
    def move(x):
        y = net.node("Unsqueeze", [x, net.constant(np.int64([1, -1]), "axes")])
        return net.node("Squeeze", [y, net.constant(np.int64([1]), "axes")])
    moved(net, move)


def identity_cast_constant(net):
    def move(x):
        y = net.node("Cast", [net.node("Identity", [x])], to=1)
        shape = net.node("Constant", [], value_ints=[6, 20])
        return net.node("Reshape", [y, shape])
    moved(net, move)


def shape_arithmetic(net):
    """A Reshape whose target is computed from the input's shape."""
    def move(x):
        shape = net.node("Shape", [x])
        batch = net.node("Gather", [shape, net.constant(np.int64(0), "index")])
        axes = net.constant(np.int64([0]), "axes")
        head = net.node("Unsqueeze", [batch, axes])
        tail = net.node("Constant", [], value_ints=[-1])
        whole = net.node("Concat", [head, tail], axis=0)
        return net.node("Reshape", [x, net.node("Cast", [whole], to=7)])
    moved(net, move)


def constant_of_shape(net):
    x = net.fake(net.input([2, 6]), I8)
    shape = net.node("Shape", [x])
    half = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.5])
    halves = net.node("ConstantOfShape", [shape], value=half)
    net.finish(net.node("Add", [x, halves]), I8, scale=0.05)


def concat(net):
    """One branch has the output's parameters, the other its own."""
    a = net.fake(net.input([1, 2, 4, 4], name="a"), I8, scale=0.0468, zero=-1)
    b = net.fake(net.input([1, 3, 4, 4], name="b"), I8, scale=0.0039,
                 zero=-127)
    net.finish(net.node("Concat", [a, b], axis=1), I8, scale=0.0468, zero=-1)


def transposed_weight(net):
    """Per-axis weights behind a Transpose: the axis moves with the data."""
    x = net.fake(net.input([1, 3, 5, 5]), U8)
    w = net.weight([3, 8, 3, 3], axis=1)
    w = net.node("Transpose", [w], perm=[1, 0, 2, 3])
    net.finish(net.node("Conv", [x, w]), U8, scale=0.2)


def residual(net):
    """Conv, Add of its input, and a Conv again: one value with two readers."""
    x = net.fake(net.input([1, 4, 6, 6]), U8, scale=0.03)
    y = net.node("Conv", [x, net.weight([4, 4, 3, 3], axis=0), net.bias(4)],
                 pads=[1, 1, 1, 1])
    y = net.fake(net.node("Relu", [y]), U8, scale=0.05, zero=0)
    y = net.fake(net.node("Add", [x, y]), U8, scale=0.06)
    y = net.node("Conv", [y, net.weight([5, 4, 1, 1], axis=0)])
    net.finish(y, I8, scale=0.1, real=True)


def unrounded_add(net):
    """Conv into Add with no QuantizeLinear between them."""
    x = net.fake(net.input([1, 3, 5, 5]), I8)
    y = net.node("Conv", [x, net.weight([3, 3, 3, 3], axis=0)],
                 pads=[1, 1, 1, 1])
    net.finish(net.node("Add", [y, x]), I8, scale=0.1)


CASES = [(f, "exact", "integer") for f in (
    add, add_uint8_relu, add_ties, add_broadcast, add_twice_the_same,
    add_constant, mul, mul_uint8_broadcast, mul_constant, div_constant,
    constant_over_value, channels_over_value, tensor_over_value,
    value_over_value, coded_constants, constant_tensor_added,
    relu_alone, clip_alone, requantize, max_pool, max_pool_ceil_dilated,
    average_pool, average_pool_ties, average_pool_pads_left_out,
    average_pool_pads_counted, average_pool_ceil, global_average_pool,
    reduce_mean, reduce_mean_axes_input, reshape, flatten, transpose,
    squeeze_unsqueeze, identity_cast_constant, shape_arithmetic,
    constant_of_shape, concat, transposed_weight, residual)] + [
        (f, "exact", "") for f in (
            pool_into_gemm, softmax, softmax_middle_axis, unrounded_add)]
OPSET = {reduce_mean_axes_input: 18}
