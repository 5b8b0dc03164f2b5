#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt fleet` and servers that do not answer as PostgreSQL does: it ends, and
says so in one line.

usage: test_hostile.py TAKT FIXTURES
"""
import ctypes
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import machines
from fake_server import (BOUND, FakeServer, columns, message, notice, row,
                         rows, setting)

TAKT, FIXTURES = sys.argv[1:3]
RECORDING = pathlib.Path(FIXTURES) / "machines/haswell-4"
NOTHING = BOUND + columns(4) + message(b"C", b"SELECT 0\0")


def answer_never(client):
    while client.recv(1 << 16):
        pass


def answer_for_ever(client):
    client.sendall(BOUND + columns(4))
    some = row(b"class", b"line", b"\0" * 8, b"x" * 4000) * 100
    while True:
        client.sendall(some)


class Hostile(unittest.TestCase):
    def setUp(self):
        self.folder = machines.folder()
        self.addCleanup(shutil.rmtree, self.folder)
        self.machine = machines.Machine(TAKT, RECORDING,
                                        self.folder / "store.db", 1)
        self.machine.learn([dict(op="add")])

    def run_fleet(self, action, *options, **answers):
        server = FakeServer(**answers)
        try:
            return self.machine.fleet(action, server.address, *options,
                                      timeout=100)
        finally:
            server.close()

    def refused(self, action, *options, **answers):
        ran = self.run_fleet(action, *options, **answers)
        self.assertEqual(ran.returncode, 1, (ran.stdout + ran.stderr)[-500:])
        lines = [line for line in ran.stderr.splitlines()
                 if not line.endswith("wait for the next sync")]
        self.assertEqual(len(lines), 1, ran.stderr[-500:])
        return lines[0]

    def test_columns_that_are_missing(self):
        self.assertIn("tables of the database are of version 0",
                      self.refused("sync", meta=rows(())))
        ran = self.run_fleet("sync", meta=rows((b"1",)), prior=rows((b"7",)))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_values_that_are_missing(self):
        ran = self.run_fleet("sync", meta=rows((b"1", None)),
                             prior=rows((None,) * 4))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_a_transfer_instead_of_rows(self):
        for kind in b"G", b"H", b"W":
            transfer = BOUND + message(kind, b"\0\0\0")
            self.assertIn("not answer as PostgreSQL", self.refused(
                "pull", prior=transfer))
            self.assertIn("after 2 s", self.refused(
                "sync", "--timeout", "2", prior=NOTHING, page=transfer))

    def test_notices_are_not_printed(self):
        ran = self.run_fleet("pull", prior=notice(b"\x1b[31mred") + NOTHING)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_nor_are_notices_of_a_connection_that_is_not_made_yet(self):
        ran = self.run_fleet("pull", prior=NOTHING, greeting=lambda client:
                             client.sendall(notice(b"\x1b[31mred")))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_the_limit_holds_while_it_connects(self):
        for unit in setting(b"x" * 1000), notice(b"x" * 1000):
            def go_on(client):
                while True:
                    client.sendall(unit * 100)
            self.assertIn("after 1 s", self.refused(
                "pull", "--timeout", "1", greeting=go_on))

    def test_memory_has_a_limit(self):
        """Notifications, say, are kept by libpq for who asks for them."""
        limits = []

        def look(client):
            for line in pathlib.Path(
                    f"/proc/{ran.pid}/limits").read_text().splitlines():
                if line.startswith("Max data size"):
                    limits.append(line.split()[3])
            client.sendall(NOTHING)

        server = FakeServer(prior=look)
        try:
            ran = subprocess.Popen(self.machine.command("pull", server.address),
                                   stdout=subprocess.DEVNULL)
            self.assertEqual(ran.wait(100), 0)
        finally:
            server.close()
        self.assertNotIn("unlimited", limits)
        self.assertTrue(limits)

    def test_rows_without_an_end(self):
        self.assertIn("what the database sends",
                      self.refused("pull", prior=answer_for_ever))

    def test_the_limit_holds_where_a_parent_blocks_all_signals(self):
        before = signal.pthread_sigmask(signal.SIG_BLOCK,
                                        signal.valid_signals())
        try:
            line = self.refused("pull", "--timeout", "1", prior=answer_never)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.assertIn("after 1 s", line)

    def test_the_limit_holds_where_no_signal_can_be_reserved(self):
        _, most = resource.getrlimit(resource.RLIMIT_SIGPENDING)
        resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, most))
        try:
            line = self.refused("pull", "--timeout", "1", prior=answer_never)
        finally:
            resource.setrlimit(resource.RLIMIT_SIGPENDING, (most, most))
        self.assertIn("after 1 s", line)


if __name__ == "__main__":
    try:
        ctypes.CDLL("libpq.so.5")
    except OSError:
        print("libpq is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
