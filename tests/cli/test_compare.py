#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt run --compare` as a user meets it.

What is preloaded is fake_blas.c, which writes known numbers where the real
library counts; so a program can tell by LD_PRELOAD which run it is.
usage: test_compare.py PATH_TO_TAKT
"""
import json
import os
import pty
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

TAKT = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SH = "/bin/sh"
MS = 1_000_000
# One call that ran elsewhere, in 40 ms instead of 60.
GAIN = ("count processes 1;cell 0 1 9 calls 3 1;cell 0 1 9 timed 3 1;"
        f"cell 0 1 9 ns 3 {40 * MS};cell 0 1 9 compared 0 1;"
        f"cell 0 1 9 baseline 0 {60 * MS};cell 0 1 9 instead 0 {40 * MS}")


def setUpModule():
    global SHARED, FAKE
    SHARED = tempfile.TemporaryDirectory(dir="/tmp", prefix="takt")
    FAKE = os.path.join(SHARED.name, "libtakt-blas.so")
    subprocess.run(["cc", "-std=gnu17", "-I", ROOT, "-shared", "-fPIC", "-o",
                    FAKE, os.path.join(HERE, "fake_blas.c")], check=True,
                   timeout=600)


def tearDownModule():
    SHARED.cleanup()


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp", prefix="takt")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.counts = self.path("counts")
        os.mkdir(self.counts)
        self.addCleanup(lambda: self.assertEqual(os.listdir(self.counts), []))

    def path(self, name):
        return os.path.join(self.folder, name)

    def env(self, **changes):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TAKT_", "LD_", "XDG_RUNTIME"))}
        env.update(TAKT_RUN_PRELOAD=FAKE, XDG_RUNTIME_DIR=self.counts,
                   TAKT_DB="", TMPDIR=self.folder,
                   ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
        env.update(changes)
        return env

    def takt(self, *words, **options):
        options = {"capture_output": True, "text": True, "timeout": 120,
                   "stdin": subprocess.DEVNULL, "env": self.env(), **options}
        if "input" in options:
            del options["stdin"]
        return subprocess.run([TAKT, "run", *words], **options)

    def compare(self, script, *words, pairs=2, **options):
        return self.takt(f"--compare={pairs}", *words, "--", SH, "-c", script,
                         **options)

    def told(self, script, *words, code=0, **options):
        ran = self.compare(script, "--format", "json", *words, **options)
        self.assertEqual((ran.returncode, ran.stdout.count("\n")), (code, 1),
                         ran)
        return json.loads(ran.stdout)

    def log(self, name="log"):
        with open(self.path(name)) as file:
            return file.read().split()

    # ---- which runs there are ----

    SAY = 'case "$LD_PRELOAD" in *libtakt-blas*) echo takt;; *) echo plain;; ' \
          'esac >> "$TMPDIR/log"'

    def test_every_pair_has_a_run_of_each(self):
        told = self.told(self.SAY, pairs=40)
        log = self.log()
        self.assertEqual((len(log), told["pairs"], told["end"]),
                         (82, 40, "pairs"))
        pairs = [tuple(log[i:i + 2]) for i in range(0, len(log), 2)]
        self.assertEqual(pairs[0], ("plain", "takt"))
        for pair, run in zip(pairs[1:], told["runs"], strict=True):
            self.assertEqual(pair[0], "takt" if run["takt_first"] else "plain")
            self.assertEqual(set(pair), {"plain", "takt"})
        # 40 coins that all fall alike: once in 5e11 times
        self.assertEqual(len(set(pairs[1:])), 2)

    def test_plain_is_the_environment_of_the_user(self):
        script = 'env | sort > "$TMPDIR/env.$(test -z "$LD_PRELOAD"; echo $?)"'
        ran = self.compare(script, "--policy", "moe", "--threads", "1",
                           "--no-gpu", env=self.env(TAKT_EXPLORE="0.5"))
        self.assertEqual(ran.returncode, 0, ran)
        want = subprocess.run([SH, "-c", "env | sort"], stdin=-3, text=True,
                              env=self.env(TAKT_EXPLORE="0.5"),
                              capture_output=True).stdout.splitlines()
        with open(self.path("env.0")) as file:
            self.assertEqual(file.read().splitlines(), want)
        with open(self.path("env.1")) as file:
            seen = dict(line.split("=", 1)
                        for line in file.read().splitlines() if "=" in line)
        self.assertEqual((seen["TAKT_POLICY"], seen["TAKT_THREADS"],
                          seen["TAKT_GPU"], seen["TAKT_EXPLORE"]),
                         ("moe", "1", "", "0.5"))
        self.assertIn("TAKT_RUN_STATS", seen)

    def test_without_a_number_it_ends_by_itself(self):
        ran = self.takt("--compare", "--format", "json", "--", SH, "-c",
                        self.SAY)
        told = json.loads(ran.stdout)
        self.assertIn(told["end"], ("narrow", "most_pairs"))
        self.assertTrue(6 <= told["pairs"] <= 25, told["pairs"])
        wall = told["wall"]
        self.assertEqual(told["end"] == "narrow",
                         wall["high"] / wall["low"] <= 1.04)

    # ---- what is told ----

    def test_the_members(self):
        told = self.told("echo 1.5", pairs=6)
        self.assertEqual(
            list(told),
            ["schema", "command", "store", "store_is_new", "pairs", "end",
             "took_s", "wall", "cpu", "verdict", "text", "claimed",
             "measured_share", "others", "output", "failure", "first", "runs"])
        self.assertEqual(told["schema"], 1)
        self.assertEqual(told["command"], [SH, "-c", "echo 1.5"])
        self.assertIsNone(told["store"])
        self.assertIsNone(told["failure"])
        self.assertEqual(told["output"],
                         {"runs": "same", "number_difference": None})
        for times in told["wall"], told["cpu"]:
            self.assertGreater(times["plain_s"], 0)
            self.assertGreater(times["takt_s"], 0)
            self.assertTrue(times["low"] <= times["ratio"] <= times["high"])
        self.assertAlmostEqual(told["measured_share"],
                               1 - told["wall"]["ratio"])
        self.assertEqual(len(told["runs"]), 6)
        self.assertEqual(
            list(told["first"]["plain"]),
            ["wall_s", "cpu_s", "others", "output_bytes", "output_sha256"])
        self.assertEqual(
            list(told["first"]["takt"]),
            ["wall_s", "cpu_s", "others", "output_bytes", "output_sha256",
             "calls", "elsewhere", "claimed_gain_s", "claimed_error_s"])
        self.assertEqual(told["first"]["plain"]["output_bytes"], 4)

    # What a run with Takt does, and one without. Of 12 pairs one may be slow for
    # another reason without a change of the verdict.
    WITH = 'case "$LD_PRELOAD" in *takt*) %s;; *) %s;; esac'

    def test_what_takes_longer_is_slower(self):
        told = self.told(self.WITH % ("sleep 0.2", "true"), pairs=12)
        self.assertEqual(told["verdict"], "slower")
        self.assertGreater(told["wall"]["low"], 1)
        ran = self.compare(self.WITH % ("sleep 0.2", "true"), pairs=12)
        self.assertIn("SLOWER with Takt", ran.stdout)

    def test_what_takes_less_is_faster(self):
        told = self.told(self.WITH % ("true", "sleep 0.2"), pairs=12)
        self.assertEqual(told["verdict"], "faster")
        self.assertIn("times as fast with Takt", told["text"])

    def test_the_time_of_all_children_counts(self):
        spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
        script = self.WITH % (f'{SH} -c "({spin.replace("$", chr(92) + "$")})"',
                              "true")
        told = self.told(script, pairs=2)
        self.assertGreater(told["cpu"]["takt_s"], 5 * told["cpu"]["plain_s"])

    def test_what_others_use_meanwhile_is_told(self):
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
            self.addCleanup(other.kill)
            told = self.told("sleep 0.4", pairs=2)
            ran = self.compare("sleep 0.4", pairs=2)
            other.kill()
        used = [run[side]["others"] for run in told["runs"]
                for side in ("plain", "takt")]
        self.assertAlmostEqual(told["others"], statistics.median(used))
        self.assertGreater(told["others"], 0.2)
        self.assertRegex(ran.stdout, r"other programs used \d+\.\d processors")

    def test_of_a_short_run_it_is_not_known(self):
        told = self.told("true", pairs=1)
        for run in told["runs"][0]["plain"], told["runs"][0]["takt"]:
            if run["wall_s"] < 0.1:
                self.assertIsNone(run["others"])

    def test_few_pairs_have_no_interval(self):
        told = self.told("true", pairs=5)
        self.assertEqual((told["verdict"], told["wall"]["low"]),
                         ("unknown", None))
        self.assertIn("too few pairs", self.compare("true", pairs=5).stdout)

    def test_what_the_reports_claim(self):
        told = self.told(":", pairs=2, env=self.env(FAKE_STATS=GAIN))
        for run in told["runs"]:
            taken = run["takt"]
            self.assertEqual((taken["calls"], taken["elsewhere"]), (1, 1))
            self.assertAlmostEqual(taken["claimed_gain_s"], 0.02)
        shares = [0.02 / (run["takt"]["wall_s"] + 0.02)
                  for run in told["runs"]]
        claimed = told["claimed"]
        self.assertEqual(claimed["runs"], 2)
        self.assertAlmostEqual(claimed["share"], sum(shares) / 2)
        self.assertAlmostEqual(claimed["least"], min(shares))
        self.assertAlmostEqual(claimed["most"], max(shares))
        right = 0
        for run, share in zip(told["runs"], shares):
            error = (run["takt"]["claimed_error_s"] /
                     (run["takt"]["wall_s"] + 0.02))
            right += abs(share - told["measured_share"]) <= error
        self.assertEqual(claimed["right"], right)
        ran = self.compare("true", env=self.env(FAKE_STATS=GAIN))
        self.assertRegex(ran.stdout, r"the reports of the runs claim \+\d")
        self.assertIn("100.0% of them routed", ran.stdout)

    def test_calls_of_which_nothing_is_known_claim_nothing(self):
        stats = "count processes 1;cell 0 1 9 calls 3 1"
        told = self.told("true", env=self.env(FAKE_STATS=stats))
        self.assertIsNone(told["claimed"])
        self.assertIsNone(told["runs"][0]["takt"]["claimed_gain_s"])

    def test_damaged_counts_claim_nothing(self):
        told = self.told("true", env=self.env(FAKE_STATS="title nonsense"))
        self.assertIsNone(told["claimed"])

    def test_the_text_fits_80_columns(self):
        for words in (["true"], ["true", *(["a long word"] * 30)],
                      ["echo", "\x1b[31m" * 30]):
            ran = self.takt("--compare=6", "--", *words,
                            env=self.env(FAKE_STATS=GAIN))
            self.assertEqual(ran.returncode, 0)
            self.assertLessEqual(max(map(len, ran.stdout.splitlines())), 80,
                                 ran.stdout)
            self.assertNotIn("\x1b", ran.stdout)

    def test_how_the_store_began(self):
        path = self.path("my.db")
        told = self.told("true", "--db", path)
        self.assertEqual((told["store"], told["store_is_new"]), (path, True))
        with open(path, "w"):
            pass
        told = self.told("true", env=self.env(TAKT_DB=path))
        self.assertEqual((told["store"], told["store_is_new"]), (path, False))

    def test_a_file_for_the_report(self):
        out = self.path("report")
        ran = self.compare("echo hidden", "--output", out, "--format", "json")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
        with open(out) as file:
            self.assertEqual(json.load(file)["pairs"], 2)

    def test_a_report_that_cannot_be_written(self):
        ran = self.compare("true", "--output", "/dev/full")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("the report could not be written", ran.stderr)

    # ---- input and output ----

    def test_every_run_gets_the_same_input(self):
        content = os.urandom(300000)
        script = 'cksum >> "$TMPDIR/sums"'
        self.assertEqual(self.compare(script, input=content,
                                      text=False).returncode, 0)
        with open(self.path("input"), "wb") as out:
            out.write(content)
        with open(self.path("input"), "rb") as file:
            self.compare(script, stdin=file)
        with open(self.path("sums")) as file:
            sums = file.read().splitlines()
        want = subprocess.run(["cksum"], input=content,
                              capture_output=True).stdout.decode().strip()
        self.assertEqual((len(sums), set(sums)), (12, {want}))

    def test_a_part_of_a_file_is_the_same_part_each_time(self):
        with open(self.path("input"), "w") as out:
            out.write("one\ntwo\n")
        with open(self.path("input")) as file:
            os.lseek(file.fileno(), 4, os.SEEK_SET)
            self.compare('cat >> "$TMPDIR/log"', stdin=file)
        self.assertEqual(self.log(), ["two"] * 6)

    def test_output_is_shown_when_asked_for(self):
        for words, want in (([], 0), (["--show-output"], 6)):
            ran = self.compare("echo out; echo err >&2", *words)
            self.assertEqual((ran.stderr.count("out\n"),
                              ran.stderr.count("err\n")), (want, want))
            self.assertNotIn("\nout\n", ran.stdout)

    def test_much_output_needs_no_space(self):
        told = self.told("yes 0123456789012345678901234567890 | "
                         "head -c 5000000", pairs=1)
        self.assertEqual(told["first"]["plain"]["output_bytes"], 5000000)
        self.assertEqual(told["output"]["runs"], "same")

    def test_output_that_differs_only_with_takt(self):
        told = self.told(self.WITH % ("echo 1.0001", "echo 1.0000"))
        self.assertEqual(told["output"]["runs"], "differs")
        self.assertAlmostEqual(told["output"]["number_difference"], 1e-4, 6)
        ran = self.compare(self.WITH % ("echo 1.0001", "echo 1.0000"))
        self.assertEqual(ran.returncode, 0)
        self.assertIn("DIFFERS, and only with Takt\n  in numbers alone, by at "
                      "most 1.0e-04", ran.stdout)
        told = self.told(self.WITH % ("echo no", "echo yes"))
        self.assertEqual(told["output"],
                         {"runs": "differs", "number_difference": None})
        ran = self.compare(self.WITH % ("echo no", "echo yes"))
        self.assertIn("not in the digits of numbers alone", ran.stdout)

    def test_output_that_differs_without_takt_too(self):
        ran = self.compare("date +%N")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("differs from run to run, without Takt too", ran.stdout)
        self.assertEqual(self.told("date +%N")["output"]["runs"], "varies")

    def test_children_that_live_on_are_not_waited_for(self):
        script = 'sleep 60 & echo $! >> "$TMPDIR/log"; echo done'
        told = self.told(script, pairs=1)
        for child in self.log():
            os.kill(int(child), signal.SIGKILL)
        self.assertEqual(told["first"]["plain"]["output_bytes"], 5)

    # ---- failures ----

    def test_a_program_that_fails_by_itself(self):
        told = self.told("echo why >&2; exit 3", code=1)
        self.assertEqual(told["failure"], {
            "with_takt": False, "exit_status": 3, "signal": None,
            "stderr": "why\\n"})
        self.assertEqual((told["pairs"], told["first"], told["end"]),
                         (0, None, "failed"))
        ran = self.compare("echo why >&2; exit 3")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("FAILED without Takt: exit status 3\n", ran.stdout)
        self.assertIn("\nwhy\n", ran.stdout)

    def test_a_program_that_fails_only_with_takt(self):
        told = self.told(self.WITH % ("kill -SEGV $$", "true"), code=1)
        self.assertEqual((told["failure"]["with_takt"],
                          told["failure"]["signal"]), (True, signal.SIGSEGV))
        ran = self.compare(self.WITH % ("kill -SEGV $$", "true"))
        self.assertIn("FAILED with Takt, and not without: signal 11",
                      ran.stdout)

    def test_what_is_known_is_told_when_a_later_run_fails(self):
        script = 'echo >> "$TMPDIR/n"; ' \
                 'test "$(wc -l < "$TMPDIR/n")" -lt 7'
        told = self.told(script, pairs=9, code=1)
        self.assertEqual((told["pairs"], len(told["runs"])), (2, 2))
        self.assertIsNotNone(told["wall"]["ratio"])

    def test_the_end_of_standard_error_is_shown(self):
        ran = self.compare("seq 1 5000 >&2; exit 1")
        self.assertIn("\n4999\n5000\n", ran.stdout)
        self.assertNotIn("\n3000\n", ran.stdout)

    def test_what_cannot_be_run(self):
        for program, code in (("no-such-command", 127), (self.folder, 126)):
            ran = self.takt("--compare=2", "--", program)
            self.assertEqual((ran.returncode, ran.stdout), (code, ""))
            self.assertEqual(ran.stderr.count("\n"), 1)

    def test_mistakes_are_named_before_anything_starts(self):
        mark = self.path("mark")
        end = ["--", "touch", mark]
        for words, said in (
                (["--compare=0", *end], "is no number of pairs"),
                (["--compare=1001", *end], "is no number of pairs"),
                (["--compare=x", *end], "is not a number"),
                (["--compare", "--report", *end], "a report of its own"),
                (["--show-output", *end], "--show-output is for --compare"),
                (["--compare"], "no command"),
                (["--compare", "x", *end], "the command comes after --"),
                (["--compare", "--output", "/no/such/x", *end],
                 "cannot be written")):
            with self.subTest(words):
                ran = self.takt(*words)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                self.assertIn(said, ran.stderr)
                self.assertFalse(os.path.exists(mark))

    def test_a_number_may_be_a_word_of_its_own(self):
        ran = self.takt("--compare", "3", "--format", "json", "--", "true")
        self.assertEqual(json.loads(ran.stdout)["pairs"], 3)

    def test_nothing_to_compare(self):
        ran = self.takt("--compare", "--", "true",
                        env=self.env(LD_PRELOAD=FAKE))
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("no run without Takt", ran.stderr)

    # ---- signals ----

    def start(self, script, **options):
        ran = subprocess.Popen(
            [TAKT, "run", "--compare=50", "--format", "json", "--", SH, "-c",
             script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=self.env(), text=True, **options)
        self.addCleanup(ran.kill)
        return ran

    def await_lines(self, name, count):
        while not os.path.exists(self.path(name)) or \
                len(self.log(name)) < count:
            time.sleep(0.01)

    def gone(self, pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] == "Z"
        except FileNotFoundError:
            return True

    # A shell has what runs in its background ignore SIGINT, so this one waits.
    def test_a_signal_ends_all_and_what_is_known_is_told(self):
        script = 'echo $$ >> "$TMPDIR/log"; if [ $(wc -l < "$TMPDIR/log") ' \
                 '-ge 7 ]; then sh -c "echo \\$\\$ > \\"$TMPDIR/sleeper\\"; ' \
                 'exec sleep 100"; fi'
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                ran = self.start(script)
                self.await_lines("sleeper", 1)
                ran.send_signal(number)
                out, _ = ran.communicate(timeout=600)
                self.assertEqual(ran.returncode, -number)
                told = json.loads(out)
                self.assertEqual((told["end"], told["pairs"]), ("signal", 2))
                for pid in (*self.log("sleeper"), self.log()[-1]):
                    while not self.gone(pid):
                        time.sleep(0.01)
                os.unlink(self.path("sleeper"))
                os.unlink(self.path("log"))

    def test_one_that_does_not_end_is_killed(self):
        ran = self.start('trap "" TERM INT; echo >> "$TMPDIR/x"; '
                         'while true; do sleep 0.1; done')
        while not os.path.exists(self.path("x")):
            time.sleep(0.01)
        ran.send_signal(signal.SIGTERM)
        out, _ = ran.communicate(timeout=600)
        self.assertEqual(ran.returncode, -signal.SIGTERM)
        self.assertEqual(json.loads(out)["pairs"], 0)

    # ---- on a terminal ----

    def on_terminal(self, *words):
        """What is shown there, and how it ended."""
        try:
            pid, terminal = pty.fork()
        except OSError as problem:
            self.skipTest(f"there are no terminals here: {problem}")
        if pid == 0:
            os.execve(TAKT, [TAKT, "run", *words], self.env())
        shown = b""
        try:
            while more := os.read(terminal, 4096):
                shown += more
        except OSError:
            pass
        os.close(terminal)
        return shown.decode(), os.waitstatus_to_exitcode(
            os.waitpid(pid, 0)[1])

    def test_progress_is_shown_on_terminals_alone(self):
        self.assertEqual(self.compare("true").stderr, "")
        shown, code = self.on_terminal("--compare=3", "--", "true")
        self.assertEqual(code, 0)
        self.assertIn("pair 2 of 3", shown)
        self.assertTrue(re.search(r"\r\x1b\[Ktakt run --compare: true", shown),
                        shown)

    def test_a_terminal_is_no_input(self):
        shown, code = self.on_terminal("--compare=1", "--", "cat")
        self.assertEqual(code, 0)
        self.assertIn("every run printed the same: 0 bytes", shown)

    def test_a_program_that_wants_the_terminal(self):
        shown, code = self.on_terminal("--compare=1", "--", SH, "-c",
                                       "read line < /dev/tty")
        self.assertEqual(code, 1)
        self.assertIn("it wanted the terminal", shown)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
