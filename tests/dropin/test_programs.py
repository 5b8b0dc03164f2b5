#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs with the interposer preloaded do what they do without it.

usage: test_programs.py LIBTAKT_BLAS FOLDER
FOLDER holds the programs and their libraries.
"""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import stats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "support"))
import mounts  # noqa: E402

PRELOAD, FOLDER = map(os.path.abspath, sys.argv[1:3])
PROGRAM, PROGRAM_PLT, LOADER, LINKED, ONE, TWO, EARLY, WHOLE, LIBRARY = (
    os.path.join(FOLDER, name) for name in (
        "dropin_program", "dropin_program_plt", "dropin_loader",
        "dropin_loader_linked",
        "plugin_one.so", "plugin_two.so", "plugin_early.so", "plugin_whole.so",
        "libbaseline_one.so"))
WIDE = os.path.join(FOLDER, "libbaseline_blas64.so")
FAKE_CUDA = os.environ.get("TAKT_TEST_FAKE_CUDA", "")
PLACES = os.path.join(FOLDER, "dropin_places")
OPENING = os.path.join(FOLDER, "dropin_opening")
SLOW_TAKT = os.path.join(FOLDER, "slow_takt.so")
MODES = {"usual": {}, "eager": {"TAKT_RUN_EAGER": "1"},
         "own": {"TAKT_RUN_EAGER": "1", "TAKT_EXPERT": "scalar"}}


# Whole numbers: every way to compute gives the same.
NUMPY_SQUARES = """
import numpy as np
a = (np.arange(300 * 200) % 7).reshape(300, 200).astype(np.float64)
for i in range(60):
    c, d = a @ a.T, a.T @ a
print(c.sum(), d.sum(), (c == c.T).all(), (d == d.T).all())
"""


def surroundings(**changes):
    """The environment, without what a variable of the caller's would do."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_", "OMP_", "OPENBLAS_"))}
    env.update({"TAKT_DB": "", "TAKT_GPU": ""}, **changes)
    return {name: value for name, value in env.items() if value is not None}


def run(*words, program=PROGRAM, **changes):
    ran = subprocess.run([program, *words], env=surroundings(**changes),
                         capture_output=True, text=True, timeout=600)
    return ran.returncode, ran.stdout, ran.stderr


class Programs(unittest.TestCase):
    maxDiff = 2000
    DISK = "mount -t tmpfs -o size=256k none {folder} && cd {folder} && "

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp", prefix="takt")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def copy_for_others(self):
        """The folder of the build may be closed to other users."""
        os.chmod(self.folder, 0o755)
        router = os.path.join(os.path.dirname(PRELOAD), "libtakt.so.0")
        baseline = os.path.join(FOLDER, "libbaseline_all.so")
        for file in (PRELOAD, router, baseline):
            shutil.copy(file, self.folder)
        return shutil.copy(PROGRAM, self.folder)

    def elsewhere(self, setup, *words, **changes):
        """Runs it preloaded, with mounts of its own that a shell has set up."""
        self.assertTrue(mounts.are_possible())
        ran = subprocess.run(
            mounts.command(setup.format(folder=self.folder), PROGRAM, *words),
            env=surroundings(LD_PRELOAD=None, TAKT_TEST_PRELOAD=PRELOAD,
                             **changes),
            capture_output=True, text=True, timeout=600)
        return ran.returncode, ran.stdout, ran.stderr

    def preloaded(self, *words, **changes):
        """Runs it with shared statistics; its result, and the statistics."""
        path = stats.make(self.path("stats"))
        ran = run(*words, **{"LD_PRELOAD": PRELOAD, "TAKT_RUN_STATS": path,
                             **changes})
        return ran, stats.Stats(path)

    def check(self, *words, modes=MODES, **changes):
        """The same without, with, and with statistics, in every mode."""
        plain = run(*words, **changes)
        counted = {}
        for mode in modes:
            ran = run(*words, LD_PRELOAD=PRELOAD, **MODES[mode], **changes)
            with self.subTest(mode, stats=False):
                self.assertEqual(ran, plain)
            ran, counted[mode] = self.preloaded(*words, **MODES[mode],
                                               **changes)
            with self.subTest(mode, stats=True):
                self.assertEqual(ran, plain)
        return plain, counted


class Processes(Programs):
    def test_plain(self):
        (code, said, _), counted = self.check("plain")
        self.assertEqual((code, said.split()[0]), (0, "plain"))
        for read in counted.values():
            self.assertEqual((read.processes, read.calls()), (1, 30))
        self.assertEqual(counted["usual"].calls(way="pass_through"), 30)
        self.assertEqual(counted["own"].calls("gemm", "scalar"), 10)
        self.assertEqual(counted["eager"].routers, 1)
        self.assertEqual(len(counted["usual"].libraries), 1)

    def test_small_calls_are_not_counted_if_not_wanted(self):
        plain = run("plain")
        ran, read = self.preloaded("plain", TAKT_RUN_COUNT_LARGE="1")
        self.assertEqual(ran, plain)
        self.assertLessEqual(read.calls(), 3)  # the first of each name
        ran, read = self.preloaded("plain", TAKT_RUN_COUNT_LARGE="0")
        self.assertEqual((ran, read.calls()), (plain, 30))
        ran, read = self.preloaded("plain", TAKT_RUN_COUNT_LARGE="1",
                                   **MODES["eager"])
        self.assertEqual((ran, read.calls()), (plain, 30))

    def test_nothing_is_opened_where_address_space_is_limited(self):
        """The program may need what is left."""
        plain = run("plain")
        path = stats.make(self.path("stats"))
        most = 400 << 20
        ran = subprocess.run(
            [PROGRAM, "plain"], capture_output=True, text=True, timeout=600,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                  (most, most)),
            env=surroundings(LD_PRELOAD=PRELOAD, TAKT_RUN_STATS=path,
                             OMP_NUM_THREADS="1", **MODES["eager"]))
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), plain)
        read = stats.Stats(path)
        self.assertEqual((read.routers, read.calls()), (0, 30))

    def test_the_router_opens_early_where_a_gpu_may_be(self):
        """With the first call, if there is a store and perhaps a GPU."""
        plain = run("plain")
        for store, gpu, routers in ((self.path("db"), None, 1),
                                    (self.path("db"), "", 0), ("", None, 0)):
            for _ in range(50):  # on a busy machine it may end before
                ran, read = self.preloaded("plain", TAKT_DB=store,
                                           TAKT_GPU=gpu, TAKT_LOG="off",
                                           TAKT_CUDA=self.path("driver"))
                self.assertEqual(ran, plain)
                if read.routers == routers:
                    break
            self.assertEqual(read.routers, routers)
            self.assertEqual(read.calls(way="pass_through"), 30)

    def test_one_thread_calls_all_the_time(self):
        for mode, read in self.check("plain")[1].items():
            with self.subTest(mode):
                self.assertGreater(read.threads_ns, 0)
                self.assertEqual(read.threads_ns, read.last_ns - read.first_ns)

    def test_the_first_seconds_are_in_slots(self):
        for mode, read in self.check("plain")[1].items():
            with self.subTest(mode):
                baseline, cpu, gpu, lapack, loops = map(
                    sum, zip(*read.timeline_ns()))
                routed = read.calls(way="simd") + read.calls(way="scalar")
                self.assertGreater(baseline + cpu, 0)
                self.assertEqual((cpu > 0, gpu, lapack, loops),
                                 (routed > 0, 0, 0, 0))

    def test_the_time_of_threads_and_children_is_added(self):
        for mode, read in self.check("spawns")[1].items():
            with self.subTest(mode):
                self.assertGreater(read.threads_ns, 0)
                self.assertLessEqual(read.threads_ns,
                                     5 * (read.last_ns - read.first_ns))
        # A child of a fork does not count what its parent did before.
        for mode, read in self.check("forks")[1].items():
            with self.subTest(mode):
                self.assertLessEqual(read.threads_ns,
                                     4 * (read.last_ns - read.first_ns))

    def test_fork(self):
        (code, said, _), counted = self.check("forks")
        self.assertEqual((code, said.count("child ended")), (0, 3))
        for mode, read in counted.items():
            with self.subTest(mode):
                self.assertEqual(read.calls(), 7 * 30)
                self.assertEqual(read.processes, 4)

    def test_fork_among_threads(self):
        (_, said, _), _ = self.check("forks_among_threads")
        self.assertEqual(said, f"child ended with {3 << 8}\n" * 6)

    def test_spawn(self):
        (code, said, _), counted = self.check("spawns")
        self.assertEqual((code, said.count("plain ")), (0, 4))
        for read in counted.values():
            self.assertEqual((read.processes, read.calls()), (5, 6 * 30))

    def test_child_without_preload(self):
        (code, said, _), counted = self.check("spawns_without")
        self.assertEqual((code, said.count("plain ")), (0, 1))
        for read in counted.values():
            self.assertEqual((read.processes, read.calls()), (1, 30))


class Routing(Programs):
    def one_round(self, program):
        """What the next calls of a program add up to."""
        program.stdin.write("\n")
        program.stdin.flush()
        return program.stdout.readline()

    def start(self, *words, **changes):
        program = subprocess.Popen(
            [PROGRAM, *words], env=surroundings(**changes), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(program.communicate)
        return program

    def check_left(self, routine, calls, *words):
        """The library computes by definition, so ours are many times as fast.
        When it is left is up to Takt's thread, which a busy machine lets wait;
        then it stays so, but for a few calls that are compared."""
        wanted = self.one_round(self.start(*words))
        path = stats.make(self.path("stats"))
        program = self.start(*words, LD_PRELOAD=PRELOAD, TAKT_RUN_STATS=path)
        ours, left = 0, 0
        for turn in range(1, 200):
            self.assertEqual(self.one_round(program), wanted)
            read = stats.Stats(path)
            before, ours = ours, read.calls(routine, "simd")
            left = left + 1 if ours - before > 0.9 * calls else 0
            if left == 2:
                break
        self.assertEqual(left, 2, f"{ours} calls were ours")

    def test_a_slow_library_is_left(self):
        self.check_left("gemm", 1000, "multiplies")

    def test_squares_leave_a_slow_library(self):
        self.check_left("syrk", 1000, "squares", "1000", "rounds")

    def test_squares_obey_a_policy(self):
        plain = run("squares", "40")
        ran, read = self.preloaded("squares", "40", **MODES["own"])
        self.assertEqual(ran, plain)
        self.assertEqual(read.calls("syrk", "simd"), 40)

    def test_on_the_cpu_nothing_is_moved_or_waited_for(self):
        _, read = self.preloaded("squares", "40", **MODES["own"])
        took, moved, waited = read.parts_ns()
        self.assertGreater(took, 0)
        self.assertEqual((moved, waited), (0, 0))

    @unittest.skipUnless(FAKE_CUDA, "no TAKT_TEST_FAKE_CUDA")
    def test_moving_and_waiting_are_told_apart(self):
        gpu = {"TAKT_CUDA": FAKE_CUDA, "TAKT_CUBLAS": "", "TAKT_GPU": "all",
               "TAKT_VULKAN": "/nowhere/libvulkan.so.1",
               "TAKT_EXPERT": "cuda.0", "TAKT_RUN_EAGER": "1"}
        plain = run("squares", "40")
        ran, read = self.preloaded("squares", "40", **gpu)
        self.assertEqual(ran[:2], plain[:2])
        self.assertEqual(read.calls("syrk", "gpu"), 40)
        took, moved, waited = read.parts_ns()
        self.assertGreater(moved, 0)
        self.assertLess(moved + waited, took)

    def test_squares_of_numpy_are_routed(self):
        python = "/usr/bin/python3"
        if run("-c", "import numpy", program=python)[0] != 0:
            self.skipTest("there is no NumPy")
        words = ("-c", NUMPY_SQUARES)
        plain = run(*words, program=python)
        self.assertEqual(plain[0], 0, plain[2])
        ran, read = self.preloaded(*words, program=python, **MODES["own"])
        self.assertEqual(ran, plain)
        self.assertEqual(read.calls("syrk"), 120)
        self.assertGreater(
            read.calls("syrk") - read.calls("syrk", "pass_through"), 50)


class Nesting(Programs):
    """In the baseline, C's names call Fortran's, through ours."""

    def test_calls_are_counted_once(self):
        _, counted = self.check("plain", program=PROGRAM_PLT)
        for mode, read in counted.items():
            with self.subTest(mode):
                self.assertEqual((read.calls(), read.calls("gemm"),
                                  read.why("nested")), (30, 10, 0))

    def test_wrong_calls_are_counted_once(self):
        _, counted = self.check("complains", program=PROGRAM_PLT)
        for mode, read in counted.items():
            with self.subTest(mode):
                self.assertEqual((read.calls("dot"), read.calls("syrk")),
                                 (20, 20))
                self.assertLessEqual(read.why("wrong"), 8)

    def test_empty_calls_are_counted_once(self):
        _, counted = self.check("empty", program=PROGRAM_PLT)
        for mode, read in counted.items():
            with self.subTest(mode):
                self.assertEqual((read.calls(), read.why("empty"),
                                  read.why("wrong")), (40, 40, 0))


class Threads(Programs):
    def test_threads(self):
        (code, said, _), counted = self.check("threads")
        self.assertEqual((code, len(set(said.split()))), (0, 1))
        for read in counted.values():
            self.assertEqual(read.calls(), 8 * 32 * 3)

    def test_openmp(self):
        self.check("in_openmp")


class Loading(Programs):
    def test_late(self):
        (code, said, _), _ = self.check("loads", ONE, program=LOADER)
        self.assertEqual((code, said.count("plugin comes")), (0, 3))

    def test_each_caller_has_its_own_library(self):
        """Small calls are passed through: each library counts its own."""
        for words in ((ONE, TWO), (TWO, ONE), (TWO, EARLY)):
            (_, said, _), _ = self.check("loads_several", *words,
                                         modes=["usual"], program=LOADER)
            self.assertIn("library 1", said)
            self.assertIn("library 2", said)

    def test_each_caller_has_its_own_library_when_routed(self):
        for words in ((ONE, TWO), (TWO, ONE)):
            plain = run("loads_several", *words, program=LOADER)
            ran, read = self.preloaded("loads_several", *words, program=LOADER,
                                       TAKT_RUN_EAGER="1")
            self.assertEqual(self.without_counts(ran),
                             self.without_counts(plain))
            self.assertEqual(sorted(map(os.path.basename, read.libraries)),
                             ["libbaseline_one.so", "libbaseline_two.so"])

    @staticmethod
    def without_counts(ran):
        lines = ran[1].splitlines()
        return ran[0], [at for at in lines if "calls" not in at], ran[2]

    def test_library_of_the_program_comes_first(self):
        """As the loader has it: what all see, before what one plugin needs."""
        (_, said, _), _ = self.check("loads_several", ONE, modes=["usual"],
                                     program=LINKED)
        self.assertIn("library 0", said)

    def test_library_inside_the_caller(self):
        """Its calls are the program's, those that they make are not."""
        for mode, changes in MODES.items():
            plain = run("loads_several", WHOLE, program=LOADER)
            ran, read = self.preloaded("loads_several", WHOLE, program=LOADER,
                                       **changes)
            _, other = self.preloaded("loads_several", ONE, program=LOADER,
                                      **changes)
            with self.subTest(mode):
                self.assertEqual(self.without_counts(ran),
                                 self.without_counts(plain))
                self.assertIn("library 3", ran[1])
                self.assertGreater(read.calls("gemm"), 0)
                for words in ((), ("gemm",), ("gemm", "scalar")):
                    self.assertEqual(read.calls(*words), other.calls(*words))
                self.assertEqual(read.why("nested"), 0)

    def test_early(self):
        (code, said, _), _ = self.check("loads_among_threads", TWO, EARLY,
                                        program=LOADER)
        self.assertEqual(code, 0)
        self.assertEqual(said.count("early "), 20)

    def test_opened_late(self):
        """Not preloaded: opened by the program, and its names asked for."""
        for mode in MODES.values():
            ran = subprocess.run(
                [sys.executable, "-c", OPENER, PRELOAD, LIBRARY], text=True,
                capture_output=True, timeout=600, env=surroundings(**mode))
            self.assertEqual((ran.stdout, ran.stderr), ("14.0\n" * 3, ""))


OPENER = """
import ctypes, sys, threading
ctypes.CDLL(sys.argv[2])
late = ctypes.CDLL(sys.argv[1])
late.cblas_ddot.restype = ctypes.c_double
x = (ctypes.c_double * 3)(1, 2, 3)
call = lambda: print(late.cblas_ddot(3, x, 1, x, 1), flush=True)
call()
for i in range(2):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
"""


# Calls until Takt would be opened, and what it asks the loader for by name.
NAMES_WHAT_IT_LOADS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>

void cblas_dgemm(int, int, int, int, int, int, double, const double *, int,
                 const double *, int, double, double *, int);

void *dlopen(const char *file, int flags)
{
    void *(*real)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");

    if (file[0] != '/' && (flags & RTLD_NOLOAD) == 0)
        puts(file);
    return real(file, flags);
}

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* For longer than it takes until libtakt is opened. */
int main(void)
{
    static double a[128 * 128], c[128 * 128];
    const double start = now();

    if (getauxval(AT_SECURE) != 0)
        puts("secure");
    while (now() < start + 0.5)
        cblas_dgemm(101, 111, 111, 128, 128, 128, 1, a, 128, a, 128, 0, c, 128);
    return 0;
}
"""


class Ends(Programs):
    def test_exit(self):
        for what, code in (("at_exit", 5), ("only_at_exit", 6), ("leaves", 7)):
            with self.subTest(what):
                self.assertEqual(self.check(what)[0][0], code)

    def test_crash(self):
        for what, number in (("crashes", signal.SIGSEGV),
                             ("crashes_inside", signal.SIGSEGV),
                             ("aborts", signal.SIGABRT)):
            with self.subTest(what):
                (code, _, _), counted = self.check(what)
                self.assertEqual(code, -number)
                self.assertEqual(counted["usual"].calls("gemm"), 10)

    def test_killed(self):
        """What was counted until then stays."""
        path = stats.make(self.path("stats"))
        ran = subprocess.Popen(
            [PROGRAM, "exactly", "1000", "wait"], stdout=subprocess.PIPE,
            env=surroundings(LD_PRELOAD=PRELOAD, TAKT_RUN_STATS=path))
        self.assertEqual(ran.stdout.readline(), b"30000\n")
        ran.kill()
        ran.wait()
        ran.stdout.close()
        self.assertEqual(stats.Stats(path).calls("dot"), 1000)

    def test_longjmp_out_of_xerbla(self):
        _, counted = self.check("complains")
        for mode, read in counted.items():
            with self.subTest(mode):
                self.assertEqual(read.why("nested"), 0)
                self.assertEqual(read.calls("dot"), 20)
        self.assertEqual(counted["own"].calls("dot", "scalar"), 20)
        self.assertEqual(counted["own"].calls("ger"), 2)

    def test_longjmp_out_of_a_call(self):
        """As an interpreter does that is interrupted: calls go on.

        Out of the baseline library, before Takt is opened: no program can jump out of
        code that may have a lock, be it ours, and go on.
        """
        plain = run("jumps_out_of_a_call")
        ran, read = self.preloaded("jumps_out_of_a_call")
        self.assertEqual(ran[:2], plain[:2])
        rounds = int(ran[2])
        self.assertEqual(read.why("nested"), 0)
        self.assertGreaterEqual(read.calls(), 57 + 3 * rounds)

    def test_interrupted(self):
        self.check("interrupted")


class Places(Programs):
    """Where hardly anything may be done, calls are passed through."""

    def check_place(self, *words):
        (code, _, _), counted = self.check(*words, program=PLACES)
        self.assertEqual(code, 0)
        return counted

    def test_small_stacks(self):
        for what in "threads", "coroutines":
            with self.subTest(what):
                read = self.check_place(what)["eager"]
                self.assertEqual(read.calls("gemm", "pass_through"),
                                 read.calls("gemm"))

    def test_signal_stack(self):
        """Calls before those of the handler are routed."""
        read = self.check_place("signal_stack")["own"]
        self.assertEqual((read.calls("gemm", "scalar"), read.calls("gemm")),
                         (30, 60))

    def test_handlers(self):
        self.check_place("handlers")

    def test_signals_to_the_process(self):
        """Those of the main thread stay there, also while libtakt is asked."""
        ran, _ = self.preloaded("process_signals", program=PLACES,
                                TAKT_RUN_EAGER="1")
        self.assertEqual(ran, (0, "0 elsewhere\n", ""))

    def test_main_thread_that_ends(self):
        for words in ("main_thread_ends",), ("main_thread_ends", "last"):
            with self.subTest(words):
                self.check_place(*words)


class Opening(Programs):
    """What a program does while another thread opens Takt."""

    def test_exit_waits_for_it(self):
        shutil.copy(SLOW_TAKT, self.path("libtakt.so.0"))
        preload = shutil.copy(PRELOAD, self.path("libtakt-blas.so"))
        ran = subprocess.run([OPENING, "leaves"], cwd=self.folder, text=True,
                             env=surroundings(LD_PRELOAD=preload),
                             capture_output=True, timeout=600)
        self.assertTrue(os.path.exists(self.path("leaving")))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_it_is_not_begun_while_destructors_run(self):
        ran, read = self.preloaded("calls_late", program=OPENING)
        self.assertEqual((ran, read.trouble), ((0, "not opened\n", ""), ""))

    def test_a_child_of_fork_opens_it_anew(self):
        self.assertEqual(run("forks", program=OPENING, LD_PRELOAD=PRELOAD,
                             TAKT_EXPERT="scalar")[0], 3)


class Trouble(Programs):
    def test_descriptors_that_are_closed(self):
        """Files that the program has there since are not written to."""
        folder = self.path("folder")
        os.mkdir(folder)
        ran, _ = self.preloaded("closes_all", folder, "6", TAKT_RUN_EAGER="1",
                                TAKT_DB=self.path("db"))
        self.assertEqual((ran[0], ran[1].split()[-1], ran[2]),
                         (0, "whole", ""))

    def test_name_that_no_library_has(self):
        words = "calls_by_name", "cblas_ddot_64"
        self.assertEqual(run(*words, program=LOADER)[0], 9)
        code, said, error = run(*words, program=LOADER, LD_PRELOAD=PRELOAD)
        self.assertEqual((code, said), (-signal.SIGABRT, "before\n"))
        self.assertIn("cblas_ddot_64", error)
        self.assertEqual(error.count("\n"), 1)

    def test_library_by_its_path(self):
        """TAKT_RUN_LIBRARY is used if none is loaded."""
        self.assertEqual(
            run("calls_by_name", "cblas_ddot_64", program=LOADER,
                LD_PRELOAD=PRELOAD, TAKT_RUN_LIBRARY=LIBRARY),
            (0, "before\n9\n", ""))

    @unittest.skipUnless(os.path.exists(WIDE), "built with gcc's release only")
    def test_library_of_other_integers(self):
        """It is not used: calls with 32 bits would crash in it."""
        plain = run("plain")
        for changes in MODES.values():
            ran, read = self.preloaded("plain", TAKT_RUN_LIBRARY=WIDE,
                                       **changes)
            self.assertEqual(ran[:2], plain[:2])
            self.assertIn("wider or narrower", read.trouble)
            self.assertRegex(ran[2], f"^takt: TAKT_RUN_LIBRARY={WIDE} is not "
                             "used: .*\n$")

    def test_library_that_cannot_be_used(self):
        """A line says so, once; that of the program is used."""
        plain = run("plain")
        for name, hint in (("libtakt-none.so", "No such file"),
                           ("/", "cannot"), ("libm.so.6", "it has no BLAS")):
            ran, read = self.preloaded("plain", TAKT_RUN_LIBRARY=name)
            self.assertEqual(ran[:2], plain[:2])
            self.assertRegex(ran[2], f"^takt: TAKT_RUN_LIBRARY={name} is not "
                             f"used: .*{hint}.*\n$")
            self.assertIn(hint, read.trouble)
            ran, _ = self.preloaded("plain", TAKT_RUN_LIBRARY=name,
                                    TAKT_LOG="off")
            self.assertEqual(ran, plain)
        self.assertEqual(self.preloaded("plain", TAKT_RUN_LIBRARY="")[0],
                         plain)

    @unittest.skipUnless(mounts.are_possible(), "no mounts of its own")
    def test_a_store_on_a_disk_that_becomes_full(self):
        """What is learned is lost then, and a line says so."""
        fill = ("LD_PRELOAD=$TAKT_TEST_PRELOAD " + PROGRAM +
                " plain >/dev/null && head -c 1M /dev/zero >fill 2>/dev/null "
                "|| :")
        code, _, said = self.elsewhere(
            self.DISK + fill, "plain", TAKT_DB=self.path("store.db"),
            TAKT_RUN_EAGER="1")
        self.assertEqual(code, 0)
        self.assertRegex(said, "^takt: store: .*store.db cannot be written "
                         "now: .*check the space left.*\n$")

    def test_router_is_missing(self):
        alone = shutil.copy(PRELOAD, self.path("libtakt-blas.so"))
        plain = run("plain")
        ran, read = self.preloaded("plain", LD_PRELOAD=alone,
                                   TAKT_RUN_EAGER="1")
        self.assertEqual(ran, plain)
        self.assertEqual((read.calls(way="pass_through"), read.why("no_router")),
                         (30, 30))
        self.assertIn("libtakt cannot be opened", read.trouble)

    def test_a_relative_path_leads_nowhere(self):
        """By now it may lead to other files."""
        shutil.copy(PRELOAD, self.path("libtakt-blas.so"))
        with open(self.path("planted.c"), "w") as out:
            out.write("#include <unistd.h>\n__attribute__((constructor)) "
                      "static void end(void) { _exit(99); }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o",
                        self.path("libtakt.so.0"), self.path("planted.c")],
                       check=True)
        for preload, code in (("./libtakt-blas.so", 0),
                              (self.path("libtakt-blas.so"), 99)):
            ran = subprocess.run([PROGRAM, "plain"], cwd=self.folder,
                                 env=surroundings(LD_PRELOAD=preload,
                                                  TAKT_RUN_EAGER="1"),
                                 capture_output=True, timeout=600)
            self.assertEqual(ran.returncode, code, preload)

    @unittest.skipIf(os.geteuid() != 0, "only root can make it setuid")
    def test_a_setuid_program_loads_nothing_by_name(self):
        """Linked to it, since nothing is preloaded into such a program."""
        os.chmod(self.folder, 0o755)
        libraries = [shutil.copy(file, self.folder)
                     for file in (PRELOAD, LIBRARY)]
        program = self.path("program")
        with open(program + ".c", "w") as out:
            out.write(NAMES_WHAT_IT_LOADS)
        subprocess.run(["cc", "-rdynamic", "-o", program, program + ".c",
                        "-Wl,--no-as-needed", *libraries,
                        f"-Wl,-rpath,{self.folder}"], check=True)
        for mode, says in ((0o4755, "secure\n"), (0o755, "libtakt.so.0\n")):
            os.chmod(program, mode)
            ran = subprocess.run([program], user=65534, env=surroundings(),
                                 text=True, capture_output=True, timeout=600)
            if mode == 0o4755 and not ran.stdout.startswith("secure"):
                self.skipTest("the file system ignores the bit")
            self.assertEqual((ran.returncode, ran.stdout), (0, says))

    def test_store_is_damaged(self):
        plain = run("plain")
        for name, content in (("garbage", os.urandom(5000)), ("empty", b""),
                              ("text", b"SQLite format 3\0" + b"x" * 100)):
            path = self.path(name)
            with open(path, "wb") as out:
                out.write(content)
            for mode, settings in MODES.items():
                with self.subTest(name, mode=mode):
                    ran, read = self.preloaded("plain", TAKT_DB=path,
                                               **settings)
                    self.assertEqual(ran[:2], plain[:2])
                    self.assertIn(ran[2].count("\n"), (0, 1), ran[2])
                    self.assertEqual(read.calls(), 30)
        eager = {"LD_PRELOAD": PRELOAD, "TAKT_RUN_EAGER": "1",
                 "TAKT_DB": "/proc/no/such/db"}
        status, out, said = run("plain", **eager)
        self.assertEqual((status, out), plain[:2])
        self.assertTrue(said.startswith("takt: store: /proc/no/such/db"), said)
        self.assertEqual(run("plain", **eager, TAKT_LOG="off"), plain)

    @unittest.skipUnless(mounts.are_possible(), "no mounts of its own")
    def test_store_cannot_be_written(self):
        plain = run("plain")
        store = self.path("made.db")
        eager = {"TAKT_RUN_EAGER": "1"}
        run("plain", LD_PRELOAD=PRELOAD, TAKT_DB=store, **eager)
        self.assertTrue(os.path.exists(store))
        kept = os.path.join(tempfile.mkdtemp(dir="/tmp", prefix="takt"), "db")
        self.addCleanup(shutil.rmtree, os.path.dirname(kept))
        for end in ("", "-wal", "-shm", "-writers"):
            if os.path.exists(store + end):
                shutil.copy(store + end, kept + end)
        copy = f"cp {kept}* . && "
        fill = "{{ dd if=/dev/zero of=rest bs=4k 2>/dev/null || true; }}"
        locked = "mount -o remount,ro {folder}"
        for name, setup in (("full", fill), ("full, with a store", copy + fill),
                            ("read-only", locked),
                            ("read-only, with a store", copy + locked)):
            with self.subTest(name):
                ran = self.elsewhere(self.DISK + setup, "plain", **eager,
                                     TAKT_DB=self.path("db"))
                self.assertEqual(ran[:2], plain[:2], ran)
                self.assertIn(ran[2].count("\n"), (0, 1), ran[2])
                self.assertIn(ran[2][:12], ("", "takt: store:"))
                ran = self.elsewhere(self.DISK + setup, "plain", **eager,
                                     TAKT_DB=self.path("db"), TAKT_LOG="off")
                self.assertEqual(ran, plain)

    @unittest.skipIf(os.geteuid() != 0, "only root can run as somebody else")
    def test_store_of_somebody_else(self):
        plain = run("plain")
        program = self.copy_for_others()
        store = self.path("db")
        run("plain", LD_PRELOAD=PRELOAD, TAKT_RUN_EAGER="1", TAKT_DB=store)
        before = {name: os.stat(self.path(name)).st_mtime_ns
                  for name in os.listdir(self.folder)}
        self.assertIn("db", before)
        ran = subprocess.run(
            [program, "plain"], user=65534, capture_output=True, text=True,
            timeout=600, env=surroundings(
                LD_PRELOAD=self.path(os.path.basename(PRELOAD)),
                LD_LIBRARY_PATH=self.folder, TAKT_DB=store,
                TAKT_RUN_EAGER="1"))
        self.assertEqual((ran.returncode, ran.stdout), plain[:2], ran.stderr)
        self.assertIn("can be read and not written", ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1)
        self.assertEqual({name: os.stat(self.path(name)).st_mtime_ns
                          for name in os.listdir(self.folder)}, before)

    @unittest.skipUnless("TAKT_TEST_FAKE_CUDA" in os.environ, "no fake GPU")
    def test_gpu_is_lost(self):
        """At the first call, and later."""
        plain = run("plain")
        gpu = {"TAKT_CUDA": FAKE_CUDA, "TAKT_CUBLAS": "", "TAKT_LOG": "off",
               "TAKT_VULKAN": "/nowhere/libvulkan.so.1", "TAKT_GPU": "all",
               "TAKT_EXPERT": "cuda.0", "TAKT_RUN_EAGER": "1"}
        ran, read = self.preloaded("plain", **gpu)
        self.assertEqual(ran, plain)
        self.assertGreater(read.calls(way="gpu"), 20)
        for launches in (1, 5, 20):
            with self.subTest(launches):
                ran, read = self.preloaded("plain", **gpu,
                                           FAKE_CUDA_KILL=str(launches))
                self.assertEqual(ran, plain)
                self.assertEqual(read.calls(), 30)
                self.assertLessEqual(read.calls(way="gpu"), launches)
                self.assertGreater(read.why("lost"), 0)

    @unittest.skipUnless(mounts.are_possible() and
                         len(os.sched_getaffinity(0)) > 1 and
                         os.uname().machine == "x86_64",
                         "no quota can be pretended here")
    def test_a_quota_limits_threads(self):
        """A library that was told of two threads gets one of Takt's."""
        plain = run("plain")
        two = {"TAKT_EXPERT": "simd.sse2x2", "TAKT_RUN_EAGER": "1",
               "OPENBLAS_NUM_THREADS": "2"}
        refusal = "takt: TAKT_EXPERT=simd.sse2x2 is ignored"
        for cpu_max, refuses in (("max 100000", False), ("150000 100000", False),
                                 ("50000 100000", True)):
            with self.subTest(cpu_max):
                ran = self.elsewhere(mounts.quota(cpu_max), "plain", **two)
                self.assertEqual(ran[:2], plain[:2], ran)
                self.assertEqual(ran[2].startswith(refusal), refuses, ran)

    def test_expert_or_policy_is_unknown(self):
        plain = run("plain")
        for changes in ({"TAKT_EXPERT": "simd.nonsense"},
                        {"TAKT_PIN": "/no/such/file"}):
            ran, read = self.preloaded("plain", TAKT_RUN_EAGER="1", **changes)
            with self.subTest(str(changes)):
                self.assertEqual(ran[:2], plain[:2])
                for name, value in changes.items():
                    self.assertIn(f"takt: {name}={value} is ignored", ran[2])
                self.assertEqual(ran[2].count("\n"), 1)
                self.assertEqual(read.calls(), 30)
                self.assertNotEqual(read.trouble, "")


class Statistics(Programs):
    def test_nonsense(self):
        plain = run("plain")
        small = self.path("small")
        with open(small, "wb") as out:
            out.write(stats.TITLE)
        other = stats.make(self.path("other"))
        with open(other, "r+b") as out:
            out.write(b"another title")
        sparse = self.path("sparse")
        with open(sparse, "wb") as out:
            out.truncate(stats.SIZE)
        kept = {}
        for path in (small, other, sparse):
            with open(path, "rb") as file:
                kept[path] = file.read()
        for path in ("/no/such/file", "/", "/dev/null", "/dev/tty", "relative",
                     "", self.folder, *kept, sys.executable):
            with self.subTest(path):
                self.assertEqual(run("plain", LD_PRELOAD=PRELOAD,
                                     TAKT_RUN_STATS=path), plain)
        for path, content in kept.items():
            with open(path, "rb") as file:
                self.assertEqual(file.read(), content)

    def test_two_processes_count_exactly(self):
        path = stats.make(self.path("stats"))
        env = surroundings(LD_PRELOAD=PRELOAD, TAKT_RUN_STATS=path)
        both = [subprocess.Popen([PROGRAM, "exactly", "200000"], env=env,
                                 stdout=subprocess.DEVNULL) for _ in range(2)]
        self.assertEqual([ran.wait(timeout=600) for ran in both], [0, 0])
        read = stats.Stats(path)
        self.assertEqual((read.processes, read.calls("dot")), (2, 400000))
        self.assertEqual(read.calls(), 400000)
        self.assertEqual(read.why("small"), 400000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
