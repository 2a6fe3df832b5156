"""Networks whose fake-quantization is written out as elementary operators, the
way TensorFlow, PyTorch and QKeras export it. Powers of two as scales, where
the tests' inputs shall reach ties; others elsewhere."""
import numpy as np

from network import I8, U8


def number(net, value):
    return net.constant(np.asarray(value, np.float32))


def torch_like(net, x, scale, low, high, zero=0):
    """Div, Round, Add, Clip, Sub, Mul: zero comes in behind the rounding."""
    s, z = number(net, scale), number(net, zero)
    y = net.node("Round", [net.node("Div", [x, s])])
    if zero:
        y = net.node("Add", [y, z])
    y = net.node("Clip", [y, number(net, low), number(net, high)])
    if zero:
        y = net.node("Sub", [y, z])
    return net.node("Mul", [y, s])


def linear(net, x, rows, columns, weight_scale, weigh=torch_like, limit=127):
    """A Gemm with weights on a grid of their own."""
    values = net.rng.normal(0, 40 * np.max(weight_scale), [rows, columns])
    w = weigh(net, net.constant(values.astype(np.float32), "weight"),
              weight_scale, -limit, limit)
    bias = net.constant(net.rng.normal(0, 1, columns).astype(np.float32))
    return net.node("Gemm", [x, w, bias])


def hidden(net, fake, weight_scale=0.0625, weigh=torch_like, scale=0.25):
    """Fake-quantization, Gemm, Relu, and once more: all of it folds."""
    x = fake(net, net.input([4, 10]))
    y = net.node("Relu", [linear(net, x, 10, 7, weight_scale, weigh)])
    y = fake(net, y)
    y = linear(net, y, 7, 5, 0.125, weigh)
    net.finish(y, I8, scale, 0, shape=[4, 5])


def written_signed(net):
    hidden(net, lambda net, x: torch_like(net, x, 0.25, -128, 127))


def written_narrow(net):
    hidden(net, lambda net, x: torch_like(net, x, 0.03, -127, 127), 0.011)


def written_zero_behind(net):
    hidden(net, lambda net, x: torch_like(net, x, 0.0625, 0, 255, 77))


def zero_in_front(zero):
    """An odd zero point ahead of a half-even rounding turns its ties."""
    def fake(net, x):
        s, z = number(net, 0.25), number(net, zero)
        y = net.node("Add", [net.node("Div", [x, s]), z])
        y = net.node("Min", [net.node("Round", [y]), number(net, 63)])
        y = net.node("Sub", [net.node("Max", [number(net, 0), y]), z])
        return net.node("Mul", [s, y])

    def case(net):
        hidden(net, fake)
    case.__name__ = f"written_zero_{zero}"
    return case


def by_channel(net, x, scale, low, high):
    scales = net.scale(0.005, 0.03, 4).reshape(4, 1, 1, 1)
    return torch_like(net, x, scales * scale, low, high)


def written_channels(net):
    x = torch_like(net, net.input([1, 3, 6, 5]), 0.05, -128, 127)
    values = net.rng.normal(0, 1, [4, 3, 3, 3]).astype(np.float32)
    w = by_channel(net, net.constant(values, "weight"), 1, -7, 7)
    y = net.node("Conv", [x, w], pads=[1, 1, 1, 1])
    y = torch_like(net, net.node("Relu", [y]), 0.11, 0, 255)
    net.finish(y, U8, 0.11, 0, shape=[1, 4, 6, 5])


def nudged(net, x):
    """TensorFlow's FakeQuantWithMinMax: bounds, floor(x + 1/2), back."""
    low, high = -8.0, 7.9375
    y = net.node("Min", [x, number(net, high)])
    y = net.node("Max", [y, number(net, low)])
    y = net.node("Mul", [net.node("Sub", [y, number(net, low)]),
                         number(net, 16)])
    y = net.node("Floor", [net.node("Add", [y, number(net, 0.5)])])
    y = net.node("Mul", [y, number(net, 0.0625)])
    return net.node("Add", [y, number(net, low)])


def written_nudged(net):
    hidden(net, nudged)


def straight_through(net, x):
    """QKeras: a power of two, clipped codes, and x + (q - x)."""
    y = net.node("Round", [net.node("Mul", [x, number(net, 8)])])
    y = net.node("Clip", [y, number(net, -32), number(net, 31)])
    q = net.node("Div", [y, number(net, 8)])
    difference = net.node("Add", [net.node("Neg", [x]), q])
    return net.node("Add", [x, difference])


def written_straight_through(net):
    hidden(net, straight_through)


def written_straight_through_rounding(net):
    def fake(net, x):
        y = net.node("Mul", [x, number(net, 4)])
        rest = net.node("Sub", [net.node("Round", [y]), y])
        y = net.node("Add", [y, rest])
        y = net.node("Clip", [y, number(net, -64), number(net, 63)])
        return net.node("Mul", [y, number(net, 0.25)])
    hidden(net, fake)


def written_cast(net):
    def fake(net, x):
        y = net.node("Round", [net.node("Div", [x, number(net, 0.25)])])
        y = net.node("Clip", [y, number(net, -128), number(net, 127)])
        y = net.node("Cast", [net.node("Cast", [y], to=3)], to=1)
        return net.node("Mul", [y, number(net, 0.25)])
    hidden(net, fake)


def written_cast_to_zero(net):
    def fake(net, x):
        y = net.node("Clip", [x, number(net, -6), number(net, 6)])
        y = net.node("Cast", [net.node("Mul", [y, number(net, 8)])], to=6)
        return net.node("Div", [net.node("Cast", [y], to=1), number(net, 8)])
    hidden(net, fake)


def reciprocal(net, x, scale, low, high):
    """In by a rounded reciprocal, out by the scale: their product is not 1."""
    inverse = np.float32(1) / np.float32(scale)
    y = net.node("Round", [net.node("Mul", [x, number(net, inverse)])])
    y = net.node("Clip", [y, number(net, low), number(net, high)])
    return net.node("Mul", [y, number(net, scale)])


def written_reciprocal(net):
    """Weights and what is between the two layers; the input is plain."""
    x = torch_like(net, net.input([4, 10]), 0.25, -128, 127)
    y = linear(net, x, 10, 7, 0.047, reciprocal)
    y = reciprocal(net, y, 0.37, -128, 127)
    y = linear(net, y, 7, 5, 0.047, reciprocal)
    net.finish(y, I8, 0.25, 0, shape=[4, 5])


def written_unbounded(net):
    """Not a quantization: nothing bounds the codes. A float island."""
    s = number(net, 0.25)
    y = net.node("Round", [net.node("Div", [net.input([3, 5]), s])])
    y = net.node("Mul", [y, s])
    y = net.node("Floor", [net.node("Abs", [y])])
    y = net.node("Max", [net.node("Ceil", [y]), net.node("Sign", [y])])
    net.output(y, shape=[3, 5])


def codes_between_min_and_max(net):
    """Six bits in eight: bounds on the codes as Max and Min."""
    x = net.quantize(net.input([2, 9]), I8, 0.25, 3)
    y = net.node("Max", [x.codes, net.constant(I8(-32))])
    x.codes = net.node("Min", [net.constant(I8(31)), y])
    y = net.node("MatMul", [net.dequantize(x), net.weight([9, 4])])
    net.finish(y, I8, shape=[2, 4])


# Max and Min of integers came with opset 12, of 8 bits too.
CASES = [(f, "exact", "integer") for f in [
    written_signed, written_narrow, written_zero_behind, zero_in_front(8),
    zero_in_front(7), written_channels, written_nudged,
    written_straight_through, written_straight_through_rounding, written_cast,
    written_cast_to_zero, written_reciprocal, codes_between_min_and_max]] + [
        (written_unbounded, "exact", "")]
