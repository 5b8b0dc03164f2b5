#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt fleet sync` with a real PostgreSQL: whatever is killed, what machines
measured is in the database, exactly and once.

usage: test_sync.py TAKT FIXTURES [ROUNDS]
"""
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

import machines
from database import DATABASE, run_tests

TAKT, FIXTURES = sys.argv[1:3]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3
RECORDINGS = [pathlib.Path(FIXTURES) / "machines" / name for name in (
    "aarch64-4", "avx512-without-os", "epyc-genoa-2", "haswell-4", "nehalem-4",
    "neoverse-v1-8", "sapphire-rapids-container", "xeon-h200-16")]


def pages(origin):
    """line -> {(epoch, seq): bytes} of an origin."""
    out = {}
    for line, epoch, seq, cells in DATABASE.sql(
            "SELECT line, epoch, seq, encode(cells, 'hex') "
            f"FROM takt_fleet.page WHERE origin = '{origin}'"):
        out.setdefault(line, {})[int(epoch), int(seq)] = bytes.fromhex(cells)
    return out


class Sync(unittest.TestCase):
    def setUp(self):
        self.folder = machines.folder()
        self.addCleanup(shutil.rmtree, self.folder)
        self.count = 0

    def machine(self, recording=RECORDINGS[3]):
        self.count += 1
        return machines.Machine(TAKT, recording,
                                self.folder / f"{self.count}.db", self.count)

    def sync(self, machine, *words, address=None, code=0):
        ran = machine.fleet("sync", address or DATABASE.address(), *words)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran

    def expect_all(self, machine):
        """The latest pages are what is in the store, and no page was stored
        twice."""
        wanted = {}
        for r in machine.records():
            line = "|".join((r["op"], r["layout"], r["dtype"], r["situation"],
                             r["expert"], ""))
            wanted.setdefault(line, {})[int(r["bin"])] = [
                machines.single(r[c])
                for c in ("n", "mean", "m2", "first_s", "bytes", "flops")]
        found = pages(machine.origin())
        self.assertTrue(found.pop(""))
        epoch = max(key[0] for all_ in found.values() for key in all_)
        latest = {line: machines.cells(all_[max(all_)])
                  for line, all_ in found.items() if max(all_)[0] == epoch}
        self.assertEqual(latest, wanted)
        for line, all_ in found.items():
            of_epoch = [v for k, v in all_.items() if k[0] == epoch]
            self.assertEqual(len(of_epoch), len(set(of_epoch)), line)

    def test_what_was_measured_arrives_and_only_what_changed_is_sent_again(self):
        machine = self.machine()
        machine.learn([dict(op="add", bin=b) for b in range(10, 30)]
                      + [dict(op="exp")])
        self.assertIn("sent 2 of 2 lines (21 cells", self.sync(machine).stdout)
        self.expect_all(machine)
        self.assertIn("sent 0 of 2 lines", self.sync(machine).stdout)
        machine.learn([dict(op="exp", mean=8.5)])
        self.assertIn("sent 1 of 2 lines", self.sync(machine).stdout)
        self.expect_all(machine)
        self.assertEqual(len(pages(machine.origin())["exp||0|0|scalar|"]), 2)

    def test_writers_are_added_up(self):
        machine = self.machine()
        machine.learn([dict(n=4.0, mean=9.0, m2=0.5)])
        machine.writer = "f" * 32
        machine.learn([dict(n=12.0, mean=10.0, m2=1.0)])
        self.sync(machine)
        page, = pages(machine.origin())["add||0|0|scalar|"].values()
        n, mean, m2 = machines.cells(page)[20][:3]
        self.assertEqual((n, mean, m2), (16.0, 9.75, 4.5))

    def test_names_of_users_and_other_machines_stay_here(self):
        machine = self.machine()
        secrets = [dict(op="secret_op"), dict(op="run.payroll-0123"),
                   dict(expert="secret_expert"), dict(expert="simd.secretx2"),
                   dict(expert="scalarx1"), dict(op="takt:day", expert="calls"),
                   dict(layout="secret"), dict(op="ADD", bin=3)]
        machine.learn(secrets + [dict(op="add")])
        other = machines.record("a" * 64, op="dot")
        subprocess.run([TAKT, "history", "import", "-", "--db", machine.store],
                       input=machines.text_of([other]), text=True, check=True,
                       capture_output=True)
        shown = machine.fleet("status", "", "--dry-run").stdout
        self.assertIn("1 lines, 1 cells; 8 records are never shared", shown)
        self.assertNotIn("secret", shown)
        self.sync(machine)
        found = pages(machine.origin())
        self.assertEqual(set(found), {"", "add||0|0|scalar|"})
        raw = b"".join(bytes_ for all_ in found.values()
                       for bytes_ in all_.values())
        when = 1700000000
        for word in (b"secret", b"payroll", b"%d" % when,
                     struct.pack("<q", when), struct.pack("<d", when)):
            self.assertFalse(word in raw, word)

    def test_a_reset_takes_back_what_was_sent(self):
        machine = self.machine()
        machine.learn([dict(op="add"), dict(op="exp")])
        self.sync(machine)
        subprocess.run([TAKT, "history", "reset", "--yes", "exp", "--db",
                        machine.store], check=True, capture_output=True)
        self.assertIn("sent 1 of 1 lines", self.sync(machine).stdout)
        self.expect_all(machine)

    def test_a_copy_of_a_store_is_another_origin(self):
        machine = self.machine()
        machine.learn([dict(op="add")])
        self.sync(machine)
        copy = self.machine()
        for end in ("", "-fleet"):
            shutil.copy(f"{machine.store}{end}", f"{copy.store}{end}")
        self.assertIn("new origin", self.sync(copy).stdout)
        self.assertNotEqual(machine.origin(), copy.origin())

    def test_an_origin_that_another_machine_has_is_given_up(self):
        machine = self.machine()
        machine.learn([dict(op="add")])
        self.sync(machine)
        state = pathlib.Path(f"{machine.store}-fleet")
        before = state.read_text()
        machine.learn([dict(op="add", mean=8.0)])
        self.sync(machine)
        first = machine.origin()
        state.write_text(before)  # as of a clone that began at the same point
        machine.learn([dict(op="add", mean=7.0)])
        self.assertIn("new origin", self.sync(machine).stdout)
        self.assertNotEqual(machine.origin(), first)
        self.expect_all(machine)

    def test_a_database_that_was_lost_is_filled_again(self):
        machine = self.machine()
        machine.learn([dict(op="add"), dict(op="exp")])
        self.sync(machine)
        DATABASE.sql("DELETE FROM takt_fleet.page; UPDATE takt_fleet.meta "
                     "SET id = gen_random_uuid()::text")
        self.assertIn("sent 2 of 2 lines", self.sync(machine).stdout)
        self.expect_all(machine)

    def test_a_damaged_state_makes_a_new_origin(self):
        machine = self.machine()
        machine.learn([dict(op="add")])
        self.sync(machine)
        state = pathlib.Path(f"{machine.store}-fleet")
        state.write_text(state.read_text().replace("end\n", ""))
        self.assertIn("new origin", self.sync(machine).stdout)
        self.expect_all(machine)

    def test_a_full_disk_of_the_server(self):
        if not DATABASE.fill_disk():
            DATABASE.free_disk()
            self.skipTest("no library to preload into the server")
        machine = self.machine()
        machine.learn_random(random.Random(1), lines=12, bins=40)
        ran = machine.fleet("sync", DATABASE.address())
        DATABASE.free_disk()
        self.assertEqual((ran.returncode, ran.stdout), (1, ""), ran.stderr)
        self.sync(machine)
        self.expect_all(machine)

    def test_machines_killed_a_server_that_restarts_and_a_full_disk(self):
        """Eight at once; the last sync of each is let through."""
        source = random.Random(ROUNDS)
        all_ = [self.machine(recording) for recording in RECORDINGS]
        for number in range(ROUNDS):
            for machine in all_:
                machine.learn_random(source)
            if number % 3 == 2:
                DATABASE.fill_disk()
            running = [subprocess.Popen(
                m.command("sync", DATABASE.address()),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for m in all_]
            if number % 3 == 1:
                DATABASE.stop(source.choice((signal.SIGINT, signal.SIGQUIT)))
            for process in running:
                if source.random() < 0.6:
                    time.sleep(source.uniform(0, 0.02))
                    process.kill()
            if number % 3 == 1:
                DATABASE.start()
            for process in running:
                process.wait()
            if number % 3 == 2:
                DATABASE.free_disk()
            if number % 10 == 9 or number == ROUNDS - 1:
                for machine in all_:
                    self.sync(machine)
                    self.assertIn("sent 0 of", self.sync(machine).stdout)
                    self.expect_all(machine)
                self.assertEqual(len({m.origin() for m in all_}), len(all_))


if __name__ == "__main__":
    sys.exit(run_tests(TAKT, [] if ROUNDS >= 100 else ["fsync=off"]))
