#!/usr/bin/env python3
"""The models that the repository makes are sound, and made the same each time;
the exact reference gives the values that were worked out by hand."""
import os
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(os.path.dirname(HERE), "conformance")]
import exact_reference  # noqa: E402
import hostile  # noqa: E402
import make_models  # noqa: E402
import sample_network  # noqa: E402
from sample_pictures import pictures  # noqa: E402

ISSUE_OPERATORS = set("""
    Conv Gemm MatMul Add Mul Div Relu Clip MaxPool AveragePool
    GlobalAveragePool ReduceMean Softmax Reshape Flatten Transpose Squeeze
    Unsqueeze Concat BatchNormalization Identity Cast Constant ConstantOfShape
    Shape Gather QuantizeLinear DequantizeLinear QLinearConv QLinearMatMul
    QLinearAdd QLinearAveragePool QGemm QLinearSoftmax Pad
    Quant IntQuant BipolarQuant Trunc Pow DepthToSpace
    Round Floor Ceil Neg Abs Sign Min Max""".split())


class Made(unittest.TestCase):
    def test_every_operator_has_a_case(self):
        seen = {node.op_type for *_, model in make_models.cases()
                for node in model().graph.node}
        self.assertEqual(ISSUE_OPERATORS - seen, set())

    def test_cases_are_sound_and_named_once(self):
        names = [name for name, *_ in make_models.cases()]
        self.assertEqual(len(names), len(set(names)))
        for name, *_, model in make_models.cases():
            if name == "qonnx_not_imported":
                continue  # unsound on purpose, as its exporters wrote it
            with self.subTest(name):
                onnx.checker.check_model(model())

    def test_the_same_bytes_each_time(self):
        with tempfile.TemporaryDirectory() as a, \
                tempfile.TemporaryDirectory() as b:
            make_models.write(a)
            make_models.write(b)
            for name in sorted(os.listdir(a)):
                with open(os.path.join(a, name), "rb") as first, \
                        open(os.path.join(b, name), "rb") as second:
                    self.assertEqual(first.read(), second.read(), name)

    def test_hostile_cases_are_named_once(self):
        names = [case.name for case in hostile.cases()]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 100)


class Sample(unittest.TestCase):
    def test_the_committed_model_is_made_from_the_committed_weights(self):
        made = sample_network.sample_model().SerializeToString(
            deterministic=True)
        path = os.path.join(sample_network.FOLDER, "sample.onnx")
        with open(path, "rb") as file:
            self.assertEqual(made, file.read(), "run make_models.py --sample")

    def test_exact_arithmetic_recognises_the_digits(self):
        images = np.load(os.path.join(sample_network.FOLDER,
                                      "validation_images.npz"))["image"]
        labels = np.load(os.path.join(sample_network.FOLDER,
                                      "validation_labels.npz"))["label"]
        values = exact_reference.evaluate(sample_network.sample_model(),
                                          {"image": images[:10]})
        codes = values["logits_codes"]
        right = (codes.argmax(1) == labels[:10]).sum()
        self.assertEqual(right, 9)  # the network takes one 3 for a 2

    def test_pictures_are_seeded(self):
        first, labels = pictures(5, seed=9)
        again, _ = pictures(5, seed=9)
        self.assertTrue((first == again).all())
        self.assertEqual((first.shape, len(labels)), ((5, 1, 12, 12), 5))


def value_of(kind, inputs, **attributes):
    """The exact value of one node; inputs are arrays."""
    names = [f"i{k}" for k in range(len(inputs))]
    graph = helper.make_graph([helper.make_node(kind, names, ["y"],
                                                **attributes)], "g", [], [],
                              [numpy_helper.from_array(np.asarray(v), n)
                               for v, n in zip(inputs, names)])
    return exact_reference.evaluate(helper.make_model(graph), {})["y"]


class Reference(unittest.TestCase):
    def quantized(self, x, scale, zero):
        return value_of("QuantizeLinear", [np.float32(x), np.float32(scale),
                                           zero]).tolist()

    def test_rounds_half_to_even_and_saturates(self):
        self.assertEqual(
            self.quantized([2.5, 5.5, 62.5, -0.5, -1.5, 400, -400], 1,
                           np.int8(0)), [2, 6, 62, 0, -2, 127, -128])
        self.assertEqual(self.quantized([0.25, 0.75, 1.25], 0.5, np.uint8(3)),
                         [3, 5, 5])

    def test_a_sum_just_below_a_tie(self):
        """Exactly -7.50000794 before rounding; float32 arithmetic gives -7."""
        value = value_of("QLinearAdd", [
            np.int8([-114]), np.float32(0.02534690499305725), np.int8(-106),
            np.int8([-122]), np.float32(0.035809919238090515), np.int8(-120),
            np.float32(0.0365859717130661), np.int8(-105)])
        self.assertEqual(value.tolist(), [-113])

    def test_products_saturate(self):
        one, zero = np.float32(1), np.uint8(0)
        value = value_of("QLinearMatMul", [
            np.uint8([[100]]), one, zero, np.uint8([[100]]), one, zero,
            np.float32(0.2), zero])
        self.assertEqual(value.tolist(), [[255]])

    def test_average_counts_pads_only_if_asked(self):
        x = np.ones((1, 1, 2, 2), np.float32)
        where = {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1]}
        self.assertEqual(
            value_of("AveragePool", [x], count_include_pad=1, **where)
            .astype(float).tolist(), [[[[1, .5], [.5, .25]]]])
        self.assertEqual(value_of("AveragePool", [x], **where).astype(float)
                         .tolist(), [[[[1, 1], [1, 1]]]])

    def test_ceil_mode_starts_no_window_in_the_padding(self):
        x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
        self.assertEqual(value_of(
            "MaxPool", [x], kernel_shape=[2], strides=[2], ceil_mode=1)
            .astype(float).tolist(), [[[1, 3, 4]]])
        self.assertEqual(value_of(
            "MaxPool", [x], kernel_shape=[2], strides=[3], pads=[0, 1],
            ceil_mode=1).astype(float).tolist(), [[[1, 4]]])

    def test_convolution_with_groups_and_uneven_pads(self):
        x = np.float32([[[1, 2, 3], [10, 20, 30]]])
        w = np.float32([[[1, 1]], [[1, -1]]])
        self.assertEqual(
            value_of("Conv", [x, w], group=2, pads=[1, 0]).astype(float)
            .tolist(), [[[1, 3, 5], [-10, -10, -10]]])


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=0)
    ran, bad = program.result.testsRun, (len(program.result.failures) +
                                         len(program.result.errors))
    print(f"{ran - bad} passed, {bad} failed")
    sys.exit(1 if bad or not ran else 0)
