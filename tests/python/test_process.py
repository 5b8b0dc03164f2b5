#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process does: threads, fork(), exit, interrupts and memory.

usage: test_process.py (PYTHONPATH has the package)
"""
import gc
import os
import subprocess
import sys
import threading
import unittest
from array import array

import takt


def run(script):
    done = subprocess.run([sys.executable, "-c", script], text=True,
                          capture_output=True, timeout=300)
    return (done.returncode, done.stdout, done.stderr)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


class Processes(unittest.TestCase):
    def first_to_end(self):
        """Of a thread that begins a long call, and one that waits for that."""
        a = takt.reshape(array("f", bytes(4 * 400 * 400)), (400, 400))
        begun, ended = threading.Event(), []

        def compute():
            with takt.Context(expert="scalar", db="") as context:
                begun.set()
                context.matmul(a, a)
                ended.append("computed")

        thread = threading.Thread(target=compute)
        thread.start()
        begun.wait(60)
        ended.append("waited")
        thread.join()
        return ended[0]

    def test_other_threads_run_during_a_call(self):
        """Python does not take its lock from a thread here, so the one that
        waits is first only if the call gave the lock away. On a busy machine
        it may come too late."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            self.assertIn("waited", (self.first_to_end() for _ in range(20)))
        finally:
            sys.setswitchinterval(interval)

    def test_a_child_of_fork_computes(self):
        a = array("d", range(100_000))
        want = takt.sum(a)
        child = os.fork()
        if child == 0:
            os._exit(0 if takt.sum(a) == want and
                     takt.exp(a)[0] == 1 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(takt.sum(a), want)

    def test_exit_with_contexts_and_threads(self):
        self.assertEqual(run("""
import atexit, takt, threading
from array import array
a = array("d", range(100_000))
context = takt.Context(db="")
context.add_expert("exp", lambda a, *, out: NotImplemented, name="mine")
def work():
    while True:
        takt.exp(a); context.exp(a)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
takt.sum(a)
atexit.register(lambda: print(takt.sum(a)))
"""), (0, "4999950000.0\n", ""))

    def test_an_interrupt_ends_tuning(self):
        code, out, error = run("""
import os, signal, takt
# (what a shell starts in the background ignores interrupts)
signal.signal(signal.SIGINT, signal.default_int_handler)
def progress(what):
    os.kill(os.getpid(), signal.SIGINT)
try:
    takt.tune("add", shapes=[1000], ignore_load=True, progress=progress)
except KeyboardInterrupt:
    print("interrupted")
""")
        self.assertEqual((code, out, error), (0, "interrupted\n", ""))

    def test_subinterpreters_are_refused(self):
        code, out, error = run("""
import _xxsubinterpreters as interpreters
one = interpreters.create()
interpreters.run_string(one, '''
try:
    import takt
except ImportError as problem:
    print(problem, flush=True)
''')
""")
        if "No module named" in error:
            self.skipTest("this Python has no such module")
        self.assertRegex(out, "main interpreter|subinterpreters")

    def leaks_nothing(self, some, times):
        """Neither Python's objects nor other memory. A leak grows in every
        round; what is made once (caches, a learned row, an arena) does not.
        bench/python_call.py does it a million times."""
        for _ in range(times // 10):
            some()
        grown = []
        for _ in range(5):
            gc.collect()
            blocks, before = sys.getallocatedblocks(), resident()
            for _ in range(times):
                some()
            gc.collect()
            grown.append((sys.getallocatedblocks() - blocks,
                          resident() - before))
            if grown[-1][0] < times // 10 and grown[-1][1] < 1 << 20:
                return
        self.fail(f"it grew in every round (blocks, bytes): {grown}")

    def fails(self, function, *args, **words):
        try:
            function(*args, **words)
        except (TypeError, ValueError, takt.Error):
            return
        self.fail("it did not raise")

    def test_calls_leak_nothing(self):
        a, b = array("f", range(16)), array("f", range(16))
        m = takt.reshape(a, (4, 4))
        context = takt.Context(db="")

        def some():
            takt.add(a, b, out=a)
            takt.add(a, b)
            takt.sum(a)
            takt.matmul(m, m)
            takt.reshape(m, 16)
            context.exp(a)
            takt.select("add", 16)
            self.fails(takt.add, a, m)
            self.fails(takt.exp, "x")
            self.fails(takt.select, "nothing", 1)

        self.leaks_nothing(some, 10_000)

    def test_answers_and_experts_leak_nothing(self):
        a = array("f", range(16))
        context = takt.Context(db="", exploration=-1)
        context.add_expert("exp", lambda a, *, out: None, name="mine",
                           is_usual=True, can_run=lambda *of: True)
        op = context.define_op("own")
        op.add_expert(lambda *args: list(args), name="list")

        def bad(a, *, out):
            raise ValueError

        failing = takt.Context(db="", exploration=-1)
        failing.add_expert("exp", bad, name="bad", is_usual=True)

        def some():
            context.exp(a)
            op(a)
            takt.explain("add", 16)
            takt.machine()
            takt.ops()
            context.history()
            takt.recommend("numpy.add", 16)
            try:
                failing.exp(a)
            except ValueError:
                pass
            self.fails(context.define_op, "own")
            self.fails(context.tune, "add", experts=["nothing"])

        self.leaks_nothing(some, 300)

    def test_contexts_leak_nothing(self):
        def one():
            with takt.Context(db="", blas="", gpu="") as context:
                context.add_expert("exp", lambda a, *, out: None, name="mine")
                context.exp(array("f", [1]))

        self.leaks_nothing(one, 100)


if __name__ == "__main__":
    unittest.main()
