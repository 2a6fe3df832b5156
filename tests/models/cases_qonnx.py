"""Networks in QONNX's dialect: Quant, BipolarQuant and Trunc, under each name
of their domain, in each rounding mode. A QuantizeLinear on the grid of the last
value makes the outputs whole numbers."""
import numpy as np

from network import I8, U8

DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general")
# A power of two, so that the tests' inputs reach ties; an odd multiple of it
# for weights, so that accumulators do as well.
GRID, WEIGHT = np.float32(0.25), np.float32(0.125)


def quant(net, x, bits, scale=GRID, zero=0.0, domain=DOMAINS[0], kind="Quant",
          **form):
    net.domains.setdefault(domain, 1)
    return net.node(kind, [x, net.constant(np.asarray(scale), "scale"),
                           net.constant(np.float32(zero), "zero"),
                           net.constant(np.float32(bits), "bits")],
                    domain=domain, **form)


def weights(net, shape, bits, scale=WEIGHT, **form):
    values = net.rng.normal(0, 2.0 ** (bits - 2) * np.max(scale), shape)
    name = net.constant(values.astype(np.float32), "weight")
    return quant(net, name, bits, scale, narrow=1, **form)


def hidden(net, mode="ROUND", zero=0.0, **form):
    """Quant, Gemm, Relu, Quant, Gemm: codes of both Quants reach the result."""
    x = quant(net, net.input([4, 10]), 6, rounding_mode=mode, **form)
    y = net.node("Gemm", [x, weights(net, [10, 7], 4, **form),
                          net.constant(net.rng.normal(0, 1, 7).astype(
                              np.float32), "bias")])
    y = quant(net, y, 5, zero=zero, signed=int(zero == 0), rounding_mode=mode,
              **form)
    y = net.node("MatMul", [y, weights(net, [7, 5], 3, **form)])
    net.finish(y, I8, 0.25, 0, shape=[4, 5])


def rounding(mode, zero=0.0):
    def case(net):
        hidden(net, mode, zero)
    case.__name__ = "qonnx_" + mode.lower() + ("_odd" if zero % 2 else "")
    return case


def qonnx_of_finn(net):
    hidden(net, domain=DOMAINS[2])


def qonnx_not_imported(net):
    """As the first exporters wrote: nodes of a domain without its version."""
    hidden(net, domain=DOMAINS[1])
    net.omitted.add(DOMAINS[1])


def qonnx_int_quant_by_channel(net):
    x = quant(net, net.input([1, 3, 5, 6]), 8, kind="IntQuant", signed=1)
    scale = net.scale(0.01, 0.05, 4).reshape(4, 1, 1, 1)
    w = weights(net, [4, 3, 3, 3], 5, scale, kind="IntQuant")
    y = net.node("Relu", [net.node("Conv", [x, w], pads=[1, 1, 1, 1])])
    y = quant(net, y, 4, 0.5, signed=0, kind="IntQuant")
    net.finish(y, U8, 0.5, 0, shape=[1, 4, 5, 6])


def qonnx_bipolar(net):
    """Signs in, signs as weights, signs of normalized sums out."""
    domain = DOMAINS[1]
    net.domains[domain] = 1

    def signs(x, scale=1.0):
        return net.node("BipolarQuant", [x, net.constant(np.float32(scale))],
                        domain=domain)

    x = signs(net.input([3, 16]))
    w = signs(net.constant(net.rng.normal(0, 1, [9, 16]).astype(np.float32)),
              0.5)
    y = net.node("MatMul", [x, net.node("Transpose", [w], perm=[1, 0])])
    numbers = [net.rng.normal(1, 0.5, 9), net.rng.normal(0, 1, 9),
               net.rng.integers(-3, 3, 9) / 2, net.rng.uniform(0.5, 3, 9)]
    y = net.node("BatchNormalization",
                 [y] + [net.constant(np.float32(n)) for n in numbers])
    net.finish(signs(y, 0.25), I8, 0.25, 0, shape=[3, 9])


def trunc(mode):
    """The sums of a pool lose bits."""
    def case(net):
        net.domains[DOMAINS[0]] = 2
        x = quant(net, net.input([1, 2, 6, 6]), 8, signed=0)
        y = net.node("AveragePool", [x], kernel_shape=[2, 2], strides=[2, 2])
        y = net.node("Mul", [y, net.constant(np.float32(4))])
        numbers = [GRID, np.float32(0), np.float32(10), np.float32(4 * GRID),
                   np.float32(8)]
        y = net.node("Trunc", [y] + [net.constant(n) for n in numbers],
                     domain=DOMAINS[0], signed=0, rounding_mode=mode)
        net.finish(y, U8, 4 * GRID, 0, shape=[1, 2, 3, 3])
    case.__name__ = "qonnx_trunc_" + mode.lower()
    return case


def depth_to_space(mode):
    def case(net):
        x = quant(net, net.input([1, 8, 2, 3]), 8)
        y = net.node("DepthToSpace", [x], blocksize=2, mode=mode)
        net.finish(net.node("Relu", [y]), I8, 0.25, 0, shape=[1, 2, 4, 6])
    case.__name__ = "depth_to_space_" + mode.lower()
    return case


def power_of_a_constant(net):
    """A root that no float is: a float island."""
    x = quant(net, net.input([2, 6]), 8)
    root = net.node("Pow", [net.constant(np.float32([318.2])),
                            net.constant(np.float32(0.5))])
    net.output(net.node("Div", [x, root]), shape=[2, 6])


MODES = ("FLOOR", "CEIL", "UP", "DOWN", "HALF_UP", "HALF_DOWN", "ROUND_TO_ZERO",
         "HALF_EVEN")
CASES = [(f, "exact", "integer") for f in [
    *(rounding(mode) for mode in MODES),
    *(rounding(mode, 7.0) for mode in ("ROUND", "FLOOR", "CEIL")),
    rounding("ROUND", 8.0), qonnx_of_finn, qonnx_not_imported,
    qonnx_int_quant_by_channel, qonnx_bipolar, trunc("FLOOR"), trunc("CEIL"),
    depth_to_space("CRD"), depth_to_space("DCR")]] + [
        (power_of_a_constant, "exact", "")]
