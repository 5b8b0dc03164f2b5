#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt doctor`: a set-up that is broken is explained in one line.

usage: test_doctor.py PATH_TO_TAKT
"""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "support"))
import mounts  # noqa: E402

TAKT = os.path.abspath(sys.argv[1])
FAKE_CUDA = os.environ.get("TAKT_TEST_FAKE_CUDA")


def has_openblas_with_a_choice():
    """On a processor with AVX2: others have no better kernels."""
    try:
        library = ctypes.CDLL("libopenblas.so.0")
        config = library.openblas_get_config
    except (AttributeError, OSError):
        return False
    config.restype = ctypes.c_char_p
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        return b"DYNAMIC_ARCH" in config() and " avx2 " in file.read()


def file_of_libm():
    ctypes.CDLL("libm.so.6")
    with open("/proc/self/maps", encoding="utf-8") as file:
        return next(line.split()[-1] for line in file if "libm.so" in line or
                    "/libm-" in line)


class Doctor(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_doctor(self, *words, **settings):
        """The environment holds these settings, and none of the caller's."""
        environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("TAKT_", "OTEL_"))}
        environment.update(TAKT_DB=self.path("store.db"), TAKT_GPU="",
                           TAKT_BLAS="")
        environment.update(settings)
        return subprocess.run([TAKT, "doctor", *words], capture_output=True,
                              text=True, timeout=600, env=environment)

    def problem(self, **settings):
        """The one line that says what is wrong with them."""
        ran = self.run_doctor(**settings)
        lines = [line for line in ran.stdout.splitlines()
                 if line.startswith("problem")]
        self.assertEqual(len(lines), 1, ran.stdout + ran.stderr)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("1 problem", ran.stdout.splitlines()[-1])
        return lines[0]

    def test_a_sound_set_up_has_no_problem(self):
        ran = self.run_doctor()
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        self.assertIn("nothing is wrong", ran.stdout)
        self.assertNotIn("problem", ran.stdout)

    def test_what_programs_do_about_a_fleet(self):
        self.assertIn("TAKT_FLEET is not set", self.run_doctor().stdout)
        address = "postgresql://nobody@localhost/none"
        said = self.run_doctor(TAKT_FLEET=address).stdout
        self.assertIn("synced, once in 3600 s at most", said)
        self.assertNotIn(address, said)
        self.assertIn("programs do not sync", self.run_doctor(
            TAKT_FLEET=address, TAKT_FLEET_EVERY="0").stdout)
        self.assertIn("connection string", self.problem(TAKT_FLEET="nope"))
        ran = subprocess.run([TAKT, "select", "add", "1K"], text=True,
                             env={"TAKT_DB": "", "TAKT_FLEET": "se/cret"},
                             capture_output=True, timeout=600)
        self.assertIn("TAKT_FLEET is no connection string", ran.stderr)
        self.assertNotIn("cret", ran.stderr)
        for tool in "takt", self.folder, self.path("none"):
            settings = {"TAKT_FLEET": address, "TAKT_FLEET_TOOL": tool}
            self.assertIn("TAKT_FLEET_TOOL", self.problem(**settings))
            self.assertNotIn("synced, once", self.run_doctor(**settings).stdout)
            ran = subprocess.run([TAKT, "select", "add", "1K"], text=True,
                                 env={"TAKT_DB": "", **settings},
                                 capture_output=True, timeout=600)
            self.assertIn(f"TAKT_FLEET_TOOL={tool} is not", ran.stderr)

    def test_a_lock_of_the_fleet_that_is_no_file(self):
        db = self.path("fleet.db")
        os.mkdir(db + "-fleet-lock")
        self.assertIn("fleet.db-fleet-lock: Is a directory", self.problem(
            TAKT_DB=db, TAKT_FLEET="postgresql://nobody@localhost/none"))

    def test_a_collector_that_never_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}"
            self.assertIn(f"otlp: {address} has not answered yet",
                          self.problem(OTEL_EXPORTER_OTLP_ENDPOINT=address))

    def test_settings_that_make_no_sense(self):
        for name, value, hint in (
                ("TAKT_POLICY", "mow", "adaptive, moe, cost"),
                ("TAKT_POLICY", "fixed", "TAKT_EXPERT"),
                ("TAKT_EXPERT", "simd.avx1024", "takt machine"),
                ("TAKT_PIN", "/nope", "not found"),
                ("TAKT_THREADS", "abc", "a whole number"),
                ("TAKT_THREADS", "4096", "set at most"),
                ("TAKT_EXPLORE", "7", "a share from 0 to 1"),
                ("TAKT_GPU", "some", "all or empty"),
                ("TAKT_LOG", "loud", "off, error, info or debug"),
                ("TAKT_RUN_NUMPY", "never", "1 or 0, on or off"),
                ("TAKT_RUN_SAME_BIT", "1", "did you mean TAKT_RUN_SAME_BITS?"),
                ("TAKT_TREADS", "2", "did you mean TAKT_THREADS?")):
            with self.subTest(f"{name}={value}"):
                line = self.problem(**{name: value})
                self.assertIn(name, line)
                self.assertIn(hint, line)

    def test_files_and_libraries_that_are_not_there(self):
        for name in ("TAKT_BLAS", "TAKT_TRACE", "TAKT_OTLP_FILE",
                     "TAKT_RUN_PRELOAD", "TAKT_RUN_LIBRARY"):
            with self.subTest(name):
                absent = self.path("absent/file")
                line = self.problem(**{name: absent})
                self.assertIn(absent, line)
                self.assertIn("No such file", line)

    def test_files_that_are_something_else(self):
        text = pathlib.Path(self.path("text"))
        for content in b"", b"text" * 40, b"\x7fELF" + bytes(100):
            text.write_bytes(content)
            for name in "TAKT_RUN_PRELOAD", "TAKT_RUN_LIBRARY":
                with self.subTest(name, content=content[:5]):
                    line = self.problem(**{name: str(text)})
                    self.assertRegex(line, f"{text}': it is (not a shared|too "
                                     "short for a) library")
        self.assertIn("it is not a regular file",
                      self.problem(TAKT_PIN=self.folder))

    def test_a_pin_file_that_is_wrong_is_one_problem(self):
        pins = pathlib.Path(self.path("pins"))
        for lines, hint in (("bogus", "line 2: it is not understood"),
                            ("add f32 - 5 simd.avx9000",
                             "line 2: this machine has no such expert")):
            pins.write_text(f"takt pin 1\n{lines}\nend\n")
            line = self.problem(TAKT_PIN=str(pins))
            self.assertIn(f"TAKT_PIN={pins} is ignored", line)
            self.assertIn(hint, line)

    def test_energy_that_cannot_be_measured(self):
        ran = self.run_doctor(TAKT_ENERGY="1")
        has_counter = any(line.startswith("ok       energy")
                          for line in ran.stdout.splitlines())
        self.assertEqual("problem  energy" in ran.stdout, not has_counter,
                         ran.stdout)

    def test_libraries_that_are_named_for_nothing(self):
        wrong = self.path("none.so")
        for more in {}, {"TAKT_ENERGY": "1"}:
            self.assertIn(f"TAKT_NVML={wrong} is not used", self.problem(
                TAKT_GPU="all", TAKT_NVML=wrong, **more))
        self.assertNotIn("too old", self.run_doctor(
            TAKT_GPU="all", TAKT_NVML="").stdout)
        if not FAKE_CUDA:
            self.skipTest("no TAKT_TEST_FAKE_CUDA")
        self.assertIn(f"TAKT_CUSOLVER={wrong} cannot be used", self.problem(
            TAKT_GPU="all", TAKT_CUDA=FAKE_CUDA, TAKT_CUSOLVER=wrong))

    def test_an_openblas_that_does_not_know_the_processor(self):
        name, library = "OPENBLAS_CORETYPE", {"TAKT_BLAS": "libopenblas.so.0"}
        ran = self.run_doctor(**library, **{name: "Prescott"})
        if not has_openblas_with_a_choice():
            self.skipTest("there is no OpenBLAS for several processors")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertRegex(ran.stdout, "note .* takes this processor for a "
                         f"Prescott, .*{name}=(SKYLAKEX|HASWELL)")
        ran = self.run_doctor(**library, **{name: "Haswell"})
        self.assertNotIn(name, ran.stdout)

    def test_a_library_that_is_no_blas(self):
        self.assertIn("it has no sgemm", self.problem(TAKT_BLAS="libm.so.6"))

    def test_a_driver_that_is_named_and_missing(self):
        for name in ("TAKT_CUDA", "TAKT_VULKAN"):
            with self.subTest(name):
                absent = self.path("absent/file")
                line = self.problem(**{name: absent, "TAKT_GPU": "all"})
                self.assertIn(name, line)
                self.assertIn(absent, line)

    def test_a_store_that_is_no_file(self):
        self.assertIn("/dev/null", self.problem(TAKT_DB="/dev/null"))

    def test_a_store_of_another_program(self):
        path = pathlib.Path(self.path("other.db"))
        path.write_text("not a database, but something that somebody wrote\n"
                        * 100)
        self.assertIn(str(path), self.problem(TAKT_DB=str(path)))
        self.assertNotIn("TAKT_DB is empty",
                         self.run_doctor(TAKT_DB=str(path)).stdout)

    def test_a_collector_that_does_not_answer(self):
        line = self.problem(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
        self.assertIn("http://127.0.0.1:9", line)

    def test_limited_address_space_is_not_waited_for(self):
        """OpenBLAS would wait for ever, whoever loads it."""
        most = 200 << 20
        ran = subprocess.run(
            [TAKT, "doctor"], capture_output=True, text=True, timeout=600,
            env=dict(os.environ, TAKT_DB="", TAKT_GPU="", TAKT_BLAS=""),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                  (most, most)))
        if ran.returncode and not ran.stdout:
            self.skipTest("it does not start with so little: a sanitizer")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_library_for_another_processor(self):
        """The loader would say that there is no such file."""
        header = bytearray(pathlib.Path("/proc/self/exe").read_bytes()[:4096])
        header[18] ^= 0x55  # the low byte of the processor
        other = pathlib.Path(self.path("other.so"))
        other.write_bytes(header)
        self.assertIn("it is a library for another processor",
                      self.problem(TAKT_BLAS=str(other)))

    def test_the_library_of_takt_run_is_no_blas_or_not_ours(self):
        self.assertIn("it is another library", self.problem(
            TAKT_RUN_PRELOAD=file_of_libm()))
        if " libraries " not in self.run_doctor(TAKT_BLAS="libopenblas.so.0"
                                                ).stdout:
            self.skipTest("there is no BLAS")
        for name, hint in (("libm.so.6", "it has no BLAS"),
                           ("libtakt-none.so", "No such file")):
            line = self.problem(TAKT_RUN_LIBRARY=name,
                                TAKT_BLAS="libopenblas.so.0")
            self.assertIn(f"TAKT_RUN_LIBRARY '{name}': ", line)
            self.assertIn(hint, line)

    def test_a_problem_names_the_variable(self):
        """What is wrong may be said by a part that knows the file alone."""
        for name, value in (
                ("TAKT_BLAS", "/no/such.so"), ("TAKT_OTLP_FILE", "/no/such/x"),
                ("TAKT_TRACE", "/no/such/x"), ("TAKT_OTEL", "/no/such.so"),
                ("TAKT_CUBLAS", "/no/such.so"),
                ("TAKT_CUSOLVER", "/no/such.so"),
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")):
            with self.subTest(name):
                line = self.problem(**{name: value})
                self.assertIn(name, line)
                self.assertIn(value, line)

    def test_unknown_variables_are_mentioned(self):
        """They may be the program's own, and are no problem."""
        ran = self.run_doctor(TAKT_STORE="x")
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertRegex(ran.stdout, "note .* TAKT_STORE is not a variable")

    def test_a_store_that_others_hold(self):
        store = self.path("store.db")
        words = "tune", "--quick", "--anyway", "--ops", "add"
        ran = subprocess.run([TAKT, *words], capture_output=True, timeout=600,
                             env=dict(os.environ, TAKT_DB=store, TAKT_GPU="",
                                      TAKT_BLAS=""))
        self.assertEqual(ran.returncode, 0, ran.stderr)
        holder = sqlite3.connect(store)
        self.addCleanup(holder.close)
        holder.execute("BEGIN EXCLUSIVE")
        self.assertIn("cannot be written now", self.run_doctor().stdout)

    @unittest.skipUnless(mounts.are_possible(), "no mounts of its own")
    def test_a_disk_that_is_full(self):
        """The store opens as always; it is what comes later that is lost."""
        store = self.path("store.db")
        setup = (f"mount -t tmpfs -o size=400k none {self.folder} && "
                 f"{TAKT} tune --quick --anyway --ops add --sizes 64K "
                 f">/dev/null 2>&1; "
                 f"head -c 1M /dev/zero >{self.folder}/fill 2>/dev/null; "
                 f"truncate -s -96K {self.folder}/fill")
        for words in ["doctor"], ["tune", "--quick", "--anyway"]:
            ran = subprocess.run(
                mounts.command(setup, TAKT, *words), capture_output=True,
                text=True, timeout=600,
                env=dict(os.environ, TAKT_DB=store, TAKT_GPU="", TAKT_BLAS=""))
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            self.assertRegex(ran.stdout + ran.stderr,
                             f"{store}.*: No space left on device")
            if words[0] == "tune":
                self.assertIn("nothing was measured", ran.stderr)

    def test_json_says_the_same(self):
        ran = self.run_doctor("--json", TAKT_POLICY="mow")
        answer = json.loads(ran.stdout)
        self.assertEqual((ran.returncode, answer["problems"]), (1, 1))
        wrong = [finding for finding in answer["findings"]
                 if finding["state"] == "problem"]
        self.assertEqual(len(wrong), 1)
        self.assertIn("TAKT_POLICY=mow", wrong[0]["text"])

    def test_without_a_store_it_says_so(self):
        self.assertIn("nothing that is learned is kept",
                      self.run_doctor(TAKT_DB="").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
