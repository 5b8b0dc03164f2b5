# SPDX-License-Identifier: MIT
"""NumPy's own loops on several threads, without `takt run`.

>>> import numpy, takt
>>> takt.numpy.enable()     # exp, +, < ... of large arrays are divided
>>> takt.numpy.disable()
"""
import os
import sys

from takt._takt import Error, _library

__all__ = ["disable", "enable"]


def _interposer():
    """libtakt-blas.so: the one that was preloaded, or the one beside libtakt."""
    import ctypes
    everything = ctypes.PyDLL(None)
    if hasattr(everything, "takt_numpy_enable"):
        return everything
    path = os.path.join(os.path.dirname(_library), "libtakt-blas.so")
    try:
        return ctypes.PyDLL(os.path.abspath(path))
    except OSError as problem:
        raise Error(f"takt.numpy: {problem}") from None


def enable():
    """Divide NumPy's element-wise loops over threads where that is faster.

    It is measured, for each loop and length, which way is faster, and results
    have the same bits. Short loops are passed on at the price of a compare.
    NumPy is imported if it is not.

    >>> import takt.numpy
    >>> takt.numpy.enable()
    """
    import numpy  # noqa: F401
    if not _interposer().takt_numpy_enable():
        raise Error("takt.numpy: the loops of NumPy "
                    f"{sys.modules['numpy'].__version__} cannot be replaced")


def disable():
    """Let NumPy's loops run as NumPy has them.

    >>> import takt.numpy
    >>> takt.numpy.disable()
    """
    if "numpy" in sys.modules:
        _interposer().takt_numpy_disable()
