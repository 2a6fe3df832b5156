"""Networks around Conv, Gemm and MatMul."""
import numpy as np

from network import I8, U8


def conv(net, shape, weight, bias=True, x_kind=I8, y_kind=I8, w_kind=I8,
         axis=0, w_zero=0, as_float=False, real=False, after=None,
         y_scale=0.11, **attributes):
    """Q, DQ, Conv with the given weights, something after it, Q."""
    x = net.fake(net.input(shape), x_kind, scale=net.scale(0.02, 0.04))
    inputs = [x, net.weight(weight, w_kind, axis, w_zero, as_float)]
    if bias:
        inputs.append(net.bias(weight[0]))
    y = net.node("Conv", inputs, **attributes)
    if after:
        y = after(net, y)
    net.finish(y, y_kind, scale=y_scale, real=real)


def conv1d(net):
    conv(net, [2, 3, 17], [5, 3, 4], pads=[1, 2], strides=[2])


def conv2d(net):
    conv(net, [1, 3, 8, 9], [6, 3, 3, 3], pads=[1, 1, 1, 1])


def conv2d_uint8(net):
    conv(net, [1, 4, 7, 7], [5, 4, 3, 3], x_kind=U8, y_kind=U8, w_kind=U8,
         axis=None, w_zero=117, real=True, y_scale=0.3)


def conv2d_mixed(net):
    conv(net, [2, 4, 6, 6], [5, 4, 1, 1], x_kind=U8, y_kind=I8, bias=False)


def conv_grouped(net):
    conv(net, [1, 6, 7, 7], [9, 2, 3, 3], group=3, pads=[1, 1, 1, 1])


def conv_depthwise(net):
    conv(net, [1, 7, 9, 9], [7, 1, 3, 3], group=7, strides=[2, 2],
         x_kind=U8, y_kind=U8, pads=[1, 1, 1, 1])


def conv_depthwise_multiplier(net):
    conv(net, [1, 3, 6, 6], [6, 1, 3, 3], group=3, pads=[0, 1, 0, 1])


def conv_dilated(net):
    conv(net, [1, 2, 11, 12], [4, 2, 3, 2], dilations=[2, 3],
         pads=[2, 0, 2, 3])


def conv_asymmetric_pads(net):
    conv(net, [1, 3, 6, 5], [4, 3, 3, 3], pads=[2, 0, 1, 1], strides=[2, 1],
         x_kind=U8)


def conv_same_upper(net):
    conv(net, [1, 2, 7, 8], [3, 2, 3, 4], auto_pad="SAME_UPPER",
         strides=[2, 3])


def conv_float_weights(net):
    conv(net, [1, 3, 6, 6], [4, 3, 3, 3], as_float=True, real=True)


def conv_float_weights_per_tensor(net):
    conv(net, [1, 3, 6, 6], [4, 3, 3, 3], as_float=True, axis=None, w_kind=U8,
         w_zero=131, x_kind=U8, y_kind=U8)


def conv_ties(net):
    """Power-of-two scales and no bias: many sums fall on half codes."""
    x = net.fake(net.input([1, 2, 9, 9]), U8, scale=0.5, zero=3)
    w = net.weight([4, 2, 2, 2], scale=np.float32([.25, .125, .5, .25]),
                   axis=0)
    net.finish(net.node("Conv", [x, w]), I8, scale=64.0, zero=-5)


def conv_int32_bias(net):
    """An int32 bias at a scale that is not the accumulator's."""
    x = net.fake(net.input([1, 3, 8, 8]), U8, scale=0.02, zero=128)
    w = net.weight([4, 3, 3, 3], axis=0)
    b = net.bias(4, scale=net.scale(0.0005, 0.002, 4))
    y = net.node("Conv", [x, w, b], pads=[1, 1, 1, 1])
    net.finish(y, U8, scale=0.1, zero=128)


def conv_wide_bias(net):
    """A bias far outside int32 at the accumulator's scale."""
    x = net.fake(net.input([1, 4, 5, 5]), I8, scale=0.5, zero=1)
    w = net.weight([2, 4, 1, 1], scale=np.float32(7.843e-10))
    b = net.constant(np.float32([5.0, -4.5]), "bias")
    net.finish(net.node("Conv", [x, w, b]), I8, scale=0.07, zero=3)


def relu(net, y):
    return net.node("Relu", [y])


def clip6(net, y):
    return net.node("Clip", [y, net.constant(np.float32(0), "low"),
                             net.constant(np.float32(6), "high")])


def batch_norm(net, y, channels):
    gamma = net.rng.normal(0.5, 0.4, channels).astype(np.float32)
    gamma[0], gamma[1] = -gamma[0], np.float32(1e-5)
    values = (gamma, net.rng.normal(0, 1, channels),
              net.rng.normal(0, 1, channels),
              net.rng.uniform(0.2, 2, channels))
    names = [net.constant(np.float32(v), tag) for v, tag in
             zip(values, ("gamma", "beta", "mean", "variance"))]
    return net.node("BatchNormalization", [y] + names, epsilon=1e-3)


def conv_relu(net):
    """Zero point at 0: without its clamp the Relu would leak negatives."""
    x = net.fake(net.input([1, 3, 6, 6]), I8)
    y = relu(net, net.node("Conv", [x, net.weight([4, 3, 3, 3], axis=0)]))
    net.finish(y, I8, scale=0.04, zero=0)


def conv_clip(net):
    conv(net, [1, 3, 6, 6], [4, 3, 3, 3], after=clip6, y_kind=U8,
         y_scale=0.05)


def conv_batch_norm(net):
    conv(net, [1, 3, 6, 6], [5, 3, 3, 3], pads=[1, 1, 1, 1],
         after=lambda n, y: relu(n, batch_norm(n, y, 5)), y_scale=0.03)


def conv_div_batch_norm(net):
    """As PyTorch's QAT exports it: weights times a factor, Div, bias, BN."""
    x = net.fake(net.input([1, 3, 6, 6]), U8, scale=0.02)
    y = net.node("Conv", [x, net.weight([4, 3, 3, 3], axis=0, as_float=True)])
    factor = net.rng.uniform(0.3, 2, (1, 4, 1, 1)).astype(np.float32)
    y = net.node("Div", [y, net.constant(factor, "factor")])
    bias = net.rng.normal(0, 1, (1, 4, 1, 1)).astype(np.float32)
    y = net.node("Add", [y, net.constant(bias, "bias")])
    net.finish(relu(net, batch_norm(net, y, 4)), U8, scale=0.03)


def conv_padded(net):
    """A Pad of zeros before the Conv, both to be one op."""
    x = net.fake(net.input([1, 2, 6, 6]), U8)
    pads = net.constant(np.int64([0, 0, 1, 2, 0, 0, 2, 1]), "pads")
    y = net.node("Pad", [x, pads, net.constant(np.float32(0), "value")])
    net.finish(net.node("Conv", [y, net.weight([3, 2, 3, 3])]), U8, scale=0.2)


def conv_without_rounding(net):
    """A Conv whose accumulator is the output: no QuantizeLinear follows."""
    x = net.fake(net.input([1, 3, 5, 5]), I8)
    w = net.weight([4, 3, 3, 3], axis=0)
    net.output(net.node("Conv", [x, w, net.bias(4)]))


def gemm_form(net, transposed_a, transposed_b, bias=True, kind=I8, **more):
    shape = [24, 3] if transposed_a else [3, 24]
    x = net.fake(net.input(shape), kind)
    weight = [7, 24] if transposed_b else [24, 7]
    inputs = [x, net.weight(weight, axis=0 if transposed_b else 1)]
    if bias:
        inputs.append(net.bias(7))
    y = net.node("Gemm", inputs, transA=transposed_a, transB=transposed_b,
                 **more)
    net.finish(y, kind, scale=0.07)


def gemm(net):
    gemm_form(net, 0, 1)


def gemm_not_transposed(net):
    gemm_form(net, 0, 0, kind=U8)


def gemm_transposed_a(net):
    gemm_form(net, 1, 1, bias=False)


def gemm_alpha_beta(net):
    gemm_form(net, 0, 1, alpha=0.3, beta=1.7)


def matmul(net):
    x = net.fake(net.input([4, 19]), U8)
    net.finish(net.node("MatMul", [x, net.weight([19, 6])]), U8, scale=0.1)


def matmul_batched(net):
    x = net.fake(net.input([2, 3, 5, 12]), I8)
    w = net.weight([12, 6], axis=1)
    y = net.node("Add", [net.node("MatMul", [x, w]), net.bias(6)])
    net.finish(y, I8, scale=0.1, real=True)


def matmul_constant_left(net):
    """Constant on the left, a scale for each row, an addend for each row."""
    w = net.weight([6, 9], I8, axis=0)
    x = net.fake(net.input([3, 9, 4]), U8, scale=net.scale(0.02, 0.04))
    addend = net.rng.normal(0, 1, (6, 1)).astype(np.float32)
    y = net.node("Add", [net.node("MatMul", [w, x]), net.constant(addend)])
    net.finish(net.node("Relu", [y]), U8, scale=0.06)


def vector_times_matrix(net):
    w = net.weight([9], I8)
    x = net.fake(net.input([9, 40]), I8, scale=net.scale(0.02, 0.04))
    net.finish(net.node("MatMul", [w, x]), I8, scale=0.06)


def conv_scales_along_the_reduction(net):
    """A float island, whose constant has zero points far from 0."""
    x = net.fake(net.input([1, 3, 6, 6]), U8)
    w = net.weight([4, 3, 3, 3], U8, axis=1, zero=117)
    net.finish(net.node("Conv", [x, w], pads=[1, 1, 1, 1]), I8, scale=0.1)


def matmul_scales_along_the_reduction(net):
    x = net.fake(net.input([5, 9]), I8)
    w = net.weight([9, 4], I8, axis=0, zero=-71)
    net.finish(net.node("MatMul", [x, w]), U8, scale=0.1)


CASES = [(f, "exact", "integer") for f in (
    conv1d, conv2d, conv2d_uint8, conv2d_mixed, conv_grouped, conv_depthwise,
    conv_depthwise_multiplier, conv_dilated, conv_asymmetric_pads,
    conv_same_upper, conv_float_weights, conv_float_weights_per_tensor,
    conv_ties, conv_int32_bias, conv_wide_bias, conv_relu, conv_clip,
    conv_batch_norm, conv_div_batch_norm, conv_padded, gemm,
    gemm_not_transposed, gemm_transposed_a, gemm_alpha_beta, matmul,
    matmul_batched, matmul_constant_left, vector_times_matrix)] + [
        (f, "exact", "") for f in (
            conv_without_rounding, conv_scales_along_the_reduction,
            matmul_scales_along_the_reduction)]
