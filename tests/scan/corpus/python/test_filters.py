# SPDX-License-Identifier: MIT
"""Test code: reported, and said to be test code."""
import unittest

import numpy as np

SIZE = 1024
BIG, SMALL = 2048, 16


def test_energy():
    noise = np.random.rand(SIZE)
    assert np.isclose(np.sum(noise), noise.sum())  #~ sum 1024 f64 test sum 1024 f64 test


class FilterTest(unittest.TestCase):
    def test_product(self):
        a = np.ones((SIZE, 512))
        b = np.ones((512, SMALL))
        self.assertEqual((a @ b).shape, (SIZE, SMALL))  #~ matmul 1024x16x512 f64 test

    def test_message(self):
        self.assertIn("np.sum", "np.sum(x) is slow")  #~!

    def test_names(self):
        # a.dot(b)  #~!
        self.assertTrue(True)
