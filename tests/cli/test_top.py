#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt top`: programs that come and go, on terminals of two sizes.

usage: test_top.py PATH_TO_TAKT PATH_TO_LIBTAKT.SO
"""
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

TAKT, LIBRARY = sys.argv[1], sys.argv[2]
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# Adds vectors until it is killed.
PROGRAM = """
import ctypes, sys, time
takt = ctypes.CDLL(sys.argv[1])
floats = ctypes.c_float * 50000
a, b, c = floats(), floats(), floats()
while True:
    for _ in range(200):
        takt.takt_add_f32(ctypes.c_size_t(50000), a, b, c)
    time.sleep(0.001)
"""


def record(kind, stream, body):
    """As docs/formats/trace.md has it."""
    head = struct.pack("<4sIH", b"Tk\xf1\n", len(body), kind)
    tail = struct.pack("<Q", stream) + body
    check = 2166136261
    for byte in head + tail:
        check = (check ^ byte) * 16777619 % 2**32
    return head + struct.pack("<H", check >> 16 ^ check & 0xFFFF) + tail


def text(word):
    return struct.pack("<H", len(word)) + word


def header(stream, program, pid):
    return record(1, stream, b"takttrce" + struct.pack("<I", 1) + text(b"0")
                  + text(program) + struct.pack("<QQdd", pid, 1, -1, -1))


def busy(stream, op, seconds):
    """A thousand calls until that time."""
    return record(5, stream, text(op) + text(b"scalar")
                  + struct.pack("<BQddd26Q", 0, int(1000 * seconds), seconds,
                                0, 1, *[0] * 26)) + \
        record(3, stream, struct.pack("<QQ8QQQQdQQQ", 1,
                                      int(seconds * 1e9) + 1, *[0] * 11, 0.0,
                                      0, 0, 0))


def wait_for(condition, seconds=100):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen within %d s" % seconds)


class Top(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("TAKT_", "OTEL_", "TMUX"))}
        self.env.update(TAKT_DB="", TAKT_GPU="", TAKT_BLAS="",
                        XDG_RUNTIME_DIR=self.folder, TERM="xterm-256color",
                        TMUX_TMPDIR=self.folder)

    def start(self, script=None):
        # An option that takes a value ends the 4095 bytes that are read.
        words = ["-X" + "a" * (4089 - len(sys.executable)), "-W", "ignore",
                 "-c", PROGRAM]
        if script is not None:
            words = ["-W", "ignore", os.path.join(self.folder, script)]
            with open(words[-1], "w", encoding="ascii") as file:
                file.write(PROGRAM)
        program = subprocess.Popen([sys.executable, *words, LIBRARY],
                                   env=self.env)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def end_later(self, top):
        """Its pipe is closed before it is waited for: it may be full."""
        self.addCleanup(top.wait)
        self.addCleanup(top.stdout.close)
        self.addCleanup(top.terminate)

    def tmux(self, *words):
        return subprocess.run(["tmux", *words], env=self.env, text=True,
                              capture_output=True, timeout=600).stdout

    def test_json_counts_calls_of_every_program(self):
        programs = [self.start(), self.start("fit \x1b[31m.py")]
        top = subprocess.Popen([TAKT, "top", "--json", "--every", "0.3"],
                               stdout=subprocess.PIPE, text=True, env=self.env)
        self.end_later(top)

        def shown():
            seen = json.loads(top.stdout.readline())
            return {one["pid"]: one for one in seen["programs"]}

        def both_are_busy():
            seen = shown()
            return all(p.pid in seen and seen[p.pid]["calls_per_s"] > 0
                       for p in programs) and seen
        one = wait_for(both_are_busy)[programs[0].pid]
        self.assertEqual({op["op"] for op in one["ops"]}, {"add"})
        self.assertIsNone(one["script"])
        self.assertIn("python", one["program"])
        other = shown()[programs[1].pid]
        self.assertEqual((other["script"], other["program"]),
                         ("fit \x1b[31m.py", one["program"]))
        self.assertGreater(one["latency_s"], 0)
        self.assertAlmostEqual(sum(op["calls_per_s"] for op in one["ops"]),
                               one["calls_per_s"], delta=1)
        programs[0].kill()
        wait_for(lambda: shown().get(programs[0].pid, {}).get("has_ended"))
        self.assertFalse(shown()[programs[1].pid]["has_ended"])

    def test_programs_under_takt_run_have_a_gain(self):
        plain = self.start()
        fake = os.path.join(self.folder, "libtakt-blas.so")
        subprocess.run(["cc", "-std=gnu17", "-I", ROOT, "-shared", "-fPIC",
                        "-o", fake, os.path.join(HERE, "fake_blas.c")],
                       check=True, timeout=600)
        # One call that ran elsewhere, in 40 ms instead of 60.
        counted = ("count processes 1;cell 0 1 9 calls 3 1;"
                   "cell 0 1 9 timed 3 1;cell 0 1 9 ns 3 40000000;"
                   "cell 0 1 9 compared 0 1;cell 0 1 9 baseline 0 60000000;"
                   "cell 0 1 9 instead 0 40000000")
        routed = subprocess.Popen(
            [TAKT, "run", "--report", "--output",
             os.path.join(self.folder, "report"), "--", sys.executable, "-c",
             PROGRAM, LIBRARY],
            env=dict(self.env, TAKT_RUN_PRELOAD=fake, FAKE_STATS=counted))
        self.addCleanup(routed.wait)
        self.addCleanup(routed.terminate)
        top = subprocess.Popen([TAKT, "top", "--json", "--every", "0.1"],
                               stdout=subprocess.PIPE, text=True, env=self.env)
        self.end_later(top)

        def both():  # there may be others: of tests beside this one
            seen = [one for one in json.loads(top.stdout.readline())["programs"]
                    if one["calls_per_s"] > 0]
            own = [one for one in seen if one["pid"] == plain.pid]
            counted = [one for one in seen if one["gain_s"] is not None]
            return own and counted and own + counted
        own, counted = wait_for(both)[:2]
        # There is nothing to compare it with.
        self.assertEqual([own["gain_s"], own["gain_error_s"],
                          own["gain_share"]], [None, None, None])
        self.assertAlmostEqual(counted["gain_s"], 0.02)
        self.assertEqual(counted["gain_error_s"], 0)
        self.assertTrue(0 < counted["gain_share"] < 1, counted)

    def as_nobody(self, *words, **more):
        """Another user, with files of its own."""
        return subprocess.Popen(
            ["setpriv", "--reuid", "65534", "--regid", "65534",
             "--clear-groups", *words], cwd="/",
            env=dict(self.env, XDG_RUNTIME_DIR=self.others), **more)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"),
                         "takes two users: run it as root")
    def test_programs_of_other_users_are_lines(self):
        self.others = os.path.join(self.folder, "others")
        os.chmod(self.folder, 0o755)
        os.mkdir(self.others, 0o700)
        os.chown(self.others, 65534, 65534)
        takt, library = (shutil.copy(path, self.folder)
                         for path in (TAKT, LIBRARY))
        own = self.start()
        script = os.path.join(self.folder, "their\x1b[31m.py")
        with open(script, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        os.chmod(script, 0o644)
        their = self.as_nobody("/usr/bin/python3", script, library)
        self.addCleanup(their.wait)
        self.addCleanup(their.kill)
        top = subprocess.Popen([TAKT, "top", "--json", "--every", "0.3"],
                               stdout=subprocess.PIPE, text=True, env=self.env)
        their_top = self.as_nobody(takt, "top", "--json", "--every", "0.3",
                                   stdout=subprocess.PIPE, text=True)
        self.end_later(top)
        self.end_later(their_top)

        def sees(top, readable, other):
            seen = json.loads(top.stdout.readline())
            programs = {one["pid"]: one for one in seen["programs"]}
            others = {one["pid"]: one for one in seen["not_readable"]}
            self.assertFalse(programs.keys() & others.keys())
            self.assertNotIn(other.pid, programs)
            self.assertNotIn(readable.pid, others)
            return readable.pid in programs and others.get(other.pid)
        found = wait_for(lambda: sees(top, own, their))
        self.assertEqual((found["script"], found["user"]),
                         ("their\x1b[31m.py", "nobody"))
        self.assertEqual(wait_for(lambda: sees(their_top, their, own))["user"],
                         "root")
        if shutil.which("tmux"):
            os.mkdir(os.path.join(self.folder, "screen"))
            self.tmux("new-session", "-d", "-x", "80", "-y", "24",
                      "XDG_RUNTIME_DIR=%s/screen %s top" % (self.folder, TAKT))
            self.addCleanup(self.tmux, "kill-server")
            screen = wait_for(lambda: "their" in (
                now := self.tmux("capture-pane", "-p")) and now)
            self.assertIn("%7d their\\x1b[ not readable: run 'takt top' as "
                          "nobody\n" % their.pid, screen)
        their.kill()
        wait_for(lambda: not sees(top, own, their))
        self.assertIsNone(top.poll())

    def connect(self):
        there = socket.socket(socket.AF_UNIX)
        self.addCleanup(there.close)
        path = os.path.join(self.folder, "takt", "all.trace")
        wait_for(lambda: os.path.exists(path))
        there.connect(path)
        return there

    def test_a_program_ends_with_all_of_its_contexts_and_no_others(self):
        top = subprocess.Popen([TAKT, "top", "--json", "--every", "0.1"],
                               stdout=subprocess.PIPE, text=True, env=self.env)
        self.end_later(top)
        many, other = self.connect(), self.connect()
        for stream in range(9):
            many.sendall(header(stream, b"many", 901)
                         + busy(stream, b"add", 1))
        # The other one says that it is a stream of the first.
        other.sendall(header(3, b"other", 902) + busy(3, b"mul", 1))

        def programs():
            seen = json.loads(top.stdout.readline())["programs"]
            return {one["program"]: one for one in seen
                    if one["program"] in ("many", "other")}

        def both():
            seen = programs()
            return len(seen) == 2 and all(one["calls_per_s"] > 0
                                          for one in seen.values()) and seen
        seen = wait_for(both)
        self.assertEqual({op["op"] for op in seen["many"]["ops"]}, {"add"})
        self.assertEqual(len(seen["many"]["ops"]), 9)
        self.assertEqual({op["op"] for op in seen["other"]["ops"]}, {"mul"})
        many.close()
        wait_for(lambda: programs().get("many", {}).get("has_ended"))
        self.assertFalse(programs()["other"]["has_ended"])
        wait_for(lambda: "many" not in programs())

    def test_programs_beyond_all_descriptors_are_turned_away(self):
        top = subprocess.Popen(
            ["/bin/sh", "-c", 'ulimit -n 16; exec "$@"', "sh", TAKT, "top",
             "--json"], stdout=subprocess.DEVNULL, env=self.env)
        self.addCleanup(top.wait)
        self.addCleanup(top.terminate)
        programs = [self.connect() for _ in range(24)]
        programs[-1].settimeout(100)
        self.assertEqual(programs[-1].recv(1), b"")
        programs[0].close()
        self.assertIsNone(top.poll())

    @unittest.skipUnless(shutil.which("tmux"), "no tmux")
    def test_fifty_programs_on_one_screen(self):
        """Of more programs than lines: how many there are, and the others by
        keys. What has ended comes last. Programs of others may be there."""
        self.tmux("new-session", "-d", "-x", "80", "-y", "24",
                  TAKT + " top --every 0.3")
        self.addCleanup(self.tmux, "kill-server")
        programs = [self.connect() for _ in range(50)]
        for i, program in enumerate(programs):
            program.sendall(header(i + 1, b"fifty%02d" % i, 4000000 + i) +
                            busy(i + 1, b"add", 1) + busy(i + 1, b"add", 2))

        def lines():
            return self.tmux("capture-pane", "-p").splitlines()

        def rows(seen):
            return [line.split()[1] for line in seen[3:23]]

        def says(at, what):
            return wait_for(lambda: len(lines()) == 24 and
                            what in lines()[at] and lines())

        def only_running():
            self.assertNotIn("has ended", "\n".join(lines()))
            return rows(lines()) == ["fifty%02d" % i for i in range(25, 45)]
        wait_for(lambda: len(lines()) == 24 and "q quit" in lines()[23])
        self.tmux("send-keys", "/fifty", "Enter")
        says(1, "names with fifty; 1 to 20 of 50")
        # All are alike, and so in the order of their names.
        wait_for(lambda: rows(lines()) == ["fifty%02d" % i for i in range(20)])
        wait_for(lambda: int(lines()[0].split()[3]) >= 50)
        self.tmux("send-keys", "p")
        says(0, "PAUSED")
        self.tmux("send-keys", "p")
        self.tmux("send-keys", *["j"] * 49)
        self.assertIn("fifty49", says(1, "31 to 50 of 50")[22])
        self.tmux("send-keys", *["k"] * 49, "s", "s")
        says(1, "sorted by name; names with fifty; 1 to 20 of 50")
        for program in programs[:25]:
            program.close()
        wait_for(only_running)

    @unittest.skipUnless(shutil.which("tmux"), "no tmux")
    def test_screens(self):
        program = self.start("a_program\x1b_of_some_length.py")
        for width, height in ((80, 24), (200, 60)):
            self.tmux("new-session", "-d", "-x", str(width), "-y",
                      str(height), TAKT + " top --every 0.3")
            self.addCleanup(self.tmux, "kill-server")

            def screen():
                return self.tmux("capture-pane", "-p")
            wait_for(lambda: "q quit" in screen())
            self.tmux("send-keys", "/a_prog", "Enter")
            wait_for(lambda: " add " in screen() and
                     screen().count("a_program") == 1)
            lines = screen().splitlines()
            self.assertTrue(lines[0].startswith("takt top "), lines[0])
            self.assertIn("PROGRAM", lines[2])
            self.assertTrue(lines[2].rstrip().endswith("DRIFT"), lines[2])
            self.assertIn(str(program.pid), lines[3])
            self.assertIn(" a_program " if width == 80 else
                          " a_program\\x1b_of_some_length.py ", lines[3])
            self.assertIn("q quit", lines[height - 1])
            self.tmux("send-keys", "p")
            wait_for(lambda: "PAUSED" in screen())
            self.tmux("send-keys", "p", "Enter")
            wait_for(lambda: "by op and expert" in screen())
            wait_for(lambda: " add " in screen())  # the filter finds programs
            self.tmux("send-keys", "Escape")
            wait_for(lambda: "PROGRAM" in screen())
            self.tmux("send-keys", "/nothing", "Enter")
            wait_for(lambda: str(program.pid) not in screen())
            self.tmux("send-keys", "q")
            wait_for(lambda: not self.tmux("list-panes"))
            self.tmux("kill-server")

    def test_mistakes_are_named(self):
        ran = subprocess.run([TAKT, "top"], env=self.env, text=True,
                             capture_output=True, timeout=600)
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("use --json", ran.stderr)
        first = subprocess.Popen([TAKT, "top", "--json"], env=self.env,
                                 stdout=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.terminate)
        wait_for(lambda: os.path.exists(
            os.path.join(self.folder, "takt", "all.trace")))
        ran = subprocess.run([TAKT, "top", "--json", "--for", "1"],
                             env=self.env, text=True, capture_output=True,
                             timeout=600)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("being traced already", ran.stderr)
        # One whose programs look elsewhere is not in the way.
        with tempfile.TemporaryDirectory() as other:
            ran = subprocess.run([TAKT, "top", "--json", "--for", "0.2"],
                                 env=dict(self.env, XDG_RUNTIME_DIR=other),
                                 text=True, capture_output=True, timeout=600)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
