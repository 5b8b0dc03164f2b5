#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt fleet roll-up` and `pull`: what many machines measured is what a new
one begins with.

usage: test_priors.py TAKT FIXTURES
"""
import functools
import http.server
import json
import math
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

import machines
from database import DATABASE, openssl, run_tests

TAKT, FIXTURES = sys.argv[1:3]
RECORDINGS = pathlib.Path(FIXTURES) / "machines"
MEANS = [9.0, 9.02, 8.97, 9.05, 8.99]


def keys(folder, name):
    """A private and a public key."""
    paths = folder / f"{name}.key", folder / f"{name}.pub"
    openssl("genpkey", "-algorithm", "ed25519", "-out", paths[0])
    openssl("pkey", "-in", paths[0], "-pubout", "-out", paths[1])
    return paths


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


class EndlessHandler(QuietHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(bytes(1 << 20))
        except OSError:
            pass


class Priors(unittest.TestCase):
    def setUp(self):
        self.folder = machines.folder()
        self.addCleanup(shutil.rmtree, self.folder)
        self.count = 0
        DATABASE.sql("DELETE FROM takt_fleet.page; "
                     "DELETE FROM takt_fleet.prior")

    def machine(self, recording="haswell-4"):
        self.count += 1
        return machines.Machine(
            TAKT, None if recording is None else RECORDINGS / recording,
            self.folder / f"{self.count}.db", self.count)

    def run_fleet(self, machine, action, *words, user="node", code=0):
        ran = machine.fleet(action, DATABASE.address(user), *words)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout if code == 0 else ran.stderr

    def share(self, means=MEANS, recording="haswell-4", **values):
        """As many machines, each with that mean."""
        for mean in means:
            machine = self.machine(recording)
            machine.learn([dict(mean=mean, **values)])
            self.run_fleet(machine, "sync")

    def roll_up(self, *words):
        return self.run_fleet(self.machine(), "roll-up", *words, user="sums")

    def pull(self, recording="haswell-4"):
        machine = self.machine(recording)
        self.run_fleet(machine, "pull", user="guest")
        return machine

    def test_a_new_machine_begins_with_the_median_of_its_kind(self):
        self.share()
        self.assertIn("5 machines, 5 pages (0 refused): 3 classes, 3 cells",
                      self.roll_up())
        n, mean, variance = self.pull().prior()["add", "scalar", 20]
        self.assertEqual(n, 5)
        self.assertAlmostEqual(mean, 9.0, 5)
        self.assertLess(variance, 0.05 ** 2)

    def test_pulling_twice_changes_nothing_and_nothing_of_it_is_sent(self):
        self.share()
        self.roll_up()
        machine = self.pull()
        export = [TAKT, "history", "export", "--db", machine.store]
        before = subprocess.check_output(export)
        self.run_fleet(machine, "pull")
        self.assertEqual(subprocess.check_output(export), before)
        self.assertIn("sent 0 of 0", self.run_fleet(machine, "sync"))
        self.roll_up()
        self.run_fleet(machine, "pull")
        self.assertEqual(len(machine.prior()), 1)

    def test_a_sync_pulls_what_is_new(self):
        self.share()
        self.roll_up()
        machine = self.machine()
        machine.learn([dict(op="exp")])
        self.run_fleet(machine, "sync")
        self.assertEqual(list(machine.prior()), [("add", "scalar", 20)])
        self.assertIn("received  1 cells, by up to 5 machines",
                      self.run_fleet(machine, "status"))

    def test_fewer_than_five_machines_say_nothing(self):
        self.share(MEANS[:4])
        self.assertIn("0 classes, 0 cells", self.roll_up())
        self.assertEqual(self.pull().prior(), {})
        self.assertIn("5", self.run_fleet(self.machine(), "roll-up",
                                          "--least", "4", code=2))

    def test_liars_and_chatterers_count_once(self):
        self.share(MEANS * 2)
        self.roll_up()
        honest = self.pull().prior()["add", "scalar", 20]
        self.share([-40.0], n=1e8)
        self.roll_up()
        n, mean, variance = self.pull().prior()["add", "scalar", 20]
        self.assertEqual(n, 11)
        self.assertLess(abs(mean - honest[1]), 0.03)
        self.assertLess(variance, 2 * honest[2] + 0.01)

    def test_pages_that_make_no_sense_are_refused(self):
        self.share()
        origin = "a" * 32
        facts = DATABASE.sql("SELECT encode(cells, 'hex') FROM takt_fleet.page"
                             " WHERE line = '' LIMIT 1")[0][0]
        rows = [("", facts), ("add||0|0|scalar|", "01" + "ff" * 26),
                ("add||0|0|scalar|", "ff"), ("add||0|0|scalar|", ""),
                ("secret||0|0|scalar|", "01"), ("add||0|0|../../x|", "01")]
        for seq, (line, cells) in enumerate(rows):
            DATABASE.sql(
                "INSERT INTO takt_fleet.page (origin, line, epoch, seq, class,"
                f" cells) VALUES ('{origin[:31]}{seq}', '{line}', 1, {seq}, "
                f"'x', decode('{cells}', 'hex')); INSERT INTO takt_fleet.page "
                f"(origin, line, epoch, seq, class, cells) VALUES ('"
                f"{origin[:31]}{seq}', '', 1, 99, 'x', decode('{facts}', "
                "'hex'))")
        self.assertIn("(5 refused): 3 classes, 3 cells", self.roll_up())

    def test_what_was_reset_does_not_count(self):
        self.share()
        last = self.machine()
        last.learn([dict(mean=30.0), dict(op="exp")])
        self.run_fleet(last, "sync")
        subprocess.run([TAKT, "history", "reset", "--yes", "add", "--db",
                        last.store], check=True, capture_output=True)
        self.run_fleet(last, "sync")
        self.roll_up()
        self.assertEqual(self.pull().prior()["add", "scalar", 20][0], 5)

    def test_a_machine_that_is_silent_for_long_is_gone(self):
        self.share()
        DATABASE.sql("UPDATE takt_fleet.page SET day = day - 200 WHERE line = "
                     "'' AND origin = (SELECT min(origin) FROM "
                     "takt_fleet.page)")
        self.assertIn("4 machines", self.roll_up())
        self.assertIn("5 machines", self.roll_up("--days", "300"))

    def test_pages_that_were_replaced_can_be_removed(self):
        self.share()
        machine = self.machine()
        for mean in (9.0, 9.1, 9.2):
            machine.learn([dict(mean=mean)])
            self.run_fleet(machine, "sync")
        before = self.roll_up()
        self.roll_up("--prune")
        rows = DATABASE.sql("SELECT count(*) FROM takt_fleet.page")
        self.assertEqual(rows, [["12"]])
        self.assertEqual(before, self.roll_up())

    def test_a_machine_of_an_unknown_kind_begins_with_those_like_it(self):
        """By likeness: an AVX2 machine with 4 cores, not one with 20."""
        self.share(recording="haswell-4")
        self.share([11.0] * 5, recording="nehalem-4")
        self.roll_up()
        n, mean, variance = self.pull("epyc-genoa-2").prior()[
            "add", "scalar", 20]
        self.assertEqual(n, 10)
        self.assertTrue(8.9 < mean < 10.5, mean)
        self.assertGreater(variance, 0.1 ** 2)

    def test_a_file_that_is_signed(self):
        self.share()
        private, public = keys(self.folder, "ours")
        _, other = keys(self.folder, "other")
        path = self.folder / "priors"
        self.roll_up("--output", path, "--key", private)
        machine = self.machine()
        self.run_fleet(machine, f"pull {path}", "--key", public)
        self.assertEqual(machine.prior(), self.pull().prior())
        machine = self.machine()
        self.assertIn("not signed", self.run_fleet(
            machine, f"pull {path}", "--key", other, code=1))
        good = path.read_bytes()
        for at in (0, 20, len(good) // 2, len(good) - 70, len(good) - 1):
            path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
            self.assertIn("not signed", self.run_fleet(
                machine, f"pull {path}", "--key", public, code=1))
        for length in (0, 10, 63, 64, len(good) - 1):
            path.write_bytes(good[:length])
            self.run_fleet(machine, f"pull {path}", "--key", public, code=1)
        self.assertFalse(machine.store.exists())
        self.assertIn("--key", self.run_fleet(machine, f"pull {path}", code=2))
        self.assertIn("private key", self.run_fleet(
            machine, "roll-up", "--output", path, "--key", public,
            user="sums", code=1))

    def test_a_file_that_is_older_than_what_was_received_is_refused(self):
        self.share()
        private, public = keys(self.folder, "ours")
        paths = [self.folder / name for name in ("first", "second")]
        for path in paths:
            self.roll_up("--output", path, "--key", private)
            self.share([12.0] * 6)
        machine = self.machine()
        for path in (*paths, paths[1]):
            self.run_fleet(machine, f"pull {path}", "--key", public)
        newest = machine.prior()
        self.assertIn("is older (generation ", self.run_fleet(
            machine, f"pull {paths[0]}", "--key", public, code=1))
        self.assertEqual(machine.prior(), newest)
        self.run_fleet(machine, f"pull {paths[0]}", "--key", public, "--older")
        self.assertNotEqual(machine.prior(), newest)

    def test_priors_of_a_new_database_are_later_than_those_of_a_lost_one(self):
        """Their number is the time, or one more than the last one."""
        self.share()
        began = int(time.time())
        generations = []
        for _ in range(3):
            self.roll_up()
            generations += [int(DATABASE.sql(
                "SELECT max(generation) FROM takt_fleet.prior")[0][0])]
        self.assertGreaterEqual(generations[0], began)
        self.assertEqual(generations, sorted(set(generations)))

    def test_a_file_from_a_web_server(self):
        self.share()
        private, public = keys(self.folder, "ours")
        served = self.folder / "served"
        served.mkdir()
        self.roll_up("--output", served / "priors", "--key", private)
        handler = functools.partial(QuietHandler, directory=served)
        server = http.server.HTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}/"
        machine = self.machine()
        self.run_fleet(machine, f"pull {address}priors", "--key", public)
        self.assertEqual(machine.prior(), self.pull().prior())
        self.assertIn("error: 404", self.run_fleet(
            machine, f"pull {address}none", "--key", public, code=1))

    def test_a_web_server_that_is_silent_or_has_no_end(self):
        _, public = keys(self.folder, "ours")
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/priors"
        machine = self.machine()
        # Without the option it is a minute or more.
        self.assertRegex(self.run_fleet(
            machine, f"pull {address}", "--key", public, "--timeout", "1",
            code=1), r"timed out after [1-5]?\d{4} milli")
        server = http.server.HTTPServer(("127.0.0.1", 0), EndlessHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_port}/priors"
        self.assertIn("too large", self.run_fleet(
            machine, f"pull {address}", "--key", public, code=1))

    def test_without_a_database(self):
        """Files and stores make the prior that pages in a database make."""
        pages, stores = [], []
        for number, mean in enumerate(MEANS):
            machine = self.machine()
            machine.learn([dict(mean=mean)])
            self.run_fleet(machine, "sync")
            stores.append(machine.store)
            pages.append(self.folder / f"pages{number}")
            self.assertIn("wrote 1 lines (1 cells)", self.run_fleet(
                machine, f"export {pages[-1]}"))
        self.roll_up()
        expected = self.pull().prior()
        priors = self.folder / "priors"
        self.assertEqual(len(expected), 1)
        for files in (pages, stores, pages[:2] + stores[2:],
                      pages + stores):  # each machine counts once
            words = " ".join(str(path) for path in files)
            self.assertIn("5 machines, 5 pages (0 refused): 3 classes",
                          self.run_fleet(machine, f"roll-up {words}",
                                         "--output", priors, "--unsigned"))
            new = self.machine()
            self.run_fleet(new, f"pull {priors}", "--unsigned")
            self.assertEqual(new.prior(), expected)
        self.assertIn("--key", self.run_fleet(new, f"pull {priors}", code=2))

    def test_files_that_are_none(self):
        machine, other = self.machine(), self.machine("nehalem-4")
        machine.learn([dict()])
        other.learn([dict()])
        path, out = self.folder / "pages", self.folder / "out"
        self.run_fleet(machine, f"export {path}")
        good = path.read_bytes()
        for bad in (b"", b"takt-prior 1\n", good[:-1], good + b"x",
                    good.replace(b"isa=", b"isb="),
                    good.replace(b"haswell", b"")[:40]):
            path.write_bytes(bad)
            self.run_fleet(machine, f"roll-up {path}", "--output", out,
                           "--unsigned", code=1)
        self.assertIn("has nothing of this machine", self.run_fleet(
            machine, f"roll-up {other.store}", "--output", out, "--unsigned",
            code=1))
        self.assertIn("--output", self.run_fleet(
            machine, f"roll-up {machine.store}", code=2))
        self.assertFalse(out.exists())

    def gpu_machine(self, mean, driver, device=None):
        """One with an H200, whose facts say which driver it has."""
        machine = self.machine("xeon-h200-16")
        gpu = device or self.gpu()
        machine.learn([dict(expert="cuda.0", device=gpu, mean=mean)])
        self.run_fleet(machine, "sync")
        DATABASE.sql(
            "UPDATE takt_fleet.page SET cells = decode(replace(encode(cells, "
            "'escape'), 'driver=0', 'driver=%d'), 'escape') WHERE line = '' "
            "AND origin = '%s'" % (driver, machine.origin()))

    def gpu(self):
        for line in (RECORDINGS / "xeon-h200-16/expected.txt").read_text() \
                .split():
            if line.startswith("gpu0.fingerprint="):
                return line.partition("=")[2]
        raise ValueError

    def test_gpus_by_driver_by_device_and_by_vendor(self):
        """A recording has no driver: 0."""
        key = "add", "cuda.0", 20
        for number in range(5):
            self.gpu_machine(9 + number / 100, 550)
        self.roll_up()
        _, mean, variance = self.pull("xeon-h200-16").prior()[key]
        self.assertAlmostEqual(mean, 9.02, 5)  # the device, any driver
        self.assertGreater(variance, 0.15 ** 2)
        for number in range(5):
            self.gpu_machine(8 + number / 100, 0)
        self.roll_up()
        n, mean, variance = self.pull("xeon-h200-16").prior()[key]
        self.assertEqual(n, 5)
        self.assertAlmostEqual(mean, 8.02, 5)  # its own driver
        self.assertLess(variance, 0.1 ** 2)

    def test_another_gpu_of_the_vendor(self):
        other = "f" * 64
        for number in range(5):
            self.gpu_machine(10 + number / 10, 0, other)
        self.roll_up()
        classes = {row[0] for row in DATABASE.sql(
            "SELECT class FROM takt_fleet.prior WHERE line LIKE '%cuda%'")}
        self.assertIn("gpus.10de", classes)
        n, mean, variance = self.pull("xeon-h200-16").prior()[
            "add", "cuda.0", 20]
        self.assertEqual(n, 5)
        self.assertAlmostEqual(mean, 10.2, 5)
        self.assertGreater(variance, 0.4 ** 2)

    def explain(self, machine):
        return json.loads(subprocess.check_output(
            [TAKT, "explain", "add", "64Ki", "--json", "--db", machine.store],
            text=True, env=os.environ | {"TAKT_GPU": "", "TAKT_BLAS": ""}))

    def test_explain_names_the_machines_and_measuring_outweighs_them(self):
        bytes_ = 3.0 * 4 * 65536
        bin_ = 2 * (int(bytes_).bit_length() - 1) + 1
        for factor in (1.0, 1.01, 0.99, 1.02, 0.98, 1.0):
            machine = self.machine(None)
            machine.learn([dict(
                expert=expert, bin=bin_, n=20.0, m2=0.1, bytes=bytes_,
                flops=65536.0, mean=mean * factor) for expert, mean in (
                    ("scalar", 5.0), ("simd.sse2", 12.0))])
            self.run_fleet(machine, "sync")
        self.roll_up()
        new = self.pull(None)
        answer = self.explain(new)
        self.assertEqual(answer["experts"][0]["expert"], "scalar")
        self.assertIn("by 6 machines like this one", answer["why"])
        self.assertIn("what the fleet measured", answer["not_measured"])
        self.assertIn("the fleet knows 2 cells, by up to 6 machines",
                      subprocess.check_output(
                          [TAKT, "history", "list", "--db", new.store],
                          text=True))
        new.learn([dict(expert="scalar", bin=bin_, n=40.0, m2=0.2,
                        bytes=bytes_, flops=65536.0, mean=5.5)])
        scalar, = [e for e in self.explain(new)["experts"]
                   if e["expert"] == "scalar"]
        self.assertGreater(scalar["samples"], 0)
        self.assertGreater(scalar["predicted_us"], math.exp(5.3) / 1000)


if __name__ == "__main__":
    sys.exit(run_tests(TAKT))
