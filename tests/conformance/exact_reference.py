"""Evaluates a quantized ONNX model in exact rational arithmetic.

The meaning is that of docs/numerics.md: a float parameter is the real number
that it encodes, arithmetic between a DequantizeLinear and the next
QuantizeLinear is real arithmetic, and a QuantizeLinear rounds once, half to
even. Real tensors are arrays of Fraction, so nothing is approximated but
square roots (256 bits) and exponentials (60 digits).

It is slow and meant for models of a few thousand multiplications. It shares
no code with the compiler. Needs: onnx, numpy.
"""
import decimal
import functools
import math
from fractions import Fraction

import numpy as np
from onnx import helper, numpy_helper

SQRT_BITS = 256
DIGITS = decimal.Context(prec=60)


def real(array):
    """Any numeric array as an array of exact Fractions."""
    array = np.asarray(array)
    if array.dtype == object:
        return array
    flat = [Fraction(v) for v in array.reshape(-1).tolist()]
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)


def each(function, array):
    array = np.asarray(array, object)
    result = np.empty(array.size, object)
    result[:] = [function(v) for v in array.reshape(-1)]
    return result.reshape(array.shape)


def square_root(value):
    """The root as a Fraction: exact for squares, else to SQRT_BITS bits."""
    top, bottom = value.numerator, value.denominator
    if math.isqrt(top) ** 2 == top and math.isqrt(bottom) ** 2 == bottom:
        return Fraction(math.isqrt(top), math.isqrt(bottom))
    return Fraction(math.isqrt((top << 2 * SQRT_BITS) // bottom),
                    1 << SQRT_BITS)


def exponential(value):
    number = DIGITS.divide(decimal.Decimal(value.numerator),
                           decimal.Decimal(value.denominator))
    return Fraction(DIGITS.exp(number))


def along(parameter, axis, rank):
    """Shapes a scalar or per-axis parameter to broadcast over `rank` axes."""
    parameter = np.asarray(parameter)
    if parameter.size == 1:
        return parameter.reshape(())
    if parameter.ndim != 1:
        return parameter
    axis %= rank
    return parameter.reshape([-1 if i == axis else 1 for i in range(rank)])


def quantize(x, scale, zero, axis=1):
    info, rank = np.iinfo(zero.dtype), np.ndim(x)
    ratio = x / along(real(scale), axis, rank)
    codes = each(round, ratio) + along(zero, axis, rank).astype(object)
    return np.clip(codes, info.min, info.max).astype(zero.dtype)


def dequantize(codes, scale, zero, axis=1):
    rank = np.ndim(codes)
    offset = along(zero, axis, rank).astype(object)
    return real(codes.astype(object) - offset) * along(real(scale), axis, rank)


def away(value, whole):
    """`whole`, a count, with the sign of `value`."""
    return whole if value >= 0 else -whole


HALF = Fraction(1, 2)
ROUNDINGS = {
    "ROUND": round, "HALF_EVEN": round, "FLOOR": math.floor,
    "CEIL": math.ceil, "DOWN": math.trunc, "ROUND_TO_ZERO": math.trunc,
    "UP": lambda v: away(v, math.ceil(abs(v))),
    "HALF_UP": lambda v: away(v, math.floor(abs(v) + HALF)),
    "HALF_DOWN": lambda v: away(v, math.ceil(abs(v) - HALF))}


def code_range(bits, signed=1, narrow=0):
    if signed:
        return -(2 ** (bits - 1)) + narrow, 2 ** (bits - 1) - 1
    return 0, 2 ** bits - 1 - narrow


def rounding_of(mode):
    return ROUNDINGS[(mode.decode() if isinstance(mode, bytes)
                      else mode).upper()]


def quant(x, scale, zero, bits, rounding_mode="ROUND", **form):
    """QONNX: rounds x / scale + zero, and stays a real number."""
    codes = each(rounding_of(rounding_mode), x / scale + zero)
    low, high = code_range(int(np.max(bits)), **form)
    return (np.clip(codes, low, high) - zero) * scale


def bipolar_quant(x, scale):
    return each(lambda v: Fraction(1 if v >= 0 else -1), x) * scale


def trunc(x, scale, zero, _, out_scale, bits, rounding_mode="FLOOR", **form):
    """QONNX, version 2: to the input's grid first, then fewer bits."""
    ratio = out_scale / scale
    codes = each(rounding_of(rounding_mode),
                 each(round, x / scale + zero) / ratio)
    low, high = code_range(int(np.max(bits)), **form)
    return (np.clip(codes, low, high) - zero / ratio) * out_scale


def depth_to_space(x, blocksize, mode="DCR"):
    n, c, h, w = x.shape
    b, parts = blocksize, c // blocksize ** 2
    if mode in (b"CRD", "CRD"):
        x = x.reshape(n, parts, b, b, h, w).transpose(0, 1, 4, 2, 5, 3)
    else:
        x = x.reshape(n, b, b, parts, h, w).transpose(0, 3, 4, 1, 5, 2)
    return x.reshape(n, parts, h * b, w * b)


def power(x, y):
    """By a whole number, or the root."""
    exponent = y.reshape(-1)[0]
    if exponent == HALF:
        return each(square_root, x)
    return each(lambda v: v ** int(exponent), x)


def sliding(x, kernel, strides, dilations):
    """Windows over the trailing axes: their elements lie on new last axes."""
    n = len(kernel)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    axes = tuple(range(x.ndim - n, x.ndim))
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axes)
    lead = [slice(None)] * (x.ndim - n)
    return view[(*lead, *[slice(None, None, s) for s in strides],
                 *[slice(None, None, d) for d in dilations])]


def pads_of(sizes, kernel, attributes):
    """(strides, dilations, [(begin, end)] without what ceil_mode adds)."""
    n = len(kernel)
    strides = attributes.get("strides", [1] * n)
    dilations = attributes.get("dilations", [1] * n)
    mode = attributes.get("auto_pad", b"NOTSET")
    flat = attributes.get("pads", [0] * 2 * n)
    pads = [(flat[i], flat[i + n]) for i in range(n)]
    if mode in (b"SAME_UPPER", b"SAME_LOWER"):
        pads = []
        for size, k, s, d in zip(sizes, kernel, strides, dilations):
            total = max(0, (-(-size // s) - 1) * s + (k - 1) * d + 1 - size)
            small, large = total // 2, total - total // 2
            pads.append((small, large) if mode == b"SAME_UPPER"
                        else (large, small))
    return strides, dilations, pads


def padded(x, pads, value):
    lead = [(0, 0)] * (x.ndim - len(pads))
    return np.pad(x, lead + list(pads), constant_values=value)


def conv(x, w, b=None, **attributes):
    group = attributes.get("group", 1)
    kernel = w.shape[2:]
    strides, dilations, pads = pads_of(x.shape[2:], kernel, attributes)
    windows = sliding(padded(x, pads, Fraction(0)), kernel, strides, dilations)
    n = len(kernel)
    each_in, each_out = w.shape[1], w.shape[0] // group
    parts = []
    for g in range(group):
        part = windows[:, g * each_in:(g + 1) * each_in]
        reduced = [1] + list(range(2 + n, 2 + 2 * n))
        y = np.tensordot(part, w[g * each_out:(g + 1) * each_out],
                         (reduced, list(range(1, 2 + n))))
        parts.append(np.moveaxis(y, -1, 1))
    y = np.concatenate(parts, 1)
    return y if b is None else y + along(b, 1, y.ndim)


def pool_windows(x, attributes, inside, beyond):
    """Windows of a pool; pads hold `inside`, what ceil_mode adds `beyond`."""
    kernel = attributes["kernel_shape"]
    strides, dilations, pads = pads_of(x.shape[2:], kernel, attributes)
    x = padded(x, pads, inside)
    extra = []
    for i, (k, s, d) in enumerate(zip(kernel, strides, dilations)):
        room = x.shape[2 + i] - (k - 1) * d - 1
        more = -room % s if attributes.get("ceil_mode", 0) else 0
        # A last window may not start in the padding at the end.
        if more and room + more >= x.shape[2 + i] - pads[i][1]:
            more = 0
        extra.append((0, more))
    n = len(kernel)
    windows = sliding(padded(x, extra, beyond), kernel, strides, dilations)
    return windows.reshape(windows.shape[:-n] + (-1,))


def max_pool(x, **attributes):
    low = x.min()
    return pool_windows(x, attributes, low, low).max(-1)


def average_pool(x, **attributes):
    counted = Fraction(attributes.get("count_include_pad", 0))
    total = pool_windows(x, attributes, Fraction(0), Fraction(0)).sum(-1)
    ones = real(np.ones((1, 1) + x.shape[2:], int))
    return total / pool_windows(ones, attributes, counted,
                                Fraction(0)).sum(-1)


def mean(x, axes, keepdims=1):
    axes = tuple(int(a) % x.ndim for a in axes) if axes is not None else None
    count = Fraction(x.size, x.sum(axis=axes, keepdims=True).size)
    return np.asarray(x.sum(axis=axes, keepdims=bool(keepdims))) / count


def softmax(x, axis=-1):
    e = each(exponential, x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gemm(a, b, c=None, **attributes):
    a = a.T if attributes.get("transA", 0) else a
    b = b.T if attributes.get("transB", 0) else b
    y = a.dot(b) * Fraction(attributes.get("alpha", 1.0))
    return y if c is None else y + c * Fraction(attributes.get("beta", 1.0))


def batch_norm(x, gamma, beta, average, variance, epsilon=1e-5):
    root = each(square_root, variance + Fraction(epsilon))
    factor = gamma / root
    return ((x - along(average, 1, x.ndim)) * along(factor, 1, x.ndim) +
            along(beta, 1, x.ndim))


def clip(x, low=None, high=None):
    x = x if low is None else np.maximum(x, low.reshape(()))
    return x if high is None else np.minimum(x, high.reshape(()))


def reshape(x, shape):
    sizes = [x.shape[i] if s == 0 else int(s) for i, s in enumerate(shape)]
    return x.reshape(sizes)


def squeeze(x, axes=None):
    return np.squeeze(x, None if axes is None else
                      tuple(int(a) for a in axes))


def unsqueeze(x, axes):
    rank = x.ndim + len(axes)
    for axis in sorted(int(a) % rank for a in axes):
        x = np.expand_dims(x, axis)
    return x


def explicit_pad(x, pads, value=None):
    n = x.ndim
    return np.pad(x, [(int(pads[i]), int(pads[i + n])) for i in range(n)],
                  constant_values=Fraction(0) if value is None
                  else value.reshape(()).item())


# An infinity before the QuantizeLinear that saturates it by its sign.
HUGE = Fraction(10) ** 300


def divide(a, b):
    """a / b; 0 / 0, not a number, becomes the zero point: the code of 0."""
    def one(x, y):
        return Fraction(x) / y if y else HUGE * ((x > 0) - (x < 0))
    return np.frompyfunc(one, 2, 1)(a, b)


# Operators on real numbers: the inputs come as Fractions.
REAL = {
    "Conv": conv, "Gemm": gemm, "BatchNormalization": batch_norm,
    "MatMul": lambda a, b: np.matmul(a, b), "Clip": clip,
    "Add": lambda a, b: a + b, "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b, "Div": divide,
    "Relu": lambda x: np.maximum(x, Fraction(0)), "Softmax": softmax,
    "MaxPool": max_pool, "AveragePool": average_pool,
    "GlobalAveragePool": lambda x: mean(x, range(2, x.ndim)),
    "Quant": quant, "IntQuant": quant, "BipolarQuant": bipolar_quant,
    "Trunc": trunc, "Pow": power,
    "Round": lambda x: each(lambda v: Fraction(round(v)), x),
    "Floor": lambda x: each(lambda v: Fraction(math.floor(v)), x),
    "Ceil": lambda x: each(lambda v: Fraction(math.ceil(v)), x),
    "Neg": lambda x: -x, "Abs": abs,
    "Sign": lambda x: each(lambda v: Fraction((v > 0) - (v < 0)), x),
    "ReduceMean": lambda x, inputs=None, axes=None, keepdims=1: mean(
        x, axes if inputs is None else inputs, keepdims),
}
# Operators on data of any kind.
MOVING = {
    "Min": lambda *x: functools.reduce(np.minimum, x),
    "Max": lambda *x: functools.reduce(np.maximum, x),
    "DepthToSpace": depth_to_space,
    "Reshape": reshape, "Squeeze": squeeze, "Unsqueeze": unsqueeze,
    "Pad": explicit_pad, "Identity": lambda x: x,
    "Flatten": lambda x, axis=1: x.reshape(
        int(np.prod(x.shape[:axis])), -1),
    "Transpose": lambda x, perm=None: np.transpose(x, perm),
    "Concat": lambda *x, axis: np.concatenate(x, axis),
    "Shape": lambda x: np.int64(x.shape),
    "Gather": lambda x, index, axis=0: np.take(x, index, axis),
}


def constant(name, attributes):
    value = attributes.get("value")
    if name == "ConstantOfShape":
        return None if value is None else numpy_helper.to_array(value)
    for key, kind in (("value_ints", np.int64), ("value_int", np.int64),
                      ("value_floats", np.float32),
                      ("value_float", np.float32)):
        if key in attributes:
            return np.asarray(attributes[key], kind)
    return numpy_helper.to_array(value)


def qlinear(kind, i, attributes):
    """An operator of the QLinear family: real arithmetic, rounded once."""
    if kind in ("QLinearAveragePool", "QLinearSoftmax"):
        names = {"opset", "channels_last"}
        kept = {k: v for k, v in attributes.items() if k not in names}
        y = REAL[kind[7:]](dequantize(*i[:3]), **kept)
        return quantize(y, i[3], i[4])
    a, b = dequantize(*i[:3]), None
    if kind == "QGemm":
        b = dequantize(*i[3:6], axis=0 if attributes.get("transB") else 1)
        bias = None if i[6] is None else real(i[6]) * real(i[1]) * real(i[4])
        return quantize(gemm(a, b, bias, **attributes), i[7], i[8])
    if kind == "QLinearConv":
        b = dequantize(*i[3:6], axis=0)
        bias = None
        if len(i) > 8 and i[8] is not None:
            bias = real(i[8]) * real(i[1]) * real(i[4])
        return quantize(conv(a, b, bias, **attributes), i[6], i[7])
    b = dequantize(*i[3:6], axis=-1)
    return quantize(REAL[kind[7:]](a, b), i[6], i[7])


def apply(node, i, attributes):
    """The value of one node's output."""
    kind = node.op_type
    if kind == "QuantizeLinear":
        zero = i[2] if len(i) > 2 else np.uint8(0)
        return quantize(real(i[0]), i[1], np.asarray(zero), **attributes)
    if kind == "DequantizeLinear":
        zero = i[2] if len(i) > 2 else np.zeros((), i[0].dtype)
        return dequantize(i[0], i[1], np.asarray(zero), **attributes)
    if kind == "Constant":
        return constant(kind, attributes)
    if kind == "ConstantOfShape":
        value = constant(kind, attributes)
        return np.full(i[0], 0 if value is None else value.item())
    if kind == "Cast":
        integer = helper.tensor_dtype_to_np_dtype(attributes["to"]).kind in "iu"
        return i[0].astype(np.int64) if integer else real(i[0])
    if kind in MOVING:
        return MOVING[kind](*i, **attributes)
    if kind in REAL:
        axes = i[1:] if kind == "ReduceMean" else ()
        inputs = i[:1] if kind == "ReduceMean" else i
        return REAL[kind](*[None if v is None else real(v) for v in inputs],
                          *axes, **attributes)
    if kind.startswith("QLinear") or kind == "QGemm":
        return qlinear(kind, i, attributes)
    raise NotImplementedError(f"no exact reference for {kind}")


def evaluate(model, feed):
    """Every value of the graph by its name, integers or Fractions."""
    values = {t.name: numpy_helper.to_array(t)
              for t in model.graph.initializer}
    values.update(feed)
    values[""] = None
    for node in model.graph.node:
        attributes = {a.name: helper.get_attribute_value(a)
                      for a in node.attribute}
        values[node.output[0]] = apply(
            node, [values[name] for name in node.input], attributes)
    return values
