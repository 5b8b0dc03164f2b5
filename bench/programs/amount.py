# SPDX-License-Identifier: MIT
"""How much a program of this folder computes: its first argument is a factor,
1 by default; 0 is the least, for a test. Each prints a checksum."""
import sys

FACTOR = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0


def times(usual):
    """That many rounds, by default."""
    return range(max(1, round(usual * FACTOR)))


def tell(*numbers):
    """The checksum: numbers that depend on all that was computed."""
    print(*(f"{float(number):.6e}" for number in numbers))
