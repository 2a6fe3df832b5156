#!/usr/bin/env python3
"""Prints some pictures with what the network takes them for.

Usage: show_digits.py IMAGES.npz LABELS.npz LOGITS.npz
Exits 1 where fewer than 95 of 100 are right. Needs: numpy.
"""
import sys

import numpy as np

SHADES = " .:-=+*#%@"
SHOWN = 6
LEAST_RIGHT = 0.95


def main():
    images, labels, logits = (next(iter(np.load(path).values()))
                              for path in sys.argv[1:4])
    guesses = logits.argmax(1)
    for row in range(images.shape[2]):
        print("  ".join("".join(SHADES[int(v * 9.99)] for v in image[0, row])
                        for image in images[:SHOWN]))
    print("  ".join(f"is {label}, read {guess}".ljust(images.shape[3])
                    for label, guess in zip(labels[:SHOWN], guesses)))
    right = int((guesses == labels).sum())
    print(f"{right} of {len(labels)} right")
    return 0 if right >= LEAST_RIGHT * len(labels) else 1


if __name__ == "__main__":
    sys.exit(main())
