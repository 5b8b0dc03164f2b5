#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libtakt-blas.so shows the names of BLAS and LAPACK and the switch of NumPy's loops, and
needs libc.

usage: test_exports.py LIBTAKT_BLAS [--sanitized]
"""
import re
import subprocess
import sys
import unittest

LIBRARY = sys.argv[1]
IS_SANITIZED = "--sanitized" in sys.argv
MATRICES = "gemm", "symm", "syrk", "syr2k", "trmm", "trsm"
VECTORS = "gemv", "ger", "axpy", "dot", "scal", "nrm2", "asum"
FORMS = ("{}_", "{}_64_", "scipy_{}_", "scipy_{}_64_", "cblas_{}",
         "cblas_{}64_", "cblas_{}_64", "scipy_cblas_{}", "scipy_cblas_{}64_")
LAPACK = ("getrf", "getrs", "getri", "gesv", "potrf", "potrs", "potri", "posv",
          "trtrs", "geqrf", "geqp3", "orgqr", "ormqr", "gelsd", "geev", "syev",
          "syevd", "syevr", "gesdd", "gesvd")
WORDS = ([letter + word for word in MATRICES for letter in "sdcz"] +
         [letter + word for word in VECTORS for letter in "sd"] +
         ["isamax", "idamax"])


def tell(*words):
    return subprocess.run(words, check=True, capture_output=True,
                          text=True).stdout


class Exports(unittest.TestCase):
    def test_names(self):
        shown = {line.split()[-1].split("@")[0] for line in
                 tell("nm", "-D", "--defined-only", LIBRARY).splitlines()}
        self.assertEqual(shown, {form.format(word) for word in WORDS
                                 for form in FORMS} |
                         {form.format(letter + word) for word in LAPACK
                          for letter in "sd" for form in FORMS[:4]} |
                         {"takt_numpy_enable", "takt_numpy_disable"})

    def test_all_names_are_functions(self):
        for line in tell("nm", "-D", "--defined-only", LIBRARY).splitlines():
            self.assertEqual(line.split()[1], "T", line)

    @unittest.skipIf(IS_SANITIZED, "the sanitizer's library is needed too")
    def test_needs_libc_alone(self):
        needed = re.findall(r"NEEDED.*\[(.*?)\]",
                            tell("readelf", "-d", LIBRARY))
        self.assertEqual([name for name in needed
                          if not name.startswith("ld-linux")], ["libc.so.6"])

    def test_has_no_constructors(self):
        """A process that calls no BLAS does not notice."""
        if IS_SANITIZED:
            self.skipTest("the sanitizer's own")
        sizes = dict(re.findall(r"\((INIT_ARRAYSZ|FINI_ARRAYSZ)\)\s+(\d+)",
                                tell("readelf", "-d", LIBRARY)))
        self.assertEqual(sizes, {"INIT_ARRAYSZ": "8", "FINI_ARRAYSZ": "8"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
