#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt run` as a user meets it: what the program sees, and what is reported.

What is preloaded is a library of the test's own, fake_blas.c, which writes
known numbers where the real one counts.
usage: test_run.py PATH_TO_TAKT
"""
import json
import os
import pty
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

TAKT = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "support"))
import mounts  # noqa: E402
ROOT = os.path.dirname(os.path.dirname(HERE))
FLAGS = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-I", ROOT]
PYTHON = sys.executable
SH, TRUE, SLEEP = "/bin/sh", "/bin/true", "/bin/sleep"
GEMM, DOT, IAMAX, NRM2 = 0, 9, 13, 11
SINGLE, DOUBLE, DOUBLE_COMPLEX = 0, 1, 3
STRAIGHT, PLAIN, SCALAR, SIMD, GPU = range(5)
(SMALL, SETTLED, STARTING, FORM, ROUTINE, NESTED, EMPTY, WRONG, NO_ROUTER,
 NO_GPU, ASLEEP, SLOWER, LOST, POLICY, TRIED) = range(15)
MS = 1_000_000


def setUpModule():
    global SHARED, FAKE
    SHARED = tempfile.TemporaryDirectory(dir="/tmp", prefix="takt")
    FAKE = os.path.join(SHARED.name, "libtakt-blas.so")
    compile_c(os.path.join(HERE, "fake_blas.c"), FAKE, "-shared", "-fPIC")


def tearDownModule():
    SHARED.cleanup()


def compile_c(source, out, *flags):
    return subprocess.run(["cc", *FLAGS, source, "-o", out, *flags],
                          check=True, capture_output=True, timeout=120)


def surroundings(**changes):
    """The environment, without what a variable of the caller's would do."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "LD_", "XDG_RUNTIME"))}
    env["TAKT_RUN_PRELOAD"] = FAKE
    # What is preloaded into takt comes before the sanitizer's library.
    env["ASAN_OPTIONS"] = "detect_leaks=0:verify_asan_link_order=0"
    env.update(changes)
    return {name: value for name, value in env.items() if value is not None}


def takt(words, env=None, **options):
    options = {"capture_output": True, "text": True, "timeout": 60, **options}
    return subprocess.run([TAKT, "run", *words], env=env or surroundings(),
                          **options)


def cell(routine, letter, size, field, index, value):
    return f"cell {routine} {letter} {size} {field} {index} {value};"


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp", prefix="takt")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.counts = self.path("counts")
        os.mkdir(self.counts)
        self.addCleanup(self.no_counts_are_left)

    def no_counts_are_left(self):
        self.assertEqual(os.listdir(self.counts), [])

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content, mode=0o755):
        with open(self.path(name), "w") as out:
            out.write(content)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def env(self, **changes):
        return surroundings(XDG_RUNTIME_DIR=self.counts, **changes)

    def reported(self, *words, **changes):
        """Runs with a report elsewhere, so that all else is the program's."""
        return takt(["--report", "--output", self.path("report"), *words],
                    self.env(**changes))

    def report(self):
        with open(self.path("report")) as file:
            return file.read()

    def start(self, *words, report=True, **options):
        flags = ["--report", "--output", self.path("report")] if report else []
        ran = subprocess.Popen(
            [TAKT, "run", *flags, "--", *words], stdout=subprocess.PIPE,
            stdin=subprocess.PIPE, env=self.env(), text=True, bufsize=1,
            **options)
        self.addCleanup(self.clean_up, ran)
        return ran

    @staticmethod
    def clean_up(ran):
        ran.kill()
        ran.wait()
        ran.stdin.close()
        ran.stdout.close()


BOTH = ([], ["--report", "--output", "/dev/null"])


class Program(Scratch):
    def both(self, *program, **options):
        """The same with and without a report; the second time without."""
        return [takt([*flags, "--", *program], self.env(), **options)
                for flags in BOTH]

    def test_exit_status(self):
        for code in (0, 1, 3, 255):
            for ran in self.both(SH, "-c", f"exit {code}"):
                self.assertEqual((ran.returncode, ran.stdout, ran.stderr),
                                 (code, "", ""))

    def test_what_cannot_be_run(self):
        plain = self.file("plain", "#!/bin/sh\n", 0o644)
        for program, code, said in (
                ("no-such-command", 127, "No such file"),
                ("/no/such/command", 127, "No such file"),
                ("", 127, "No such file"),
                (plain, 126, "Permission denied"),
                (self.folder, 126, "Permission denied"),
                (self.file("lost", "#!/no/such/shell\n"), 127, "No such")):
            for ran in self.both(program):
                with self.subTest(program):
                    self.assertEqual((ran.returncode, ran.stdout), (code, ""))
                    self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                    self.assertIn(said, ran.stderr)

    def test_no_report_of_what_was_not_run(self):
        self.assertEqual(self.reported("--", "no-such-command").returncode, 127)
        self.assertFalse(os.path.exists(self.path("report")))

    def test_a_program_without_a_title_is_run_by_the_shell(self):
        for ran in self.both(self.file("bare", "exit 7\n")):
            self.assertEqual(ran.returncode, 7)

    def test_killed_by_a_signal(self):
        for name in ("TERM", "KILL", "SEGV", "INT", "ABRT", "USR1", "ALRM"):
            number = getattr(signal, "SIG" + name)
            for ran in self.both(SH, "-c", f"kill -{name} $$",
                                 cwd=self.folder):
                self.assertEqual(ran.returncode, -number)
        self.assertEqual([name for name in os.listdir(self.folder)
                          if name.startswith("core") and self.is_takt(name)],
                         [])

    def is_takt(self, name):
        with open(self.path(name), "rb") as file:
            return TAKT.encode() in file.read()

    def test_input_and_output_are_byte_exact(self):
        content = os.urandom(1 << 20)
        for ran in self.both(SH, "-c", "tee /dev/stderr", input=content,
                             text=False):
            self.assertEqual(ran.returncode, 0)
            self.assertEqual((ran.stdout, ran.stderr), (content, content))

    def test_arguments_are_as_given(self):
        words = ["a b", "", "--report", "--", "*", "\n"]
        for ran in self.both(PYTHON, "-c", "import sys; print(sys.argv[1:])",
                             *words):
            self.assertEqual(ran.stdout, f"{words}\n")

    def test_no_descriptors_but_its_own(self):
        show = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
        want = subprocess.run([PYTHON, "-c", show], capture_output=True,
                              text=True, timeout=600).stdout
        for ran in self.both(PYTHON, "-c", show):
            self.assertEqual(ran.stdout, want)

    def test_signals_are_held_and_ignored_as_before(self):
        show = ["grep", "-E", "Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        for ignored in (signal.SIGHUP, signal.SIGCHLD):
            def prepare():
                signal.signal(ignored, signal.SIG_IGN)
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
            want = subprocess.run(show, capture_output=True, text=True,
                                  timeout=600, preexec_fn=prepare).stdout
            for ran in self.both(*show, preexec_fn=prepare):
                self.assertEqual((ran.returncode, ran.stdout), (0, want))

    def test_a_reader_that_has_gone_changes_no_status(self):
        ours, theirs = os.pipe()
        os.close(ours)
        ran = subprocess.run(
            [TAKT, "run", "--report", "--", SH, "-c", "exit 5"], stderr=theirs,
            env=self.env(), timeout=600)
        os.close(theirs)
        self.assertEqual(ran.returncode, 5)

    def test_a_full_disk_changes_no_status(self):
        ran = takt(["--report", "--output", "/dev/full", "--", SH, "-c",
                    "exit 5"], self.env())
        self.assertEqual(ran.returncode, 5)
        self.assertIn("could not be written", ran.stderr)


LISTENER = """
import os, signal, sys, time
def say(number, frame):  # print() must not interrupt itself
    os.write(1, (signal.Signals(number).name + "\\n").encode())
for name in sys.argv[1:]:
    signal.signal(getattr(signal, name), say)
os.write(1, f"ready {os.getpid()}\\n".encode())
while True:
    time.sleep(0.05)  # one that comes just before it waits until it is over
"""


class Signals(Scratch):
    def listen(self, *names, **options):
        """Starts the listener; `child` is its number."""
        ran = self.start(PYTHON, "-c", LISTENER, *names, **options)
        ready, child = ran.stdout.readline().split()
        self.assertEqual(ready, "ready")
        self.child = int(child)
        self.addCleanup(self.end_child)
        return ran

    def end_child(self):
        try:
            os.kill(self.child, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_signals_to_takt_reach_the_program(self):
        names = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGINT",
                 "SIGQUIT", "SIGWINCH", "SIGALRM", "SIGPIPE", "SIGURG",
                 "SIGRTMIN"]
        for report in (True, False):
            ran = self.listen(*names, report=report)
            for name in names:
                ran.send_signal(getattr(signal, name))
                self.assertEqual(ran.stdout.readline(), name + "\n")
            os.kill(self.child, signal.SIGKILL)
            self.assertEqual(ran.wait(30), -signal.SIGKILL)

    def test_a_signal_that_ends_the_program_ends_takt(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            ran = self.listen()
            ran.send_signal(number)
            self.assertEqual(ran.wait(30), -number)
            self.assertIn(f"killed by signal {number:d}", self.report())
            self.no_counts_are_left()

    def test_what_the_program_sends_to_its_group_comes_once(self):
        script = ("import os, signal, time\n"
                  "signal.signal(signal.SIGTERM, lambda *_: print('term',"
                  " flush=True))\n"
                  "os.kill(0, signal.SIGTERM)\n"
                  "os.kill(os.getppid(), signal.SIGTERM)\n"
                  "time.sleep(0.3)\n")
        ran = takt(["--report", "--output", self.path("report"), "--", PYTHON,
                    "-c", script], self.env(), start_new_session=True)
        self.assertEqual((ran.returncode, ran.stdout), (0, "term\n"))

    def test_the_keyboard_interrupts_once(self):
        script = ("import os, signal, time\n"
                  "came = []\n"
                  "signal.signal(signal.SIGINT, lambda *_: (came.append(1),"
                  " os.write(1, b'int\\n')))\n"
                  "os.write(1, b'ready\\n')\n"
                  "while not came: time.sleep(0.05)\n"
                  "time.sleep(0.3)  # a second one would come by then\n"
                  "raise SystemExit(9)\n")
        try:
            pid, terminal = pty.fork()
        except OSError as problem:
            self.skipTest(f"there are no terminals here: {problem}")
        if pid == 0:
            os.execve(TAKT, [TAKT, "run", "--report", "--output",
                             self.path("report"), "--", PYTHON, "-c", script],
                      self.env())
        shown = b""
        while b"ready" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
        try:
            while more := os.read(terminal, 1024):
                shown += more
        except OSError:
            pass  # the other side is closed
        os.close(terminal)
        status = os.waitpid(pid, 0)[1]
        self.assertEqual(os.waitstatus_to_exitcode(status), 9)
        self.assertEqual(shown.count(b"int"), 1, shown)

    def state(self, pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]

    def test_both_stop_and_both_go_on(self):
        # A group of its own, whose parent is in the same session: else the
        # kernel stops nobody by SIGTSTP.
        for target, number in (("takt", signal.SIGTSTP),
                               ("program", signal.SIGTSTP),
                               ("program", signal.SIGSTOP),
                               ("group", signal.SIGTSTP)):
            for waker in ("takt", "group"):
                with self.subTest(target=target, number=number, waker=waker):
                    ran = self.listen("SIGUSR1",
                                      preexec_fn=lambda: os.setpgid(0, 0))
                    os.kill({"takt": ran.pid, "program": self.child,
                             "group": -ran.pid}[target], number)
                    status = os.waitpid(ran.pid, os.WUNTRACED)[1]
                    self.assertTrue(os.WIFSTOPPED(status))
                    self.assertEqual(os.WSTOPSIG(status), number)
                    self.assertEqual(self.state(self.child), "T")
                    os.kill(ran.pid if waker == "takt" else -ran.pid,
                            signal.SIGCONT)
                    ran.send_signal(signal.SIGUSR1)
                    self.assertEqual(ran.stdout.readline(), "SIGUSR1\n")
                    ran.terminate()
                    self.assertEqual(ran.wait(30), -signal.SIGTERM)

    def test_children_that_live_on_are_not_waited_for(self):
        ran = takt(["--report", "--output", self.path("report"), "--", SH,
                    "-c", "sleep 60 >/dev/null 2>&1 & echo $!"], self.env())
        self.assertEqual(ran.returncode, 0)
        os.kill(int(ran.stdout), signal.SIGKILL)


class Environment(Scratch):
    SHOW = ("import json, os; print(json.dumps({k: v for k, v in "
            "os.environ.items() if k.startswith(('TAKT_', 'LD_'))}))")

    def seen(self, *words, env=None, **changes):
        ran = takt([*words, "--", PYTHON, "-c", self.SHOW],
                   env or self.env(**changes), cwd=self.folder)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return json.loads(ran.stdout)

    def test_the_library_comes_first(self):
        self.assertEqual(self.seen()["LD_PRELOAD"], FAKE)
        other = self.path("other.so")
        compile_c(self.file("other.c", "int other = 1;\n"), other, "-shared",
                  "-fPIC")
        for before, want in ((other, f"{FAKE}:{other}"),
                             (FAKE, FAKE), ("", FAKE),
                             (f"{FAKE}:{other}", f"{FAKE}:{other}")):
            self.assertEqual(self.seen(LD_PRELOAD=before)["LD_PRELOAD"], want)

    def test_programs_with_address_sanitizer_run(self):
        """It wants to be loaded first, and would end them."""
        program = self.path("program")
        source = self.file("program.c", "int main(void) { return 7; }\n")
        try:
            compile_c(source, program, "-fsanitize=address")
        except subprocess.CalledProcessError:
            self.skipTest("the compiler has no AddressSanitizer")
        for before in None, "detect_leaks=0", "verify_asan_link_order=0":
            ran = takt(["--", program], self.env(ASAN_OPTIONS=before))
            self.assertEqual((ran.returncode, ran.stderr), (7, ""))
        ran = takt(["--", PYTHON, "-c",
                    "import os; print(os.environ['ASAN_OPTIONS'])"],
                   self.env(ASAN_OPTIONS="detect_leaks=0"))
        self.assertEqual(ran.stdout,
                         "detect_leaks=0:verify_asan_link_order=0\n")

    def test_a_relative_path_is_made_whole(self):
        shutil.copy(FAKE, self.path("lib.so"))
        self.assertEqual(self.seen(TAKT_RUN_PRELOAD="./lib.so")["LD_PRELOAD"],
                         os.path.realpath(self.path("lib.so")))

    def test_takt_itself_is_not_preloaded(self):
        ran = self.start(PYTHON, "-c", "print('ready', flush=True); input()")
        self.assertEqual(ran.stdout.readline(), "ready\n")
        with open(f"/proc/{ran.pid}/maps") as file:
            self.assertNotIn("libtakt-blas", file.read())
        ran.stdin.write("\n")
        self.assertEqual(ran.wait(30), 0)

    def test_options_become_variables(self):
        pin = self.file("a.pin", "takt pin 1\nend\n")
        seen = self.seen("--policy", "moe", "--db", "a.db", "--trace",
                         "a.trace", "--no-gpu", "--threads", "3", "--reuse",
                         "--no-numpy", "--no-lapack", "--library", FAKE,
                         TAKT_PIN="/old", TAKT_GPU="all")
        real = os.path.realpath(self.folder)
        self.assertEqual(
            {name: value for name, value in seen.items()
             if name not in ("LD_PRELOAD", "TAKT_RUN_PRELOAD")},
            {"TAKT_POLICY": "moe", "TAKT_DB": f"{real}/a.db",
             "TAKT_TRACE": f"{real}/a.trace", "TAKT_GPU": "",
             "TAKT_THREADS": "3", "TAKT_RUN_REUSE": "1",
             "TAKT_RUN_LIBRARY": FAKE, "TAKT_RUN_NUMPY": "off",
             "TAKT_RUN_LAPACK": "off"})
        seen = self.seen("--pin", "a.pin", "--db", "", "--trace", "unix:/x")
        seen = self.seen("--no-reuse", "--pin", "a.pin", "--db", "",
                         "--trace", "unix:/x")
        self.assertEqual(seen["TAKT_RUN_REUSE"], "0")
        self.assertEqual((seen["TAKT_PIN"], seen["TAKT_DB"],
                          seen["TAKT_TRACE"]), (f"{real}/a.pin", "", "unix:/x"))

    def test_nothing_is_set_that_was_not_asked_for(self):
        self.assertEqual(set(self.seen()), {"LD_PRELOAD", "TAKT_RUN_PRELOAD"})

    @unittest.skipUnless(mounts.are_possible() and
                         len(os.sched_getaffinity(0)) > 1,
                         "no quota can be pretended here")
    def test_libraries_start_as_many_threads_as_the_quota_is_worth(self):
        names = ("OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
        half, none = "50000 100000", "max 100000"
        for cpu_max, changes, want in (
                (half, {}, "1 1"), (none, {}, "- -"),
                ("110000 100000", {}, "1 1"), ("99900000 100000", {}, "- -"),
                (half, {"OPENBLAS_NUM_THREADS": "7"}, "7 1"),
                (half, {"OPENBLAS_NUM_THREADS": ""}, "1 1"),
                (half, {"BLIS_NUM_THREADS": "3"}, "1 3"),
                (half, {"OMP_NUM_THREADS": "2"}, "- -"),
                (half, {"GOTO_NUM_THREADS": "2"}, "- -")):
            env = self.env(**{name: None for name in
                              (*names, "OMP_NUM_THREADS", "GOTO_NUM_THREADS")})
            show = " ".join(f"${{{name}:--}}" for name in names)
            ran = subprocess.run(
                mounts.command(mounts.quota(cpu_max), TAKT, "run", "--", SH,
                               "-c", f"echo {show}"), env={**env, **changes},
                capture_output=True, text=True, timeout=600)
            with self.subTest(cpu_max, changes=changes):
                self.assertEqual((ran.stdout, ran.stderr), (f"{want}\n", ""))

    @unittest.skipUnless(mounts.are_possible(), "no mounts of its own")
    def test_a_store_that_can_only_be_read_is_used(self):
        disk = self.path("disk")
        os.mkdir(disk)
        setup = (f"mount -t tmpfs none {disk} && : > {disk}/a.db && "
                 f"mount -o remount,ro {disk}")
        for name, want in (("a.db", (0, f"{disk}/a.db\n")), ("b.db", (2, ""))):
            ran = subprocess.run(
                mounts.command(setup, TAKT, "run", "--db", f"{disk}/{name}",
                               "--", SH, "-c", "echo $TAKT_DB"),
                env=self.env(), capture_output=True, text=True, timeout=600)
            self.assertEqual((ran.returncode, ran.stdout), want, ran.stderr)
            self.assertEqual("Read-only" in ran.stderr, name == "b.db")

    def test_the_board_is_named_when_there_is_a_report(self):
        seen = self.seen("--report", "--output", self.path("report"))
        self.assertEqual(os.path.dirname(seen["TAKT_RUN_STATS"]), self.counts)

    def test_the_board_is_private_and_whole(self):
        show = ("import os; s = os.stat(os.environ['TAKT_RUN_STATS']); "
                "print(oct(s.st_mode & 0o777), s.st_size > 100000, "
                "s.st_blocks * 512 >= s.st_size)")
        ran = self.reported("--", PYTHON, "-c", show)
        self.assertEqual(ran.stdout, "0o600 True True\n")

    def test_found_beside_takt(self):
        for place in (".", "../lib", ".."):
            with self.subTest(place):
                top = tempfile.mkdtemp(dir=self.folder)
                os.mkdir(os.path.join(top, "bin"))
                moved = os.path.join(top, "bin", "takt")
                shutil.copy(TAKT, moved)
                target = os.path.join(top, "bin", place)
                os.makedirs(target, exist_ok=True)
                shutil.copy(FAKE, target)
                ran = subprocess.run(
                    [moved, "run", "--", SH, "-c", 'echo "$LD_PRELOAD"'],
                    env=self.env(TAKT_RUN_PRELOAD=None), capture_output=True,
                    text=True, timeout=600)
                self.assertEqual(ran.stdout.strip(), os.path.realpath(
                    os.path.join(target, "libtakt-blas.so")), ran.stderr)

    @unittest.skipUnless(mounts.are_possible(), "no mounts of its own")
    def test_found_beside_takt_without_proc(self):
        moved = self.path("takt")
        shutil.copy(TAKT, moved)
        shutil.copy(FAKE, self.folder)
        ran = subprocess.run(
            mounts.command("mount -t tmpfs none /proc", moved, "run", "--", SH,
                           "-c", 'echo "$LD_PRELOAD"'),
            env=self.env(TAKT_RUN_PRELOAD=None), capture_output=True,
            text=True, timeout=600)
        self.assertEqual(ran.stdout.strip(), os.path.realpath(
            self.path("libtakt-blas.so")), ran.stderr)

    def test_a_library_that_is_nowhere_or_cannot_be_named(self):
        os.mkdir(self.path("bin"))
        alone = self.path("bin/takt")
        shutil.copy(TAKT, alone)
        spaced = self.path("a b.so")
        shutil.copy(FAKE, spaced)
        for tool, preload, said in (
                (alone, None, "libtakt-blas.so is not where takt is"),
                (alone, "", "libtakt-blas.so is not where takt is"),
                (TAKT, "/no/such/file", "No such file"),
                (TAKT, SH, "is not libtakt-blas.so"),
                (TAKT, spaced, "cannot name")):
            ran = subprocess.run(
                [tool, "run", "--", SH, "-c", "echo started"],
                env=self.env(TAKT_RUN_PRELOAD=preload), capture_output=True,
                text=True, timeout=600)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
            self.assertIn(said, ran.stderr)
        link = self.path("link.so")
        os.symlink(spaced, link)
        self.assertEqual(self.seen(TAKT_RUN_PRELOAD=link)["LD_PRELOAD"], link)


class Usage(Scratch):
    def test_mistakes_are_named_before_anything_starts(self):
        mark = self.path("mark")
        end = ["--", "touch", mark]
        for words, said in (
                ([], "no command"), (["--"], "no command"),
                (["touch", mark], "the command comes after --"),
                (["--format", "json", *end], "--format is for --report"),
                (["--output", "x", *end], "--output is for --report"),
                (["--reuse", "--no-reuse", *end], "cannot both hold"),
                (["--report", "--format", "xml", *end], "text|json|html"),
                (["--report", "--output", "/no/such/x", *end],
                 "cannot be written"),
                (["--report=jsom", *end], "did you mean 'json'"),
                (["--policy", "mo", *end], "did you mean 'moe'"),
                (["--threads", "0", *end], "is no number of threads"),
                (["--threads", "many", *end], "--threads"),
                (["--threads", "99999999999", *end], "--threads"),
                (["--pin", "/no/such/pin", *end], "No such file"),
                (["--pin", self.folder, *end], "not a plain file"),
                (["--pin", "", *end], "--pin ''"),
                (["--pin", FAKE, "--policy", "moe", *end], "cannot both"),
                (["--library", "/no/such.so", *end], "No such file"),
                (["--library", __file__, *end], "not a library"),
                (["--trace", "/no/such/folder/x", *end], "No such file"),
                (["--trace", "/dev/null", *end], "not a plain file"),
                (["--db", "/no/such/folder/x", *end], "No such file"),
                (["--db", "unix:/x", *end], "No such file"),
                (["--reprt", *end], "did you mean --report")):
            with self.subTest(words):
                ran = takt(words, self.env())
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                self.assertIn(said, ran.stderr)
                self.assertFalse(os.path.exists(mark))

    def test_a_command_without_dashes_gets_the_line_that_was_meant(self):
        mark = self.path("mark")
        for words, meant in (
                (["touch", mark], f"takt run -- touch {mark}"),
                (["--report", "touch", "-a", mark],
                 f"takt run --report -- touch -a {mark}"),
                (["sh", "--version"], "takt run -- sh --version"),
                (["echo", "it's", "a b", ""],
                 "takt run -- echo 'it'\\''s' 'a b' ''")):
            with self.subTest(words):
                ran = takt(words, self.env())
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertEqual(ran.stderr, "takt run: the command comes after"
                                             f" --; did you mean: {meant}\n")
                self.assertFalse(os.path.exists(mark))

    def test_no_room_for_the_board(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        before = set(os.listdir("/dev/shm")) | set(os.listdir("/tmp"))
        ran = takt(["--report", "--", SH, "-c", "echo started"], self.env(),
                   preexec_fn=limit)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("no room to count in", ran.stderr)
        self.assertEqual(ran.stderr.count("\n"), 1)
        after = set(os.listdir("/dev/shm")) | set(os.listdir("/tmp"))
        self.assertEqual([name for name in after - before
                          if name.startswith("takt-run-")], [])

    def test_a_folder_that_is_not_there_is_passed_over(self):
        ran = takt(["--report", "--", SH, "-c", 'echo "$TAKT_RUN_STATS"'],
                   surroundings(XDG_RUNTIME_DIR="/no/such/folder"))
        self.assertEqual(ran.returncode, 0)
        self.assertRegex(ran.stdout, r"^/(dev/shm|tmp)/takt-run-\w{6}\n$")
        self.assertFalse(os.path.exists(ran.stdout.strip()))


class LeftAlone(Scratch):
    SOURCE = "#include <stdlib.h>\n#include <stdio.h>\nint main(void) { " \
             "const char *p = getenv(\"LD_PRELOAD\"); " \
             "puts(p != NULL ? p : \"none\"); return 3; }\n"

    def program(self, name, *flags):
        source = self.file(name + ".c", self.SOURCE)
        try:
            compile_c(source, self.path(name), *flags)
        except subprocess.CalledProcessError as problem:
            self.skipTest(f"it cannot be built here: {problem.stderr}")
        return self.path(name)

    def check(self, program, said, *words):
        for flags in BOTH:
            ran = takt([*flags, "--", program, *words], self.env())
            self.assertEqual((ran.returncode, ran.stdout), (3, "none\n"))
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
            self.assertIn(said, ran.stderr)
            self.assertIn("it is run as it is", ran.stderr)

    def check_routed(self, program, **options):
        ran = takt(["--", program], self.env(), **options)
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr),
                         (3, FAKE + "\n", ""))

    def test_an_ordinary_program_is_routed(self):
        self.check_routed(self.program("ordinary"))

    def test_static(self):
        for flag in ("-static", "-static-pie"):
            with self.subTest(flag):
                program = self.program("static", flag)
                self.check(program, "is linked statically")
                ran = self.reported("--format", "json", "--", program)
                self.assertEqual(ran.returncode, 3)
                told = json.loads(self.report())
                self.assertEqual((told["left_alone"], told["rows"]),
                                 ("is linked statically", []))
                self.reported("--", program)
                self.assertIn("nothing was routed: the program is linked "
                              "statically", self.report())

    def test_scripts_lead_to_their_interpreter(self):
        static = self.program("static", "-static")
        said = f"is run by '{static}', which is linked statically"
        first = self.file("first", f"#!{static}\n")
        self.check(first, said)
        path = first
        for level in range(2, 5):
            path = self.file(f"level{level}", f"#! {path} -x\n")
            self.check(path, said)
        for line in ("env static", "env  -S static -x", "env -i static",
                     "env -S A=1 static", "env -S -u HOME static"):
            script = self.file("by-env", f"#!/usr/bin/{line}\n")
            ran = takt(["--", script], self.env(
                PATH=f"{self.folder}:{os.environ['PATH']}"))
            self.assertIn(said, ran.stderr, line)
        ordinary = self.program("ordinary")
        self.check_routed(self.file("plain", f"#!{ordinary}\n"))

    def test_found_on_the_path(self):
        self.program("static", "-static")
        self.program("ordinary")
        os.mkdir(self.path("static.d"))
        for path, program, said in (
                (self.folder, "static", "is linked statically"),
                (f"/no/such:{self.folder}:", "static", "statically"),
                ("", "static", "statically"),
                (self.folder, "ordinary", "")):
            ran = takt(["--", program], self.env(PATH=path), cwd=self.folder)
            self.assertEqual(ran.returncode, 3, ran.stderr)
            self.assertIn(said, ran.stderr)

    def keeps_rights(self, path):
        with open("/proc/self/status") as file:
            if "NoNewPrivs:\t1" in file.read():
                self.skipTest("nobody gains rights here")
        if os.statvfs(path).f_flag & os.ST_NOSUID:
            self.skipTest(f"nobody gains rights in {path}")

    @unittest.skipIf(os.geteuid() != 0, "only root can give files away")
    def test_rights_of_its_own(self):
        self.keeps_rights(self.folder)
        os.chmod(self.folder, 0o755)
        said = "rights of its own"
        program = self.program("gifted")
        for owner, mode in (((65534, -1), 0o4755), ((0, 65534), 0o2755)):
            os.chown(program, *owner)
            os.chmod(program, mode)
            ran = takt(["--", program], self.env())
            self.assertEqual((ran.returncode, ran.stdout), (3, "none\n"))
            self.assertIn(said, ran.stderr)
        for mode, owner in ((0o4755, 0), (0o2745, 0)):
            os.chown(program, 0, owner)
            os.chmod(program, mode)
            self.check_routed(program)

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which("setcap"),
                     "only root can give capabilities")
    def test_capabilities(self):
        self.keeps_rights(self.folder)
        os.chmod(self.folder, 0o755)
        os.chmod(self.counts, 0o777)
        os.chmod(SHARED.name, 0o755)
        program = self.program("capable")
        if subprocess.run(["setcap", "cap_net_bind_service+ep", program],
                          capture_output=True).returncode != 0:
            self.skipTest("files have no capabilities here")
        try:
            ran = takt(["--", program], self.env(), user=65534, cwd="/")
        except PermissionError:
            self.skipTest("the tool cannot be run by somebody else")
        if ran.returncode == 126:
            self.skipTest("the capability cannot be had here")
        self.assertEqual((ran.returncode, ran.stdout), (3, "none\n"))
        self.assertIn("rights of its own", ran.stderr)
        self.check_routed(program)  # root gains nothing by it

    def loader(self):
        with open(TAKT, "rb") as file:
            found = re.search(rb"/[\w/.-]*/ld-[\w.-]+\.so[\w.]*\0", file.read())
        return found.group()[:-1].decode()

    def test_another_c_library(self):
        shutil.copy(os.path.realpath(self.loader()), self.path("ld.so"))
        program = self.program(
            "other", f"-Wl,--dynamic-linker={self.path('ld.so')}")
        self.check(program, "another C library")
        os.unlink(self.path("ld.so"))
        os.symlink(self.loader(), self.path("ld.so"))
        self.check_routed(program)

    def test_the_loader_itself_is_no_static_program(self):
        ran = takt(["--", self.loader(), self.program("ordinary")], self.env())
        self.assertEqual((ran.returncode, ran.stderr), (3, ""))

    def test_another_machine(self):
        with open(TAKT, "rb") as file:
            head = bytearray(file.read(4096))
        for at, value in ((4, 1), (5, 2), (18, 0xf3)):
            other = bytearray(head)
            other[at] = value
            with open(self.path("foreign"), "wb") as out:
                out.write(other)
            os.chmod(self.path("foreign"), 0o755)
            ran = takt(["--", self.path("foreign")], self.env(),
                       errors="replace")  # the shell's complaint has bytes
            self.assertIn("another kind of machine", ran.stderr)
            self.assertNotEqual(ran.returncode, 0)

    def test_damaged_headers_are_for_the_kernel_to_judge(self):
        with open(TAKT, "rb") as file:
            head = bytearray(file.read(4096))
        damage = [bytes(head[:size]) for size in (4, 5, 17, 63, 64, 119, 200)]
        for at, value in ((32, b"\xff" * 8), (54, b"\x01\x00"),
                          (56, b"\xff\xff"), (32, b"\xf0" + b"\xff" * 6 +
                                              b"\x7f")):
            other = bytearray(head)
            other[at:at + len(value)] = value
            damage.append(bytes(other))
        for content in damage:
            with open(self.path("damaged"), "wb") as out:
                out.write(content)
            os.chmod(self.path("damaged"), 0o755)
            # A shell may take it for a script, and what is in it for the
            # name of a file to write to.
            ran = takt(["--", self.path("damaged")], self.env(),
                       text=False, cwd=self.folder)
            self.assertGreaterEqual(ran.returncode, -signal.SIGKILL)
            self.assertNotIn(b"Sanitizer", ran.stderr)
            self.assertNotIn(b"runtime error", ran.stderr)

    def test_endless_scripts(self):
        one, two = self.path("one"), self.path("two")
        self.file("one", f"#!{two}\n")
        self.file("two", f"#!{one}\n")
        self.assertEqual(takt(["--", one], self.env()).returncode, 126)

    def test_a_title_longer_than_the_kernel_reads_is_a_comment(self):
        ran = takt(["--", self.file("long", "#!/" + "x" * 300 + "\n")],
                   self.env())
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


WHOLE = (
    "count processes 2;count routers 1;"
    "text library 0 /usr/lib/libblas.so.3;text gpu 0 NVIDIA H200;" +
    # 1,000 calls straight down, a tenth of them timed: about 10 ms
    cell(GEMM, DOUBLE, 3, "calls", STRAIGHT, 400) +
    cell(GEMM, DOUBLE, 3, "timed", STRAIGHT, 40) +
    cell(GEMM, DOUBLE, 3, "ns", STRAIGHT, MS * 4 // 10) +
    cell(GEMM, DOUBLE, 3, "why", SMALL, 400) +
    cell(GEMM, DOUBLE, 4, "calls", STRAIGHT, 600) +
    cell(GEMM, DOUBLE, 4, "timed", STRAIGHT, 60) +
    cell(GEMM, DOUBLE, 4, "ns", STRAIGHT, MS * 6 // 10) +
    cell(GEMM, DOUBLE, 4, "why", SMALL, 600) +
    # 30 on the GPU, which took 60 ms instead of 360; 10 in the library
    cell(GEMM, DOUBLE, 12, "calls", GPU, 30) +
    cell(GEMM, DOUBLE, 12, "timed", GPU, 30) +
    cell(GEMM, DOUBLE, 12, "ns", GPU, 60 * MS) +
    cell(GEMM, DOUBLE, 12, "transfer", 0, 20 * MS) +
    cell(GEMM, DOUBLE, 12, "wait", 0, 5 * MS) +
    cell(GEMM, DOUBLE, 12, "calls", PLAIN, 10) +
    cell(GEMM, DOUBLE, 12, "timed", PLAIN, 10) +
    cell(GEMM, DOUBLE, 12, "ns", PLAIN, 120 * MS) +
    cell(GEMM, DOUBLE, 12, "compared", 0, 30) +
    cell(GEMM, DOUBLE, 12, "baseline", 0, 360 * MS) +
    cell(GEMM, DOUBLE, 12, "error", 0, 10 * MS) +
    cell(GEMM, DOUBLE, 12, "instead", 0, 60 * MS) +
    cell(GEMM, DOUBLE, 12, "why", ASLEEP, 10) +
    cell(GEMM, DOUBLE, 12, "judged", 0, 10) +
    cell(GEMM, DOUBLE, 12, "gpu", 0, 20 * MS) +
    cell(GEMM, DOUBLE, 12, "own", 0, 120 * MS))

LOSS = (
    "count processes 1;text gpu 0 NVIDIA H200;" +
    cell(IAMAX, SINGLE, 20, "calls", SIMD, 4) +
    cell(IAMAX, SINGLE, 20, "timed", SIMD, 4) +
    cell(IAMAX, SINGLE, 20, "ns", SIMD, 10 * MS) +
    cell(IAMAX, SINGLE, 20, "compared", 0, 3) +
    cell(IAMAX, SINGLE, 20, "baseline", 0, 6 * MS) +
    cell(IAMAX, SINGLE, 20, "instead", 0, 8 * MS) +
    cell(IAMAX, SINGLE, 20, "why", SLOWER, 3) +
    cell(IAMAX, SINGLE, 20, "why", TRIED, 1))


class Report(Scratch):
    def text(self, stats, program=(TRUE,)):
        ran = self.reported("--", *program, FAKE_STATS=stats)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return self.report()

    def json(self, stats, program=(TRUE,)):
        ran = self.reported("--format", "json", "--", *program,
                            FAKE_STATS=stats)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(self.report().count("\n"), 1)
        return json.loads(self.report())

    def check_width(self, shown):
        """All but paths and texts of others fits into 80 columns."""
        for line in shown.splitlines():
            if not line.startswith(("  baseline library: ", "  trouble: ")):
                self.assertLessEqual(len(line), 80, line)

    def test_the_whole_text(self):
        shown = self.text(WHOLE, (SLEEP, "0.4"))
        self.check_width(shown)
        lines = [re.sub(r" +", " ", line).strip()
                 for line in shown.splitlines()]
        self.assertRegex(lines.pop(2), r"^[\d.]+ m?s; 2 processes called BLAS$")
        parts = [re.sub(r" [\d.]+%$", "", line) for line in lines[6:11]]
        self.assertRegex(parts.pop(), r"^everything else \d+ ms$")
        self.assertEqual(parts, ["BLAS in the baseline library 130 ms",
                                 "BLAS routed, on the GPU 35 ms",
                                 "moving operands to and from the GPU 20 ms",
                                 "waiting for the GPU 5 ms"])
        percent = sum(float(line.split()[-1].strip("%"))
                      for line in lines[6:11])
        self.assertAlmostEqual(percent, 100, delta=0.3)
        lines[17] = re.sub(r"[\d.]+%", "%", lines[17])
        self.assertEqual(lines[:6] + lines[11:], [
            "",
            f"takt run: {SLEEP} 0.4",
            "baseline library: /usr/lib/libblas.so.3",
            "GPU: NVIDIA H200",
            "",
            "where the time went",
            "",
            "routine size calls routed to took gain",
            "dgemm 8-31 1,000 - - ~10 ms -",
            "dgemm 4096-8191 40 75.0% gpu 180 ms +300 ms +- 20 ms",
            "all 1,040 2.9% gpu ~190 ms +300 ms +- 20 ms",
            "",
            "gained 300 ms +- 20 ms, % of the run without Takt; measured in "
            "this run",
            "gain: against calls of the same kind that ran in the baseline "
            "library",
            "~: estimated, since not every call in the baseline library is "
            "timed",
            "",
            "why calls were passed through",
            "1,000 too small for it to matter",
            "",
            "why calls did not run on the GPU",
            "10 the GPU was not open (yet)",
            "for 10 of them the GPU was expected to take 20 ms, their own way "
            "120 ms"])

    def test_the_parts_add_up_to_the_wall_time(self):
        most = 2 ** 64 - 1
        broken = cell(GEMM, DOUBLE, 5, "calls", GPU, 3)
        for field, index in (("timed", GPU), ("ns", GPU), ("transfer", 0),
                             ("wait", 0)):
            broken += cell(GEMM, DOUBLE, 5, field, index, most)
        for name, stats, program in (
                ("one thread", WHOLE, (SLEEP, "0.3")),
                ("estimates that are too long", WHOLE, (TRUE,)),
                ("opening", WHOLE + f"opening {7 * MS}", (SLEEP, "0.3")),
                ("threads", WHOLE + f"span 5 {50 * MS} {200 * MS}",
                 (SLEEP, "0.1")),
                ("no call", "count routers 0", (TRUE,)),
                ("anything", broken + f"span {most} 1 {most}", (TRUE,))):
            with self.subTest(name):
                told = self.json(stats, program)
                parts = told["parts"]
                self.assertEqual(list(parts), [
                    "baseline_s", "routed_cpu_s", "routed_gpu_s",
                    "lapack_s", "numpy_loops_s", "transfers_s", "waiting_s",
                    "opening_s", "other_s"])
                self.assertGreaterEqual(min(parts.values()), 0)
                self.assertAlmostEqual(sum(parts.values()), told["wall_s"])
        for key, want in (("baseline_s", 0.13), ("routed_cpu_s", 0),
                          ("routed_gpu_s", 0.035), ("transfers_s", 0.02),
                          ("waiting_s", 0.005), ("opening_s", 0.007)):
            parts = self.json(WHOLE + f"opening {7 * MS}",
                              (SLEEP, "0.4"))["parts"]
            self.assertAlmostEqual(parts[key], want)

    def test_loops_of_numpy(self):
        # Of 40 whole calls 10 were timed, in 50 ms; 60 split ones took 60 ms
        # and would have taken 200 +- 5.
        loops = (f"loop 0 16 exp d->d: 40 60 10 60 {50 * MS} {60 * MS} 60 "
                 f"{200 * MS} {5 * MS} {60 * MS};"
                 f"loop 1 20 add ff->f: 3 0 3 0 {9 * MS} 0 0 0 0 0;")
        told = self.json(WHOLE + loops, (SLEEP, "0.7"))
        self.assertAlmostEqual(told["parts"]["numpy_loops_s"], 0.269)
        self.assertAlmostEqual(sum(told["parts"].values()), told["wall_s"])
        self.assertAlmostEqual(told["gain_s"], 0.3 + 0.14)
        self.assertAlmostEqual(told["gain_high_s"] - told["gain_low_s"],
                               4 * (0.01 + 0.005))
        first, second = told["loops"]
        self.assertEqual(
            (first["loop"], first["size_class"], first["least"],
             first["most"], first["whole"], first["split"], first["compared"]),
            ("exp d->d", 16, 65536, 131071, 40, 60, 60))
        for key, want in (("whole_s", 0.2), ("split_s", 0.06),
                          ("baseline_s", 0.2), ("error_s", 0.005),
                          ("instead_s", 0.06), ("gain_s", 0.14)):
            self.assertAlmostEqual(first[key], want)
        self.assertEqual((second["loop"], second["gain_s"]),
                         ("add ff->f", None))
        shown = self.text(WHOLE + loops, (SLEEP, "0.7"))
        self.check_width(shown)
        lines = [re.sub(r" +", " ", line).strip()
                 for line in shown.splitlines()]
        at = lines.index("loop of NumPy length calls split took gain")
        self.assertEqual(lines[at + 1:at + 4], [
            "exp d->d 64Ki-128Ki 100 60.0% 260 ms +140 ms +- 10 ms",
            "add ff->f 1Mi-2Mi 3 - 9 ms -",
            "all 103 58.3% 269 ms +140 ms +- 10 ms"])
        self.assertNotIn("loop of NumPy", self.text(WHOLE))

    def test_lapack(self):
        # 40 calls on the threads of the program took 50 ms, 60 on fewer 60 ms
        # where it would have been 200 +- 5. The fifth routine is potrf.
        stats = WHOLE + (f"lapack 4 1 6 40 60 40 60 {50 * MS} {60 * MS} 60 "
                         f"{200 * MS} {5 * MS} {60 * MS};"
                         f"lapack 0 0 4 3 0 3 0 {9 * MS} 0 0 0 0 0;")
        told = self.json(stats, (SLEEP, "0.7"))
        self.assertAlmostEqual(told["parts"]["lapack_s"], 0.119)
        self.assertAlmostEqual(sum(told["parts"].values()), told["wall_s"])
        self.assertAlmostEqual(told["gain_s"], 0.3 + 0.14)
        first, second = told["lapack"]
        self.assertEqual((first["routine"], first["gain_s"]), ("sgetrf", None))
        self.assertEqual(
            (second["routine"], second["least"], second["most"],
             second["unchanged"], second["changed"], second["compared"]),
            ("dpotrf", 64, 127, 40, 60, 60))
        for key, want in (("unchanged_s", 0.05), ("changed_s", 0.06),
                          ("baseline_s", 0.2), ("error_s", 0.005),
                          ("instead_s", 0.06), ("gain_s", 0.14)):
            self.assertAlmostEqual(second[key], want)
        shown = self.text(stats, (SLEEP, "0.7"))
        self.check_width(shown)
        lines = [re.sub(r" +", " ", line).strip()
                 for line in shown.splitlines()]
        at = lines.index("routine of LAPACK size calls changed took gain")
        self.assertEqual(lines[at + 1:at + 4], [
            "dpotrf 64-128 100 60.0% 110 ms +140 ms +- 10 ms",
            "sgetrf 16-32 3 - 9 ms -",
            "all 103 58.3% 119 ms +140 ms +- 10 ms"])
        self.assertNotIn("LAPACK", self.text(WHOLE))

    def test_what_was_changed_alone_did_not_run_in_the_library(self):
        for stats in (f"lapack 4 1 6 0 9 0 9 0 {MS} 0 0 0 0;",
                      f"loop 0 16 exp d->d: 0 9 0 9 0 {MS} 0 0 0 0;"):
            shown = self.text("count processes 1;" + stats + cell(
                GEMM, DOUBLE, 3, "calls", STRAIGHT, 1))
            self.assertIn("the gain was not measured", shown)
            self.assertNotIn("every call ran in the baseline library", shown)

    def test_loops_that_were_never_compared_gain_what_nobody_knows(self):
        # Their arrays' memory was kept: that nothing was split does not mean
        # that nothing was gained.
        loops = (cell(GEMM, SINGLE, 0, "calls", STRAIGHT, 5) +
                 f"loop 1 20 add ff->f: 3 0 3 0 {9 * MS} 0 0 0 0 0;")
        self.assertIsNone(self.json(loops)["gain_s"])
        self.assertIn("the gain was not measured: ", self.text(loops))

    def test_any_loops_can_be_told(self):
        most = 2 ** 64 - 1
        damaged = (f"loop 0 31 \x1b[1m: {' '.join(10 * [str(most)])};" +
                   "".join(f"loop {i} 3 name of a loop that is long {i}: "
                           "1 2 3 4 5 6 7 8 9 10;" for i in range(1, 96)))
        shown = self.text(WHOLE + damaged)
        self.assertNotIn("\x1b", shown)
        self.assertEqual(shown.count("name of a loop"), 11)
        self.assertEqual(len(self.json(WHOLE + damaged)["loops"]), 96)

    def test_threads_share_the_wall_time(self):
        stats = WHOLE + f"opening {8 * MS};span {MS} {51 * MS} {200 * MS}"
        told = self.json(stats, (SLEEP, "0.2"))
        self.assertAlmostEqual(told["threads"], 4)
        self.assertAlmostEqual(told["parts"]["baseline_s"], 0.13 / 4)
        self.assertAlmostEqual(told["parts"]["waiting_s"], 0.005 / 4)
        self.assertAlmostEqual(told["gain_s"], (0.3 - 0.008) / 4)
        self.assertAlmostEqual(told["gain_high_s"] - told["gain_low_s"],
                               2 * 0.02 / 4)
        self.assertAlmostEqual(told["total"]["took_s"], 0.19)
        shown = self.text(stats, (SLEEP, "0.2"))
        self.check_width(shown)
        self.assertIn("  4.0 threads called BLAS at once: ", shown)
        self.assertIn("gained 73 ms +- 5 ms, ", shown)
        self.assertIn("opening Takt took 2 ms, which is taken off\n", shown)
        self.assertNotIn("at once", self.text(WHOLE))

    def test_what_took_no_time_is_left_out(self):
        import_time = (cell(DOT, SINGLE, 1, "calls", STRAIGHT, 1) +
                       cell(DOT, SINGLE, 1, "timed", STRAIGHT, 1) +
                       cell(DOT, SINGLE, 1, "ns", STRAIGHT, 9000))
        shown = self.text(LOSS + import_time)
        self.assertNotIn("sdot", shown)
        self.assertNotIn("others", shown)
        self.assertNotIn("\nall ", shown)
        shown = self.text(WHOLE + import_time)
        self.assertNotIn("sdot", shown)
        self.assertRegex(shown, r"\nothers +1 +- - +9 us +-\nall +1,041 ")
        self.assertNotIn("opening", shown)
        self.assertNotIn("BLAS routed, on the CPU", shown)

    def test_what_is_no_gain_is_not_called_one(self):
        noise = WHOLE + cell(GEMM, DOUBLE, 12, "error", 0, 200 * MS)
        shown = self.text(noise, (SLEEP, "0.2"))
        self.assertIn("no gain or loss was shown: +300 ms +- 420 ms, ", shown)
        self.assertNotIn("gained", shown)
        self.check_width(shown)

    def test_rare_reasons_are_left_out(self):
        rare = (cell(GEMM, DOUBLE, 3, "why", SETTLED, 10) +
                cell(GEMM, DOUBLE, 3, "why", STARTING, 11) +
                cell(GEMM, DOUBLE, 3, "why", WRONG, 1))
        shown = self.text(WHOLE + rare)
        self.assertNotIn("control call", shown)
        self.assertIn("11  Takt was not open yet", shown)
        self.assertIn("1  wrong arguments", shown)
        self.check_width(shown)

    def test_every_reason_fits(self):
        stats = WHOLE + "".join(cell(GEMM, DOUBLE, 3, "why", why, 123456789)
                                for why in range(15))
        self.check_width(self.text(stats))

    def test_a_long_command_is_cut(self):
        for text in ("x = 1\n" * 100, "\u00e4" * 300, "\x1b" * 300):
            shown = self.text(WHOLE, (TRUE, "-c", text))
            self.check_width(shown)
            self.assertRegex(shown, r"\ntakt run: /bin/true -c .+\.\.\.\n")
            self.assertEqual(self.json(WHOLE, (TRUE, text))["command"][1],
                             text)

    def test_without_a_gpu_nothing_is_said_of_one(self):
        cells = (cell(GEMM, DOUBLE, 6, "calls", STRAIGHT, 7) +
                 cell(GEMM, DOUBLE, 6, "why", EMPTY, 7) +
                 cell(GEMM, DOUBLE, 9, "calls", PLAIN, 5) +
                 cell(GEMM, DOUBLE, 9, "timed", PLAIN, 5) +
                 cell(GEMM, DOUBLE, 9, "ns", PLAIN, MS) +
                 cell(GEMM, DOUBLE, 9, "why", NO_GPU, 3) +
                 cell(GEMM, DOUBLE, 9, "why", POLICY, 2))
        text = self.text("count processes 1;" + cells)
        self.assertNotIn("GPU", text)
        self.assertIn("why calls were passed through\n", text)
        self.assertIn("7  nothing to multiply: a size or a factor is 0\n",
                      text)
        text = self.text("count processes 1;text gpu 0 Some GPU;" + cells)
        self.assertIn("why calls did not run on the GPU\n", text)
        self.assertIn("3  the process had no GPU\n", text)

    def test_json_has_every_number(self):
        told = self.json(WHOLE, (TRUE, "a b"))
        self.assertEqual(
            (told["schema"], told["command"], told["exit_status"],
             told["signal"], told["left_alone"], told["is_damaged"]),
            (3, [TRUE, "a b"], 0, None, None, False))
        self.assertEqual(
            (told["processes"], told["routers"], told["libraries"],
             told["gpu"], told["trouble"]),
            (2, 1, ["/usr/lib/libblas.so.3"], "NVIDIA H200", None))
        self.assertGreater(told["wall_s"], 0)
        self.assertEqual([(row["routine"], row["size_class"], row["least"],
                           row["most"]) for row in told["rows"]],
                         [("dgemm", 3, 8, 15), ("dgemm", 4, 16, 31),
                          ("dgemm", 12, 4096, 8191)])
        row = told["rows"][2]
        self.assertEqual(row["calls"], {"pass_through": 0, "baseline": 10,
                                        "scalar": 0, "simd": 0, "gpu": 30})
        self.assertEqual(row["timed"], row["calls"])
        self.assertEqual(row["measured_s"],
                         {"pass_through": 0, "baseline": 0.12, "scalar": 0,
                          "simd": 0, "gpu": 0.06})
        self.assertEqual((row["why"]["asleep"], sum(row["why"].values()),
                          row["judged"], row["gpu_s"], row["own_s"]),
                         (10, 10, 10, 0.02, 0.12))
        self.assertEqual((row["compared"], row["baseline_s"], row["instead_s"],
                          row["is_estimate"], row["untimed"]),
                         (30, 0.36, 0.06, False, 0))
        for name, want in (("took_s", 0.18), ("error_s", 0.01), ("without_s", 0.48),
                           ("gain_s", 0.3), ("gain_share", 0.625)):
            self.assertAlmostEqual(row[name], want)
        total = told["total"]
        self.assertEqual((total["calls"]["pass_through"], total["why"]["small"],
                          total["is_estimate"]), (1000, 1000, True))
        self.assertAlmostEqual(total["took_s"], 0.19)
        self.assertIsNone(told["rows"][0]["gain_s"])

    def test_a_loss_is_plain(self):
        shown = self.text(LOSS)
        self.assertRegex(shown, r"isamax +1Mi-2Mi +4 +100\.0% cpu +10 ms +"
                                r"-2 ms \+- 0 s\n")
        self.assertIn("LOST 2 ms", shown)
        self.assertIn("1 routed calls are not in it", shown)
        self.assertIn("3  the GPU would have taken longer", shown)
        self.assertIn("1  another way was tried", shown)
        self.assertNotIn("\nall ", shown)
        self.assertAlmostEqual(self.json(LOSS)["total"]["gain_s"], -0.002)

    def test_what_was_found_out_is_told(self):
        for words, told in (
                ("3 820000 20000 1 1 2",
                 ("routing gained in earlier runs",
                  "0.82 (0.78 to 0.86) of the time, so they are routed\n")),
                ("4 1100000 30000 0 1 0", ("so routing is off\n",)),
                ("2 980000 40000 0 0 1",
                 ("routing was no faster in earlier runs",
                  "not clearly less, so routing is off"))):
            stats = LOSS + f"result {words}"
            shown = self.text(stats)
            for line in told:
                self.assertIn(line, shown)
            self.check_width(shown)
        self.assertEqual(
            self.json(LOSS + "result 3 820000 20000 1 1 3")["comparison"],
            {"probes": 3, "ratio": 0.82, "error": 0.02, "is_routed": True,
             "is_clear": True, "memory": "gpu"})

    def test_nothing_was_seen(self):
        shown = self.text("count routers 0")
        self.assertIn("; 0 processes called BLAS", shown)
        self.assertIn("no call of BLAS was seen", shown)
        self.assertNotIn("routine", shown)
        told = self.json("count routers 0")
        self.assertEqual((told["rows"], told["processes"],
                          sum(told["total"]["calls"].values())), ([], 0, 0))

    def test_nothing_gained_and_nothing_known(self):
        straight = cell(GEMM, SINGLE, 0, "calls", STRAIGHT, 5)
        shown = self.text(straight)
        self.assertRegex(shown, r"sgemm +1 +5 +- - +- +-\n")
        self.assertIn("baseline library: nothing was gained\n", shown)
        self.assertNotIn("0.4 s", shown)
        shown = self.text(straight +
                          cell(GEMM, SINGLE, 0, "why", SETTLED, 5))
        self.assertIn("routing is tried when calls that can be routed have "
                      "taken 0.4 s in all\n", shown)
        self.check_width(shown)
        long = (cell(GEMM, SINGLE, 9, "calls", STRAIGHT, 5) +
                cell(GEMM, SINGLE, 9, "timed", STRAIGHT, 5) +
                cell(GEMM, SINGLE, 9, "ns", STRAIGHT, 500 * MS) +
                cell(GEMM, SINGLE, 9, "why", SETTLED, 5))
        self.assertNotIn("0.4 s", self.text(long))
        self.assertIn("5 calls were not timed", shown)
        shown = self.text(cell(NRM2, DOUBLE_COMPLEX, 31, "calls", SCALAR, 1))
        self.assertRegex(shown, r"dznrm2 +2Gi\+ +1 ")
        self.assertIn("the gain was not measured", shown)
        self.assertRegex(shown, r"dznrm2 .* not measured\n")

    def test_numbers_that_cannot_be(self):
        most = 2 ** 64 - 1
        stats = "".join(
            cell(GEMM, DOUBLE, size, field, index, most)
            for size in (5, 6) for field, index in (
                ("calls", GPU), ("calls", STRAIGHT), ("timed", GPU),
                ("ns", GPU), ("compared", 0), ("baseline", 0), ("instead", 0),
                ("why", SMALL), ("judged", 0), ("gpu", 0), ("own", 0)))
        stats += f"count processes {most};"
        told = self.json(stats)
        self.assertEqual((told["processes"], told["total"]["calls"]["gpu"],
                          told["total"]["why"]["small"],
                          told["total"]["untimed"]), (most,) * 4)
        self.assertEqual(told["total"]["gain_s"], 0)
        self.assertIn("18,446,744,073,709,551,615", self.text(stats))

    def test_damage(self):
        for stats in ("title nonsense", "size 100", "size 9999999"):
            shown = self.text(stats)
            self.assertIn("has damaged what was counted", shown)
            told = self.json(stats)
            self.assertTrue(told["is_damaged"])
            self.assertNotIn("rows", told)

    def test_texts_cannot_command_a_terminal(self):
        stats = ("text gpu 0 a\x1b[2Jb\xff;text trouble 0 libtakt.so: gone;"
                 "text library 3 endless;text library 1 ")
        stats += "y" * 300 + ";" + cell(GEMM, SINGLE, 2, "calls", PLAIN, 1)
        ran = takt(["--report", "--format", "json", "--", TRUE, "\x1b\x07"],
                   {k.encode(): v.encode("latin-1")
                    for k, v in self.env(FAKE_STATS=stats).items()})
        self.assertNotIn("\x1b", ran.stderr)
        told = json.loads(ran.stderr)
        self.assertEqual((told["gpu"], told["trouble"], told["command"]),
                         ("a\x1b[2Jb\ufffd", "libtakt.so: gone",
                          [TRUE, "\x1b\x07"]))
        self.assertEqual(len(told["libraries"]), 1)
        self.assertTrue(told["libraries"][0].startswith("yyyy"))
        shown = self.text(stats.replace("\xff", "x"), (TRUE, "\x1b[2J"))
        self.assertNotIn("\x1b", shown)
        self.assertIn("trouble: libtakt.so: gone", shown)

    def test_it_goes_to_standard_error_by_default(self):
        ran = takt(["--report", "--", SH, "-c", "echo out; exit 4"],
                   self.env())
        self.assertEqual((ran.returncode, ran.stdout), (4, "out\n"))
        self.assertIn(", exit status 4; 0 processes", ran.stderr)

    def test_processes_of_a_tree_count_together(self):
        stats = cell(GEMM, DOUBLE, 6, "calls", STRAIGHT, 1) + \
            "count processes 1;"
        ran = self.reported("--format", "json", "--", SH, "-c",
                            f"{TRUE} & {TRUE}; wait; kill -KILL $$",
                            FAKE_STATS=stats)
        self.assertEqual(ran.returncode, -signal.SIGKILL)
        told = json.loads(self.report())
        self.assertEqual((told["processes"], told["signal"],
                          told["exit_status"]), (3, 9, None))

    def test_a_report_within_a_report(self):
        inner = self.path("inner")
        stats = cell(GEMM, DOUBLE, 6, "calls", STRAIGHT, 1)
        for words, inner_calls in (([], None),
                                   (["--report", "--format", "json",
                                     "--output", inner], 1)):
            ran = self.reported("--format", "json", "--", TAKT, "run", *words,
                                "--", TRUE, FAKE_STATS=stats)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            calls = json.loads(self.report())["total"]["calls"]["pass_through"]
            self.assertEqual(calls, 2 if inner_calls is None else 1)
            if inner_calls is not None:
                with open(inner) as file:
                    self.assertEqual(json.load(file)["total"]["calls"][
                        "pass_through"], inner_calls)


class Pages(unittest.TestCase):
    def test_help_man_and_completion(self):
        shown = takt(["--help"]).stdout
        for word in ("--report", "--policy", "--pin", "examples:"):
            self.assertIn(word, shown)
        self.assertLess(max(map(len, shown.splitlines())), 100)
        page = subprocess.run([TAKT, "help", "--man", "run"],
                              capture_output=True, text=True, timeout=600)
        self.assertIn("takt\\-run", page.stdout)
        script = subprocess.run([TAKT, "completion", "bash"],
                                capture_output=True, text=True, timeout=600)
        self.assertIn("'run --pin'", script.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
