#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A project on its line of phases, as a user meets it: analyze, optimize,
validate, build, status, reset.

usage: test_optimize.py PATH_TO_TAKT [NODE_MODULES]

With the npm packages of tests/cli/sarif, which have the JSON schema of SARIF
2.1.0 (it is not ours to ship), what is reported is held against all of it, and
else against what is said here.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TAKT = sys.argv[1]
PACKAGES = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "nowhere")
PHASES = ["Analysis", "Transpilation", "Optimization", "Validation", "Build"]
STATUSES = ["NotStarted", "InProgress", "Completed", "Failed", "Stale",
            "NotNeeded"]
FEW = "TAKT_TEST_FEW" in os.environ  # a sanitizer: it takes its time
COMMANDS = {"analyze": 0, "optimize": 2, "validate": 3, "build": 4}

PYTHON = """\
import numpy as np
from sklearn.cluster import KMeans


def product():
    a = np.zeros(({n}, {n}), dtype=np.float32)
    b = np.zeros(({n}, {n}), dtype=np.float32)
    return a @ b


def of_any_size(x, y):
    return np.matmul(x, y)


def total(v):
    return np.sum(v)
"""
DOT = """\
float {name}(const float *a, const float *b, int n)
{{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}}
"""
PRODUCT = """\
void product(float c[{n}][{n}], float a[{n}][{n}], float b[{n}][{n}])
{{
    for (int i = 0; i < {n}; i++)
        for (int j = 0; j < {n}; j++) {{
            float s = 0;
            for (int k = 0; k < {n}; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }}
}}
"""
CARGO = """\
# ours
[package]
name = "sample"
version = "0.1.0"
edition = "2021"

[dependencies]
"""
CONFIG = """\
[validation]
test_command = "{test}"

[build]
command = "{build}"
"""


def takt(line, env=None, **options):
    words = line.split() if isinstance(line, str) else [str(w) for w in line]
    options.setdefault("text", True)
    return subprocess.run([TAKT, *words], capture_output=True, timeout=600,
                          env={**os.environ, "TAKT_GPU": "", "TAKT_DB": "",
                               "TAKT_BLAS": "",  # to open it takes 20 ms
                               **(env or {})},
                          **options)


def build_can_scan():
    with tempfile.TemporaryDirectory() as folder:
        return "cannot be searched" not in takt(
            ["optimize", "--dry-run", folder]).stderr


@unittest.skipUnless(build_can_scan(), "this build has no parsers")
class Project(unittest.TestCase):
    """A folder with a few sources, made anew for each test."""
    SIZE = 600  # of the product; to validate it takes half a second sanitized

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "app"
        self.path.mkdir()
        self.put("model.py", PYTHON.format(n=self.SIZE))
        self.put("takt.toml", CONFIG.format(test="true", build="true"))

    def tearDown(self):
        self.folder.cleanup()

    def put(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def get(self, name):
        return (self.path / name).read_text()

    def run_takt(self, line, code=0, **options):
        words = line.split()
        if words[0] in ("validate", "build"):
            words.append("--trust")
        ran = takt([*words, self.path], **options)
        self.assertEqual(ran.returncode, code,
                         (line, ran.stdout, ran.stderr))
        return ran

    def status(self):
        said = json.loads(self.run_takt("status --json").stdout)
        return {p["phase"]: p for p in said["phases"]}

    def statuses(self):
        return [self.status()[name]["status"] for name in PHASES]

    def findings(self, line="", code=0):
        ran = self.run_takt("optimize --dry-run --json " + line, code)
        self.assertEqual(ran.stderr, "")
        return json.loads(ran.stdout)

    def advice(self, line=""):
        """What is recommended, by the function that it is in."""
        return {f["function"]: f["recommendation"]["text"]
                for f in self.findings(line)["findings"]}

    def write_state(self, statuses, name=".takt-state.json"):
        phases = {phase: {"phase": phase, "status": status,
                          "started_at": None, "completed_at": None,
                          "error": "it broke" if status == "Failed" else None}
                  for phase, status in zip(PHASES, statuses)}
        self.put(name, json.dumps({"version": 1, "current_phase": None,
                                   "phases": phases}))


class Line(Project):
    """Phases run in their order, and a failure stops them."""
    SIZE = 60

    def test_a_whole_line_runs_through(self):
        self.assertEqual(self.statuses(), ["Not Started", "Not Needed"]
                         + 3 * ["Not Started"])
        for command in COMMANDS:
            self.run_takt(command)
        self.assertEqual(self.statuses(), ["Completed", "Not Needed"]
                         + 3 * ["Completed"])
        for phase in PHASES[2:]:
            self.assertRegex(self.status()[phase]["completed_at"],
                             r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertIn("all phases are completed",
                      self.run_takt("status").stdout)
        self.assertEqual(sorted(os.listdir(self.path)),
                         [".takt-state.json", "model.py", "takt.toml"])

    def test_every_phase_by_every_status_by_every_command(self):
        turn = 0
        for command, own in COMMANDS.items():
            for other in (0, 2, 3, 4):
                for status in STATUSES:
                    turn += 1
                    if FEW and turn % 11 != 0:  # all of them in one build
                        continue
                    statuses = 5 * ["Completed"]
                    statuses[other] = status
                    self.write_state(statuses)
                    makes_it = command == "optimize" and other == 0 and \
                        status in ("NotStarted", "Stale")
                    passes = status in ("Completed", "NotNeeded")
                    refused = other < own and not passes and not makes_it
                    with self.subTest(command=command, status=status,
                                      phase=PHASES[other]):
                        ran = self.run_takt(command, 1 if refused else 0)
                        after = self.statuses()
                        if refused:
                            self.assertIn(PHASES[other], ran.stderr)
                            self.assertEqual(ran.stdout, "")
                            self.assertEqual(after[own], "Completed")
                            continue
                        self.assertEqual(after[own], "Completed")
                        for later in range(own + 1, 5):
                            self.assertIn(after[later],
                                          ("Stale", "Not Started",
                                           "Not Needed"))

    def test_a_failing_test_stops_the_line(self):
        self.put("takt.toml", CONFIG.format(test="exit 3", build="true"))
        self.run_takt("analyze")
        self.run_takt("optimize")
        ran = self.run_takt("validate", 1)
        self.assertIn("'exit 3' ended with exit status 3", ran.stderr)
        self.assertEqual(self.status()["Validation"]["status"], "Failed")
        self.assertIn("exit 3", self.status()["Validation"]["error"])
        ran = self.run_takt("build", 1)
        self.assertIn("Validation failed", ran.stderr)
        self.assertIn("takt validate", ran.stderr)
        self.assertEqual(len(ran.stderr.splitlines()), 1)
        self.put("takt.toml", CONFIG.format(test="true", build="true"))
        self.run_takt("build", 1)
        self.run_takt("validate")
        self.run_takt("build")

    def test_a_test_that_is_killed(self):
        self.put("takt.toml", CONFIG.format(test="kill -9 $$", build="true"))
        self.run_takt("optimize")
        self.assertIn("killed by signal 9", self.run_takt("validate", 1).stderr)

    def test_running_again_makes_what_follows_stale(self):
        for command in COMMANDS:
            self.run_takt(command)
        self.run_takt("optimize")
        self.assertEqual(self.statuses(), ["Completed", "Not Needed",
                                           "Completed", "Stale", "Stale"])
        ran = self.run_takt("build", 1)
        self.assertIn("Validation is stale", ran.stderr)

    def test_a_broken_manifest_fails_its_phase(self):
        self.put("Cargo.toml", "[package\n")
        self.assertIn("Cargo.toml", self.run_takt("analyze", 1).stderr)
        self.assertEqual(self.status()["Analysis"]["status"], "Failed")
        self.assertIn("Analysis failed", self.run_takt("optimize", 1).stderr)
        self.put("Cargo.toml", CARGO)
        self.run_takt("analyze")
        self.put("Cargo.toml", "[profile]\nrelease = 3\n")
        self.assertIn("release", self.run_takt("optimize", 1).stderr)
        self.assertEqual(self.status()["Optimization"]["status"], "Failed")
        self.assertEqual(self.get("Cargo.toml"), "[profile]\nrelease = 3\n")

    def test_a_build_needs_a_command(self):
        self.put("takt.toml", "[validation]\ntest_command = 'true'\n")
        self.run_takt("optimize")
        self.run_takt("validate")
        self.assertIn("no [build] command", self.run_takt("build", 1).stderr)
        self.assertEqual(self.status()["Build"]["status"], "Failed")

    def test_a_build_without_cargo_says_so(self):
        self.put("takt.toml", "[validation]\ntest_command = 'true'\n")
        self.put("Cargo.toml", CARGO)
        self.run_takt("optimize")
        self.run_takt("validate")
        ran = self.run_takt("build", 1, env={"PATH": "/nowhere"})
        self.assertIn("cargo is not installed", ran.stderr)
        self.assertIn("[build] command", ran.stderr)

    def test_a_long_command_in_any_script_can_fail(self):
        self.put("takt.toml", CONFIG.format(
            test="true", build="false # x" + "\u00e4" * 150))
        self.run_takt("optimize")
        self.run_takt("validate")
        said = self.run_takt("build --json", 1)
        self.assertIn("exit status 1", json.loads(said.stdout)["error"])
        self.assertIn("\u00e4\u00e4", said.stderr)
        self.assertEqual(self.status()["Build"]["status"], "Failed")

    def test_a_terminal_is_not_steered_by_a_project(self):
        self.put("takt.toml", '"\\u001b[2J" = 1\n' + CONFIG.format(
            test="true", build="false \\u001b[2J"))
        for command in ("optimize", "validate"):
            self.assertNotIn("\x1b", self.run_takt(command).stderr)
        self.assertNotIn("\x1b", self.run_takt("build", 1).stderr)
        self.assertNotIn("\x1b", self.run_takt("status").stdout)

    def test_commands_run_in_the_folder_of_the_project(self):
        self.put("takt.toml", CONFIG.format(test="touch tested; echo noise",
                                            build="test -e model.py"))
        self.run_takt("optimize")
        ran = self.run_takt("validate --json")
        self.assertIn("noise", ran.stderr)
        self.assertEqual(json.loads(ran.stdout)["succeeded"], True)
        self.assertTrue((self.path / "tested").exists())
        self.run_takt("build")


class Raised(Project):
    """A profile that nobody named makes nothing worse."""
    SIZE = 60

    TUNED = CARGO + "\n[profile.release]\nlto = true\ncodegen-units = 1\n"

    def test_what_is_better_stays(self):
        self.put("Cargo.toml", self.TUNED)
        ran = self.run_takt("optimize")
        self.assertIn("lto = true, codegen-units = 1: kept", ran.stdout)
        self.assertEqual(self.get("Cargo.toml"), self.TUNED)

    def test_what_is_named_is_set(self):
        for config, options in (("", " --profile balanced"),
                                ("[optimization]\nprofile = 'balanced'\n",
                                 "")):
            with self.subTest(options):
                self.put("Cargo.toml", self.TUNED)
                self.put("takt.toml", config)
                self.run_takt("optimize" + options)
                self.assertIn('lto = "thin"\ncodegen-units = 4',
                              self.get("Cargo.toml"))

    def test_a_file_of_another_tool_names_nothing(self):
        (self.path / "takt.toml").unlink(missing_ok=True)
        self.put("batuta.toml", "[optimization]\nprofile = 'fast'\n")
        self.put("Cargo.toml", self.TUNED)
        self.run_takt("optimize")
        self.assertEqual(self.get("Cargo.toml"), self.TUNED)


class Transpiled(Project):
    """Transpilation is done by others."""
    SIZE = 60

    def configure(self, folder="out"):
        self.put("takt.toml", f"[transpilation]\noutput_dir = '{folder}'\n"
                 + CONFIG.format(test="true", build="true"))

    def test_an_output_folder_that_is_missing(self):
        self.configure()
        self.run_takt("analyze")
        self.assertEqual(self.status()["Transpilation"]["status"], "Failed")
        self.assertIn("'out' does not exist",
                      self.status()["Transpilation"]["error"])
        ran = self.run_takt("optimize", 1)
        self.assertIn("Transpilation failed", ran.stderr)
        self.assertIn("output_dir", ran.stderr)
        (self.path / "out").mkdir()
        self.run_takt("optimize")
        self.assertEqual(self.status()["Transpilation"]["status"], "Completed")
        shutil.rmtree(self.path / "out")
        self.run_takt("validate", 1)

    def test_the_output_folder_of_another_tool_may_be_missing(self):
        self.put("batuta.toml", "[transpilation]\noutput_dir = 'out'\n")
        (self.path / "takt.toml").unlink()
        for command in ("optimize --dry-run", "optimize"):
            ran = self.run_takt(command)
            self.assertIn("'out' does not exist", ran.stderr)
        self.assertEqual(self.status()["Transpilation"]["status"],
                         "Not Needed")

    def test_what_was_transpiled_is_what_is_optimized(self):
        self.configure()
        self.put("out/lib.py", "import numpy as np\n\n\ndef f(a):\n"
                 "    return np.sum(a)\n")
        self.put("out/Cargo.toml", CARGO)
        found = self.findings()
        self.assertEqual([f["file"] for f in found["findings"]], ["lib.py"])
        self.run_takt("optimize")
        self.assertIn("[profile.release]", self.get("out/Cargo.toml"))

    def test_the_word_of_the_other_tool_counts(self):
        self.put("batuta.toml", "[transpilation]\noutput_dir = 'out'\n")
        (self.path / "takt.toml").unlink()
        (self.path / "out").mkdir()
        for status, wanted, code in (("Completed", "Completed", 0),
                                     ("NotStarted", "Completed", 0),
                                     ("InProgress", "In Progress", 1),
                                     ("Failed", "Failed", 1)):
            self.write_state(["Completed", status, "NotStarted", "NotStarted",
                              "NotStarted"], ".batuta-state.json")
            self.assertEqual(self.status()["Transpilation"]["status"], wanted)
            self.run_takt("optimize", code)

    def test_their_state_keeps_its_form(self):
        theirs = {"current_phase": "Analysis", "phases": {
            name: {"phase": name, "status": "NotStarted", "started_at": None,
                   "completed_at": None, "error": None}
            for name in PHASES[:4] + ["Deployment"]}, "more": {"x": [1.50]}}
        theirs["phases"]["Analysis"]["status"] = "Completed"
        theirs["phases"]["Analysis"]["duration"] = "0.13s"
        self.put(".batuta-state.json", json.dumps(theirs))
        self.run_takt("optimize")
        self.run_takt("validate")
        self.run_takt("build")
        self.assertFalse((self.path / ".takt-state.json").exists())
        after = json.loads(self.get(".batuta-state.json"))
        self.assertEqual(after["more"], {"x": [1.5]})
        self.assertEqual(after["phases"]["Analysis"],
                         theirs["phases"]["Analysis"])
        self.assertEqual(after["phases"]["Deployment"]["status"], "Completed")
        self.assertEqual(after["current_phase"], "Deployment")
        self.assertNotIn("Build", after["phases"])
        self.assertLessEqual({p["status"] for p in after["phases"].values()},
                             set(STATUSES[:4]))


class State(Project):
    """The file that remembers."""
    SIZE = 60

    def test_damage_is_reported_and_kept(self):
        self.put(".takt-state.json", '{"version": 1, "phases"')
        ran = self.run_takt("status", 1)
        self.assertIn("1:24", ran.stderr)
        ran = self.run_takt("analyze")
        self.assertIn("damaged", ran.stderr)
        self.assertEqual(self.get(".takt-state.json.damaged"),
                         '{"version": 1, "phases"')
        self.assertEqual(self.run_takt("analyze").stderr, "")
        self.assertEqual(self.status()["Analysis"]["status"], "Completed")

    def test_a_dry_run_does_not_care_and_does_not_touch(self):
        self.put(".takt-state.json", "nonsense")
        self.put("Cargo.toml", CARGO)
        before = {p.name: p.read_bytes() for p in self.path.iterdir()}
        self.run_takt("optimize --dry-run")
        self.assertEqual({p.name: p.read_bytes() for p in self.path.iterdir()},
                         before)

    def test_a_later_version_is_left_alone(self):
        self.put(".takt-state.json", '{"version": 9, "phases": {}}')
        self.assertIn("later takt", self.run_takt("analyze", 1).stderr)
        self.assertEqual(self.get(".takt-state.json"),
                         '{"version": 9, "phases": {}}')

    def test_members_of_others_stay(self):
        self.run_takt("analyze")
        state = json.loads(self.get(".takt-state.json"))
        state["mine"] = [1, {"two": "\u00e4"}]
        self.put(".takt-state.json", json.dumps(state))
        self.run_takt("optimize")
        self.assertEqual(json.loads(self.get(".takt-state.json"))["mine"],
                         state["mine"])

    def test_reset(self):
        for command in COMMANDS:
            self.run_takt(command)
        self.run_takt("reset --phase Validation")
        self.assertEqual(self.statuses(), ["Completed", "Not Needed",
                                           "Completed", "Not Started",
                                           "Stale"])
        self.run_takt("reset")
        self.assertEqual(self.statuses()[2:], 3 * ["Not Started"])

    def test_reset_of_a_project_where_nothing_has_run_changes_nothing(self):
        before = sorted(self.path.rglob("*"))
        for line in ("reset", "reset --phase build"):
            self.assertIn("nothing to reset", self.run_takt(line).stdout)
        self.assertEqual(sorted(self.path.rglob("*")), before)

    def start_slow(self):
        self.put("takt.toml", CONFIG.format(test="touch begun; exec sleep 60",
                                            build="true"))
        self.run_takt("optimize")
        child = subprocess.Popen([TAKT, "validate", "--trust", self.path],
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        end = time.monotonic() + 600
        while not (self.path / "begun").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return child

    def stop(self, child):
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def test_a_second_run_is_told_to_wait(self):
        child = self.start_slow()
        try:
            for command in ("analyze", "optimize", "validate", "build",
                            "reset"):
                ran = self.run_takt(command, 1)
                self.assertIn("another takt", ran.stderr)
                self.assertIn(str(child.pid), ran.stderr)
                self.assertEqual(len(ran.stderr.splitlines()), 1)
            self.assertEqual(self.status()["Validation"]["status"],
                             "In Progress")
            self.run_takt("optimize --dry-run")
        finally:
            self.stop(child)

    def test_who_died_was_interrupted(self):
        self.stop(self.start_slow())
        self.assertEqual(self.status()["Validation"]["status"], "Failed")
        self.assertEqual(self.status()["Validation"]["error"],
                         "was interrupted")
        self.assertIn("was interrupted", self.run_takt("build", 1).stderr)
        self.put("takt.toml", CONFIG.format(test="true", build="true"))
        self.run_takt("validate")
        self.run_takt("build")


    def test_who_reads_only_the_beginning_breaks_nothing(self):
        self.put("model.py", "import numpy as np\n" + "".join(
            f"\n\ndef f{i}(a):\n    return np.sum(a)\n" for i in range(1000)))
        reader, writer = os.pipe()
        os.close(reader)
        ran = subprocess.run(
            [TAKT, "optimize", "--all", self.path], stdout=writer,
            stderr=subprocess.PIPE, timeout=600,
            env={**os.environ, "TAKT_GPU": "", "TAKT_DB": ""})
        os.close(writer)
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(self.statuses()[2], "Completed")
        self.assertFalse((self.path / ".takt-state.lock").exists())

    def test_files_that_must_not_grow_break_nothing(self):
        self.run_takt("analyze")
        before = self.get(".takt-state.json")
        ran = takt(["optimize", self.path], preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))))
        self.assertEqual(ran.returncode, 1, ran)
        self.assertIn("File too large", ran.stderr)
        self.assertEqual(self.get(".takt-state.json"), before)
        self.assertEqual({path.name for path in self.path.iterdir()},
                         {".takt-state.json", "model.py", "takt.toml"})


class Advice(Project):
    """Where findings should run: flags, over the file, over the defaults."""

    def test_the_threshold_decides(self):
        for n, flags, wanted in (
                (500, "--enable-gpu", "GPU"), (499, "--enable-gpu", "SIMD"),
                (500, "", "SIMD"), (500, "--enable-gpu --no-simd", "GPU"),
                (499, "--enable-gpu --no-simd", "Scalar"),
                (600, "--enable-gpu --gpu-threshold 601", "SIMD"),
                (600, "--enable-gpu --gpu-threshold 600", "GPU"),
                (40, "--enable-gpu --gpu-threshold 40", "GPU")):
            self.put("model.py", PYTHON.format(n=n))
            with self.subTest(n=n, flags=flags):
                self.assertEqual(self.advice(flags)["product"], wanted)

    def test_unknown_sizes_have_crossovers(self):
        self.assertEqual(self.advice("--enable-gpu")["of_any_size"],
                         "GPU from n >= 500, SIMD below")
        self.assertEqual(
            self.advice("--enable-gpu --gpu-threshold 64")["of_any_size"],
            "GPU from n >= 64, SIMD below")
        self.assertEqual(self.advice("--enable-gpu --no-simd")["of_any_size"],
                         "GPU from n >= 500, Scalar below")
        self.assertEqual(self.advice()["of_any_size"], "SIMD")
        self.assertEqual(self.advice("--no-simd")["of_any_size"], "Scalar")
        self.assertEqual(self.advice("--enable-gpu")["total"],
                         "GPU from n >= 100,001, SIMD below")

    def test_the_moe_rule_on_request(self):
        self.put("takt.toml", "[optimization]\nuse_moe_routing = true\n")
        self.assertEqual(self.advice("--enable-gpu")["of_any_size"],
                         "GPU from n >= 500, SIMD from n >= 32, Scalar below")
        self.assertEqual(self.advice()["total"],
                         "SIMD from n >= 10,001, Scalar below")
        for n, wanted in ((31, "Scalar"), (32, "SIMD"), (500, "GPU")):
            self.put("model.py", PYTHON.format(n=n))
            self.assertEqual(self.advice("--enable-gpu")["product"], wanted)

    def test_flags_come_before_the_file(self):
        self.put("takt.toml", "[optimization]\nenable_gpu = true\n"
                 "gpu_threshold = 1000\nenable_simd = false\n")
        self.assertEqual(self.advice()["product"], "Scalar")
        self.assertEqual(self.advice("--enable-simd")["product"], "SIMD")
        self.assertEqual(self.advice("--gpu-threshold 600")["product"], "GPU")
        self.assertEqual(
            self.advice("--gpu-threshold 600 --no-gpu")["product"], "Scalar")
        self.assertEqual(self.findings()["options"]["gpu_threshold"], 1000)

    def test_a_call_replaces_it(self):
        calls = [f["recommendation"]["call"]
                 for f in self.findings()["findings"]]
        self.assertEqual(calls, ["takt_matmul_f32(600, 600, 600, a, b, c)",
                                 "takt_matmul_f32(m, n, k, a, b, c)",
                                 "takt_sum_f32(n, a, &out)"])

    def test_no_call_replaces_what_does_more(self):
        self.put("src/more.rs", "pub fn f(a: &[f32], b: &[f32]) -> f32 {\n"
                 "    a.iter().zip(b).map(|(x, y)| 0.5 * x * y).sum()\n}\n")
        found = [f for f in self.findings()["findings"]
                 if f["file"].endswith("more.rs")]
        self.assertEqual([(f["op"], f["certainty"],
                           f["recommendation"]["call"]) for f in found],
                         [("dot", "contains", None)])

    def test_nothing_is_predicted_where_nothing_was_measured(self):
        for finding in self.findings()["findings"]:
            self.assertIsNone(finding["recommendation"]["predicted_speedup"])
        self.assertIn("takt tune", self.run_takt("optimize --dry-run").stdout)

    def test_a_tuned_machine_predicts(self):
        db = pathlib.Path(self.folder.name) / "store.db"
        tuned = takt("tune --ops matmul --dtype f32 --sizes 64x64x64,96x96x96 "
                     "--budget 30 --anyway --json", env={"TAKT_DB": str(db)})
        if "no store" in tuned.stderr:
            self.skipTest("this build has no store")
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        self.put("model.py", PYTHON.format(n=64))
        self.put("gemm.c", PRODUCT.format(n=64))
        found = self.findings(f"--db {db}")
        self.assertTrue(found["options"]["tuned"])
        self.assertEqual(found["schema"], 2)
        advice = {f["file"]: f["recommendation"] for f in found["findings"]
                  if f["size"]}
        numpy, advice = advice["model.py"], advice["gemm.c"]
        self.assertGreater(advice["predicted_speedup"], 1)
        for one in (numpy, advice):
            self.assertAlmostEqual(
                one["predicted_speedup"],
                one["baseline_us"] / one["predicted_us"], 3)
        # Each is compared with what the code does now.
        self.assertEqual((advice["baseline"], numpy["baseline"]),
                         ("scalar", "library"))
        self.assertNotEqual(numpy["baseline_us"], advice["baseline_us"])
        text = self.run_takt(f"optimize --dry-run --db {db}").stdout
        self.assertIn("most work", text)
        self.assertIn("predicted "
                      f"{advice['predicted_speedup']:.3g} times as fast as "
                      "scalar with " + advice["expert"], text)

    def test_what_a_library_runs_is_as_fast_as_one_thread(self):
        # The baseline is the fastest instruction set, not the oldest one.
        db = pathlib.Path(self.folder.name) / "store.db"
        alone = {"TAKT_DB": str(db), "TAKT_THREADS": "1"}
        tuned = takt("tune --ops sum --dtype f32 --sizes 64K --budget 20 "
                     "--anyway", env=alone)
        if "no store" in tuned.stderr:
            self.skipTest("this build has no store")
        self.assertEqual(tuned.returncode, 0, tuned.stderr)
        self.put("model.py", "import numpy as np\n"
                 "a = np.zeros(65536, dtype=np.float32)\n"
                 "def total():\n    return np.sum(a)\n")
        ran = self.run_takt("optimize --dry-run --json", env=alone)
        advice = [f["recommendation"]
                  for f in json.loads(ran.stdout)["findings"]
                  if f["file"] == "model.py"][0]
        self.assertEqual((advice["baseline"], advice["predicted_speedup"]),
                         ("library", 1))


class Evidence(Project):
    """Profiles say what comes first."""

    def test_what_takes_time_has_its_own_place(self):
        self.put("profile", "main;hot 3\nmain;cold 2\n")
        text = takt(["optimize", "--dry-run", "--profile-data",
                     self.path / "profile", self.path]).stdout
        self.assertIn("1. model.c:12", text)
        self.assertIn("2. model.c:5", text)

    TWO = "#include <math.h>\n" + DOT.format(name="cold") + \
        DOT.format(name="hot")
    HOT = 13  # the line of the loop of hot()
    PERF = ("app 1 10.5:  {} cycles:u: \n"
            "\t 55d0 {}+0x5 (/home/me/app)\n{}\t 55d1 main+0x5 (/app)\n\n")

    def setUp(self):
        super().setUp()
        (self.path / "model.py").unlink()
        self.put("model.c", self.TWO)

    def rank(self, text, *more):
        words = []
        for i, one in enumerate((text, *more)):
            self.put(f"profile.{i}", one)
            words += ["--profile-data", str(self.path / f"profile.{i}")]
        ran = takt(["optimize", "--dry-run", "--json", *words, self.path])
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        found = json.loads(ran.stdout)
        self.profiles = found["summary"]["profiles"]
        return [(f["function"], f["evidence"] and f["evidence"]["by"],
                 f["evidence"] and round(f["evidence"]["share"], 3))
                for f in found["findings"]]

    def test_every_format_finds_the_hot_loop(self):
        source = f"  model.c:{self.HOT}\n"
        for name, text, by, share in (
                ("perf", self.PERF.format(75, "hot", "") +
                 self.PERF.format(25, "main", ""), "function", 0.75),
                ("perf with lines", self.PERF.format(75, "hot", source) +
                 self.PERF.format(25, "main", ""), "line", 0.75),
                ("folded", "main;hot;expf 3\nmain 1\n", "function", 0.75),
                ("gprof", "Flat profile:\n\n  %   cumulative   self    self\n"
                 " time   seconds   seconds    calls  name\n"
                 " 75.00 3.00 3.00 5 0.1 0.1 hot\n"
                 " 25.00 4.00 1.00 main\n\n", "function", 0.75),
                ("speedscope", json.dumps({
                    "profiles": [{"type": "sampled", "samples": [[0, 1], [0]],
                                  "weights": [3, 1]}],
                    "shared": {"frames": [
                        {"name": "main", "file": "model.c", "line": 99},
                        {"name": "hot", "file": "/x/app/model.c",
                         "line": self.HOT}]}}), "line", 0.75),
                ("Chrome", json.dumps({"traceEvents": [
                    {"ph": "X", "name": "main", "ts": 0, "dur": 4, "tid": 1},
                    {"ph": "X", "name": f"hot (model.c:{self.HOT - 3})",
                     "ts": 1, "dur": 3, "tid": 1}]}), "function", 0.75)):
            with self.subTest(name):
                self.assertEqual(self.rank(text),
                                 [("hot", by, share), ("cold", None, None)])
                self.assertAlmostEqual(self.profiles["in_findings"], 0.75)

    def test_two_profiles_count_the_same(self):
        self.assertEqual(self.rank("main;hot 3\nmain 1\n",
                                   "main;hot 1\nmain;cold 300\n"),
                         [("cold", "function", 0.498),
                          ("hot", "function", 0.377)])

    def test_findings_of_one_function_share_its_time(self):
        self.put("model.c", DOT.format(name="both").replace(
            "    return s;", "    for (int i = 0; i < n; i++)\n"
            "        s += b[i] * b[i];\n    return s;"))
        self.assertEqual({share for _, _, share in
                          self.rank("main;both 1\nmain 1\n")}, {0.25})

    def test_what_numpy_ran_has_its_sizes(self):
        self.put("model.py", PYTHON.format(n=9))
        report = {"schema": 3, "wall_s": 4, "loops": [], "rows": [
            {"routine": "sgemm", "least": 512, "most": 1023, "took_s": 2,
             "calls": {"baseline": 7}}]}
        self.put("report.json", json.dumps(report))
        ran = takt(["optimize", "--dry-run", "--json", "--profile-data",
                    self.path / "report.json", self.path])
        first, second, *_ = json.loads(ran.stdout)["findings"]
        for one in (first, second):  # which of the two it was is not known
            self.assertEqual(one["op"], "matmul")
            self.assertEqual(one["evidence"],
                             {"share": 0.25, "by": "op", "shared_by": 2,
                              "calls": 3.5, "least": 512, "most": 1023})

    def test_text_shows_the_time(self):
        self.put("p", "main;hot 3\nmain;cold;libm`exp 1\n")
        text = takt(["optimize", "--dry-run", "--profile-data",
                     self.path / "p", self.path]).stdout
        self.assertIn("most time\n  1. model.c:12:5  dot f32: SIMD, 75.0% of "
                      "the time", text)
        self.assertIn("(folded stacks): 100.0% of the time in findings", text)

    def test_what_takes_time_is_listed_whoever_runs_it(self):
        self.put("model.py", PYTHON.format(n=600))
        self.put("p", "total (model.py:16) 1\nproduct (model.py:8) 3\n")
        text = takt(["optimize", "--dry-run", "--profile-data",
                     self.path / "p", self.path]).stdout
        self.assertIn("1. model.py:8:12  matmul", text)
        self.assertIn("run by NumPy, BLAS or another library already", text)

    def test_what_takes_time_and_is_no_op_is_listed(self):
        self.put("model.c", self.TWO + "int fft(int n)\n{\n    do {\n"
                 "        n ^= n >> 1;\n    } while (n);\n    return n;\n}\n")
        self.put("p", "main;fft (model.c:21) 4\nmain;fft (model.c:22) 1\n"
                 "main;hot 2\nmain;parse 1\n")
        ran = takt(["optimize", "--dry-run", "--profile-data", self.path / "p",
                    self.path])
        self.assertIn("most time\n"
                      "  1. model.c:21-22  fft(): none of the ops, 62.5% of "
                      "the time\n  2. model.c:12:5  dot", ran.stdout)
        self.assertIn("3. parse(): none of the ops, 12.5%", ran.stdout)
        ran = takt(["optimize", "--dry-run", "--json", "--profile-data",
                    self.path / "p", self.path])
        other = json.loads(ran.stdout)["summary"]["profiles"]["other"]
        self.assertEqual(other[0], {"file": "model.c", "line": 21,
                                    "end_line": 22, "function": "fft",
                                    "share": 0.625})
        self.assertEqual(other[1]["file"], None)

    def test_the_time_of_the_kernel_is_not_the_loops(self):
        self.assertEqual(self.rank(
            self.PERF.format(25, "hot", f"  model.c:{self.HOT}\n") +
            "app 1 10.5:  75 cycles:u: \n\tff page_fault+0x1 "
            "([kernel.kallsyms])\n\t 55d0 hot+0x5 (/home/me/app)\n"
            f"  model.c:{self.HOT}\n\n")[0], ("hot", "line", 0.25))
        self.assertAlmostEqual(self.profiles["elsewhere"], 0.75)

    def test_files_of_others_are_not_those_of_the_project(self):
        self.assertEqual(
            self.rank(f"f (/usr/lib/x/model.c:{self.HOT}) 1\n"
                      f"f (/y/site-packages/model.c:{self.HOT}) 1\n"
                      f"f (model.c:{self.HOT}) 1\n")[0],
            ("hot", "line", 0.333))

    def test_what_is_no_profile_is_one_line(self):
        self.put("Cargo.toml", CARGO)
        for text, says in (("hello\n", "is no profile that is known"),
                           ("", "is empty"), ("{", "ends too early"),
                           ("{}", "is JSON, but neither"),
                           ("PERFILE2", "perf script -i")):
            with self.subTest(text):
                self.put("p", text)
                ran = takt(["optimize", "--profile-data", self.path / "p",
                            self.path])
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertEqual(ran.stderr.count("\n"), 1)
                self.assertIn(says, ran.stderr)
        self.assertEqual(self.get("Cargo.toml"), CARGO)  # nothing was written
        ran = takt(["optimize", "--profile-data", "/no/such", self.path])
        self.assertEqual(ran.returncode, 2)

    def test_hostile_names(self):
        for name in ("a" * 100000, "\x1b[31m", "%s%n", "../" * 50, "_ZN99999x",
                     "_Z", "<", ">::", "::", "::h0123456789abcdef", ".", "`"):
            with self.subTest(name[:20]):
                self.rank(f"{name};{name} ({name}.py:1) 1\n{name} 2\n")


class Standing(Project):
    """What nothing is to be done about is counted, and listed with --all."""

    def standing(self, name, text):
        self.put(name, text)
        found = self.findings()["findings"]
        return [f["standing"] for f in found if f["file"] == name]

    def test_what_numpy_runs(self):
        self.assertEqual(self.standing("model.py", PYTHON.format(n=600)),
                         ["library"] * 3)
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("3 run by NumPy, BLAS or another library already", text)
        self.assertNotIn("model.py:16", text)
        text = self.run_takt("optimize --dry-run --all").stdout
        self.assertIn("model.py:8:12: [library] matmul", text)

    def test_loops_are_the_project_s_own(self):
        self.assertEqual(self.standing("dot.c", DOT.format(name="f")),
                         ["open"])
        self.assertEqual(self.standing(
            "loop.py", "def f(a: list[float]) -> float:\n    s = 0.0\n"
            "    for x in a:\n        s += x\n    return s\n"), ["open"])

    def test_blas(self):
        self.assertEqual(self.standing(
            "b.c", "void f(float *x) { cblas_sscal(8000, 2, x, 1); }\n"),
            ["library"])

    def test_what_compilers_vectorise(self):
        self.assertEqual(self.standing(
            "add.c", "void f(float *a, const float *b, int n)\n{\n"
            "    for (int i = 0; i < n; i++)\n        a[i] += b[i];\n}\n"),
            ["vectorised"])

    def test_what_is_small(self):
        for n, wanted in ((4, "small"), (64, "open")):
            self.assertEqual(self.standing("s.c", PRODUCT.format(n=n)),
                             [wanted])

    def test_what_simd_code_leaves_over(self):
        head = "#include <immintrin.h>\n"
        loop = ("float f(const float *a, const float *b, int n)\n{\n"
                "    __m256 t = _mm256_setzero_ps();\n    int i = 0;\n"
                "    for (; i + 8 <= n; i += 8)\n"
                "        t = _mm256_fmadd_ps(_mm256_loadu_ps(a + i),\n"
                "                            _mm256_loadu_ps(b + i), t);\n"
                "    float s = total(t);\n"
                "    for (; i < n; i++)\n        s += a[i] * b[i];\n"
                "    return s;\n}\n")
        self.assertEqual(self.standing("s.c", head + loop +
                                       DOT.format(name="g")),
                         ["remainder", "open"])

    def test_kernels_of_cuda(self):
        kernel = "__global__ void k(const float *a, float *out, int n)\n" \
            "{\n    float s = 0;\n    for (int i = 0; i < n; i++)\n" \
            "        s += a[i];\n    *out = s;\n}\n"
        self.assertEqual(self.standing("k.cu", kernel +
                                       DOT.format(name="host")),
                         ["device", "open"])
        head = kernel.replace("__global__", "static __device__")
        self.assertEqual(self.standing("k.h", head), ["device"])
        self.assertEqual(self.standing(
            "both.h", "#define BOTH __host__ __device__\n" +
            kernel.replace("__global__", "BOTH static")), ["open"])

    def test_functions_of_cuda_beside_some_of_the_host(self):
        loop = "(const float *a, float *out, int n)\n{\n    float s = 0;\n" \
            "    for (int i = 0; i < n; i++)\n        s += a[i];\n" \
            "    *out = s;\n}\n"
        text = "__host__ void first" + loop + "__device__ void second" + loop
        self.assertEqual(self.standing("k.h", text), ["open", "device"])
        (self.path / "k.h").unlink()
        self.assertEqual(self.standing("cuda/k.h", text), ["device", "device"])

    def test_what_numba_compiles(self):
        loop = "def {}(a: list[float]) -> float:\n    s = 0.0\n" \
            "    for x in a:\n        s += x * x\n    return s\n\n\n"
        self.assertEqual(self.standing(
            "n.py", "from numba import njit\n\n\n@njit(\n"
            "    fastmath=True,\n)\n" + loop.format("f") + loop.format("g")),
            ["library", "open"])

    def test_single_passes_need_a_loop(self):
        (self.path / "model.py").unlink()
        text = "float f(const float *a, int n)\n{{\n    float s = 0;\n" \
            "    for (int i = 0; i < n; i++)\n        s += a[i]{};\n" \
            "    return s;\n}}\n"
        self.put("s.c", text.format(""))
        self.assertNotIn("1. s.c", self.run_takt("optimize --dry-run").stdout)
        self.put("s.c", text.format(" * a[i]"))
        self.assertIn("1. s.c", self.run_takt("optimize --dry-run").stdout)

    def test_libraries_of_one_header_come_last(self):
        self.put("model.py", "")
        self.put("stb_noise.h", PRODUCT.format(n=512))
        self.put("src/d.c", DOT.format(name="f"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. src/d.c", text)
        self.assertNotIn("stb_noise", text)

    def test_calls_are_folded_into_the_definition(self):
        text = "void matmul(float *c, const float *a, const float *b, int n)\n" \
            "{\n    for (int i = 0; i < n; i++)\n" \
            "        for (int j = 0; j < n; j++) {\n            float s = 0;\n" \
            "            for (int k = 0; k < n; k++)\n" \
            "                s += a[i * n + k] * b[k * n + j];\n" \
            "            c[i * n + j] = s;\n        }\n}\n" \
            "void f(float *a, float *b, float *c)\n{\n" \
            "    matmul(a, b, c, 512);\n    matmul(b, c, a, 512);\n}\n"
        self.assertEqual(self.standing("m.c", text), ["open", "call", "call"])
        (self.path / "m.c").unlink()
        text = "void f(float *a, float *b, float *c)\n{\n" \
            "    matmul(a, b, c, 512);\n}\n"
        self.assertEqual(self.standing("m.c", text), ["call"])
        text = "fn f(a: &mut [f32], b: &[f32], i: usize, j: usize, k: usize) {\n" \
            "    matmul(a, &b[i..j], b, 9);\n}\n"
        self.assertEqual(self.standing("m.rs", text), ["library"])

    def test_what_other_builds_have_a_library_for(self):
        loop = "    for (int i = 0; i < n; i++)\n        s += a[i] * b[i];\n"
        dot = DOT.format(name="f")
        for before, after, wanted in (
                ("#ifdef USE_BLAS\n    s = ddot();\n#else\n", "#endif\n",
                 "fallback"),
                ("#ifndef USE_BLAS\n", "#endif\n", "fallback"),
                ("#if !defined(__SSE2__)\n", "#endif\n", "fallback"),
                ("#ifdef A\n#elif defined(HAVE_AVX)\n#else\n", "#endif\n",
                 "fallback"),
                ("#if HAVE_NEON\n#ifdef B\n#endif\n#else\n", "#endif\n",
                 "fallback"),
                ("    // the fallback for others\n", "", "fallback"),
                ("#ifdef USE_BLAS\n", "#endif\n", "open"),
                ("#ifdef HAVE_AVX\n#endif\n", "", "open"),
                ("#ifdef NO_ASSERT\n#else\n", "#endif\n", "open"),
                ("#ifdef A\n#elif defined(HAVE_AVX)\n", "#endif\n", "open")):
            with self.subTest(before):
                self.assertEqual(self.standing(
                    "a.c", dot.replace(loop, before + loop + after)), [wanted])
        self.assertEqual(self.standing(
            "a.h", "#ifndef SIMD_H\n#define SIMD_H\n" + dot + "#endif\n"),
            ["open"])

    def test_what_steps_leave_over(self):
        rest = "fn f(a: &[f32], b: &[f32], m: usize) -> f32 {{\n" \
            "    let mut s = 0.0;\n    let mut i = 0;\n" \
            "    while i + 4 <= m {{\n        s += four(a, b, i);\n" \
            "        i += 4;\n    }}\n    while {0} < m {{\n" \
            "        s += a[{0}] * b[{0}];\n        {0} += 1;\n    }}\n" \
            "    s\n}}\n"
        self.assertEqual(self.standing("a.rs", rest.format("i")),
                         ["remainder"])
        self.assertEqual(self.standing(
            "a.rs", rest.format("j").replace("let mut i", "let mut j = 0;\n"
                                             "    let mut i")), ["open"])

    def test_what_has_simd_code_beside_it_comes_last(self):
        (self.path / "model.py").unlink()
        for name in ("dot", "other"):
            self.put(f"src/{name}.c", DOT.format(name=name))
        self.put("src/besse.c", "int x;\n")  # no word of it is "sse"
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. src/dot.c", text)
        self.put("src/dot_avx2.c", "int y;\n")
        self.put("far/f.c", DOT.format(name="far"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. far/f.c", text)
        self.assertNotIn("src/dot.c", text)

    def test_references_come_last(self):
        (self.path / "model.py").unlink()
        self.put("a.c", PRODUCT.format(n=600).replace("product",
                                                      "product_ref"))
        self.put("b.c", DOT.format(name="f"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. b.c", text)
        self.assertNotIn("2. a.c", text)

    def test_loops_that_repeat_are_none_over_elements(self):
        for head, wanted in (("for (;;)", 0), ("while (!done(n))", 0),
                             ("for (int k = 0; k < n; k++)", 1),
                             ("while (n-- > 0)", 1)):
            with self.subTest(head):
                self.put("a.c", "float f(const float *a, int n)\n{\n"
                         f"    float s = 0;\n    {head} {{\n        s = 0;\n"
                         "        for (int i = 0; i < n; i++)\n"
                         "            s += a[i] * a[i];\n    }\n"
                         "    return s;\n}\n")
                found = [f for f in self.findings()["findings"]
                         if f["file"] == "a.c"]
                self.assertEqual([f["loops_around"] for f in found], [wanted])

    def test_elements_of_any_type_are_vectorised(self):
        self.assertEqual(self.standing(
            "v.hpp", "template <typename T>\nvoid f(T *a, T s, int n)\n{\n"
            "    for (int i = 0; i < n; i++)\n        a[i] /= s;\n}\n"),
            ["vectorised"])

    def test_examples_come_last(self):
        self.put("model.py", "")
        self.put("examples/e.c", PRODUCT.format(n=512))
        self.put("src/d.c", DOT.format(name="f"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. src/d.c", text)
        self.assertNotIn("examples/", text)
        (self.path / "src/d.c").unlink()  # else it is what there is
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. examples/e.c", text)

    def test_what_is_called_in_loops_comes_first(self):
        (self.path / "model.py").unlink()
        for name, text, calls in (
                ("a.c", DOT, "void g(float *a, int n)\n{{\n"
                 "    for (int i = 0; i < n; i++)\n        {};\n    {};\n}}\n"),
                ("a.rs", "fn {name}(a: &[f32], b: &[f32], n: i32) -> f32 {{\n"
                 "    let mut s = 0.0;\n\n    for i in 0..a.len() {{\n"
                 "        s += a[i] * b[i];\n    }}\n    s\n}}\n",
                 "fn g(a: &[f32], n: i32) {{\n    for i in 0..n {{\n"
                 "        {};\n    }}\n    {};\n}}\n"),
                ("a.py", "def {name}(a, b, n):\n    s = 0.0\n\n"
                 "    for i in range(len(a)):\n        s += a[i] * b[i]\n"
                 "    return s\n\n",
                 "def g(a, n):\n    for i in range(n):\n        {}\n    {}\n")):
            for hot, cold in (("f", "h"), ("h", "f")):
                with self.subTest(f"{name} {hot}"):
                    both = text.format(name="f") + text.format(name="h")
                    lines = both.split("\n")
                    self.put(name, both + calls.format(f"{hot}(a, a, n)",
                                                       f"{cold}(a, a, n)"))
                    first = [i for i, line in enumerate(lines)
                             if "for " in line][hot == "h"] + 1
                    told = self.run_takt("optimize --dry-run").stdout
                    self.assertIn(f"1. {name}:{first}:", told)
            (self.path / name).unlink()

    def test_what_sets_up_comes_later(self):
        (self.path / "model.py").unlink()
        self.put("a.c", DOT.format(name="load_weights") +
                 DOT.format(name="forward"))
        self.assertIn("1. a.c:11", self.run_takt("optimize --dry-run").stdout)

    def test_an_op_takes_one_place_per_function(self):
        (self.path / "model.py").unlink()
        two = DOT.format(name="both").replace(
            "    return s;", "    for (int i = 0; i < n; i++)\n"
            "        s += b[i] * b[i];\n    return s;")
        self.put("a.c", two + DOT.format(name="other"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("also in line 6, 13\n", text)  # as much in the file
        self.assertNotIn("2. a.c", text)
        self.put("copy/a.c", two)
        self.put("b.c", DOT.format(name="another"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertNotIn("copy/a.c", text)
        self.assertIn("2. b.c", text)

    def test_a_product_of_a_library_stands_alone(self):
        self.put("model.py", PYTHON.format(n=600))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertRegex(text, "'takt run -- PROGRAM' chooses where\n"
                         "  1. model.py:8")
        self.put("d.c", DOT.format(name="f"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. d.c", text)
        self.assertNotIn("model.py:8", text)

    def test_what_is_called_often_comes_first(self):
        (self.path / "model.py").unlink()
        self.put("a.c", DOT.format(name="once"))
        self.put("b.c", DOT.format(name="often"))
        self.put("c.c", "float g(float *a, int n)\n{\n    float s = 0;\n"
                 "    while (n-- > 0)\n        s += once(a, a, 3000)" +
                 " + often(a, a, 9000)" * 5 + ";\n    return s;\n}\n")
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. b.c:4", text)


class Compiled(Project):
    """The compiler is asked what it vectorises."""

    LOOPS = "void f(float *restrict a, const float *restrict b, int n)\n{\n" \
        "    for (int i = 0; i < n; i++)\n        a[i] += b[i];\n}\n" + \
        DOT.format(name="g")

    def database(self, *words, **more):
        entry = {"directory": str(self.path), "file": "a.c",
                 "arguments": [*words, "-c", "a.c"], **more}
        self.put("commands.json", json.dumps([entry]))
        ran = takt(["optimize", "--dry-run", "--json", "--compile-commands",
                    self.path / "commands.json", self.path])
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return [f["standing"] for f in json.loads(ran.stdout)["findings"]
                if f["file"] == "a.c"]

    def setUp(self):
        super().setUp()
        self.put("a.c", self.LOOPS)

    @unittest.skipIf(shutil.which("gcc") is None, "there is no gcc")
    def test_flags_decide(self):
        for words, wanted in ((("gcc", "-O3"), ["vectorised", "open"]),
                              (("/usr/bin/gcc", "-O3", "-ffast-math"),
                               ["vectorised", "vectorised"]),
                              (("ccache", "gcc", "-O0"), ["open", "open"])):
            with self.subTest(words):
                self.assertEqual(self.database(*words), wanted)
        command = "gcc -O3 '-ffast-math' \"-DX=1 2\" -c a.c"
        self.assertEqual(self.database(arguments=None, command=command),
                         ["vectorised", "vectorised"])

    @unittest.skipIf(shutil.which("clang") is None, "there is no clang")
    def test_clang(self):
        self.assertEqual(self.database("clang", "-O3"), ["vectorised", "open"])

    def test_nothing_but_compilers_is_run(self):
        mark = self.path / "mark"
        for words in (("touch", str(mark)), ("sh", "-c", f"touch {mark}"),
                      (str(self.path / "gcc-evil"),),
                      ("gcc", f"-fplugin={mark}", "-O3"),
                      ("gcc", "-wrapper", f"touch,{mark}", "-O3"),
                      ("gcc", f"@{mark}", "-B", str(self.path), "-O3"),
                      ("gcc", "-o", str(mark), "-MD", "-MF", str(mark)),
                      ("gcc", f"-fopt-info-all={mark}", "-O3")):
            with self.subTest(words):
                self.put("gcc-evil", f"#!/bin/sh\ntouch {mark}\n")
                os.chmod(self.path / "gcc-evil", 0o755)
                self.database(*words)
                self.assertFalse(mark.exists())

    def test_what_is_no_database(self):
        for text, says in (("", "a value is missing"), ("{}", "no list"),
                           ("[1", ":1:")):
            self.put("commands.json", text)
            ran = takt(["optimize", "--dry-run", "--compile-commands",
                        self.path / "commands.json", self.path])
            self.assertEqual((ran.returncode, ran.stdout), (2, ""))
            self.assertIn(says, ran.stderr)
        for entries in ([1, None, {}], [{"file": 3}], [{"file": "a.c"}],
                        [{"file": "a.c", "directory": str(self.path)}],
                        [{"file": "a.c", "directory": str(self.path),
                          "arguments": []}]):
            self.put("commands.json", json.dumps(entries))
            ran = takt(["optimize", "--dry-run", "--compile-commands",
                        self.path / "commands.json", self.path])
            self.assertEqual(ran.returncode, 0)


class Habits(Project):
    """Comments, a baseline, changed lines, and the same output always."""

    def standings(self, *words):
        ran = takt(["optimize", "--dry-run", "--json", *words, self.path])
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.stderr = ran.stderr
        found = json.loads(ran.stdout)
        self.unchanged = found["summary"]["unchanged"]
        return [(f["standing"], f["reason"]) for f in found["findings"]]

    def setUp(self):
        super().setUp()
        (self.path / "model.py").unlink()

    def test_comments_ignore(self):
        loop = "    for (int i = 0; i < n; i++)"
        dot = DOT.format(name="f")
        for text, wanted in (
                (dot.replace(loop, loop + " // takt: ignore it is cold"),
                 ("ignored", "it is cold")),
                (dot.replace(loop, "    /* takt: ignore: cold */\n" + loop),
                 ("ignored", "cold")),
                ("// takt: ignore-begin old code\n" + dot +
                 "// takt: ignore-end\n", ("ignored", "old code")),
                ("// takt: ignore-begin a\n// takt: ignore-end\n" + dot,
                 ("open", None)),
                ("const char *s = \"// takt: ignore-begin a\";\n" + dot,
                 ("open", None)),
                (dot.replace(loop, loop + " // takt: ignored"),
                 ("open", None))):
            with self.subTest(text):
                self.put("a.c", text)
                self.assertEqual(self.standings(), [wanted])
        self.run_takt("optimize --dry-run --fail-on any", 1)
        self.put("a.c", "// takt: ignore-begin old code\n" + dot)
        self.run_takt("optimize --dry-run --fail-on any", 0)
        self.assertEqual(self.standings(), [("ignored", "old code")])
        self.assertIn("a.c:1: 'takt: ignore-begin' without an end",
                      self.stderr)

    def test_comments_of_each_language(self):
        self.put("a.py", "def f(a: list[float]) -> float:\n    s = 0.0\n"
                 "    for x in a:  # takt: ignore three of them\n"
                 "        s += x\n    return s\n")
        self.put("b.rs", "pub fn f(a: &[f32]) -> f32 {\n"
                 "    // takt: ignore three of them\n"
                 "    a.iter().sum::<f32>()\n}\n")
        self.put("c.cpp", DOT.format(name="f").replace(
            "i++)", "i++) // takt: ignore three of them"))
        self.assertEqual(self.standings(),
                         [("ignored", "three of them")] * 3)

    def test_a_reason_is_needed(self):
        self.put("a.c", DOT.format(name="f").replace(
            "i++)", "i++) // takt: ignore"))
        self.assertEqual(self.standings(), [("open", None)])
        self.assertIn("a.c:4: 'takt: ignore' does nothing without a reason",
                      self.stderr)

    def test_only_new_findings_fail(self):
        known = self.path / "known.txt"
        flags = f"optimize --dry-run --fail-on any --baseline {known}"
        self.put("a.c", DOT.format(name="f"))
        self.run_takt(flags, 2)  # it is not there
        self.run_takt(flags.replace("--fail-on any", "--write-baseline"))
        self.run_takt(flags)
        self.assertEqual(self.standings("--baseline", known),
                         [("known", None)])
        self.put("a.c", "\n\n" + DOT.format(name="f"))  # moved
        self.run_takt(flags)
        self.put("a.c", DOT.format(name="f") + DOT.format(name="g"))
        self.run_takt(flags, 1)
        self.assertEqual(self.standings("--baseline", known),
                         [("known", None), ("open", None)])

    def test_each_line_of_a_baseline_is_one_finding(self):
        known = self.path / "known.txt"
        twice = DOT.format(name="f").replace(
            "    return s;", "    for (int i = 0; i < n; i++)\n"
            "        s += b[i] * b[i];\n    return s;")
        self.put("a.c", DOT.format(name="f"))
        self.run_takt(f"optimize --dry-run --baseline {known} "
                      "--write-baseline")
        self.put("a.c", twice)
        self.assertEqual(sorted(self.standings("--baseline", known)),
                         [("known", None), ("open", None)])

    def test_a_baseline_that_is_none(self):
        self.put("a.c", DOT.format(name="f"))
        for text, says in (("", "is no baseline"), ("hello\n", "no baseline"),
                           ("# takt baseline 2\n", "a later version"),
                           ("# takt baseline 1\nxyz\n", ":2: is no digest"),
                           ("# takt baseline 1\n" + "a" * 65, ":2: ")):
            with self.subTest(text):
                self.put("known", text)
                ran = takt(["optimize", "--dry-run", "--baseline",
                            self.path / "known", self.path])
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertIn(says, ran.stderr)
        self.run_takt("optimize --dry-run --write-baseline", 2)

    def git(self, *words):
        subprocess.run(["git", "-C", self.path, "-c", "user.name=a", "-c",
                        "user.email=a@b", *words], check=True,
                       capture_output=True)

    @unittest.skipIf(shutil.which("git") is None, "there is no git")
    def test_only_changed_lines(self):
        names = ["a.c", "d\u00e4 \" x.c"]
        for name in names:
            self.put(name, DOT.format(name="f") + DOT.format(name="g"))
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "x")
        self.assertEqual(self.standings("--diff", "HEAD"), [])
        self.assertEqual(self.unchanged, 4)
        for name in names:
            self.put(name, DOT.format(name="f") + DOT.format(name="g").replace(
                "a[i] * b[i]", "b[i] * a[i]"))
            self.put("new.c", DOT.format(name="h"))
        self.assertEqual(len(self.standings("--diff", "HEAD")), 3)
        self.assertEqual(self.unchanged, 2)
        ran = takt(["optimize", "--dry-run", "--diff", "HEAD", "--fail-on",
                    "any", self.path])
        self.assertEqual(ran.returncode, 1)
        for base in ("no-such-thing", "--output=x", "-h"):
            ran = takt(["optimize", "--dry-run", f"--diff={base}", self.path])
            self.assertEqual((ran.returncode, ran.stdout), (2, ""))
            self.assertIn("git cannot tell", ran.stderr)
        self.assertFalse((self.path / "x").exists())

    @unittest.skipIf(shutil.which("git") is None, "there is no git")
    def test_a_change_cannot_hide_itself(self):
        """Not as the name of another file, and not as a binary one."""
        self.put("a.c", "int x;\n")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "x")
        self.put("a.c", "/*\n++ b/other.c\n*/\nint x;\n" +
                 DOT.format(name="f"))
        self.assertEqual(len(self.standings("--diff", "HEAD")), 1)
        self.put(".gitattributes", "*.c -diff\n")
        self.assertEqual(len(self.standings("--diff", "HEAD")), 1)

    def test_no_revision_outside_of_git(self):
        ran = takt(["optimize", "--dry-run", "--diff", "HEAD", self.path],
                   env={"GIT_CEILING_DIRECTORIES": str(self.path.parent)})
        self.assertEqual(ran.returncode, 2)
        self.assertLess(len(ran.stderr.splitlines()), 4, ran.stderr)

    @unittest.skipUnless(hasattr(os, "sched_setaffinity"), "of Linux")
    def test_the_same_for_any_number_of_threads(self):
        for i in range(40):
            self.put(f"s/{i}.c", DOT.format(name=f"f{i}") +
                     PRODUCT.format(n=8 + i))
        self.put("p", "main;f3 5\nmain;f20 2\nmain;product 9\n")
        cores = sorted(os.sched_getaffinity(0))
        for form in ("json", "sarif", "text"):
            said = set()
            for count in {1, 2, len(cores)}:
                ran = takt(["optimize", "--dry-run", "--all", "--format", form,
                            "--profile-data", self.path / "p", self.path],
                           preexec_fn=lambda: os.sched_setaffinity(
                               0, cores[:count]))
                said.add(re.sub(r'"seconds":[^}]*|[\d.]+ s\n', "",
                                ran.stdout))
            self.assertEqual(len(said), 1, form)


class Patch(Project):
    """A diff that makes calls of libtakt in the places of loops."""

    HEAD = "#include <math.h>\n"

    def patch(self, text, *words, name="a.c", code=0):
        self.put(name, text)
        ran = takt(["optimize", "--dry-run", "--patch", *words, self.path])
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.said = ran.stderr
        return ran.stdout

    def calls(self, text):
        return re.findall(r"takt_\w+\([^;]*?\) [!=]= TAKT_OK",
                          re.sub(r"\n\+ *", " ", self.patch(text)))

    def setUp(self):
        super().setUp()
        (self.path / "model.py").unlink()

    def test_a_dot_product(self):
        text = self.patch(DOT.format(name="f"))
        self.assertIn("+#include <takt/ops.h>\n", text)
        self.assertIn("+        if (takt_dot_f32((size_t)(n), &a[0], &b[0], "
                      "&takt_total) ==", text)
        self.assertTrue(text.startswith("--- a/a.c\n+++ b/a.c\n"))
        self.assertIn("1 of 1 exact findings in C and C++ have a patch; 0 were "
                      "compiled, 1 were not checked", self.said)

    def test_what_is_transposed(self):
        loop = "void f(const float *a, const float *b, float *c, int m, " \
            "int n, int k)\n{{\n    for (int i = 0; i < m; i++)\n" \
            "        for (int j = 0; j < n; j++)\n" \
            "            for (int p = 0; p < k; p++)\n" \
            "                c[i * n + j] += {} * {};\n}}\n"
        for a, b, wanted in (
                ("a[i * k + p]", "b[p * n + j]", "0, (size_t)(m), (size_t)(n), "
                 "(size_t)(k), 1, &a[0], (size_t)(k), &b[0], (size_t)(n), 1, "
                 "&c[0], (size_t)(n)"),
                ("a[p * m + i]", "b[p * n + j]", "TAKT_TRANS_A, "),
                ("a[i * k + p]", "b[j * k + p]", "TAKT_TRANS_B, "),
                ("a[p * m + i]", "b[j * k + p]",
                 "TAKT_TRANS_A | TAKT_TRANS_B, ")):
            with self.subTest(a + b):
                call, = self.calls(loop.format(a, b))
                self.assertTrue(call.startswith("takt_gemm_f32(" + wanted),
                                call)

    def test_what_would_be_something_else_has_none(self):
        sum_of = "float f(const float *a, float *b, int n)\n{{\n" \
            "    float s = 0;\n    int i;\n    {}\n    return s;\n}}\n"
        for body in (
                "for (i = 0; i < n; i += 2) s += a[i];",
                "for (i = n; i > 0; i--) s += a[i];",
                "for (i = 0; i < n; i++) s += a[2 * i];",
                "for (i = 0; i < n; i++) s += a[i]; s += i;",
                "for (i = 0; i < n && s < 9; i++) s += a[i];",
                "for (i = 0; i < n; i++) { s += a[i]; b[i] = s; }",
                "for (i = 0; i < n; i++) if (a[i] > 0) s += a[i];",
                "for (i = 0; i < n; i++) b[i + 1] = b[i] + a[i];",
                "for (i = 0; i < n; i++) b[i] = b[i + 1] + a[i];",
                "for (i = 0; i < n; i++) s = a[i] > s ? a[i] : s;",
                "for (i = 0; i < n; i++) s += (int)a[i];",
                "for (i = 0; i < n * 0.5; i++) s += a[i];",
                "if (n) for (i = 0; i < n; i++) s += a[i]; else s = 1;",
                "for (i = 0; i < n; n--) s += a[i];",
                "for (i = 0; i < n; i++) s += a[i] + 1;",
                "for (i = 0; i < n; i++) b[i] /= 3;"):
            with self.subTest(body):
                self.assertEqual(self.patch(sum_of.format(body)), "")
        for text in (
                DOT.format(name="f").replace("float s", "double s"),
                DOT.format(name="f").replace("float s", "volatile float s"),
                DOT.format(name="f").replace("const float *b", "const double "
                                             "*b"),
                PRODUCT.format(n=64).replace("float a[64][64]", "float **a"),
                PRODUCT.format(n=64).replace("j < 64", "j < i"),
                PRODUCT.format(n=64).replace("float s = 0;", "float s = 1;")):
            with self.subTest(text):
                self.assertEqual(self.patch(text), "")

    def test_directives_stay_with_the_loop(self):
        loop = "    for (int i = 0; i < n; i++)"
        text = self.patch(DOT.format(name="f").replace(
            loop, "#pragma omp parallel for reduction(+ : s)\n" + loop))
        lines = [line[1:].strip() for line in text.splitlines()
                 if line[:1] in " +"]
        at = lines.index("else")
        self.assertTrue(lines[at + 1].startswith("#pragma omp"))
        self.assertTrue(lines[at + 2].startswith("for ("))

    @unittest.skipIf(shutil.which("gcc") is None, "there is no gcc")
    def test_what_does_not_compile_is_left_out(self):
        include = pathlib.Path(__file__).resolve().parents[2] / "include"
        text = self.patch(DOT.format(name="f"), "--cc", f"gcc -I{include}")
        self.assertIn("takt_dot_f32", text)
        self.assertIn("1 were compiled", self.said)
        # Without the headers of Takt it does not compile.
        text = self.patch(DOT.format(name="f"), "--cc", "gcc -nostdinc")
        self.assertEqual(text, "")
        self.assertIn("1 did not compile", self.said)

    def test_tests_kernels_and_what_is_ignored_have_none(self):
        self.put("a_test.c", DOT.format(name="f"))
        self.put("k.cu", DOT.format(name="f"))
        self.assertEqual(self.patch(DOT.format(name="f").replace(
            "i++)", "i++) // takt: ignore cold")), "")

    def test_words(self):
        for words in (["--json"], ["--all"], ["--format", "sarif"],
                      ["--cc", "touch x"], ["--cc", ""]):
            self.patch("", *words, code=2)


class Reports(Project):
    """Text, JSON and SARIF."""

    def test_text_is_something_to_act_on(self):
        self.put("tests/test_model.py", "import numpy as np\n\n\n"
                 "def test_sum():\n    assert np.sum(np.zeros(3)) == 0\n")
        text = self.run_takt("optimize --enable-gpu").stdout
        self.assertIn("3 findings outside of tests, 1 in tests", text)
        self.assertIn("GPU 1, SIMD 0, Scalar 0, by size 2", text)
        self.assertIn("model.py:8:12  matmul f32 600x600x600", text)
        self.assertIn("in C: takt_matmul_f32(600, 600, 600, a, b, c)", text)
        self.assertIn("takt validate", text)

    def test_five_are_shown_and_all_on_request(self):
        (self.path / "model.py").unlink()
        for i in range(9):
            self.put(f"{i}.c", DOT.format(name=f"f{i}"))
        text = self.run_takt("optimize --dry-run").stdout
        self.assertEqual(len(re.findall(r"^  \d\. ", text, re.M)), 5)
        self.assertIn("\n4 more are less work, or seem to run less often\n",
                      text)
        self.assertIn("--all", text)
        text = self.run_takt("optimize --dry-run --all").stdout
        self.assertEqual(len(re.findall(r"^\d.c:\d+:\d+: ", text, re.M)), 9)

    def test_the_list_ends_where_it_is_little_work(self):
        (self.path / "model.py").unlink()
        many = "void f(float *x, int n)\n{\n" + "    int unused = 0;\n" * 9
        once = "    for (int i = 0; i < n; i++)\n        s += x[i] * x[i];\n"
        self.put("a.c", many + "    float s = 0;\n" + once + "    *x = s;\n}\n")
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("\n1 is less work, or seems to run less often\n", text)
        self.assertNotIn("1. a.c", text)
        self.put("b.c", DOT.format(name="g"))  # all that its function does
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. b.c:4", text)
        self.put("m.c", PRODUCT.format(n=2048))  # so much more work
        text = self.run_takt("optimize --dry-run").stdout
        self.assertIn("1. m.c:3", text)
        self.assertIn("\n2 more are less work", text)

    def test_json_has_it_all(self):
        found = self.findings("--enable-gpu")
        self.assertEqual(found["summary"]["findings"], 3)
        self.assertEqual(found["summary"]["languages"]["Python"]["files"], 1)
        first = found["findings"][0]
        self.assertEqual((first["file"], first["line"], first["column"]),
                         ("model.py", 8, 12))
        self.assertEqual(first["size"]["shape"], [600, 600, 600])
        self.assertEqual(first["complexity"], "High")
        self.assertEqual(first["snippet"], "a @ b")
        self.assertEqual(first["function"], "product")
        second = found["findings"][1]["recommendation"]
        self.assertEqual((second["gpu_from"], second["simd_from"],
                          second["n"]), (500, 0, "matrix dimension"))

    def test_fail_on(self):
        for flags, code in (("--fail-on none", 0), ("--fail-on any", 1),
                            ("--fail-on gpu", 0), ("--fail-on simd", 1),
                            ("--fail-on gpu --enable-gpu", 1),
                            ("--fail-on simd --no-simd", 0),
                            ("--fail-on any --no-simd", 1)):
            with self.subTest(flags):
                self.put("model.c", DOT.format(name="f"))
                self.run_takt("optimize --dry-run " + flags, code)
                # What NumPy runs is no trouble, but for a GPU, or on request.
                (self.path / "model.c").unlink()
                gpu = "gpu --enable-gpu" in flags
                self.run_takt("optimize --dry-run " + flags, code * gpu)
                self.run_takt("optimize --dry-run --all " + flags, code)
        self.put("model.py", "x = 1\n")
        self.run_takt("optimize --dry-run --fail-on any")
        self.run_takt("optimize --fail-on any")
        self.put("model.c", DOT.format(name="f"))
        self.run_takt("optimize --fail-on any", 1)
        self.assertEqual(self.status()["Optimization"]["status"], "Completed")

    def test_languages_can_be_chosen(self):
        self.put("a.c", "float f(const float *a, int n)\n{\n    float s = 0;\n"
                 "    for (int i = 0; i < n; i++)\n        s += a[i];\n"
                 "    return s;\n}\n")
        for flags, wanted in (("--languages python", {"Python"}),
                              ("--languages c", {"C"}),
                              ("--languages Python,c", {"C", "Python"})):
            self.assertEqual(
                set(self.findings(flags)["summary"]["languages"]), wanted)
        self.run_takt("optimize --languages cobol", 2)

    def test_what_is_vendored_or_ignored_is_searched_on_request(self):
        self.put("vendor/v.py", PYTHON.format(n=9))
        self.put("skip/s.py", PYTHON.format(n=9))
        self.put(".gitignore", "skip/\n")
        files = lambda flags: {f["file"] for f in
                               self.findings(flags)["findings"]}
        self.assertEqual(files(""), {"model.py"})
        self.assertEqual(files("--with-vendored"), {"model.py", "vendor/v.py"})
        self.assertEqual(files("--with-ignored"), {"model.py", "skip/s.py"})

    def test_odd_names_do_not_break_a_report(self):
        raw = os.fsencode(self.path) + b"/\xff \x1b[31m\xc3\xa4%#.py"
        with open(raw, "w") as file:
            file.write(PYTHON.format(n=9))
        for form in ("json", "sarif"):
            ran = self.run_takt("optimize --dry-run --format " + form,
                                text=False)
            json.loads(ran.stdout.decode())
            self.assertNotIn(b"\x1b", ran.stdout)
        text = self.run_takt("optimize --dry-run --all", text=False).stdout
        self.assertNotIn(b"\x1b", text)
        self.assertIn("\\xff \\x1b[31m\u00e4%#.py:8:12", text.decode())


class Sarif(Project):
    """SARIF 2.1.0, as code hosts read it."""

    def report(self, line=""):
        ran = self.run_takt("optimize --dry-run --format sarif " + line)
        self.assertEqual(ran.stderr, "")
        return json.loads(ran.stdout)

    def test_what_the_standard_asks_for(self):
        said = self.report("--enable-gpu")
        self.assertEqual(said["version"], "2.1.0")
        self.assertTrue(said["$schema"].endswith("sarif-schema-2.1.0.json"))
        run, = said["runs"]
        self.assertEqual(run["columnKind"], "utf16CodeUnits")
        driver = run["tool"]["driver"]
        self.assertEqual(driver["name"], "takt")
        ids = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual([r["level"] for r in run["results"]],
                         ["warning", "none", "none"])
        for result in run["results"]:
            self.assertEqual(ids[result["ruleIndex"]], result["ruleId"])
            self.assertTrue(result["message"]["text"])
            place = result["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"]["uri"], "model.py")
            self.assertIn(place["artifactLocation"]["uriBaseId"],
                          run["originalUriBaseIds"])
            region = place["region"]
            self.assertLess((region["startLine"], region["startColumn"]),
                            (region["endLine"], region["endColumn"]))
        base = run["originalUriBaseIds"]["SRCROOT"]["uri"]
        self.assertTrue(base.startswith("file:///") and base.endswith("/"))
        self.assertIs(run["invocations"][0]["executionSuccessful"], True)

    def test_columns_count_utf16_units(self):
        self.put("model.py", "import numpy as np\n\n\ndef f(v):\n"
                 "    return '\U0001f600', np.sum(v)\n")
        result, = self.report()["runs"][0]["results"]
        region = result["locations"][0]["physicalLocation"]["region"]
        self.assertEqual(region["startColumn"], 18)

    def test_tests_are_no_trouble(self):
        self.put("tests/test_model.py", "import numpy as np\n\n\n"
                 "def test_sum():\n    assert np.sum(np.zeros(3)) == 0\n")
        results = self.report()["runs"][0]["results"]
        of_tests = [r for r in results if r["properties"]["test"]]
        self.assertEqual([(r["level"], r["kind"]) for r in of_tests],
                         [("none", "informational")])

    def test_fingerprints_survive_lines_above(self):
        prints = lambda: [r["partialFingerprints"]
                          for r in self.report()["runs"][0]["results"]]
        before = prints()
        self.put("model.py", "# one more\n" + self.get("model.py"))
        self.assertEqual(prints(), before)

    def test_uris_are_escaped(self):
        self.put("a b/\u00e4#%.py", PYTHON.format(n=9))
        uris = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
                for r in self.report()["runs"][0]["results"]}
        self.assertEqual(uris, {"model.py", "a%20b/%C3%A4%23%25.py"})

    def complaints(self, report):
        """What the schema has against a report, as (where, which keyword)."""
        script = pathlib.Path(__file__).parent / "sarif" / "validate.cjs"
        ran = subprocess.run(["node", script, PACKAGES],
                             input=json.dumps(report), text=True, check=True,
                             capture_output=True, timeout=600)
        return [(c["instancePath"], c["keyword"])
                for c in json.loads(ran.stdout)]

    @unittest.skipUnless((PACKAGES / "ajv").exists() and not FEW,
                         "the schema of SARIF comes from npm, for one build")
    def test_the_schema(self):
        self.put("tests/test_x.py", PYTHON.format(n=9))
        for flags in ("", "--enable-gpu", "--no-simd"):
            self.assertEqual(self.complaints(self.report(flags)), [])
        broken = self.report()
        broken["runs"][0]["results"][0]["level"] = "odd"
        del broken["runs"][0]["tool"]
        self.assertEqual(self.complaints(broken),
                         [("/runs/0", "required"),
                          ("/runs/0/results/0/level", "enum")])


class Cargo(Project):
    """The release profile."""

    WANTED = {"fast": ["opt-level = 2", 'lto = "off"', "codegen-units = 16"],
              "balanced": ["opt-level = 3", 'lto = "thin"',
                           "codegen-units = 4"],
              "aggressive": ["opt-level = 3", 'lto = "fat"',
                             "codegen-units = 1", 'strip = "symbols"']}

    def test_profiles(self):
        for profile, lines in self.WANTED.items():
            self.put("Cargo.toml", CARGO)
            self.run_takt("optimize --profile " + profile)
            text = self.get("Cargo.toml")
            self.assertTrue(text.startswith(CARGO))
            self.assertEqual(text[len(CARGO):].split("\n")[2:],
                             lines + [""])

    def test_balanced_is_the_default_and_the_file_decides(self):
        self.put("Cargo.toml", CARGO)
        self.run_takt("optimize")
        self.assertIn('lto = "thin"', self.get("Cargo.toml"))
        self.assertEqual(self.get("Cargo.toml.bak"), CARGO)
        before = self.get("Cargo.toml")
        self.assertIn("is already balanced", self.run_takt("optimize").stdout)
        self.assertEqual(self.get("Cargo.toml"), before)
        self.put("takt.toml", "[optimization]\nprofile = 'fast'\n")
        self.run_takt("optimize")
        self.assertIn('lto = "off"', self.get("Cargo.toml"))

    def test_a_dry_run_shows_a_diff(self):
        self.put("Cargo.toml", CARGO)
        text = self.run_takt("optimize --dry-run --profile fast").stdout
        self.assertRegex(text, r"(?m)^--- .*Cargo.toml$")
        self.assertRegex(text, r'(?m)^\+lto = "off"$')
        self.assertEqual(self.get("Cargo.toml"), CARGO)
        manifest = self.findings("--profile fast")["manifest"]
        self.assertTrue(manifest["changed"])
        self.assertIn('+lto = "off"', manifest["diff"])


class Analysis(Project):
    """What is in a project."""

    def test_it_counts_and_reads(self):
        self.put("Cargo.toml", CARGO + 'ndarray = "0.15"\n'
                 'rayon = { version = "1.8", features = [] }\n'
                 'near = { path = "../near" }\n')
        self.put("requirements.txt", "numpy>=1.20 ; python_version > '3'\n"
                 "# none\n-r more.txt\nscipy[all] == 1.10  # why\n\n")
        self.put("pyproject.toml", "[project]\ndependencies = "
                 "['torch~=2.0']\n[tool.poetry.dependencies]\n"
                 "python = '^3.9'\npandas = '2'\n")
        self.put("CMakeLists.txt", "find_package(Eigen3 3.4 REQUIRED)\n"
                 "# find_package(Nothing)\nFIND_PACKAGE( OpenMP )\n")
        self.put("a.rs", "use ndarray::Array2;\n/*\nuse rayon::prelude::*;\n"
                 "*/\n// use nalgebra::X;\nfn main() {}\n")
        self.put("b.cpp", "#include <Eigen/Dense>\n#  include \"cblas.h\"\n")
        self.put("c.py", '"""\nimport pandas\n"""\nimport os, torch.nn as nn\n'
                 "import numpydoc\n")
        said = json.loads(self.run_takt("analyze --json").stdout)
        self.assertEqual(
            {d["name"]: (d["version"], d["file"])
             for d in said["dependencies"]},
            {"ndarray": ("0.15", "Cargo.toml"),
             "rayon": ("1.8", "Cargo.toml"), "near": ("path", "Cargo.toml"),
             "torch": ("~=2.0", "pyproject.toml"),
             "pandas": ("2", "pyproject.toml"),
             "numpy": (">=1.20", "requirements.txt"),
             "scipy": ("== 1.10", "requirements.txt"),
             "Eigen3": ("3.4", "CMakeLists.txt"),
             "OpenMP": (None, "CMakeLists.txt")})
        self.assertEqual({f["name"]: f["files"] for f in said["frameworks"]},
                         {"NumPy": 1, "scikit-learn": 1, "PyTorch": 1,
                          "ndarray": 1, "Eigen": 1, "BLAS": 1})
        files = {l["language"]: l["files"] for l in said["languages"]}
        self.assertEqual(files, {"Python": 2, "Rust": 1, "C++": 1})
        text = self.run_takt("analyze").stdout
        self.assertIn("NumPy (1 file)", text)
        self.assertIn("next: takt optimize", text)

    def dependencies(self):
        said = json.loads(self.run_takt("analyze --json").stdout)
        return {(d["file"], d["name"]): d["version"]
                for d in said["dependencies"]}

    def test_members_and_projects_inside_count(self):
        self.put("Cargo.toml", "[workspace]\nmembers = ['core']\n"
                 "[workspace.dependencies]\nrayon = '1'\n")
        self.put("core/Cargo.toml", CARGO + "rayon = { workspace = true }\n"
                 "[dev-dependencies]\ncriterion = '0.5'\n"
                 "[target.'cfg(unix)'.dependencies]\nlibc = '0.2'\n")
        self.put("core/src/lib.rs", "pub fn f() {}\n")
        self.put("tools/bindings/setup.cfg", "[metadata]\nname = x\n"
                 "install_requires = no\n[options]\ninstall_requires =\n"
                 "    numpy >= 1.2\n\n    # none\n    six; os_name == 'nt'\n"
                 "zip_safe = true\n[options.extras_require]\nall = torch\n")
        self.put("tools/bindings/requirements-dev.txt", "\ufeffpytest\n"
                 "git+https://example.org/a.git\n./near\nlibs/far.whl\n"
                 "mypy == 1.0 --hash=sha256:0 \\\n    --hash=sha256:1\n")
        self.put("tools/bindings/pyproject.toml",
                 "[project.optional-dependencies]\nplot = ['seaborn>0.1']\n"
                 "[dependency-groups]\ntest = ['tox', {include-group = 'x'}]\n"
                 "[tool.poetry.group.dev.dependencies]\nblack = '*'\n")
        self.put("tools/bindings/x.py", "\n")
        self.put("native/CMakeLists.txt", "#[==[\nfind_package(A)\n]==] \n"
                 "message(\"see find_package (B)\")\n  find_package(\n  ZLIB "
                 "${version})\nfind_package(${name})\n")
        self.put("native/src/a.c", "int a;\n")
        self.put("vendor/odd/Cargo.toml", CARGO + "odd = '1'\n")
        self.put("vendor/odd/src/lib.rs", "\n")
        inner = "tools/bindings/"
        self.assertEqual(self.dependencies(), {
            ("Cargo.toml", "rayon"): "1",
            ("core/Cargo.toml", "rayon"): "workspace",
            ("core/Cargo.toml", "criterion"): "0.5",
            ("core/Cargo.toml", "libc"): "0.2",
            (inner + "setup.cfg", "numpy"): ">= 1.2",
            (inner + "setup.cfg", "six"): None,
            (inner + "requirements-dev.txt", "pytest"): None,
            (inner + "requirements-dev.txt", "mypy"): "== 1.0",
            (inner + "pyproject.toml", "seaborn"): ">0.1",
            (inner + "pyproject.toml", "tox"): None,
            (inner + "pyproject.toml", "black"): "*",
            ("native/CMakeLists.txt", "ZLIB"): None})

    def test_a_broken_manifest_inside_is_a_warning(self):
        self.put("cases/broken/Cargo.toml", "[package\n")
        self.put("cases/broken/requirements.txt", "numpy\n")
        self.put("cases/broken/lib.rs", "\n")
        ran = self.run_takt("analyze --json")
        self.assertIn("cases/broken/Cargo.toml:1:9: ", ran.stderr)
        self.assertEqual(len(ran.stderr.splitlines()), 1)
        self.assertEqual(len(json.loads(ran.stdout)["dependencies"]), 1)

    def test_imports_behind_marks_and_strings(self):
        self.put("a.py", "\ufeffimport torch\n")
        self.put("b.c", 'char quote = \'"\', *all = "*/*", *more = "//*";\n'
                 "#include <fftw3.h>\n")
        said = json.loads(self.run_takt("analyze --json").stdout)
        self.assertLessEqual({"PyTorch", "FFTW"},
                             {f["name"] for f in said["frameworks"]})

    def test_an_empty_folder_is_fine(self):
        for path in self.path.iterdir():
            path.unlink()
        self.assertIn("no sources", self.run_takt("analyze").stdout)
        self.assertIn("0 findings", self.run_takt("optimize").stdout)
        self.assertIn("nothing to compare", self.run_takt("validate").stdout)


class Validation(Project):
    """Experts against scalar code."""
    SIZE = 60

    def test_every_op_that_was_recommended(self):
        self.put("model.py", """\
import numpy as np


def many(x, y, v, w, i):
    a = np.zeros((48, 48))
    return (a @ a, np.dot(v, w), np.sum(v), np.max(v), np.argmax(v),
            np.exp(x), np.sqrt(x), np.linalg.norm(v), np.mean(v), np.var(v),
            np.abs(x), np.add(x, y), np.multiply(x, y), np.tanh(x))
""")
        self.run_takt("optimize")
        said = json.loads(self.run_takt("validate --json").stdout)
        ops = {check["op"] for check in said["checks"]}
        self.assertLessEqual({"matmul", "sum", "max", "exp", "add"}, ops)
        for check in said["checks"]:
            self.assertTrue(check["right"], check)
            self.assertLessEqual(check["worst_share"], 1)
        self.assertGreater(sum(c["experts"] for c in said["checks"]), 0)
        self.assertIn([48, 48, 48], [c["shape"] for c in said["checks"]
                                     if c["found_size"]])

    @unittest.skipUnless(shutil.which("cc"), "there is no compiler")
    def test_a_single_wrong_term_is_found(self):
        """In a product whose sums are so long that what may be rounded is far
        more than what one term is worth."""
        self.put("model.py", "import numpy as np\n\n\ndef f():\n"
                 "    a = np.zeros((4, 500000), dtype=np.float32)\n"
                 "    b = np.zeros((500000, 4), dtype=np.float32)\n"
                 "    return a @ b\n")
        root = pathlib.Path(__file__).resolve().parents[1]
        rest = ("int {}, int {}, int {}, float alpha, const float *a, int lda,"
                " const float *b, int ldb, float beta, float *c, int ldc")
        self.put("off.c", "#define cblas_sgemm right\n"
                 f'#include "{root}/blas/faulty.c"\n#undef cblas_sgemm\n'
                 "void cblas_sgemm(int o, int s, int t, "
                 f"{rest.format('m', 'n', 'k')})\n{{\n"
                 "    right(o, s, t, m, n, k, alpha, a, lda, b, ldb, beta, c,"
                 " ldc);\n    if (k > 10000)\n        c[5] -= a[lda] * b[1];\n"
                 "}\n")
        library = self.path / "liboff.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library,
                        self.path / "off.c"], check=True)
        self.run_takt("optimize")
        self.run_takt("validate", env={"TAKT_BLAS": ""})
        ran = self.run_takt("validate", 1, env={"TAKT_BLAS": str(library)})
        self.assertIn("4x4x500000: element 5 is", ran.stderr)

    def test_tests_of_cargo_where_there_is_one(self):
        self.put("takt.toml", "")
        self.run_takt("optimize")
        ran = self.run_takt("validate")
        self.assertIn("none were run", ran.stdout)
        self.put("Cargo.toml", CARGO)
        self.run_takt("optimize")
        ran = self.run_takt("validate", env={"PATH": "/nowhere"})
        self.assertIn("cargo is not installed", ran.stdout)
        tools = pathlib.Path(self.folder.name) / "tools"
        tools.mkdir()
        (tools / "cargo").write_text('#!/bin/sh\necho "$@" > asked\n'
                                     'exit $(cat code)\n')
        (tools / "cargo").chmod(0o755)
        path = {"PATH": f"{tools}:/usr/bin:/bin"}
        self.put("code", "0")
        self.run_takt("validate", env=path)
        self.assertEqual(self.get("asked"), "test\n")
        self.run_takt("build", env=path)
        self.assertEqual(self.get("asked"), "build --release\n")
        self.put("code", "101")
        ran = self.run_takt("validate", 1, env=path)
        self.assertIn("'cargo test' ended with exit status 101", ran.stderr)


class Mistakes(Project):
    """Exit 2, one line on stderr, nothing on stdout."""

    def test_words(self):
        for line in ("optimize --profile quick", "optimize --format xml",
                     "optimize --gpu-threshold many", "optimize --fail-on x",
                     "optimize --gpu-threshold 0",
                     "optimize --enable-gpu --no-gpu", "optimize --json --format sarif",
                     "optimize --enable-simd --no-simd",
                     "optimize --gpu-treshold 5", "status extra",
                     "reset --phase deploy", "analyze --languages rust,odd"):
            with self.subTest(line):
                ran = self.run_takt(line, 2)
                self.assertEqual(ran.stdout, "")
                self.assertEqual(len(ran.stderr.splitlines()), 1)
        self.assertEqual(takt("optimize /nowhere/at/all").returncode, 2)
        self.assertEqual(self.statuses()[0], "Not Started")

    def test_a_wrong_configuration(self):
        self.put("takt.toml", "[optimization]\nenable_gpu = 'yes'\n")
        for command in (*COMMANDS, "status", "optimize --dry-run"):
            ran = self.run_takt(command, 2)
            self.assertIn("takt.toml:2:", ran.stderr)
        self.assertFalse((self.path / ".takt-state.json").exists())

    def test_an_unknown_key_is_a_warning(self):
        self.put("takt.toml", "[optimization]\ngpu_treshold = 3\n")
        ran = self.run_takt("optimize --dry-run")
        self.assertIn("gpu_threshold", ran.stderr)
        self.assertEqual(len(ran.stderr.splitlines()), 1)

    def test_every_command_explains_itself(self):
        for command in (*COMMANDS, "status", "reset"):
            self.assertIn("takt " + command,
                          takt(command + " --help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
