"""Networks in the operator form: QLinearConv and its relatives."""
import numpy as np

from network import I8, OTHERS_DOMAIN, U8, Coded


def coded_input(net, shape, kind, name="x"):
    return Coded(net.input(shape, kind, name), net.constant(net.scale()),
                 net.constant(net.zero(kind)), kind)


def parameters(net, kind, scale):
    return [net.constant(np.float32(scale)), net.constant(net.zero(kind))]


def weight(net, shape, kind, count=None, zero=0):
    scale = net.scale(0.001, 0.01, count)
    return net.coded_constant(net.codes(shape, kind), scale,
                              np.full(np.shape(scale), zero, kind))


def spread(coded):
    return [coded.codes, coded.scale, coded.zero]


def bias(net, count):
    return net.constant(net.rng.integers(-900, 900, count).astype(np.int32),
                        "bias")


def qlinear_conv(net):
    x = coded_input(net, [1, 3, 6, 7], U8)
    w = weight(net, [4, 3, 3, 3], I8, 4)
    y = net.node("QLinearConv", spread(x) + spread(w) +
                 parameters(net, U8, 0.13) + [bias(net, 4)],
                 pads=[1, 1, 0, 1])
    net.output(y, U8)


def qlinear_conv_per_tensor(net):
    x = coded_input(net, [1, 4, 6, 6], I8)
    w = weight(net, [4, 1, 3, 3], I8, zero=-3)
    y = net.node("QLinearConv", spread(x) + spread(w) +
                 parameters(net, I8, 0.13), group=4, strides=[2, 2])
    net.output(y, I8)


def qlinear_matmul(net):
    x = coded_input(net, [5, 14], U8)
    w = weight(net, [14, 6], I8, zero=7)
    y = net.node("QLinearMatMul", spread(x) + spread(w) +
                 parameters(net, U8, 0.05))
    net.output(y, U8)


def qlinear_matmul_saturates(net):
    """100 · 100 · (1/0.2) is far above the largest code."""
    one = net.constant(np.float32(1))
    zero = net.constant(np.uint8(0))
    x = net.input([1, 1], U8)
    w = net.constant(np.uint8([[100]]), "weight")
    y = net.node("QLinearMatMul", [x, one, zero, w, one, zero,
                                   net.constant(np.float32(0.2)), zero])
    net.output(y, U8)


def qlinear_add(net):
    a = coded_input(net, [1, 3, 5, 5], I8, "a")
    b = coded_input(net, [1, 3, 5, 5], I8, "b")
    y = net.node("QLinearAdd", spread(a) + spread(b) +
                 parameters(net, I8, 0.07), domain=OTHERS_DOMAIN)
    net.output(y, I8, [1, 3, 5, 5])


def qlinear_average_pool(net):
    x = coded_input(net, [1, 3, 7, 8], U8)
    y = net.node("QLinearAveragePool", spread(x) + parameters(net, U8, 0.03),
                 domain=OTHERS_DOMAIN, kernel_shape=[3, 2], strides=[2, 2],
                 pads=[1, 0, 1, 0], count_include_pad=1)
    net.output(y, U8, [1, 3, 4, 4])


def qgemm(net):
    x = coded_input(net, [3, 16], I8)
    w = weight(net, [5, 16], I8, 5)
    y = net.node("QGemm", spread(x) + spread(w) + [bias(net, 5)] +
                 parameters(net, I8, 0.06), domain=OTHERS_DOMAIN, transB=1,
                 alpha=1.0)
    net.output(y, I8, [3, 5])


def qlinear_softmax(net):
    x = coded_input(net, [2, 9], U8)
    y = net.node("QLinearSoftmax", spread(x) +
                 [net.constant(np.float32(1 / 256)),
                  net.constant(np.uint8(0))],
                 domain=OTHERS_DOMAIN, axis=-1, opset=13)
    net.output(y, U8, [2, 9])


CASES = [(f, "exact", "integer") for f in (
    qlinear_conv, qlinear_conv_per_tensor, qlinear_matmul,
    qlinear_matmul_saturates, qlinear_add, qlinear_average_pool, qgemm)] + [
        (qlinear_softmax, "exact", "")]
