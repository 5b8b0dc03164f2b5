#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Patches of `takt optimize --patch` against the code they change: exact
findings of the labelled corpus are patched, compiled, and run with the
original on random data; none may differ beyond its tolerance.

usage: test_patches.py PATH_TO_TAKT INCLUDE_FOLDER LIBTAKT [--report]

A function runs if its arguments are arrays of floats or doubles, sizes and
scalars. Without a compiler or NumPy nothing is run, and it is said.
"""
import ctypes
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    np = None
    SYSTEM = "/usr/bin/python3"  # Debian's NumPy is for this one
    if os.path.exists(SYSTEM) and not os.path.samefile(SYSTEM, sys.executable):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])

TAKT, INCLUDE, LIBRARY = sys.argv[1:4]
CORPUS = pathlib.Path(__file__).resolve().parent.parent / "scan" / "corpus"
ROOM = 1 << 16  # elements of each array
# Compiling takes long: `make torture` tries all.
EVERY = 1 if os.environ.get("TAKT_TORTURE") else 4
SIZES = r"(?:int|long|unsigned|size_t|ptrdiff_t|ssize_t|unsigned int|u?int\d+_t)"


def run(*words, **options):
    return subprocess.run([str(w) for w in words], capture_output=True,
                          text=True, timeout=300, **options)


def is_cpp(path):
    return path.suffix not in (".c", ".h")


def build(path, out):
    words = ["-O1", "-w", "-fPIC", "-shared", "-Dstatic=", f"-I{INCLUDE}",
             path, "-o", out, LIBRARY, f"-Wl,-rpath,{os.path.dirname(LIBRARY)}",
             "-lm"]
    return run("g++" if is_cpp(path) else "gcc", *words).returncode == 0


def alone(text, function):
    """A function with the macros, types and constants of its file, for files
    that do not link; None: it cannot be found."""
    found = re.search(r"^[\w \*]*\b" + re.escape(function) +
                      r"\s*\([^()]*\)\s*\{.*?^\}", text, re.M | re.S)
    head = re.findall(r"^#include <.*|^#define .*|^typedef [^{]*?;|"
                      r"^enum \{[^}]*\};|^static const int [^;]*;", text, re.M)
    return found and "\n".join(["#include <math.h>", "#include <stddef.h>",
                                "#include <stdint.h>", *head, found[0], ""])


def parameters(text, function):
    """(kinds, result) of a C function; None: it is not one that can run."""
    found = re.search(r"^([\w \*]*?)\b" + re.escape(function) +
                      r"\s*\(([^()]*)\)\s*\{", text, re.M)
    if found is None:
        return None
    result = re.sub(r"\b(static|inline|extern|const)\b", "",
                    found[1]).strip()
    if result not in ("void", "float", "double", "int"):
        return None
    kinds = []
    for one in found[2].split(","):
        one = re.sub(r"\b(const|restrict|__restrict|__restrict__|static)\b",
                     " ", one).strip()
        if one in ("", "void"):
            continue
        array = re.fullmatch(r"(float|double)\s*(\*\s*\w+|\w+\s*(\[[^\]]*\])+)",
                             one)
        if array:
            kinds.append(array[1] + "*")
        elif re.fullmatch(SIZES + r"\s+\w+", one):
            kinds.append("size")
        elif re.fullmatch(r"(float|double)\s+\w+", one):
            kinds.append(one.split()[0])
        else:
            return None
    return kinds, result


def call(library, function, kinds, result, seed):
    """What a function returns, and what its arrays hold then."""
    chance = np.random.default_rng(seed)
    sizes = random.Random(seed)
    words, arrays = [], []
    target = getattr(ctypes.CDLL(str(library)), function)
    target.restype = {"void": None, "float": ctypes.c_float,
                      "double": ctypes.c_double, "int": ctypes.c_int}[result]
    for kind in kinds:
        if kind.endswith("*"):
            arrays.append((0.5 + chance.random(ROOM)).astype(
                np.float32 if kind == "float*" else np.float64))
            words.append(arrays[-1].ctypes.data_as(ctypes.c_void_p))
        elif kind == "size":
            words.append(ctypes.c_long(sizes.randint(3, 17)))
        else:
            words.append((ctypes.c_float if kind == "float"
                          else ctypes.c_double)(chance.random()))
    return target(*words), arrays


def random_product(chance, real):
    """A product of matrices, or of a matrix and a vector, in any layout, order
    and way to add up."""
    sizes = {"i": "m", "j": "n", "k": "p"}
    is_matrix = chance.random() < 0.6
    loops = ["i", "j", "k"] if is_matrix else ["i", "k"]
    chance.shuffle(loops)
    alpha = chance.choice(["", "", "alpha * ", "2 * "])
    flat = lambda row, column: chance.choice(
        [f"{row} * {sizes[column]} + {column}",
         f"{column} + {sizes[column]} * {row}",
         f"(size_t){row} * {sizes[column]} + {column}",
         f"{column} * {sizes[row]} + {row}"])
    a = f"a[{flat('i', 'k')}]"
    b = f"b[{flat('k', 'j')}]" if is_matrix else "b[k]"
    c = f"c[i * n + j]" if is_matrix else "c[i]"
    factors = [a, b]
    chance.shuffle(factors)
    value = f"{alpha}{factors[0]} * {factors[1]}"
    kind = chance.choice(["direct", "zero", "sum", "add"])
    if kind != "direct":
        loops.sort(key=lambda v: v == "k")  # k is the innermost
    lines = [f"for (int {v} = 0; {v} < {sizes[v]}; {v}++) {{" for v in loops]
    if kind == "direct":
        return lines + [f"{c} += {value};"] + ["}"] * len(loops)
    first = {"zero": f"{c} = 0;"}.get(kind, f"{real} s = 0;")
    core = f"{c if kind == 'zero' else 's'} += {value};"
    last = {"zero": "", "sum": f"{c} = s;", "add": f"{c} += s;"}[kind]
    return lines[:-1] + [first, lines[-1], core, "}", last] + \
        ["}"] * (len(loops) - 1)


def random_elements(chance, real):
    f = "f" if real == "float" else ""
    at = chance.choice(["i", "i", "i + 3", "2 * m + i"])
    x, y, z = f"a[{at}]", f"b[i]", "c[i]"
    value = chance.choice(
        [f"{z} = {x} + {y};", f"{z} = {x} - {y};", f"{z} = {x} * {y};",
         f"{z} = {x} / {y};", f"{z} += {x};", f"{z} -= {x};", f"{z} *= {x};",
         f"{z} *= alpha;", f"{z} = alpha * {x};", f"{z} = {x} * 3;",
         f"{z} += alpha * {x};", f"{z} = {z} + {x} * alpha;",
         f"{z} += {x} * {y};", f"{z} = {x} * {y} + {z};", f"{z} = -{x};",
         f"{z} = sqrt{f}({x});", f"{z} = exp{f}({x});", f"{z} = {x};",
         f"{z} = fabs{f}({x});", f"{z} = tanh{f}({x});",
         f"const {real} t = {x}; {z} = t * {y};"])
    start, end, more = chance.choice(
        [("0", "m", "<"), ("2", "m", "<"), ("n", "n + m", "<"),
         ("0", "m", "<=")])
    return [f"for (int i = {start}; i {more} {end}; ++i) {{", value, "}"]


def random_sum(chance, real):
    f = "f" if real == "float" else ""
    at = chance.choice(["i", "n * p + i", "i + 1"])
    value = chance.choice([f"a[{at}]", f"a[{at}] * b[i]", "b[i] * b[i]",
                           f"fabs{f}(a[{at}])"])
    return [f"{real} s = 1;", "int i;", "for (i = 0; i < m; i++)",
            f"s += {value};", "c[0] = s;"]


def random_function(chance, number):
    real = chance.choice(["float", "double"])
    body = chance.choice([random_product, random_product, random_elements,
                          random_sum])(chance, real)
    lines = "\n".join("    " + line for line in body if line)
    return (f"void f{number}(const {real} *a, const {real} *b, {real} *c, "
            f"{real} alpha, int m, int n, int p)\n{{\n{lines}\n}}\n")


def differ(finding, text, old, new):
    """Runs both in a child; "same", "differs", "crashes" or "no call"."""
    name = (finding["function"] or "").split("::")[-1]
    known = parameters(text, name)
    if known is None:
        return "no call"
    child = os.fork()
    if child == 0:
        code = 0
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        try:
            for seed in range(4):
                a = call(old, name, *known, seed)
                b = call(new, name, *known, seed)
                for x, y in zip([np.array(a[0] or 0)] + a[1],
                                [np.array(b[0] or 0)] + b[1]):
                    near = 1e-10 if x.dtype == np.float64 and \
                        finding["dtype"] == "f64" else 2e-4
                    if not np.allclose(x, y, rtol=near, atol=near * 1e-3,
                                       equal_nan=True):
                        code = 1
        except (AttributeError, OSError):
            code = 2
        os._exit(code)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return "crashes"
    return ("same", "differs", "no call")[os.WEXITSTATUS(status)]


@unittest.skipIf(np is None or shutil.which("gcc") is None or
                 shutil.which("g++") is None or shutil.which("patch") is None,
                 "needs NumPy, gcc, g++ and patch")
class Patches(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = pathlib.Path(kept.name)

    def patched(self, path):
        """A folder with the file alone, and the same patched."""
        for name in ("old", "new"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
            shutil.copy(path, self.folder / name)
        ran = run(TAKT, "optimize", "--dry-run", "--patch", "--cc",
                  f"{'g++' if is_cpp(path) else 'gcc'} -I{INCLUDE}",
                  self.folder / "old")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        if ran.stdout == "":
            return None
        done = run("patch", "-p1", "-d", self.folder / "new", input=ran.stdout)
        self.assertEqual(done.returncode, 0, done.stdout + ran.stdout)
        return ran

    def build_alone(self, texts, old, new):
        old.write_text(texts[0])
        new.write_text("#include <takt/ops.h>\n" + texts[1])
        return build(old, old.with_suffix(".so")) and \
            build(new, new.with_suffix(".so"))

    def compare(self, path, counts):
        """Each function that was patched against itself."""
        old_text = (self.folder / "old" / path.name).read_text()
        new_text = (self.folder / "new" / path.name).read_text()
        old, new = (self.folder / ("old" + path.suffix),
                    self.folder / ("new" + path.suffix))
        found = json.loads(run(TAKT, "optimize", "--dry-run", "--json",
                               self.folder / "old").stdout)["findings"]
        whole = build(self.folder / "old" / path.name, old.with_suffix(".so"))
        if whole:
            self.assertTrue(build(self.folder / "new" / path.name,
                                  new.with_suffix(".so")))
        for one in found:
            if one["rewrite"] is None:
                continue
            name = (one["function"] or "").split("::")[-1]
            texts = alone(old_text, name), alone(new_text, name)
            came = "no call"
            if texts[0] == texts[1] and texts[0] is not None:
                came = "not patched"
            elif whole or None not in texts and self.build_alone(texts, old,
                                                                 new):
                came = differ(one, old_text, old.with_suffix(".so"),
                              new.with_suffix(".so"))
            counts[came] = counts.get(came, 0) + 1
            self.assertNotIn(came, ("differs", "crashes"),
                             (path.name, one["line"], one["rewrite"]))

    def test_the_labelled_corpus(self):
        counts = {}
        paths = sorted(CORPUS.glob("c/*.c")) + sorted(CORPUS.glob("cpp/*.cpp"))
        for path in paths[EVERY // 2::EVERY]:
            with self.subTest(path.name):
                if self.patched(path) is not None:
                    self.compare(path, counts)
        print("corpus:", counts, file=sys.stderr)
        self.assertGreater(counts.get("same", 0), 50 if EVERY == 1 else 0)

    def test_random_loops(self):
        counts = {}
        chance = random.Random(19)
        path = self.folder / "random.c"
        path.write_text("#include <math.h>\n#include <stddef.h>\n" +
                        "".join(random_function(chance, i)
                                for i in range(200 // EVERY)))
        self.patched(path)
        self.compare(path, counts)
        print("random:", counts, file=sys.stderr)
        self.assertEqual(set(counts), {"same"})
        self.assertGreater(counts["same"], 100 // EVERY)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
