#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line as a user meets it: command, output, exit status.

usage: test_cli.py PATH_TO_TAKT PATH_TO_FIXTURES
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TAKT, FIXTURES = sys.argv[1:3]
MACHINES = FIXTURES + "/machines/"
FAKE_CUDA = os.environ.get("TAKT_TEST_FAKE_CUDA")
FAKE_NVML = os.environ.get("TAKT_TEST_FAKE_NVML")
FEW = "TAKT_TEST_FEW" in os.environ  # a sanitizer: it takes its time


def takt(line, **options):
    words = line.split() if isinstance(line, str) else line
    return subprocess.run([TAKT, *words], capture_output=True, text=True,
                          timeout=600, **options)


class Answers(unittest.TestCase):
    """The first word on stdout is the backend."""

    ROWS = """
        select --policy moe --complexity high 10001              -> GPU
        select --policy moe --complexity high 10000              -> SIMD
        select --policy moe --complexity high 1001               -> SIMD
        select --policy moe --complexity high 1000               -> Scalar
        select --policy moe --complexity LOW 1e6                              -> Scalar
        select --policy moe --complexity low 1000001                          -> SIMD
        select --policy moe sum 50K                              -> SIMD
        select sum 50K --policy=moe                              -> SIMD
        select --policy moe SUM 10K                                           -> Scalar
        select --policy moe sum 0                                             -> Scalar
        select --policy moe sum 18446744073709551615                          -> GPU
        select --policy moe matmul 100x100x100                                -> SIMD
        select --policy moe matmul 101x101x101                                -> GPU
        select --policy cost matmul 18750x18750x18750            -> SIMD
        select --policy cost matmul 18751x18751x18751            -> GPU
        select --policy cost matmul 2097152x2097152x2097152      -> GPU
        select --policy cost matmul 1e19x1e19x1e19               -> GPU
        select --policy cost --bytes 1M --flops 3125000000       -> SIMD
        select --policy cost --bytes 1M --flops 3156250000       -> GPU
        select --policy cost --pcie-bandwidth 1e9 --gpu-flops 100e12 --dispatch-ratio 5 --bytes 1M --flops 3156250000 -> SIMD
        select --policy cost --dispatch-ratio 0 --bytes 1 --flops 1 -> GPU
        select --policy cost add 1M                              -> Scalar
        select --policy cost add 1000001                         -> SIMD
        select --policy cost dot 1G                              -> SIMD
        select --policy heuristic matrix_multiply 10001          -> GPU
        select --policy heuristic matrix_multiply 10000          -> Scalar
        select --policy heuristic vector_add 10                  -> SIMD
        select --policy heuristic random_access 1M               -> Scalar
        select --policy heuristic convolution 1001               -> GPU
        select --policy moe --complexity medium my_own_op 10001               -> SIMD
        select --policy moe --complexity medium summ 10001                    -> SIMD
        select sum 50K                                           -> SIMD
        recommend numpy.add 2M                                   -> SIMD
        recommend sklearn.KMeans 100K                            -> GPU
        recommend torch.Linear 50000                             -> SIMD
        recommend NumPy.ADD 1                                    -> Scalar
    """

    def test_first_word_is_the_backend(self):
        for row in filter(str.strip, self.ROWS.splitlines()):
            line, want = (part.strip() for part in row.split("->"))
            with self.subTest(line):
                ran = takt(line)
                self.assertEqual((ran.returncode, ran.stderr), (0, ""))
                self.assertEqual(ran.stdout.split()[0], want)


class Mistakes(unittest.TestCase):
    """Exit 2, one line on stderr that names the trouble, nothing on stdout."""

    ROWS = [
        ("select sum -5", "-5"),
        ("select sum 1e400", "1e400"),
        ("select sum 12Q", "12Q"),
        ("select sum 4x", "4x"),
        (["select", "sum", ""], "size ''"),
        ("select matmul 4x4", "MxNxK"),
        ("select add 4x4", "takes N"),
        ("select matmul 4x4x4x4", "MxNxK"),
        ("select sum", "size"),
        ("select 50K", "op or --complexity"),
        ("select", "needs"),
        ("select summ 50K", "did you mean 'sum'"),
        ("select --policy heuristic matrix_multipy 5", "did you mean"),
        ("select --policy moe my_own_op 50K", "--complexity"),
        ("select --policy mo sum 5", "did you mean 'moe'"),
        ("select --policy fixed sum 5", "not one of"),
        ("select --polcy moe sum 5", "--policy"),
        ("select --complexity huge 5", "--complexity"),
        ("select --policy", "--policy needs"),
        ("select --json=1 sum 5", "--json takes no value"),
        ("select sum 5 6", "one word too many"),
        ("select --dtype f64 softmax 5x5", "softmax has no f64, only f32"),
        ("explain --dtype f64 softmax 5x5", "softmax has no f64, only f32"),
        ("bench --dtype f64 softmax", "softmax has no f64, only f32"),
        ("map --dtype f64 softmax", "softmax has no f64, only f32"),
        ("map --dtype f64 add softmax --json", "softmax has no f64, only f32"),
        ("map --dtype f64 --policy moe conv2d", "conv2d has no f64, only f32"),
        ("tune --dtype f64 --ops add,softmax", "softmax has no f64, only f32"),
        ("select matmul 512", "takes MxNxK"),
        ("select softmax 512", "takes ROWSxCOLS"),
        ("select --policy cost matmul 1000", "MxNxK"),
        ("select --policy cost --bytes 1M", "--flops"),
        ("select --policy cost --bytes x --flops 1", "--bytes 'x'"),
        ("select --pcie-bandwidth 0 sum 5", "--pcie-bandwidth"),
        ("select --gpu-flops 0 sum 5", "--gpu-flops"),
        ("select --gpu-flops nan sum 5", "--gpu-flops"),
        ("select --gpu-flops -1 sum 5", "--gpu-flops"),
        ("select --dispatch-ratio inf sum 5", "--dispatch-ratio"),
        ("select sum 5 --resident cloud", "--resident"),
        ("explain sum 5 --resident", "--resident needs"),
        ("select --machine /no/such sum 5", "/no/such"),
        (["select", "--complexity", "low", "bad name", "5"], "bad name"),
        ("explain matmul 4x4", "MxNxK"),
        ("recommend numpy.ad 5", "did you mean 'numpy.Add'"),
        ("recommend numpy.qqqqqq 5", "--list"),
        ("recommend add 5", "numpy.add"),
        ("recommend numpy.add -1", "-1"),
        ("recommend numpy.add", "needs"),
        ("map matmull", "did you mean 'matmul'"),
        ("bench summ", "did you mean 'sum'"),
        ("bench matmul --sizes 4x4", "MxNxK"),
        ("bench add --experts simd.avx51", "simd.avx51"),
        ("bench softmax --dtype f64", "no f64"),
        ("bench --seconds 0", "--seconds"),
        ("bench add --sizes 1e15", "memory"),
        ("bench reshape", "nothing to time"),
        ("tune --ops ,", "names no op"),
        ("tune --sizes ,", "names no size"),
        ("tune --sizes " + "1000," * 300, "more than 256 sizes"),
        ("tune --sizes " + "100000," * 300, "longer than 2047 characters"),
        ("tune --ops " + "add," * 65, "more than 64 ops"),
        ("fleet sync --dry-run --server host=/nowhere", "--dry-run"),
        ("fleet pull --server host=/nowhere --output x", "--output"),
        ("fleet schema --json", "--json"),
        ("fleet pull http://127.0.0.1:9 --unsigned --timeout x", "--timeout"),
        ("machine --from /no/such", "/no/such"),
        ("machine extra", "extra"),
        ("help nothing", "nothing"),
        ("completion tcsh", "tcsh"),
        ("selct", "did you mean 'select'"),
        ("frobnicate", "takt help"),
    ]

    def test_mistakes_are_named(self):
        for line, said in self.ROWS:
            with self.subTest(line):
                ran = takt(line)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                self.assertIn(said, ran.stderr)

    def test_nothing_at_all_shows_the_commands(self):
        ran = takt([])
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertIn("select", ran.stderr)


class Json(unittest.TestCase):
    def ask(self, line):
        ran = takt(line)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), line)
        return json.loads(ran.stdout)

    def test_select_has_every_member(self):
        answer = self.ask("select --json --policy moe matmul 512x256x128")
        self.assertEqual(answer["op"], "matmul")
        self.assertEqual(answer["complexity"], "high")
        self.assertEqual(answer["shape"], [512, 256, 128])
        self.assertEqual(answer["elements"], 131072)
        self.assertEqual(answer["policy"], "moe")
        self.assertEqual(answer["backend"], "gpu")
        self.assertEqual(answer["reason"], "fallback")
        self.assertEqual(answer["flops"], 2 * 512 * 256 * 128)
        for unknown in ("confidence", "runner_up"):
            self.assertIsNone(answer[unknown])

    def test_recorded_machines_name_their_expert(self):
        for machine, expert in (("haswell-4", "simd.avx2"),
                                ("nehalem-4", "simd.sse2"),
                                ("aarch64-4", "simd.neon")):
            answer = self.ask(
                f"select --json --policy moe --machine {MACHINES}{machine} "
                "sum 50K")
            self.assertEqual(answer["backend"], "simd")
            self.assertEqual(answer["expert"], expert)
            self.assertEqual(answer["reason"], "static")

    def test_an_op_nobody_described_has_null_members(self):
        answer = self.ask("select --json --policy moe --complexity high 10001")
        self.assertIsNone(answer["op"])
        answer = self.ask("select --json --policy heuristic my_kernel 9")
        self.assertEqual(answer["op"], "my_kernel")
        self.assertIsNone(answer["complexity"])

    def test_explain_asks_every_policy(self):
        answer = self.ask("explain --json matmul 64x64x64")
        self.assertEqual([row["policy"] for row in answer["policies"]],
                         ["adaptive", "moe", "cost", "heuristic"])
        self.assertTrue(all(row["why"] for row in answer["policies"]))

    def test_machine(self):
        answer = self.ask("machine --json")
        self.assertGreaterEqual(answer["threads"], 1)
        self.assertIn("scalar", answer["cpu"]["isas"])
        self.assertRegex(answer["hw_fingerprint"], "^[0-9a-f]{64}$")

    def test_recommend(self):
        answer = self.ask("recommend --json numpy.add 2M")
        self.assertEqual(answer["call"], "takt_add_f32")
        self.assertEqual(answer["backend"], "simd")
        table = self.ask("recommend --list --json")
        self.assertGreater(len(table), 60)

    def test_map(self):
        rows = self.ask("map --json --policy moe matrix_multiply sum")
        self.assertEqual([row["op"] for row in rows], ["sum", "matmul"])
        self.assertEqual([r["above"] for r in rows[1]["ranges"]],
                         [0, 1000, 10000])

    def test_version(self):
        self.assertRegex(self.ask("version --json")["version"], r"^\d+\.\d+\.\d+$")


@unittest.skipUnless(FAKE_CUDA, "no TAKT_TEST_FAKE_CUDA")
class Objectives(unittest.TestCase):
    """What the best expert is the best at."""

    def test_wrong_ones_are_refused_and_say_what_is_right(self):
        for words, said in (
                (["--objective", "fast"], "'fast' is no measure: use time"),
                (["--objective", "p99, p99 < 1 ms"], "p99 is the goal"),
                (["--objective", "time, p99 < 1 mJ"], "in s, ms, us or ns"),
                (["--objective", "energy"], "energy cannot be measured here"),
                (["--callers", "4"], "needs --objective")):
            for command in "select", "explain":
                with self.subTest(command=command, words=words):
                    ran = takt([command, "sum", "1M", "--db", "", *words])
                    self.assertEqual(ran.returncode, 2)
                    self.assertIn(said, ran.stderr)
                    self.assertEqual(ran.stderr.count("\n"), 1)
        ran = takt(["run", "--objective", "fast", "--", "true"])
        self.assertEqual(ran.returncode, 2)
        self.assertIn("'fast' is no measure", ran.stderr)

    def test_all_of_them_are_a_front(self):
        line = ["explain", "sum", "1M", "--objective", "all", "--db", ""]
        said = json.loads(takt([*line, "--json"]).stdout)
        names = {point["expert"] for point in said["front"]}
        self.assertEqual(names, {e["expert"] for e in said["experts"]})
        self.assertIn(said["choices"]["p99"], names)
        self.assertIsNone(said["choices"]["energy"])
        best = next(p for p in said["front"]
                    if p["expert"] == said["choices"]["time"])
        self.assertIn("time", best["best_for"])
        text = takt(line).stdout
        self.assertIn("dominated", text)
        self.assertIn("energy cannot be measured here", text)

    def test_the_environment_may_name_one(self):
        ran = takt("explain sum 1M --json", env={
            **os.environ, "TAKT_DB": "", "TAKT_OBJECTIVE": "p99"})
        self.assertEqual(json.loads(ran.stdout)["objective"], "p99")
        ran = takt("explain sum 1M --json", env={
            **os.environ, "TAKT_DB": "", "TAKT_OBJECTIVE": "fast"})
        self.assertEqual(json.loads(ran.stdout)["objective"], "time")
        self.assertIn("TAKT_OBJECTIVE=fast is ignored", ran.stderr)


class Gpus(unittest.TestCase):
    """A driver that computes on the processor stands for a GPU."""

    def run_with(self, line, **env):
        ran = takt(line, env={**os.environ, "TAKT_CUDA": FAKE_CUDA,
                              "TAKT_CUBLAS": "", "TAKT_GPU": "all",
                              "TAKT_DB": "", "TAKT_LOG": "off", **env})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), line)
        return ran.stdout

    def ask(self, line, **env):
        return json.loads(self.run_with(line, **env))

    def test_machine_shows_them(self):
        text = self.run_with("machine", FAKE_CUDA_DEVICES="2")
        for said in ("cuda.0: Fake GPU 0, 1.0 GiB, ", "cuda.1: Fake GPU 1",
                     "ready, opened in ", "at 0000:01:00.0"):
            self.assertIn(said, text)
        gpus = [gpu for gpu in self.ask("machine --json",
                                        FAKE_CUDA_DEVICES="2")["gpus"]
                if (gpu["expert"] or "").startswith("cuda.")]
        self.assertEqual([gpu["expert"] for gpu in gpus], ["cuda.0", "cuda.1"])
        for gpu in gpus:
            self.assertEqual((gpu["state"], gpu["software"]), ("ready", False))
            self.assertEqual(gpu["memory_bytes"], 2 ** 30)
            self.assertGreater(gpu["open_s"], 0)
            self.assertTrue(gpu["driver"])

    def test_machine_says_what_is_wrong(self):
        broken = {"FAKE_CUDA_INIT_ERROR": "999"}
        lines = self.run_with("machine", **broken).splitlines()
        self.assertEqual(sum("cuda: " in line for line in lines), 1)
        answer = self.ask("machine --json", **broken)
        self.assertNotIn("cuda.0", answer["experts"])
        said = [p for p in answer["gpu_problems"] if p.startswith("cuda: ")]
        self.assertEqual(len(said), 1)
        self.assertIn("999", said[0])
        said = self.ask("machine --json", TAKT_CUDA="/no/such")["gpu_problems"]
        self.assertIn("/no/such", " ".join(said))

    def test_machine_opens_nothing_that_was_switched_off(self):
        answer = self.ask("machine --json", TAKT_GPU="")
        self.assertNotIn("cuda.0", answer["experts"])
        self.assertEqual(answer["gpu_problems"], [])
        answer = self.ask(f"machine --json --from {MACHINES}haswell-4")
        self.assertEqual([gpu["expert"] for gpu in answer["gpus"]], [None])

    def test_select_knows_where_operands_are(self):
        here = self.ask("select add 16M --resident gpu --json")
        there = self.ask("select add 16M --resident host --json")
        self.assertEqual((here["expert"], here["resident"]), ("cuda.0", "gpu"))
        self.assertEqual(here["situation"], "on-gpu")
        self.assertNotEqual(there["expert"], "cuda.0")
        self.assertEqual(there["resident"], "host")
        self.assertEqual(there, self.ask("select add 16M --json"))
        text = self.run_with("select add 16M --resident gpu")
        self.assertIn("operands on cuda.0", text)
        self.assertNotIn("sure", text)

    def test_without_a_gpu_operands_are_on_the_host(self):
        broken = {"FAKE_CUDA_INIT_ERROR": "999"}
        answer = self.ask("select add 16M --resident gpu --json", **broken)
        self.assertEqual(answer["resident"], "host")
        for command in ("select", "explain"):
            text = self.run_with(f"{command} add 16M --resident gpu", **broken)
            self.assertIn("no usable GPU", text)

    def test_explain_counts_what_has_to_be_fetched(self):
        answer = self.ask("explain add 1M --resident gpu --json",
                          FAKE_CUDA_DEVICES="2")
        self.assertEqual(answer["resident"], "gpu")
        rows = {row["expert"]: row for row in answer["experts"]}
        self.assertTrue(rows["cuda.0"]["chosen"])
        self.assertEqual(rows["cuda.0"]["transfer_us"], 0)
        self.assertGreater(rows["scalar"]["transfer_us"], 0)
        self.assertGreater(rows["cuda.1"]["transfer_us"],
                           rows["scalar"]["transfer_us"])
        for row in rows.values():
            self.assertAlmostEqual(row["total_us"] / (row["predicted_us"] +
                                                      row["transfer_us"]), 1)
        text = self.run_with("explain add 1M --resident gpu")
        self.assertIn("operands on cuda.0", text)
        self.assertIn("fetching", text)
        rows = self.ask("explain add 1M --json")["experts"]
        self.assertEqual({row["transfer_us"] for row in rows}, {0})
        self.assertIn("cuda.0", [row["expert"] for row in rows])

    def test_map_shows_both(self):
        rows = self.ask("map add matmul --json")
        self.assertEqual([(row["op"], row["resident"]) for row in rows],
                         [("add", "host"), ("add", "gpu"), ("matmul", "host"),
                          ("matmul", "gpu")])
        experts = [range_["expert"] for range_ in rows[1]["ranges"]]
        self.assertEqual(experts[-1], "cuda.0")
        self.assertIn("operands on the GPU", self.run_with("map add"))
        table = self.run_with("map add --csv").splitlines()
        self.assertTrue(any(",on-gpu," in line for line in table))
        self.assertEqual({line.count(",") for line in table}, {10})
        for row in self.ask("map add --json", TAKT_GPU=""):
            self.assertNotIn("resident", row)

    def test_bench_times_them(self):
        result, = self.ask("bench add --sizes 64K --seconds 0.02 --json "
                           "--experts cuda.0,scalar")["results"]
        self.assertEqual([row["ran"] for row in result["experts"]],
                         ["cuda.0", "scalar"])
        result, = self.ask("bench add --sizes 64K --seconds 0.02 --json"
                           )["results"]
        self.assertIn("cuda.0", [row["name"] for row in result["experts"]])

    def test_recommend_runs_on_one(self):
        answer = self.ask("recommend --json sklearn.KMeans 100K")
        self.assertEqual((answer["backend"], answer["expert"]),
                         ("gpu", "cuda.0"))


class Pages(unittest.TestCase):
    COMMANDS = ["machine", "tune", "map", "select", "explain", "history",
                "recommend", "bench", "version", "help", "completion"]

    def test_help_lists_every_command(self):
        text = takt("help").stdout
        self.assertEqual(text, takt("--help").stdout)
        for command in self.COMMANDS:
            self.assertIn(f"\n  {command} ", text)

    def test_help_fits_a_terminal_and_names_the_words_of_options(self):
        every = re.findall(r"^  ([a-z]+) ", takt("help").stdout, re.M)
        self.assertLess(set(self.COMMANDS), set(every))
        for command in every:
            for line in takt(["help", command]).stdout.splitlines():
                self.assertLessEqual(len(line), 80, command)
        self.assertRegex(takt("help trace").stdout,
                         r"one of\s+text\|json\|chrome\|otlp\n")

    def test_what_is_predicted_is_called_no_gain(self):
        for command in ("map", "select", "explain", "trace", "optimize",
                        "tune", "recommend", "bench"):
            for line in (f"help {command}", f"help --man {command}"):
                self.assertNotRegex(takt(line).stdout, r"(?i)\bgain|\bsaves?d?\b",
                                    line)
        csv = takt("map add --csv").stdout.splitlines()[0]
        self.assertIn(",predicted_speedup_over_next,"
                      "predicted_speedup_over_moe,", csv)
        for line in ("map add", "map add --json", "map add --csv",
                     "explain add 64Ki", "explain add 64Ki --json"):
            self.assertNotIn("gain", takt(line).stdout, line)

    def test_help_of_a_command_has_examples_that_work(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for command in self.COMMANDS:
            ran = takt([command, "--help"])
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            self.assertEqual(ran.stdout, takt(["help", command]).stdout)
            examples = [line for line in
                        re.findall(r"^  takt (.*)$", ran.stdout, re.M)
                        if not re.search(r"\bmy[-.]|\|", line)]
            if FEW and command in ("bench", "tune"):  # they measure
                examples = examples[-1:]
            for example in examples:
                if example.startswith(("tune", "history")):
                    example += f" --db {folder.name}/db"
                if example.startswith("tune"):
                    example += " --anyway --budget 1"
                with self.subTest(example):
                    self.assertEqual(takt(example).returncode, 0)

    def test_man_pages_are_clean(self):
        for command in [None, *self.COMMANDS]:
            page = takt(["help", "--man"] + ([command] if command else []))
            ran = subprocess.run(
                ["man", "--warnings", "-E", "UTF-8", "-l", "-"],
                input=page.stdout, capture_output=True, text=True, timeout=600,
                env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80",
                     "MANROFFSEQ": "", "LC_ALL": "C.UTF-8"})
            if "undocumented" in ran.stderr or "minimized" in ran.stdout:
                self.skipTest("man pages are cut out of this system")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), command)
            self.assertIn("NAME", ran.stdout)

    def test_bash_completes(self):
        script = takt("completion bash").stdout
        rows = [(["takt", "sel"], "select"),
                (["takt", "select", "--pol"], "--policy"),
                (["takt", "select", "--policy", "c"], "cost"),
                (["takt", "history", "me"], "merge"),
                (["takt", "map", "matm"], "matmul")]
        for words, want in rows:
            ask = (script + "\nCOMP_WORDS=(" + " ".join(words) +
                   f")\nCOMP_CWORD={len(words) - 1}\n_takt\n"
                   "printf '%s\\n' \"${COMPREPLY[@]}\"\n")
            ran = subprocess.run(["bash", "--norc"], input=ask, text=True,
                                 capture_output=True, timeout=600)
            self.assertIn(want, ran.stdout.split(), ran.stderr)

    def test_a_full_disk_is_noticed(self):
        with open("/dev/full", "w") as full:
            ran = subprocess.run([TAKT, "map"], stdout=full, text=True,
                                 stderr=subprocess.PIPE, timeout=600)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("cannot write", ran.stderr)


def learned_text(n="20", flops="50000", expert="scalar", op="add"):
    """A history in text: one record of this machine."""
    machine = json.loads(takt("machine --json").stdout)
    row = [machine["hw_fingerprint"], "", "elsewhere", "a" * 32, op, "",
           expert, "0", "0", "34", "1", "1", n, "11", "0.2", "0", "600000",
           flops, "20", "0.002", "1700000000"]
    columns = ("machine device software writer op layout expert dtype "
               "situation bin epoch seq n mean m2 first_s bytes flops calls "
               "seconds last_unix_s").split()
    return "\n".join(["takt history 1", "\t".join(columns), "\t".join(row),
                      "end\t1", ""])


def hot_journal(victim):
    """A journal whose playback would delete `victim`."""
    magic = bytes.fromhex("d9d505f920a163d7")
    head = magic + struct.pack(">5I", 0, 1, 3, 512, 4096)
    name = os.fsencode(victim)
    return (head.ljust(512, b"\0") +
            struct.pack(">I", 0x40000000 // 4096 + 1) + name +
            struct.pack(">II", len(name), sum(name)) + magic)


def build_has_a_store():
    ran = takt("history export - --db /nowhere/none")
    return "without SQLite" not in ran.stderr


@unittest.skipUnless(build_has_a_store(), "this build has no store")
class Strangers(unittest.TestCase):
    """Stores that somebody else made."""

    LOOKS = ["history list --db", "history show add --db",
             "history gain --db", "history export - --db", "map add --db",
             "select add 100K --db", "explain add 100K --db"]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.own = os.path.join(folder.name, "own.db")
        self.db = os.path.join(folder.name, "sent.db")
        self.victim = os.path.join(folder.name, "thesis.txt")
        with open(self.victim, "w", encoding="ascii") as file:
            file.write("years of work")

    def ask(self, line, **options):
        return takt(line, env=dict(os.environ, TAKT_DB=self.own), **options)

    def take(self, text, db):
        return self.ask(["history", "import", "-", "--db", db], input=text)

    def test_who_looks_deletes_nothing(self):
        self.assertEqual(self.take(learned_text(), self.db).returncode, 0)
        with open(self.db + "-journal", "wb") as file:
            file.write(hot_journal(self.victim))
        for line in self.LOOKS:
            ran = self.ask(f"{line} {self.db}")
            self.assertIn("unfinished transaction", ran.stderr, line)
            self.assertTrue(os.path.exists(self.victim), line)
        ran = self.ask(f"history merge {self.db}")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("unfinished transaction", ran.stderr)
        self.assertTrue(os.path.exists(self.victim))
        for line in "history reset --yes --db", "history import - --db":
            self.ask(f"{line} {self.db}", input=learned_text())
            self.assertTrue(os.path.exists(self.victim), line)

    def test_who_looks_writes_nothing(self):
        self.assertEqual(self.take(learned_text(), self.db).returncode, 0)
        os.unlink(self.db + "-writers")
        before = os.stat(self.db)
        for line in self.LOOKS:
            ran = self.ask(f"{line} {self.db}")
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), line)
        after = os.stat(self.db)
        self.assertEqual(before.st_mtime_ns, after.st_mtime_ns)
        self.assertFalse(os.path.exists(self.db + "-writers"))

    def test_what_is_no_store_is_left_where_it_is(self):
        for line in self.LOOKS:
            with open(self.db, "w", encoding="ascii") as file:
                file.write("a letter to my aunt, who has no database")
            ran = self.ask(f"{line} {self.db}")
            self.assertIn("sent.db", ran.stderr, line)
            self.assertTrue(os.path.exists(self.db), line)
            if line.startswith("history"):
                self.assertEqual(ran.returncode, 1, line)
                self.assertNotIn("nothing yet", ran.stdout)

    def test_a_store_that_is_not_there_is_not_made(self):
        ran = self.ask(f"history list --db {self.db}")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("no such file", ran.stderr)
        self.assertFalse(os.path.exists(self.db))

    def test_numbers_beyond_belief_are_refused(self):
        for text in (learned_text(n="1e-300"), learned_text(flops="3.5e38")):
            ran = self.take(text, self.own)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("line 3", ran.stderr)
        self.assertEqual(self.take(learned_text(n="1e9", flops="1e30"),
                                   self.own).returncode, 0)
        for line in ("explain add 100K", "explain add 100K --json", "map add",
                     "select add 100K --json", "history show add --json"):
            ran = self.ask(line)
            self.assertEqual(ran.returncode, 0, line)
            self.assertNotRegex(ran.stdout.lower(), r"\b(nan|inf)\b", line)


    def test_a_program_is_an_op_of_the_store(self):
        program = "run.fit.py-0a1b2c3d"
        for text in (learned_text(),
                     learned_text(op=program, expert="routed")):
            self.assertEqual(self.take(text, self.own).returncode, 0)

        def ops():
            listed = json.loads(self.ask("history list --json").stdout)
            return [row["op"] for row in listed]
        self.assertEqual(sorted(ops()), ["add", program])
        self.assertIn(program, self.ask("history list").stdout)
        rows = json.loads(self.ask(f"history show {program} --json").stdout)
        self.assertEqual([(row["op"], row["expert"]) for row in rows],
                         [(program, "routed")])
        self.assertIn("nothing yet of tanh",
                      self.ask("history show tanh").stdout)
        for action in "show", "reset --yes":
            ran = self.ask(f"history {action} run.other-00000000")
            self.assertEqual(ran.returncode, 2, action)
            self.assertIn("knows no program", ran.stderr, action)
        ran = self.ask(f"history reset {program} --yes")
        self.assertEqual(ran.returncode, 0)
        self.assertIn(f"forgot {program} in", ran.stdout)
        self.assertEqual(ops(), ["add"])


class Recording(unittest.TestCase):
    def test_a_recording_answers_like_the_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            where = os.path.join(folder, "here")
            self.assertEqual(takt(["machine", "--record", where]).returncode, 0)
            env = dict(os.environ, TAKT_GPU="")
            live = json.loads(takt("machine --json", env=env).stdout)
            replayed = json.loads(
                takt(["machine", "--json", "--from", where], env=env).stdout)
            # A recording has no libraries: they are not part of a machine. Nor
            # does it know what became of its GPUs.
            for answer in (live, replayed):
                answer.pop("libraries")
                answer["gpus"] = [gpu["address"] for gpu in answer["gpus"]]
                answer["energy"] = [one for one in answer["energy"]
                                    if one["source"] == "powercap"]
                answer.pop("energy_problems")
                answer["experts"] = [name for name in answer["experts"]
                                     if not name.startswith("blas.")]
            self.assertEqual(live, replayed)
            again = takt(["machine", "--record", where])
            self.assertEqual(again.returncode, 2)
            self.assertIn("already exists", again.stderr)


class Energy(unittest.TestCase):
    def machine(self, line="machine", **env):
        ran = takt(line, env={**os.environ, "TAKT_DB": "", "TAKT_BLAS": "",
                              "TAKT_LOG": "off", **env})
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    @unittest.skipUnless(FAKE_NVML, "no TAKT_TEST_FAKE_NVML")
    def test_counters_are_listed(self):
        env = {"TAKT_NVML": FAKE_NVML, "FAKE_NVML_GPUS": "2",
               "TAKT_GPU": "all", "TAKT_CUDA": "/nowhere",
               "TAKT_VULKAN": "/nowhere"}
        text = self.machine(**env)
        self.assertIn("energy       nvml: Fake GPU at 0000:00:00.0\n", text)
        energy = json.loads(self.machine("machine --json", **env))["energy"]
        self.assertEqual([one["address"] for one in energy
                          if one["source"] == "nvml"],
                         ["0000:00:00.0", "0000:01:00.0"])
        added_up = json.loads(self.machine("machine --json", **env,
                                           FAKE_NVML_FAIL="energy"))
        self.assertTrue(added_up["energy"][0]["added_up"])

    def test_what_is_missing_is_said_with_what_to_do(self):
        env = {"TAKT_NVML": "/nowhere", "TAKT_GPU": "all",
               "TAKT_CUDA": "/nowhere", "TAKT_VULKAN": "/nowhere"}
        problems = json.loads(
            self.machine("machine --json", **env))["energy_problems"]
        self.assertTrue(any(one.startswith("nvml: ") and "/nowhere" in one
                            for one in problems), problems)
        ran = takt("doctor", env={**os.environ, "TAKT_DB": "", **env})
        self.assertRegex(ran.stdout, "note +energy +nvml: ")

    def recorded(self, files):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        where = os.path.join(folder, "machine")
        shutil.copytree(MACHINES + "haswell-4", where)
        for name, text in files.items():
            path = os.path.join(where, "sys/class/powercap", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
        return self.machine(["machine", "--from", where])

    def test_counters_of_a_recorded_processor(self):
        files = {"intel-rapl:0/name": "package-0\n",
                 "intel-rapl:0/energy_uj": "1234\n",
                 "intel-rapl:0:0/name": "core\n",
                 "intel-rapl:0:0/energy_uj": "12\n",
                 "intel-rapl:0:1/name": "dram\n",
                 "intel-rapl:0:1/energy_uj": "12\n"}
        text = self.recorded(files)
        self.assertIn("energy       powercap: package-0\n"
                      "             powercap: dram of package-0\n", text)
        self.assertNotIn("core\n", text)
        del files["intel-rapl:0/energy_uj"]
        text = self.recorded(files)
        self.assertIn("energy       unknown: nothing counts it\n", text)
        self.assertIn("chmod a+r /sys/class/powercap", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
