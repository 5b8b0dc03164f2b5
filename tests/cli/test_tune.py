#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tuning and what is asked of it afterwards: tune, map, explain, history, pin.

usage: test_tune.py PATH_TO_TAKT

Nothing here is about times: a machine that runs tests is a loaded one, which
is why every tune says --anyway.
"""
import contextlib
import json
import math
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

TAKT = sys.argv[1]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAKE_CUDA = os.environ.get("TAKT_TEST_FAKE_CUDA")
SMALL = ("--ops add,matmul --dtype f32 --sizes 1024,65536,32x32x32,64x64x64 "
         "--budget 500 --anyway")


def takt(line, db=None, **options):
    words = line.split() if isinstance(line, str) else line
    env = dict(os.environ, **options.pop("env", {}))
    if db is not None:
        env["TAKT_DB"] = str(db)
    return subprocess.run([TAKT, *words], capture_output=True, text=True,
                          timeout=600, env=env, **options)


def build_has_a_store():
    with tempfile.TemporaryDirectory() as folder:
        ran = takt(["history", "export", "-", "--db", folder + "/none"])
        return "no store" not in ran.stderr


@unittest.skipUnless(build_has_a_store(), "this build has no store")
class Tuned(unittest.TestCase):
    """One store, tuned once, asked in many ways."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.db = cls.path / "store.db"
        cls.pin = cls.path / "pinned"
        cls.first = takt(f"tune {SMALL} --json --pin {cls.pin}", cls.db)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, line, db=None):
        ran = takt(line, db or self.db)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), line)
        return json.loads(ran.stdout)

    def test_tune_says_what_it_did(self):
        self.assertEqual((self.first.returncode, self.first.stderr), (0, ""))
        said = json.loads(self.first.stdout)
        self.assertEqual(said["cells"], 4)
        self.assertGreater(said["samples"], 20)
        self.assertEqual(said["store"], str(self.db))
        self.assertTrue(said["complete"])

    def test_a_second_tune_has_less_to_do(self):
        db = self.path / "again.db"
        first = self.ask(f"tune {SMALL} --json", db)
        for _ in range(5):  # a busy machine makes itself known only later
            later = self.ask(f"tune {SMALL} --json", db)
            if later["known_cells"] > 0 and \
                    later["samples"] < first["samples"] / 2:
                break
        self.assertLess(later["samples"], first["samples"] / 2)
        self.assertGreater(later["known_cells"], 0)

    def test_select_says_how_it_knows(self):
        text = takt("select matmul 64x64x64", self.db).stdout
        self.assertIn("measured, ", text)
        self.assertIn("% sure", text)
        self.assertIn(", next ", text)
        answer = self.ask("select --json matmul 64x64x64")
        self.assertEqual(answer["reason"], "model")
        self.assertGreater(answer["samples"], 0)
        self.assertEqual(answer["situation"], "fresh")
        self.assertIn("prior", takt("select matmul 64x64x64", "").stdout)

    def test_explain_shows_every_expert(self):
        answer = self.ask("explain --json add 64Ki --situation repeat")
        self.assertEqual(len(answer["policies"]), 4)
        measured = [e for e in answer["experts"] if e["samples"] > 0]
        self.assertGreater(len(measured), 0)
        self.assertEqual(sum(e["chosen"] for e in answer["experts"]), 1)
        self.assertTrue(answer["experts"][0]["chosen"])
        for row in answer["experts"]:
            self.assertLessEqual(row["low_us"], row["high_us"])
        self.assertTrue(answer["why"])
        self.assertIsNone(answer["not_measured"])

    def test_explain_says_why_nothing_is_known(self):
        said = self.ask("explain --json sum 64Ki")["not_measured"]
        self.assertIn("no sample", said)
        said = self.ask("explain --json add 64Ki", self.path / "new.db")
        self.assertIn("takt tune", said["not_measured"])
        ran = takt("explain --json add 64Ki --db=", self.db)
        self.assertIn("no store", json.loads(ran.stdout)["not_measured"])

    def test_map_covers_every_size_once(self):
        rows = self.ask("map --json add matmul")
        self.assertEqual([row["op"] for row in rows], ["add", "matmul"])
        for row in rows:
            ends = [(r["from"][0], r["to"][0]) for r in row["ranges"]]
            self.assertEqual(ends, sorted(ends))
            for (_, high), (low, _) in zip(ends, ends[1:]):
                self.assertLess(high, low)
            self.assertGreater(sum(r["measured"] for r in row["ranges"]), 0)

    def test_map_as_text_and_table(self):
        text = takt("map add", self.db).stdout
        self.assertIn("measured", text)
        self.assertIn("charts:", text)
        lines = takt("map add matmul --layouts --csv", self.db).stdout
        lines = lines.splitlines()
        columns = len(lines[0].split(","))
        self.assertGreater(len(lines), 28)
        for line in lines:
            self.assertEqual(len(line.split(",")), columns, line)

    def test_the_pin_file_of_the_document_is_obeyed(self):
        document = (ROOT / "docs/formats/pin.md").read_text()
        example = re.search(r"^    takt pin 1\n(    .*\n)+", document, re.M)[0]
        text = re.sub("^    ", "", example, flags=re.M)
        experts = json.loads(takt("machine --json").stdout)["experts"]
        mine = [name for name in experts if name.startswith(("scalar", "simd"))]
        # Two experts that this machine has, in place of those of another.
        text = text.replace("simd.avx2\n", mine[0] + "\n")
        text = text.replace("simd.avx512x2", mine[-1])
        pin = self.path / "document.pin"
        pin.write_text(text)
        for line, expert in (("add 6000", mine[0]),
                             ("matmul 64x64x64", mine[-1])):
            ran = takt(f"select --json {line}", self.db,
                       env={"TAKT_PIN": str(pin)})
            self.assertEqual(ran.returncode, 0, ran.stderr)
            answer = json.loads(ran.stdout)
            self.assertEqual((answer["reason"], answer["expert"]),
                             ("pinned", expert))

    def test_rows_without_samples_are_not_shown(self):
        rows = self.ask("history show add --json")
        self.assertGreater(len(rows), 0)
        self.assertTrue(all(row["samples"] > 0 for row in rows))
        text = takt("history show add", self.db).stdout.splitlines()
        self.assertEqual(len(text), 1 + len(rows))

    def test_pinned_decisions_are_replayed(self):
        self.assertTrue(self.pin.read_text().startswith("takt pin 1\n"))
        ran = takt("select --json matmul 64x64x64", self.db,
                   env={"TAKT_PIN": str(self.pin)})
        answer = json.loads(ran.stdout)
        self.assertEqual(answer["reason"], "pinned")
        self.assertIn(f" {answer['expert']}\n", self.pin.read_text())
        ran = takt("select matmul 64x64x64", self.db,
                   env={"TAKT_PIN": str(self.path / "none")})
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1))
        self.assertIn("TAKT_PIN", ran.stderr)

    def test_history_lists_and_shows(self):
        ops = self.ask("history list --json")
        self.assertEqual([row["op"] for row in ops], ["add", "matmul"])
        rows = self.ask("history show matmul 64x64x64 --json")
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertEqual(row["layout"], "nn.square")
            self.assertGreater(row["samples"], 0)
            self.assertGreater(row["mean_us"], 0)
        everything = self.ask("history show matmul --json")
        self.assertGreater(len(everything), len(rows))

    def test_export_reset_import_is_a_circle(self):
        db, text = self.path / "circle.db", self.path / "text"
        self.ask(f"history merge {self.db} --json", db)
        self.assertEqual(takt(f"history export {text}", db).returncode, 0)
        self.assertEqual(takt("history export -", db).stdout, text.read_text())
        self.assertEqual(takt("history reset --yes", db).returncode, 0)
        self.assertEqual(self.ask("history list --json", db), [])
        self.assertEqual(takt(f"history import {text}", db).returncode, 0)
        self.assertEqual(takt("history export", db).stdout, text.read_text())

    def test_reset_of_one_op_keeps_the_others(self):
        db = self.path / "half.db"
        self.ask(f"history merge {self.db} --json", db)
        self.assertEqual(takt("history reset add --yes", db).returncode, 0)
        ops = self.ask("history list --json", db)
        self.assertEqual([row["op"] for row in ops], ["matmul"])

    def test_reset_wants_to_be_meant(self):
        ran = takt("history reset", self.db, stdin=subprocess.DEVNULL)
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1))
        self.assertIn("--yes", ran.stderr)

    def test_merging_twice_is_merging_once(self):
        db = self.path / "merged.db"
        first = self.ask(f"history merge {self.db} --json", db)
        once = takt("history export", db).stdout
        second = self.ask(f"history merge {self.db} {self.db} --json", db)
        self.assertGreater(first["added"], 0)
        self.assertEqual((second["added"], second["renewed"]), (0, 0))
        self.assertEqual(takt("history export", db).stdout, once)

    def test_gain_sums_up(self):
        db = self.path / "gain.db"
        self.ask(f"history merge {self.db} --json", db)
        takt("bench add matmul --experts adaptive --seconds 0.02", db)
        answer = self.ask("history gain --json", db)
        total = answer["total"]
        self.assertEqual((answer["schema"], answer["programs"]), (2, []))
        self.assertGreater(total["calls"], 0)
        spent = sum(row["spent_s"] for row in answer["ops"])
        self.assertAlmostEqual(spent / total["spent_s"], 1, places=9)
        names = [row["baseline"] for row in total["against"]]
        self.assertEqual((names[0], names[-1]), ("scalar", "moe"))
        for i, row in enumerate(total["against"]):
            by_op = [op["against"][i] for op in answer["ops"]]
            self.assertAlmostEqual(sum(op["predicted_s"] for op in by_op) /
                                   row["predicted_s"], 1, places=9)
            self.assertEqual(row["compared"],
                             sum(op["compared"] for op in by_op))
            if row["compared"] == 0:
                self.assertIsNone(row["gain_s"])
                continue
            self.assertAlmostEqual(row["gain_s"],
                                   sum(op["gain_s"] or 0 for op in by_op))
            self.assertLessEqual(row["gain_low_s"], row["gain_s"])
            self.assertGreaterEqual(row["gain_high_s"], row["gain_s"])

    def store_of(self, records):
        """A store with records: changes of one of this machine's."""
        text = takt("history export", self.db).stdout.splitlines()
        columns = text[1].split("\t")
        like = dict(zip(columns, next(line for line in text[2:]
                                      if "\tadd\t" in line).split("\t")))
        lines = sorted("\t".join(str(dict(like, situation=0, **record)[name])
                                 for name in columns) for record in records)
        path = self.path / "made.tsv"
        path.write_text("\n".join([*text[:2], *lines,
                                   f"end\t{len(lines)}", ""]))
        db = self.path / "made.db"
        db.unlink(missing_ok=True)
        self.ask(f"history import {path} --json", db)
        return db

    def tuned_store(self, records):
        """A store that has these of one size of add, by expert. The calls of
        records that come from elsewhere are not counted."""
        db = self.path / "tuned.db"
        db.unlink(missing_ok=True)
        takt("tune --ops add --dtype f32 --sizes 65536 --budget 5 --anyway", db)
        with contextlib.closing(sqlite3.connect(db)) as store:
            names = dict(store.execute("SELECT text, id FROM name"))
            keep = [names[expert] for expert in records]
            store.execute(
                "DELETE FROM record WHERE situation <> 0 OR op <> ? OR expert "
                f"NOT IN ({', '.join(map(str, keep))})", (names["add"],))
            for expert, values in records.items():
                sets = ", ".join(f"{name} = {value}"
                                 for name, value in values.items())
                changed = store.execute(f"UPDATE record SET {sets} WHERE "
                                        "expert = ?", (names[expert],))
                self.assertEqual(changed.rowcount, 1)
            store.commit()
        return db

    def one_thread_of_simd(self):
        answer = self.ask("history gain --json", self.db)
        name = answer["total"]["against"][1]["baseline"]
        if not name.startswith("simd."):
            self.skipTest("there is no SIMD code for this machine")
        return name

    @staticmethod
    def times(seconds, n, spread, calls=0):
        """What a record says of these."""
        return {"n": float(n), "mean": math.log(seconds * 1e9),
                "m2": spread * spread * (n - 1), "calls": float(calls),
                "seconds": calls * seconds}

    def test_a_gain_is_the_difference_of_measured_means(self):
        simd = self.one_thread_of_simd()
        db = self.tuned_store({
            "scalar": self.times(5e-3, 25, 0.1),
            simd: self.times(2e-3, 100, 0.2, calls=1000)})
        total = self.ask("history gain --json", db)["total"]
        against = {row["baseline"]: row for row in total["against"]}
        self.assertAlmostEqual(total["spent_s"], 2)
        self.assertAlmostEqual(against["scalar"]["gain_s"], 3)
        error = 2 * 1000 * math.hypot(5e-3 * 0.1 / 5, 2e-3 * 0.2 / 10)
        self.assertAlmostEqual(against["scalar"]["gain_low_s"], 3 - error)
        self.assertAlmostEqual(against["scalar"]["gain_high_s"], 3 + error)
        self.assertEqual(against[simd]["gain_s"], 0)
        shown = takt("history gain", db).stdout
        self.assertRegex(shown, r"scalar +100% +\+3 s \+- 215 ms ")
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)

    def test_what_was_not_measured_is_no_gain(self):
        simd = self.one_thread_of_simd()
        db = self.tuned_store({simd: self.times(2e-3, 100, 0.2, calls=1000)})
        row = self.ask("history gain --json", db)["total"]["against"][0]
        self.assertEqual((row["baseline"], row["compared"], row["gain_s"],
                          row["gain_low_s"]), ("scalar", 0, None, None))
        self.assertGreater(row["predicted_s"], 0)
        self.assertRegex(takt("history gain", db).stdout,
                         r"scalar +0% +not measured +[\d.]+ m?s\n")

    def test_programs_tell_what_routing_gained(self):
        made = {"layout": "", "dtype": 0, "bin": 0, "bytes": 1, "flops": 1}
        db = self.store_of([
            {"op": "run.train.py-0123abcd", "expert": "baseline", **made,
             **self.times(1, 9, 0, 9)},
            {"op": "run.train.py-0123abcd", "expert": "gpu", **made,
             **self.times(0.25, 9, 0.1, 9)},
            {"op": "run.slow-89abcdef", "expert": "baseline", **made,
             **self.times(1, 1, 0, 1)},
            {"op": "run.slow-89abcdef", "expert": "routed", **made,
             **self.times(1.5, 1, 0, 1)}])
        answer = self.ask("history gain --json", db)
        slow, train = sorted(answer["programs"], key=lambda p: p["program"])
        self.assertEqual((train["program"], train["side"], train["baseline"],
                          train["comparisons"]),
                         ("train.py-0123abcd", "gpu", "baseline library", 9))
        self.assertAlmostEqual(train["gain_share"], 0.75)
        self.assertAlmostEqual(train["gain_low_share"],
                               1 - 0.25 * math.exp(0.2))
        self.assertAlmostEqual(train["gain_high_share"],
                               1 - 0.25 * math.exp(-0.2))
        self.assertAlmostEqual(slow["gain_share"], -0.5)
        self.assertIsNone(slow["gain_low_share"])
        self.assertFalse(answer["lacks_programs"])
        shown = takt("history gain", db).stdout
        self.assertRegex(shown, r"\ntrain\.py-0123abcd +gpu +9 +\+75\.0% +"
                                r"\+69\.5 to \+79\.5%\n")
        self.assertRegex(shown, r"\nslow-89abcdef +cpu +1 +-50\.0% +-\n")
        self.assertNotIn("against always", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)

    def test_files_that_are_no_stores_are_refused(self):
        text = self.path / "prose"
        text.write_text("It was a dark and stormy night.\n" * 100)
        for line in (f"history import {text}", f"history merge {text}",
                     "history merge /no/such"):
            with self.subTest(line):
                ran = takt(line, self.path / "victim.db")
                self.assertIn(ran.returncode, (1, 2))
                self.assertEqual((ran.stdout, ran.stderr.count("\n")), ("", 1))


@unittest.skipUnless(FAKE_CUDA, "no TAKT_TEST_FAKE_CUDA")
@unittest.skipUnless(build_has_a_store(), "this build has no store")
class TunedGpu(unittest.TestCase):
    """The same with a driver that computes on the processor for a GPU."""

    LINE = ("tune --ops add,sum,axpy --dtype f32 --sizes 1024,65536 "
            "--budget 500 --anyway --json")
    ENV = {"TAKT_CUDA": FAKE_CUDA, "TAKT_CUBLAS": "", "TAKT_GPU": "all"}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.db = cls.folder.name + "/store.db"
        cls.first = takt(cls.LINE, cls.db, env=cls.ENV)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def ask(self, line, db=None, **env):
        ran = takt(line, db or self.db, env=dict(self.ENV, **env))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), line)
        return json.loads(ran.stdout)

    def test_both_cases_are_measured(self):
        self.assertEqual((self.first.returncode, self.first.stderr), (0, ""))
        said = json.loads(self.first.stdout)
        self.assertEqual((said["cells"], said["gpus"]), (6, 1))
        self.assertGreaterEqual(said["resident_samples"], 6 * 2)
        self.assertTrue(said["complete"])
        # Transfers that others disturbed make a GPU look hopeless for operands
        # on the host, and it is not tried there: so each try has a new store.
        left, db = {"add", "sum", "axpy"}, self.db
        for number in range(20):
            left -= {op for op in left if self.has_both_cases(op, db)}
            if not left:
                break
            db = f"{self.folder.name}/both{number}.db"
            takt(self.LINE, db, env=self.ENV)
        self.assertEqual(left, set())

    def has_both_cases(self, op, db):
        rows = [row for row in self.ask(f"history show {op} --json", db)
                if row["expert"] == "cuda.0"]
        return {row["situation"] for row in rows} == {"fresh", "on-gpu"} and \
            all(row["samples"] >= 2 for row in rows)

    def test_a_gpu_that_no_bus_shows_is_said_to_be_so(self):
        ran = takt("tune --quick --ops add --dtype f32 --anyway --budget 1",
                   self.db, env=self.ENV)
        self.assertIn("cuda.0 is not on the PCI bus", ran.stdout)
        self.assertIn("TAKT_GPU=all", ran.stdout)

    def test_moves_are_learned(self):
        text = takt("history export -", self.db, env=self.ENV).stdout
        for link in ("in", "in.pinned", "out", "out.pinned"):
            self.assertRegex(text, f"takt:link\t{link}\tcuda.0")

    def test_a_second_tune_has_less_to_do(self):
        again = self.ask(self.LINE)
        first = json.loads(self.first.stdout)
        self.assertGreater(again["known_cells"], 0)
        self.assertLess(again["resident_samples"],
                        first["resident_samples"] / 2)

    def test_what_was_measured_is_told(self):
        answer = self.ask("explain add 64Ki --resident gpu --json")
        row, = [row for row in answer["experts"] if row["expert"] == "cuda.0"]
        self.assertGreater(row["samples"], 0)
        self.assertIsNone(answer["not_measured"])
        rows = self.ask("map add --json")
        self.assertEqual([row["resident"] for row in rows], ["host", "gpu"])
        for row in rows:
            self.assertGreater(sum(r["measured"] for r in row["ranges"]), 0)

    def test_gain_compares_with_a_gpu(self):
        db = self.folder.name + "/gain.db"
        self.ask(f"history merge {self.db} --json", db)
        takt("bench add --experts adaptive --seconds 0.02 --sizes 64K", db,
             env=self.ENV)
        answer = self.ask("history gain --json", db)
        names = [row["baseline"] for row in answer["total"]["against"]]
        self.assertIn("cuda.0", names)
        self.assertEqual((names[0], names[-1]), ("scalar", "moe"))

    def test_a_gpu_that_is_lost_leaves_no_samples(self):
        db = self.folder.name + "/lost.db"
        ran = takt(self.LINE, db, env=dict(self.ENV, FAKE_CUDA_KILL="3"))
        self.assertEqual(ran.returncode, 0)
        self.assertIn("cuda.0: ", ran.stderr)
        self.assertEqual(json.loads(ran.stdout)["cells"], 6)
        self.assertNotIn("cuda.0", takt("history show add", db).stdout)

    def test_two_are_measured_both(self):
        db = self.folder.name + "/two.db"
        said = self.ask("tune --ops add --sizes 1024 --dtype f32 --budget 500 "
                        "--anyway --json", db, FAKE_CUDA_DEVICES="2")
        self.assertEqual(said["gpus"], 2)
        rows = self.ask("history show add --json", db, FAKE_CUDA_DEVICES="2")
        self.assertEqual({row["expert"] for row in rows
                          if row["situation"] == "on-gpu"},
                         {"cuda.0", "cuda.1"})

    def test_one_that_is_switched_off_is_not_measured(self):
        said = self.ask("tune --ops add --sizes 1024 --dtype f32 --budget 500 "
                        "--anyway --json", self.folder.name + "/off.db",
                        TAKT_GPU="")
        self.assertEqual((said["gpus"], said["resident_samples"]), (0, 0))


@unittest.skipUnless(build_has_a_store(), "this build has no store")
class Interrupted(unittest.TestCase):
    def await_handler(self, pid, number):
        end = time.monotonic() + 100
        while time.monotonic() < end:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
            if caught >> (number - 1) & 1:
                return
            time.sleep(0.01)
        self.fail("it does not listen")

    def await_work(self, pid, seconds):
        """Until it has had a processor for that long."""
        ticks = seconds * os.sysconf("SC_CLK_TCK")
        end = time.monotonic() + 100
        while time.monotonic() < end:
            stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
            if sum(map(int, stat.rpartition(")")[2].split()[11:13])) >= ticks:
                return
            time.sleep(0.01)
        self.fail("it does not work")

    def test_everything_so_far_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "store.db")
            line = "tune --ops add,mul,sum --dtype f32 --anyway --json"
            run = subprocess.Popen([TAKT, *line.split()], text=True,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env=dict(os.environ, TAKT_DB=db))
            self.await_handler(run.pid, signal.SIGINT)
            self.await_work(run.pid, 1.2)
            run.send_signal(signal.SIGINT)
            out, err = run.communicate(timeout=600)
            self.assertEqual((run.returncode, err), (130, ""))
            said = json.loads(out)
            self.assertFalse(said["complete"])
            self.assertGreater(said["samples"], 0)
            again = json.loads(takt(line + " --budget 1", db).stdout)
            self.assertGreater(again["known_cells"], 0)
            # The last cell may be finished by either of them, and on a busy
            # machine cells need more samples than they have.
            self.assertGreaterEqual(again["known_cells"] + 1, said["cells"] / 4)

    def test_terminated_is_143(self):
        with tempfile.TemporaryDirectory() as folder:
            db = os.path.join(folder, "store.db")
            run = subprocess.Popen([TAKT, "tune", "--anyway"], text=True,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE,
                                   env=dict(os.environ, TAKT_DB=db))
            self.assertIn("%", run.stderr.readline())  # it is at work
            run.terminate()
            out, _ = run.communicate(timeout=600)
            self.assertEqual(run.returncode, 143)
            self.assertIn("run it again", out)


class WithoutStore(unittest.TestCase):
    def test_tune_says_that_nothing_is_kept(self):
        ran = takt(f"tune {SMALL}", "")
        self.assertEqual(ran.returncode, 0)
        self.assertIn("no store", ran.stderr)
        self.assertIn("measured", ran.stdout)

    def test_history_says_that_there_is_none(self):
        for action in ("list", "gain", "export", "reset --yes"):
            ran = takt(f"history {action}", "")
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertEqual(ran.stderr.count("\n"), 1)
            self.assertIn("no store", ran.stderr)

    def test_a_store_that_cannot_be_written_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = takt(f"tune {SMALL}", folder)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertIn(folder, ran.stderr)
            self.assertIn("nothing was measured", ran.stderr)

    def test_a_pin_that_cannot_be_written_is_named_before_the_work(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = takt(f"tune {SMALL} --pin {folder}/none/pin", folder + "/db")
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertIn(f"{folder}/none/pin", ran.stderr)

    def test_looking_at_a_store_that_is_not_there_makes_none(self):
        with tempfile.TemporaryDirectory() as folder:
            for action, said in (("list", "nothing yet"), ("gain", ""),
                                 ("show add", ""),
                                 ("reset --yes", "nothing to forget"),
                                 ("reset add --yes", "nothing to forget")):
                ran = takt(f"history {action}", folder + "/none.db")
                self.assertEqual(ran.returncode, 0)
                self.assertIn(said, ran.stdout)
                self.assertEqual(os.listdir(folder), [])


    def test_a_store_that_cannot_be_looked_at_is_not_taken_for_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/loop.db"
            os.symlink(path, path)
            for action in "list", "gain", "days", "reset --yes":
                ran = takt(f"history {action}", path)
                self.assertEqual((ran.returncode, ran.stdout), (1, ""), action)
                self.assertIn("symbolic links", ran.stderr)


class Mistakes(unittest.TestCase):
    ROWS = [
        ("tune --ops summ", "did you mean 'sum'"),
        ("tune --ops ,", "names no op"),
        ("tune --ops reshape", "nothing to time"),
        ("tune --sizes 4q", "4q"),
        ("tune --ops add --sizes 4x4x4", "4x4x4"),
        ("tune --ops matmul --sizes 4x0x4", "4x0x4"),
        ("tune --budget 0", "--budget"),
        ("tune --budget soon", "soon"),
        ("tune --threads 0", "--threads"),
        ("tune --quick --full", "--quick"),
        ("tune --dtype f16", "--dtype"),
        ("tune now", "now"),
        ("map --json --csv", "--csv"),
        ("map --html --json", "--html"),
        ("map --svg --html", "--svg"),
        ("map --policy moe --svg", "thresholds"),
        ("map --situation cold", "--situation"),
        ("map --policy cost", "--policy"),
        ("map summ", "did you mean 'sum'"),
        ("select sum 5 --situation often", "--situation"),
        ("explain sum 5 --situation often", "--situation"),
        ("history", "one of list|show|days"),
        ("history lst", "did you mean 'list'"),
        ("history list more", "takes: list"),
        ("history show", "show OP"),
        ("history show summ", "did you mean 'sum'"),
        ("history show matmul 4x4", "MxNxK"),
        ("history show matmul 512", "MxNxK"),
        ("history show softmax 512", "ROWSxCOLS"),
        ("history list --html --json", "--html"),
        ("history export --json", "does not print JSON"),
        ("history reset --yes --json", "does not print JSON"),
        ("history import", "import FILE"),
        ("history import /no/such", "/no/such"),
        ("history merge", "merge FILE"),
        ("history reset summ --yes", "did you mean 'sum'"),
    ]

    def test_mistakes_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for line, said in self.ROWS:
                with self.subTest(line):
                    ran = takt(line, folder + "/db")
                    self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                    self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                    self.assertIn(said, ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
