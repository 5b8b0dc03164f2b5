#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other people's suites and programs, with and without `takt run`.

Takes hours, needs packages that nothing else does (python3-pytest,
python3-hypothesis, python3-scipy, python3-sklearn, python3-threadpoolctl,
r-base-core, octave), and is therefore run by hand:

    test_suites.py TAKT [lapack] [numpy] [scipy] [learn] [sklearn] [r] [octave]
                        [threads]
    test_suites.py TAKT scipy.linalg learn.decomposition

TAKT is the tool, with libtakt-blas.so where it looks for it. A part whose
package is absent is skipped, and says so.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TAKT = os.path.abspath(sys.argv[1])
PYTHON = "/usr/bin/python3"
# The parts of the suites that compute. CORE is another package in NumPy 2.
NUMPY = ["numpy.linalg", "CORE.test_multiarray", "CORE.test_einsum",
         "CORE.test_umath", "CORE.test_ufunc", "CORE.test_numeric",
         "numpy.random", "numpy.matrixlib", "numpy.polynomial"]
SCIPY = ["scipy.linalg", "scipy.special", "scipy.stats", "scipy.ndimage",
         "scipy.sparse.linalg", "scipy.optimize", "scipy.cluster",
         "scipy.interpolate"]
LEARN = ["sklearn." + name for name in (
    "decomposition", "linear_model", "utils", "cluster", "preprocessing",
    "covariance", "mixture", "gaussian_process", "cross_decomposition",
    "manifold", "metrics", "neighbors", "svm")]
EAGER = {"TAKT_RUN_EAGER": "1"}
# Equal calls always run the same way: some tests compare two results bit by
# bit, the signs of vectors, or a value that is 0 but for rounding.
ALIKE = {"TAKT_RUN_EAGER": "last"}
MODES = {"usual": {}, "alike": ALIKE, "eager": EAGER}


def environment(**changes):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_"))}
    return {**env, "TAKT_DB": "", **changes}


def run(words, env=None, timeout=3000):
    return subprocess.run(words, env=environment(**(env or {})), text=True,
                          capture_output=True, timeout=timeout)


def has(*words):
    return subprocess.run(words, capture_output=True).returncode == 0


class Suite:
    """A part that was asked for; what went wrong in it."""

    def __init__(self, name):
        self.name, self.wrong = name, []

    def expect(self, is_so, words):
        if not is_so:
            self.wrong.append(words)

    def tell(self, words):
        print(f"{self.name}: {words}", flush=True)


def outcomes(suite, package, env, before):
    """The outcome of every test, by its name."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="takt") as folder:
        path = os.path.join(folder, "outcomes")
        ran = run([*before, PYTHON, "-m", "pytest", "-q", "--tb=no",
                   "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir",
                   "/", "-m", "not slow", "--junitxml", path, "--pyargs",
                   package], env)
        if not os.path.exists(path):
            suite.wrong.append(f"no tests ran: {ran.stdout}{ran.stderr}"[-600:])
            return {}
        tests = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    suite.expect(tests, f"there are no tests: {ran.stdout[-300:]}")
    return {f"{test.get('classname')}.{test.get('name')}":
            "".join(sorted(child.tag for child in test)) or "passed"
            for test in tests}


def compare_suites(suite, packages):
    for package in packages:
        plain = outcomes(suite, package, {}, [])
        again = outcomes(suite, package, {}, [])
        for mode, env in MODES.items():
            routed = outcomes(suite, package, env, [TAKT, "run", "--"])
            # A test that differs from itself says nothing.
            differ = sorted(name for name in plain.keys() | routed.keys()
                            if plain.get(name) == again.get(name) and
                            plain.get(name) != routed.get(name))
            passed = sum(word == "passed" for word in routed.values())
            suite.tell(f"{package}, {mode}: {len(routed)} tests, {passed} "
                       f"passed, {len(differ)} differ")
            for name in differ:
                words = f"{mode} {name}: {plain.get(name)} became " + \
                    f"{routed.get(name)}"
                if mode == "eager":
                    suite.tell(f"to be looked at: {words}")
                else:
                    suite.wrong.append(words)


def numpy_suite(suite):
    if not has(PYTHON, "-c", "import numpy, pytest"):
        return suite.tell("skipped: python3-numpy or python3-pytest is absent")
    core = "numpy._core" if has(PYTHON, "-c", "import numpy._core.tests") \
        else "numpy.core"
    return compare_suites(suite, [
        name.replace("CORE", core + ".tests")
        for name in (NUMPY if suite.name == "numpy" else [suite.name])])


def scipy_suite(suite):
    if not has(PYTHON, "-c", "import scipy, pytest"):
        return suite.tell("skipped: python3-scipy or python3-pytest is absent")
    return compare_suites(suite, SCIPY if suite.name == "scipy"
                          else [suite.name])


def learn_suite(suite):
    if not has(PYTHON, "-c", "import sklearn, pytest"):
        return suite.tell("skipped: python3-sklearn or python3-pytest is "
                          "absent")
    return compare_suites(suite, LEARN if suite.name == "learn"
                          else ["sk" + suite.name])


def lapack_counts(program, words, env, before):
    """The exit status of a program of LAPACK's, and how many of its tests ran
    and failed."""
    with open(words) as given:
        ran = subprocess.run([*before, program], env=environment(**env),
                             stdin=given, capture_output=True, text=True,
                             timeout=3000)
    failed = re.findall(r"(\d+) out of +(\d+) tests failed", ran.stdout)
    passed = re.findall(r"passed .*?\( *(\d+) tests run\)", ran.stdout)
    return (ran.returncode,
            sum(int(row[1]) for row in failed) + sum(map(int, passed)),
            sum(int(row[0]) for row in failed))


def lapack_programs(suite):
    """All that liblapack-test has, with its own inputs, of four types."""
    folder = next(iter(map(os.path.dirname,
                           glob.glob("/usr/lib/*/lapack/xlintstd"))), None)
    if folder is None:
        return suite.tell("skipped: liblapack-test is absent")
    for letter in "sdcz":
        low = {"d": "s", "z": "c"}.get(letter)
        inputs = [("xeigtst" + letter, name) for name in (
            "nep", "sep", "se2", "svd", "glm", "gqr", "gsv", "csd", "lse")] + \
            [("xeigtst" + letter, letter + name)
             for name in ("ec", "ed", "gg", "gd", "sb", "sg", "bb")] + \
            [("xlintst" + letter, letter + "test"),
             ("xlintstrf" + letter, letter + "test_rfp")] + \
            ([("xlintst" + letter + low, letter + low + "test")] if low else [])
        for program, name in inputs:
            words = [os.path.join(folder, program),
                     os.path.join(folder, name + ".in")]
            if not os.path.exists(words[1]):
                continue
            status, tests, failed = lapack_counts(*words, {}, [])
            suite.expect(tests, f"{program} {name}: no tests ran")
            for mode, env in MODES.items():
                routed = lapack_counts(*words, env, [TAKT, "run", "--"])
                words_of = f"{program} {name}, {mode}: {routed[1]} tests, " + \
                    f"{routed[2]} failed ({failed} of {tests} without)"
                suite.tell(words_of)
                # In turns, tests that compare the bits of two calls fail.
                suite.expect(mode == "eager" or
                             routed[:2] == (status, tests) and
                             routed[2] <= failed, words_of)
    return None


def reported(words, env=None):
    """A program under `takt run` with a report: what it said, and the report.
    """
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="takt") as folder:
        path = os.path.join(folder, "report")
        ran = run([TAKT, "run", "--report", "--format", "json", "--output",
                   path, "--", *words], env)
        with open(path) as file:
            return ran, json.load(file)


def numbers(text):
    return [float(word) for word in text.split()]


def compare_program(suite, words, least_calls):
    """The same numbers to nine digits, and the calls in the report."""
    plain = run(words)
    suite.expect(plain.returncode == 0, plain.stderr[-300:])
    for mode, env in (("usual", {}), ("eager", EAGER)):
        ran, report = reported(words, env)
        suite.expect((ran.returncode, ran.stderr) ==
                     (plain.returncode, plain.stderr),
                     f"{mode}: {ran.returncode} {ran.stderr[-300:]}")
        want, got = numbers(plain.stdout), numbers(ran.stdout)
        suite.expect(len(want) > 0 and len(want) == len(got) and
                     all(abs(a - b) <= 1e-9 * max(1, abs(a))
                         for a, b in zip(want, got)),
                     f"{mode}: other results: {want} {got}")
        calls = count_calls(report)
        suite.tell(f"{mode}: {len(got)} numbers, {calls} calls reported")
        suite.expect(calls >= least_calls, f"{mode}: {calls} calls reported")


def count_calls(report):
    return sum(sum(row["calls"].values()) for row in report["rows"])


SKLEARN = """
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
draw = np.random.RandomState(8)
x = draw.rand(600, 80)
y = x @ draw.rand(80) + 0.01 * draw.rand(600)
print(*PCA(5, svd_solver="full").fit(x).explained_variance_)
print(KMeans(4, n_init=3, random_state=8).fit(x).inertia_)
print(*LinearRegression().fit(x, y).coef_)
"""
R = """
set.seed(8); a <- matrix(runif(90000), 300); b <- matrix(runif(90000), 300)
c <- a %*% b
cat(format(c(sum(c), c[1, 1], c[300, 300], sum(crossprod(a)),
             sum(solve(a + 300 * diag(300), b))), digits = 12), "\\n")
"""
OCTAVE = """
a = reshape(mod(0:89999, 97), 300, 300) / 97;
b = reshape(mod(0:89999, 89), 300, 300) / 89;
c = a * b;
printf("%.12g ", sum(c(:)), c(1, 1), c(300, 300), sum((a * a')(:)), ...
       sum(((a + 300 * eye(300)) \\ b)(:)));
"""


def sklearn_program(suite):
    if not has(PYTHON, "-c", "import sklearn"):
        return suite.tell("skipped: python3-sklearn is absent")
    return compare_program(suite, [PYTHON, "-c", SKLEARN], 10)


def r_program(suite):
    if shutil.which("Rscript") is None:
        return suite.tell("skipped: r-base-core is absent")
    return compare_program(suite, ["Rscript", "-e", R], 3)


def octave_program(suite):
    if shutil.which("octave-cli") is None:
        return suite.tell("skipped: octave is absent")
    return compare_program(suite, ["octave-cli", "--quiet", "--norc", "--eval",
                                   OCTAVE], 3)


THREADS = """
import numpy as np, sys, threadpoolctl
a, b = np.ones((2, 400, 400), np.float32)
with threadpoolctl.threadpool_limits(int(sys.argv[1])):
    for i in range(40):
        a @ b
"""


def experts_used(count):
    """The experts of products in a program that limits itself so."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="takt") as folder:
        path = os.path.join(folder, "trace")
        run([PYTHON, "-c", THREADS, str(count)],
            {"LD_PRELOAD": os.path.join(preload_folder(), "libtakt-blas.so"),
             "TAKT_TRACE": path, "TAKT_TRACE_DEBUG": "1",
             "OPENBLAS_NUM_THREADS": "2", **EAGER})
        said = run([TAKT, "trace", path]).stdout
    return set(re.findall(r" matmul .*?\b((?:simd|user|scalar)\S*)", said))


def preload_folder():
    """Beside the tool as built, or where it is installed."""
    for folder in ("..", "../lib"):
        path = os.path.join(os.path.dirname(TAKT), folder)
        if os.path.exists(os.path.join(path, "libtakt-blas.so")):
            return path
    sys.exit("there is no libtakt-blas.so beside " + TAKT)


def thread_limits(suite):
    if not has(PYTHON, "-c", "import numpy, threadpoolctl"):
        return suite.tell("skipped: python3-threadpoolctl is absent")
    for count in (1, 2):
        used = experts_used(count)
        suite.tell(f"limited to {count}: {' '.join(sorted(used))}")
        suite.expect(used, "no call was traced")
        more = [name for name in used
                if int((re.search(r"x(\d+)$", name) or [0, "1"])[1]) > count]
        suite.expect(not more, f"limited to {count}, and used {more}")
    return None


PARTS = {"threads": thread_limits, "sklearn": sklearn_program, "r": r_program,
         "octave": octave_program, "lapack": lapack_programs,
         "numpy": numpy_suite, "scipy": scipy_suite, "learn": learn_suite}


def main():
    failed = 0
    for name in sys.argv[2:] or PARTS:
        suite = Suite(name)
        PARTS[name.split(".")[0]](suite)
        for words in suite.wrong:
            suite.tell("WRONG " + words)
        suite.tell("not ok" if suite.wrong else "ok")
        failed += bool(suite.wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
