#!/usr/bin/env python3
"""Runs an acceptance checker with BatchNormalization as ONNX defines it.

Usage: check_models.py CHECKER ARGUMENTS...
  CHECKER    the path of a check_models.py whose oracle is onnx's reference
             evaluator; ARGUMENTS are its own

From operator set 9 to 13 a BatchNormalization with one result normalizes with
the mean and the variance that it is given (ONNX operator documentation,
BatchNormalization-9, "Output case #2"). The reference evaluator of onnx 1.23.2
mixes the batch's own mean and variance into them, by the attribute `momentum`,
which only training has a use for. Models of those versions are held against
the documented meaning here; everything else is the checker's own.
"""
import os
import runpy
import sys

from onnx.reference.ops import op_batch_normalization as reference


def batch_normalization_9(self, x, scale, bias, mean, var, epsilon=None, momentum=None):
    """Normalizes with the given statistics."""
    return (reference._batchnorm_test_mode(x, scale, bias, mean, var, epsilon=epsilon),)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    checker = sys.argv[1]
    reference.BatchNormalization_9._run = batch_normalization_9
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(checker)))
    runpy.run_path(checker, run_name="__main__")


if __name__ == "__main__":
    main()
