#!/usr/bin/env python3
"""Trains the sample network with fake-quantization in the loop.

Usage: train_sample.py [--epochs N] [--folder DIR]
Writes DIR/weights.npz (float32 parameters, activation scales and zero
points), DIR/validation_images.npz and DIR/validation_labels.npz; sample.onnx
is then built from the weights by `make_models.py --sample`. Takes a minute.
The result depends on numpy's build in the last bits, so the weights are
committed. Needs: numpy.

Each convolution sees weights rounded to int8 per channel, each activation is
rounded to uint8 or int8; gradients pass straight through the rounding.
"""
import argparse
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sample_pictures import pictures  # noqa: E402

BATCH, TRAIN, TEST, KEPT = 64, 6000, 2000, 100
EPSILON = 1e-5
MOMENTUM = 0.05


# Layers: each returns its value and a function from gradient to gradients.

def windows(x, k):
    return np.lib.stride_tricks.sliding_window_view(x, (k, k), (2, 3))


def grow(x, pad):
    return np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))


def conv(x, w, pad):
    k = w.shape[2]
    view = windows(grow(x, pad), k)
    y = np.einsum("nchwij,ocij->nohw", view, w, optimize=True)

    def back(dy):
        dw = np.einsum("nchwij,nohw->ocij", view, dy, optimize=True)
        around = windows(grow(dy, k - 1 - pad), k)
        dx = np.einsum("nohwij,ocij->nchw", around, w[:, :, ::-1, ::-1],
                       optimize=True)
        return dx, dw
    return y, back


def depthwise(x, w, pad):
    k = w.shape[2]
    view = windows(grow(x, pad), k)
    y = np.einsum("nchwij,cij->nchw", view, w[:, 0])

    def back(dy):
        dw = np.einsum("nchwij,nchw->cij", view, dy)[:, None]
        around = windows(grow(dy, k - 1 - pad), k)
        dx = np.einsum("nchwij,cij->nchw", around, w[:, 0, ::-1, ::-1])
        return dx, dw
    return y, back


def rounded_weight(w):
    """Weights on their int8 grid, per output channel."""
    scale = weight_scale(w).reshape([-1] + [1] * (w.ndim - 1))
    return np.clip(np.rint(w / scale), -127, 127) * scale


def weight_scale(w):
    return np.abs(w).reshape(len(w), -1).max(1) / 127 + 1e-9


class Network:
    """conv, BN, relu; depthwise, BN, relu; 1x1, BN; + ; pool; conv; Gemm."""

    NORMED = ("first", "wise", "point")

    def __init__(self, rng):
        def he(*shape):
            return rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)
        self.p = {"first": he(8, 1, 3, 3), "wise": he(8, 1, 3, 3),
                  "point": he(8, 8, 1, 1), "second": he(16, 8, 3, 3),
                  "second_bias": np.zeros(16), "dense": he(10, 64),
                  "dense_bias": np.zeros(10)}
        self.s = {}
        for name in self.NORMED:
            self.p[name + "_gamma"] = np.ones(8)
            self.p[name + "_beta"] = np.zeros(8)
            self.s[name + "_mean"], self.s[name + "_var"] = (np.zeros(8),
                                                             np.ones(8))
        self.quantized = self.frozen = False
        self.ranges = {}

    def weight(self, name):
        return rounded_weight(self.p[name]) if self.quantized else self.p[name]

    def norm(self, x, name, training):
        """Batch statistics while training, running ones otherwise."""
        gamma, beta = self.p[name + "_gamma"], self.p[name + "_beta"]
        batch = training and not self.frozen
        if batch:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
            for key, now in (("_mean", mean), ("_var", var)):
                self.s[name + key] += MOMENTUM * (now - self.s[name + key])
        else:
            mean, var = self.s[name + "_mean"], self.s[name + "_var"]

        def wide(v):
            return v[:, None, None]
        inverse = 1 / np.sqrt(var + EPSILON)
        unit = (x - wide(mean)) * wide(inverse)

        def back(dy):
            self.grad[name + "_gamma"] = (dy * unit).sum((0, 2, 3))
            self.grad[name + "_beta"] = dy.sum((0, 2, 3))
            d = dy * wide(gamma)
            if batch:
                d = (d - d.mean((0, 2, 3), keepdims=True) -
                     unit * (d * unit).mean((0, 2, 3), keepdims=True))
            return d * wide(inverse)
        return unit * wide(gamma) + wide(beta), back

    def activation(self, x, name, training):
        """Rounded to 8 bits once quantized; the range follows the data."""
        low, high = min(0.0, float(x.min())), max(1e-3, float(x.max()))
        if name not in self.ranges:
            self.ranges[name] = [low, high]
        if training and not self.frozen:
            now = self.ranges[name]
            now[0] += MOMENTUM * (low - now[0])
            now[1] += MOMENTUM * (high - now[1])
        if not self.quantized:
            return x, lambda dy: dy
        scale, zero = self.codes(name)
        code = np.rint(x / scale) + zero
        y = (np.clip(code, 0, 255) - zero) * scale
        inside = (code >= 0) & (code <= 255)
        return y, lambda dy: dy * inside

    def codes(self, name):
        """(scale, zero point) of an activation as unsigned codes."""
        low, high = self.ranges[name]
        scale = float(np.float32((high - low) / 255))
        return scale, int(np.clip(np.rint(-low / scale), 0, 255))

    def block(self, x, name, function, pad, training, relu=True):
        y, back_conv = function(x, self.weight(name), pad)
        y, back_norm = self.norm(y, name, training)
        keep = y > 0 if relu else np.ones(y.shape, bool)
        y, back_code = self.activation(y * keep, name, training)

        def back(dy):
            dx, self.grad[name] = back_conv(back_norm(back_code(dy) * keep))
            return dx
        return y, back

    def forward(self, x, training=False):
        """(logits, function from their gradient to self.grad)."""
        self.grad = {}
        a, back_a = self.block(x, "first", conv, 1, training)
        b, back_b = self.block(a, "wise", depthwise, 1, training)
        c, back_c = self.block(b, "point", conv, 0, training, relu=False)
        keep = a + c > 0
        d, back_d = self.activation((a + c) * keep, "sum", training)
        cells = d.reshape(len(d), 8, 6, 2, 6, 2)
        e = cells.max((3, 5))
        first = cells == e[:, :, :, None, :, None]
        f, back_f = conv(e, self.weight("second"), 0)
        f += self.p["second_bias"][:, None, None]
        alive = f > 0
        f, back_g = self.activation(f * alive, "second", training)
        g = f.reshape(len(f), 16, 2, 2, 2, 2).mean((3, 5))
        g, back_h = self.activation(g, "mean", training)
        flat = g.reshape(len(g), -1)
        dense = self.weight("dense")
        logits = flat @ dense.T + self.p["dense_bias"]
        logits, back_l = self.activation(logits, "logits", training)

        def back(dy):
            dy = back_l(dy)
            self.grad["dense"] = dy.T @ flat
            self.grad["dense_bias"] = dy.sum(0)
            dg = back_h((dy @ dense).reshape(g.shape)) / 4
            df = dg[:, :, :, None, :, None] * np.ones((1, 1, 1, 2, 1, 2))
            df = back_g(df.reshape(f.shape)) * alive
            self.grad["second_bias"] = df.sum((0, 2, 3))
            de, self.grad["second"] = back_f(df)
            dd = (de[:, :, :, None, :, None] * first).reshape(d.shape)
            dd = back_d(dd) * keep
            back_a(dd + back_b(back_c(dd)))
        return logits, back


def train(net, images, labels, epochs, rng):
    """Adam; quantization starts after a third, statistics freeze near the end."""
    first = {k: np.zeros_like(v) for k, v in net.p.items()}
    second = {k: np.zeros_like(v) for k, v in net.p.items()}
    step = 0
    for epoch in range(epochs):
        net.quantized, net.frozen = epoch >= epochs // 3, epoch >= epochs - 3
        rate = 0.004 * (0.5 + 0.5 * np.cos(np.pi * epoch / epochs)) + 5e-5
        order = rng.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start:start + BATCH]
            logits, back = net.forward(images[chosen], training=True)
            e = np.exp(logits - logits.max(1, keepdims=True))
            e /= e.sum(1, keepdims=True)
            e[np.arange(BATCH), labels[chosen]] -= 1
            back(e / BATCH)
            step += 1
            for key, grad in net.grad.items():
                first[key] += 0.1 * (grad - first[key])
                second[key] += 0.001 * (grad ** 2 - second[key])
                net.p[key] -= (rate * first[key] / (1 - 0.9 ** step) /
                               (np.sqrt(second[key] / (1 - 0.999 ** step)) +
                                1e-8))
        print(f"epoch {epoch + 1}: accuracy on the last batches "
              f"{accuracy(net, images[:1000], labels[:1000]):.3f}", flush=True)


def accuracy(net, images, labels):
    return float((net.forward(images)[0].argmax(1) == labels).mean())


def save(net, folder, images, labels):
    values = {k: np.float32(v) for k, v in {**net.p, **net.s}.items()}
    for name in ("first", "wise", "point", "second", "dense"):
        values[name + "_scale"] = np.float32(weight_scale(net.p[name]))
    for name in net.ranges:
        scale, zero = net.codes(name)
        values["act_" + name] = np.float32(scale)
        values["zero_" + name] = np.uint8(zero)
    os.makedirs(folder, exist_ok=True)
    np.savez_compressed(os.path.join(folder, "weights.npz"), **values)
    np.savez_compressed(os.path.join(folder, "validation_images.npz"),
                        image=images[:KEPT])
    np.savez_compressed(os.path.join(folder, "validation_labels.npz"),
                        label=labels[:KEPT].astype(np.uint8))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--folder", default=os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "sample"))
    args = parser.parse_args()
    images, labels = pictures(TRAIN, seed=1)
    unseen, truth = pictures(TEST, seed=2)
    rng = np.random.default_rng(3)
    net = Network(rng)
    train(net, images, labels, args.epochs, rng)
    print(f"accuracy on {TEST} unseen pictures: "
          f"{accuracy(net, unseen, truth):.4f}")
    save(net, args.folder, unseen, truth)
    return 0


if __name__ == "__main__":
    sys.exit(main())
