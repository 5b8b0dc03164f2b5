#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a hostile repository, file name or link cannot make takt do.

usage: test_safety.py PATH_TO_TAKT
"""
import json
import os
import pathlib
import pty
import resource
import select
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

TAKT = sys.argv[1]
CARGO = '[package]\nname = "sample"\nversion = "0.1.0"\n'
SOURCE = "import numpy as np\n\n\ndef f(a):\n    return np.sum(a[\"{}\"])\n"
BIDI = "\u202e\u2066\u200b\u200f\u061c\u2028\ufeff"
HOSTILE = BIDI + "\x1b[31m\x9b31m\x7f\U000e0041"


def unsafe_in(text):
    """Characters that no terminal should get."""
    return sorted({f"{ord(c):x}" for c in text
                   if c in HOSTILE and c not in "[31mA" or
                   (ord(c) < 32 and c != "\n")})


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.app = self.root / "app"
        self.app.mkdir()
        self.env = {**os.environ, "TAKT_GPU": "", "TAKT_DB": "",
                    "XDG_STATE_HOME": str(self.root / "state")}

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def takt(self, *words, code=0, **options):
        ran = subprocess.run([TAKT, *map(str, words)], env=self.env,
                             capture_output=True, timeout=600,
                             stdin=subprocess.DEVNULL, **options)
        out = ran.stdout.decode("utf-8", "surrogateescape")
        err = ran.stderr.decode("utf-8", "surrogateescape")
        self.assertEqual(ran.returncode, code, (words, out, err))
        return out, err


def can_scan():
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([TAKT, "optimize", "--dry-run", folder],
                             capture_output=True, text=True)
        return "cannot be searched" not in ran.stderr


class Files(Scratch):
    """`takt history export` as the writer of whole files."""

    def setUp(self):
        super().setUp()
        self.db = self.root / "own.db"
        text = self.put("empty.tsv", "")
        # An import makes the store.
        self.columns = ("machine device software writer op layout expert dtype "
                        "situation bin epoch seq n mean m2 first_s bytes flops "
                        "calls seconds last_unix_s").split()
        text.write_text("takt history 1\n" + "\t".join(self.columns)
                        + "\nend\t0\n")
        self.takt("history", "import", text, "--db", self.db)

    def export(self, path, code=0, **options):
        return self.takt("history", "export", path, "--db", self.db,
                         code=code, **options)

    def test_no_other_file_is_touched(self):
        victim = self.put("victim", "precious\n")
        (self.root / "out.tsv.new").symlink_to(victim)
        self.export(self.root / "out.tsv")
        self.assertEqual(victim.read_text(), "precious\n")
        self.assertTrue((self.root / "out.tsv.new").is_symlink())
        self.assertTrue((self.root / "out.tsv").read_text()
                        .startswith("takt history 1\n"))

    def test_an_old_file_keeps_its_permissions(self):
        out = self.put("out.tsv", "old")
        out.chmod(0o600)
        self.export(out)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)
        self.assertTrue(out.read_text().startswith("takt history 1\n"))

    def test_of_a_link_the_file_is_replaced(self):
        real = self.put("there/real.tsv", "old")
        link = self.root / "link.tsv"
        link.symlink_to(real)
        self.export(link)
        self.assertTrue(link.is_symlink())
        self.assertTrue(real.read_text().startswith("takt history 1\n"))
        link.unlink()
        link.symlink_to("nowhere")
        self.assertIn("leads nowhere", self.export(link, 1)[1])
        self.assertFalse((self.root / "nowhere").exists())

    def test_a_link_that_another_user_put_into_a_common_folder(self):
        if os.geteuid() != 0:
            self.skipTest("only root can be somebody else")
        common = self.root / "common"
        common.mkdir()
        common.chmod(0o1777)
        victim = self.put("victim", "precious\n")
        link = common / "out.tsv"
        link.symlink_to(victim)
        os.lchown(link, 65534, 65534)
        self.export(link, 1)
        self.assertEqual(victim.read_text(), "precious\n")

    def test_what_is_no_file_is_written_to_or_refused(self):
        out, _ = self.export("/dev/stdout")
        self.assertTrue(out.startswith("takt history 1\n"))
        log = self.put("log", "before\n")
        with open(log, "a") as file:
            ran = subprocess.run([TAKT, "history", "export", "/dev/stdout",
                                  "--db", self.db], stdout=file, env=self.env)
        self.assertEqual(ran.returncode, 0)
        self.assertTrue(log.read_text().startswith("before\ntakt history 1"))
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
        self.export(fifo)
        self.assertTrue(reader.communicate(timeout=600)[0]
                        .startswith(b"takt history 1\n"))
        self.assertTrue(stat.S_ISFIFO(fifo.stat().st_mode))
        self.assertIn("is no file", self.export(self.app, 1)[1])
        self.export(str(self.root) + "/", 1)

    def test_a_failure_leaves_everything_as_it_was(self):
        out = self.put("out.tsv", "old")
        before = sorted(os.listdir(self.root))
        self.takt("history", "export", out, "--db", self.root / "none.db",
                  code=1)
        self.assertEqual(out.read_text(), "old")
        self.assertEqual(sorted(os.listdir(self.root)), before)

    def test_a_path_that_is_too_long_for_a_store_is_not_cut(self):
        names = ["a" * 200 for _ in range(6)]
        for i in range(1, 6):  # where one that is cut would lie
            self.root.joinpath(*names[:i]).mkdir()
        before = [path for path, _, _ in os.walk(self.root)]
        named = self.root.joinpath(*names)
        self.env["TAKT_DB"] = str(named)
        for words in (["history", "list", "--db", named], ["history", "list"],
                      ["fleet", "status", "--db", named], ["fleet", "status"],
                      ["fleet", "export", "--db", named, "out"]):
            code = 2 if words[0] == "fleet" else 1
            self.assertIn("too long", self.takt(*words, code=code)[1])
        self.assertEqual([path for path, _, _ in os.walk(self.root)], before)

    def test_pins_are_written_the_same_way(self):
        pin = self.put("my.pin", "old")
        pin.chmod(0o640)
        link = self.root / "link.pin"
        link.symlink_to(pin)
        self.takt("tune", "--budget", "0.2", "--ops", "add", "--sizes", "1K",
                  "--anyway", "--db", self.db, "--pin", link)
        self.assertTrue(link.is_symlink())
        self.assertTrue(pin.read_text().startswith("takt pin 1\n"))
        self.assertEqual(stat.S_IMODE(pin.stat().st_mode), 0o640)
        self.takt("tune", "--budget", "0.2", "--ops", "add", "--sizes", "1K",
                  "--anyway", "--db", self.db, "--pin", self.app, code=1)

    def test_a_report_replaces_the_last_one_when_it_is_whole(self):
        report = self.put("run.json", "old")
        self.takt("run", "--report", "--output", report, "--",
                  "/no/such/program", code=127)
        self.assertEqual(report.read_text(), "old")
        if "TAKT_TEST_FEW" in os.environ:
            self.skipTest("sanitizers want to be loaded first")
        self.takt("run", "--report", "--format", "json", "--output", report,
                  "--", "/bin/true")
        json.loads(report.read_text())
        self.assertEqual([name for name in os.listdir(self.root)
                          if name.startswith(".takt-")], [])


    def test_a_link_of_the_usual_name_is_not_followed(self):
        """Pages go to the current folder, which may be a stranger's."""
        letter = self.put("letter", "dear")
        folder = self.root / "folder"
        folder.mkdir()
        commands = {"report": ["report", "--db", ""]}
        if can_scan():
            commands["optimize"] = ["optimize", "--dry-run", "--report", "."]
        if "TAKT_TEST_FEW" not in os.environ:
            commands["run"] = ["run", "--report=html", "--", "/bin/true"]
        for name, words in commands.items():
            page = folder / f"takt-{name}.html"
            page.symlink_to(letter)
            self.assertIn("is a symbolic link",
                          self.takt(*words, code=2, cwd=folder)[1])
            page.unlink()
            os.mkfifo(page)
            self.assertIn("is no file",
                          self.takt(*words, code=2, cwd=folder)[1])
            page.unlink()
            self.takt(*words, cwd=folder)
            self.assertIn("<html", page.read_text())
        self.assertEqual(letter.read_text(), "dear")

    @unittest.skipUnless(can_scan(), "built without a scanner")
    def test_a_baseline_that_is_a_link_is_not_followed(self):
        letter = self.put("letter", "dear")
        baseline = self.app / "known"
        baseline.symlink_to(letter)
        self.takt("optimize", "--dry-run", "--write-baseline", "--baseline",
                  baseline, self.app, code=2)
        self.assertEqual(letter.read_text(), "dear")


class Limits(Scratch):
    """A limit of file sizes is a write that fails, and ends nothing."""

    def limited(self, *words, code, most):
        # Python ignores SIGXFSZ; a shell does not.
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return self.takt(*words, code=code, preexec_fn=limit, cwd=self.app)

    def test_files_are_whole_or_as_they_were(self):
        old = self.put("app/old.html", "old\n")
        for most in (0, 1000, 4096):
            for words in (["report", "--output", old],
                          ["report", "--json", "--output", "new.json"]):
                _, err = self.limited(*words, code=1, most=most)
                self.assertRegex(err, "\\Atakt report: .*: cannot be "
                                      "written: File too large\n\\Z")
                self.assertEqual(os.listdir(self.app), ["old.html"])
        self.assertEqual(old.read_text(), "old\n")

    def test_standard_output(self):
        with open(self.root / "out", "wb") as out:
            ran = subprocess.run(
                ["sh", "-c", 'ulimit -f 0; exec "$0" machine', TAKT],
                env=self.env, stdout=out, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((ran.returncode, ran.stderr.decode()),
                         (1, "takt: cannot write to standard output\n"))

    @unittest.skipIf("TAKT_TEST_FEW" in os.environ,
                     "sanitizers come first, and run preloads a library")
    def test_programs_have_what_they_would_have(self):
        out, _ = self.limited("run", "--", "grep", "SigIgn\\|SigCgt",
                              "/proc/self/status", code=0, most=1 << 30)
        self.assertEqual(len(out.splitlines()), 2, out)
        for line in out.splitlines():
            self.assertFalse(int(line.split()[1], 16) >>
                             (signal.SIGXFSZ - 1) & 1, out)


class Projects(Scratch):
    @classmethod
    def setUpClass(cls):
        if not can_scan():
            raise unittest.SkipTest("this build has no scanner")


class Outside(Projects):
    """Nothing outside of the folder that was named is changed."""

    def setUp(self):
        super().setUp()
        self.manifest = self.put("outside/Cargo.toml", CARGO)

    def refuse(self, code, *words, where="app", command="optimize"):
        before = {path: path.read_bytes()
                  for path in (self.root / "outside").iterdir()}
        _, err = self.takt(command, *words, self.root / where, code=code)
        self.assertIn("outside of", err)
        self.assertEqual({path: path.read_bytes()
                          for path in (self.root / "outside").iterdir()},
                         before)
        self.assertEqual(len(err.splitlines()), 1, err)
        return err

    def test_an_output_folder(self):
        (self.app / "link").symlink_to("../outside")
        for folder in (self.root / "outside", "../outside", "link",
                       "./link/../outside"):
            self.put("app/takt.toml",
                     f"[transpilation]\noutput_dir = '{folder}'\n")
            for command in ("optimize", "validate", "build", "analyze"):
                with self.subTest(folder=folder, command=command):
                    err = self.refuse(2, command=command)
                    self.assertIn(f"takt {command} {self.root}/outside", err)
            self.refuse(2, "--dry-run")
        self.assertFalse((self.app / ".takt-state.json").exists())

    def test_a_manifest_that_is_a_link(self):
        (self.app / "Cargo.toml").symlink_to("../outside/Cargo.toml")
        self.refuse(1)
        self.refuse(0, "--dry-run")
        self.assertFalse((self.app / "Cargo.toml.bak").exists())

    def test_the_root_of_a_workspace(self):
        self.manifest.write_text(CARGO + "[workspace]\nmembers=['../app']\n")
        self.put("app/Cargo.toml", CARGO + "workspace = '../outside'\n")
        err = self.refuse(1)
        self.assertIn(f"takt optimize {self.root}/outside", err)
        self.refuse(0, "--dry-run")
        # The same above the folder, without a pointer.
        self.put("outside/member/Cargo.toml", CARGO)
        before = self.manifest.read_text()
        self.takt("optimize", self.root / "outside/member", code=1)
        self.assertEqual(self.manifest.read_text(), before)
        self.takt("optimize", self.root / "outside")
        self.assertIn("[profile.release]", self.manifest.read_text())

    def test_a_root_whose_manifest_leads_into_the_folder(self):
        self.put("outside/member/Cargo.toml", CARGO)
        self.put("outside/member/root.toml", "[workspace]\nmembers=['member']\n")
        self.manifest.unlink()
        self.manifest.symlink_to("member/root.toml")
        self.takt("optimize", self.root / "outside/member", code=1)
        self.assertEqual(sorted(os.listdir(self.root / "outside")),
                         ["Cargo.toml", "member"])

    def test_the_state_file(self):
        victim = self.put("outside/state.json", '{"version": 1, '
                          '"current_phase": null, "phases": {}}')
        before = victim.read_text()
        for target in (victim, self.root / "outside/none.json"):
            link = self.app / ".takt-state.json"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            for command in ("analyze", "reset"):
                _, err = self.takt(command, self.app, code=1)
                self.assertIn("is a symbolic link", err)
        self.assertEqual(victim.read_text(), before)
        self.assertFalse((self.root / "outside/none.json").exists())

    def test_links_within_the_folder_are_followed(self):
        self.put("app/real/manifest.toml", CARGO)
        (self.app / "Cargo.toml").symlink_to("real/manifest.toml")
        self.takt("optimize", self.app)
        self.assertIn("[profile.release]",
                      (self.app / "real/manifest.toml").read_text())
        self.assertTrue((self.app / "Cargo.toml").is_symlink())

    def test_sources_behind_links_are_not_read(self):
        self.put("outside/secret.py", SOURCE.format("secret"))
        (self.app / "folder").symlink_to("../outside")
        (self.app / "file.py").symlink_to("../outside/secret.py")
        out, _ = self.takt("optimize", "--dry-run", "--json", self.app)
        self.assertEqual(json.loads(out)["findings"], [])


class Trust(Projects):
    """Commands of a project are not run unasked."""

    def setUp(self):
        super().setUp()
        self.configure("touch ran")

    def configure(self, line):
        text = json.dumps(line, ensure_ascii=False)
        self.put("app/takt.toml", f"[validation]\ntest_command = {text}\n"
                 f"[build]\ncommand = {text}\n")

    def has_run(self):
        """Whether the command was run since this was last asked."""
        has = (self.app / "ran").exists()
        (self.app / "ran").unlink(missing_ok=True)
        return has

    def state(self):
        return (self.app / ".takt-state.json").read_bytes()

    def answer(self, command, answer, code):
        """Runs it on a terminal."""
        ours, theirs = pty.openpty()
        ran = subprocess.Popen([TAKT, command, self.app], stdin=theirs,
                               stdout=theirs, stderr=theirs, env=self.env)
        os.close(theirs)
        said = b""
        while True:
            if not select.select([ours], [], [], 60)[0]:
                ran.kill()
                self.fail("it waits for something")
            try:
                said += os.read(ours, 4096)
            except OSError:  # the other end was closed
                break
            if answer is not None and b"[y/N]" in said:
                os.write(ours, answer.encode() + b"\n")
                answer = None
        os.close(ours)
        self.assertEqual(ran.wait(60), code, said)
        return said.decode("utf-8", "surrogateescape").replace("\r\n", "\n")

    def test_without_a_terminal_nothing_is_run(self):
        self.takt("optimize", self.app)
        before = self.state()
        _, err = self.takt("validate", self.app, code=1)
        self.assertIn("--trust", err)
        self.assertIn("touch ran", err)
        self.assertIn("takt.toml", err)
        self.assertEqual(len(err.splitlines()), 1)
        self.assertFalse(self.has_run())
        self.assertEqual(self.state(), before)  # no phase has failed
        self.takt("validate", "--trust", self.app)
        self.assertTrue(self.has_run())
        before = self.state()
        self.takt("build", self.app, code=1)
        self.assertFalse(self.has_run())
        self.assertEqual(self.state(), before)
        self.takt("build", "--trust", self.app)
        self.assertTrue(self.has_run())
        self.assertFalse((self.root / "state").exists())  # for one run alone

    def test_a_phase_that_is_refused_asks_nothing(self):
        _, err = self.takt("build", self.app, code=1)
        self.assertIn("Analysis", err)
        self.assertNotIn("--trust", err)

    def test_cargo_runs_code_of_the_project_too(self):
        self.put("app/takt.toml", "")
        self.put("app/Cargo.toml", CARGO)
        tools = self.put("tools/cargo", "#!/bin/sh\ntouch ran\n").parent
        (tools / "cargo").chmod(0o755)
        self.env["PATH"] = f"{tools}:/usr/bin:/bin"
        self.takt("optimize", self.app)
        _, err = self.takt("validate", self.app, code=1)
        self.assertIn("'cargo test'", err)
        self.assertFalse(self.has_run())

    def test_on_a_terminal_it_asks_once(self):
        self.takt("optimize", self.app)
        said = self.answer("validate", "n", 1)
        self.assertIn("touch ran", said)
        self.assertFalse(self.has_run())
        self.answer("validate", "", 1)
        self.assertFalse(self.has_run())
        self.answer("validate", "y", 0)
        self.assertTrue(self.has_run())
        self.takt("validate", self.app)  # also without a terminal
        self.assertTrue(self.has_run())
        kept = self.root / "state/takt/trusted"
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o600)
        self.assertRegex(kept.read_text(), r"\A[0-9a-f]{64}\n\Z")

    def test_what_has_changed_is_asked_about_again(self):
        self.takt("optimize", self.app)
        self.answer("validate", "y", 0)
        self.assertTrue(self.has_run())
        self.configure("touch ran; true")
        self.takt("validate", self.app, code=1)
        self.assertFalse(self.has_run())
        self.configure("touch ran")
        self.takt("validate", self.app)
        self.assertTrue(self.has_run())
        self.app.rename(self.root / "other")
        self.app = self.root / "other"
        self.takt("validate", self.app, code=1)
        self.assertFalse(self.has_run())

    def test_an_answer_that_others_could_have_written_does_not_count(self):
        self.takt("optimize", self.app)
        self.answer("validate", "y", 0)
        self.assertTrue(self.has_run())
        (self.root / "state/takt/trusted").chmod(0o666)
        self.takt("validate", self.app, code=1)
        self.assertFalse(self.has_run())

    def test_all_of_the_line_is_shown(self):
        line = "true \u202e; " + 3000 * "x" + "\ntouch ran"
        self.configure(line)
        self.takt("optimize", self.app)
        said = self.answer("validate", "n", 1)
        self.assertIn("true \\u202e; x", said)
        self.assertIn("xxx\\ntouch ran", said.replace("\n", ""))
        self.assertEqual(unsafe_in(said), [])


class Texts(Projects):
    """Text of others on a terminal."""

    def expect_clean(self, *words, code=0, shows="\\u202e"):
        out, err = self.takt(*words, code=code)
        self.assertEqual(unsafe_in(out + err), [], (words, out, err))
        self.assertNotRegex(out + err, "[\udc80-\udcff]")
        if shows:
            self.assertIn(shows, out + err, words)
        return out

    def test_names_and_source_lines(self):
        app = self.root / f"app{HOSTILE}"
        app.mkdir()
        name = os.fsencode(app) + b"/" + HOSTILE.encode() + b"\xff.py"
        with open(name, "wb") as file:
            file.write(SOURCE.format(HOSTILE).encode())
        (app / "Cargo.toml").write_text(
            f'# {BIDI}\n{CARGO}description = "{BIDI}"\n'
            f'[dependencies]\n"a{BIDI}" = "1{BIDI}"\n')
        self.expect_clean("optimize", "--dry-run", "--all", app)
        self.expect_clean("analyze", app)
        self.expect_clean("status", app)
        self.expect_clean("optimize", app)
        out = self.expect_clean("optimize", "--dry-run", "--json", app)
        found = json.loads(out)
        self.assertEqual(found["project"], str(app))
        self.assertEqual(found["findings"][0]["file"], HOSTILE + "\ufffd.py")
        self.assertIn(BIDI, found["findings"][0]["snippet"])
        self.expect_clean("optimize", "--dry-run", "--format", "sarif", app)
        out = self.expect_clean("analyze", "--json", app)
        self.assertEqual(json.loads(out)["dependencies"][0]["name"], "a" + BIDI)

    def test_patches(self):
        loop = ("void add(float *restrict a, const float *restrict b, int n)\n"
                "{{\n    /* {} */\n    for (int i = 0; i < n; i++)\n"
                "        a[i] = a[i] + b[i];\n}}\n")
        victim = self.put("app/Makefile", "all:\n")
        name = "x\n--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-all:\n+evil:\n"
        for path in self.app / "\x1b[2J.c", self.app / name / "y z.c":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(loop.format(HOSTILE))
        patch, _ = self.takt("optimize", "--patch", self.app)
        self.assertEqual(patch.count("\n+++ "), 2, patch)
        self.assertEqual(patch.count("takt_add_f32"), 2, patch)
        shown = self.on_terminal("optimize", "--patch", self.app)
        self.assertEqual(unsafe_in(shown.replace("\r\n", "\n")), [])
        self.assertIn("\\u202e", shown)
        ran = subprocess.run(["git", "apply", "-p1", "-"], cwd=self.app,
                             input=patch, text=True, capture_output=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(victim.read_text(), "all:\n")
        self.assertIn("takt_add_f32", path.read_text())

    def on_terminal(self, *words):
        ours, theirs = pty.openpty()
        with subprocess.Popen([TAKT, *map(str, words)], env=self.env,
                              stdin=theirs, stdout=theirs,
                              stderr=subprocess.DEVNULL):
            os.close(theirs)
            shown = b""
            try:
                while more := os.read(ours, 65536):
                    shown += more
            except OSError:  # the other side has closed it
                pass
        os.close(ours)
        return shown.decode()

    def test_commands_of_a_project(self):
        self.put("app/takt.toml", "[validation]\ntest_command = "
                 + json.dumps("false # \u202e\x1b") + "\n")
        self.takt("optimize", self.app)
        self.expect_clean("validate", self.app, code=1)
        self.expect_clean("validate", "--trust", self.app, code=1)
        self.expect_clean("status", self.app)

    def test_states_and_keys(self):
        self.put("app/takt.toml", f'[optimization]\n"x{BIDI}" = 1\n')
        self.put("app/.takt-state.json", json.dumps(
            {"version": 1, "current_phase": None, "phases": {"Analysis": {
                "status": "Failed", "error": HOSTILE}}}))
        self.expect_clean("status", self.app)
        self.expect_clean("optimize", self.app, code=1)

    def test_words_of_the_command_line(self):
        for words in ((HOSTILE,), ("select", HOSTILE), ("optimize", HOSTILE),
                      ("history", "list", "--" + HOSTILE),
                      ("history", HOSTILE), ("trace", HOSTILE),
                      ("machine", "--from", HOSTILE)):
            self.expect_clean(*words, code=2)
        self.expect_clean("history", "export", "--db",
                          self.root / f"{HOSTILE}.db", code=1)
        for words in (("list",), ("show", "add")):
            self.expect_clean("history", *words, "--db", f"/{HOSTILE}.db",
                              code=1)
        self.expect_clean("history", "reset", "--yes", "--db",
                          self.root / f"{HOSTILE}.db")
        self.expect_clean("report", "--json", "--db", f"/{HOSTILE}.db")
        self.expect_clean("tune", "--pin", f"/{HOSTILE}/pin", code=1)
        self.expect_clean("run", "--", f"/{HOSTILE}", code=127)
        self.expect_clean("trace", "--", f"/{HOSTILE}", code=127)
        self.expect_clean("run", f"/{HOSTILE}'{BIDI}", code=2)
        (self.root / HOSTILE).symlink_to("/bin/true")
        if "TAKT_TEST_FEW" not in os.environ:  # sanitizers come first
            self.expect_clean("trace", "--", self.root / HOSTILE)
        self.expect_clean("trace", "--as-is", "--", self.root / HOSTILE)
        (self.root / f"{HOSTILE}.folder").mkdir()
        self.expect_clean("tune", "--db", self.root / f"{HOSTILE}.folder",
                          code=1)
        (self.root / HOSTILE).unlink()
        self.expect_clean("machine", "--record", self.root / HOSTILE)


unittest.main(argv=sys.argv[:1])
