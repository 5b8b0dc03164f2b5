#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt fleet` when something is wrong: one clear line, and nothing is lost.

usage: test_errors.py TAKT FIXTURES
"""
import pathlib
import shutil
import subprocess
import sys
import unittest

import machines
from database import DATABASE, run_tests
from proxy import Proxy

TAKT, FIXTURES = sys.argv[1:3]
RECORDING = pathlib.Path(FIXTURES) / "machines/haswell-4"


class Errors(unittest.TestCase):
    def setUp(self):
        self.folder = machines.folder()
        self.addCleanup(shutil.rmtree, self.folder)
        self.machine = machines.Machine(TAKT, RECORDING,
                                        self.folder / "store.db", 1)
        self.machine.learn([dict(op="add"), dict(op="exp")])

    def refused(self, address, *words, code=1, **settings):
        """The one line on stderr."""
        ran = self.machine.fleet("sync", address, *words, **settings)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        lines = [line for line in ran.stderr.splitlines()
                 if not line.endswith("wait for the next sync")]
        self.assertEqual(len(lines), 1, ran.stderr)
        self.assertTrue(lines[0].startswith("takt fleet: "), lines[0])
        return lines[0]

    def accepted(self, address):
        ran = self.machine.fleet("sync", address)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def test_tls_with_a_password(self):
        self.assertIn("sent 2 of 2", self.accepted(DATABASE.tls_address()))

    def test_a_wrong_password(self):
        self.assertIn("password authentication failed", self.refused(
            DATABASE.tls_address(password="wrong")))

    def test_no_tls_is_not_accepted_unasked(self):
        address = DATABASE.tls_address(sslrootcert="/nowhere/root.crt")
        self.assertIn("root certificate", self.refused(address))

    def use(self, *certificate):
        DATABASE.stop()
        DATABASE.use_certificate(*certificate)
        DATABASE.start()

    def test_certificates_that_are_expired_or_of_another_host(self):
        make = DATABASE.certificates.make
        try:
            self.use(*make("old", "localhost", "20200102000000Z"))
            self.assertIn("it has expired",
                          self.refused(DATABASE.tls_address()))
            self.use(*make("other", "elsewhere.example"))
            self.assertIn("does not match host name",
                          self.refused(DATABASE.tls_address()))
        finally:
            self.use(*make("again", "localhost"))
        self.assertIn("sent 2 of 2", self.accepted(DATABASE.tls_address()))

    def test_tables_of_other_versions_or_none(self):
        address = DATABASE.address()
        for version, words in ((2, "update Takt"), (0, "takt fleet schema")):
            DATABASE.sql(f"UPDATE takt_fleet.meta SET version = {version}")
            self.assertIn(words, self.refused(address))
        DATABASE.sql("UPDATE takt_fleet.meta SET version = 1")
        self.assertIn("no tables of a fleet", self.refused(
            DATABASE.address(dbname="postgres")))
        self.accepted(address)

    def test_roles_that_may_not(self):
        self.assertIn("lacks a right", self.refused(
            DATABASE.address(user="guest")))
        self.accepted(DATABASE.address())
        for what in ("SELECT * FROM takt_fleet.page",
                     "DELETE FROM takt_fleet.page",
                     "UPDATE takt_fleet.prior SET generation = 0"):
            with self.assertRaisesRegex(RuntimeError, "permission denied"):
                DATABASE.sql(f"SET ROLE node; {what}")

    def test_an_id_that_is_not_one_word(self):
        """It would be more than a line of the state: an origin per sync."""
        address = DATABASE.address()
        before = DATABASE.sql("SELECT id FROM takt_fleet.meta")[0][0]
        self.accepted(address)
        DATABASE.sql("UPDATE takt_fleet.meta SET id = E'a\\nb'")
        try:
            self.assertIn("the id in takt_fleet.meta", self.refused(address))
        finally:
            DATABASE.sql(f"UPDATE takt_fleet.meta SET id = '{before}'")
        self.assertIn("sent 0 of 2", self.accepted(address))

    def test_a_server_that_does_not_answer_is_left(self):
        """As one that went without a word: a table that is locked."""
        address = DATABASE.address()
        self.refused(address, "--timeout", "0", code=2)
        session = DATABASE.session("BEGIN; LOCK takt_fleet.page, "
                                   "takt_fleet.prior; SELECT 'locked';")
        try:
            self.assertEqual(session.stdout.readline(), "locked\n")
            line = self.refused(address, "--timeout", "1", timeout=60)
            self.assertIn("after 1 s", line)
            ran = self.machine.fleet("pull", address, "--timeout", "1",
                                     timeout=60)
            self.assertIn("after 1 s", ran.stderr)
        finally:
            session.communicate("ROLLBACK;")
        self.assertIn("sent 2 of 2", self.accepted(address))

    def test_no_server_no_name_no_address(self):
        self.assertIn("No such file", self.refused(
            DATABASE.address(host="/nowhere")))
        self.assertIn("does not exist", self.refused(
            DATABASE.address(dbname="nothing")))
        self.assertIn("TAKT_FLEET", self.refused("", code=2))
        self.assertIn("end of string", self.refused("postgresql://[", code=1))

    def test_no_store(self):
        self.machine.store = self.folder / "none.db"
        self.assertIn("none.db", self.refused(DATABASE.address()))

    def test_without_libpq(self):
        """A folder before the system's, with a library that is not libpq."""
        folder = self.folder / "lib"
        folder.mkdir()
        (folder / "libpq.so.5").write_bytes(b"not a library")
        line = self.refused(DATABASE.address(), env={
            "LD_LIBRARY_PATH": str(folder)})
        self.assertIn("install libpq5", line)

    def test_a_state_that_cannot_be_written_sends_nothing(self):
        state = pathlib.Path(f"{self.machine.store}-fleet")
        state.mkdir()
        self.refused(DATABASE.address())
        rows = DATABASE.sql("SELECT count(*) FROM takt_fleet.page WHERE "
                            "line <> '' AND day < '2000-01-01'")
        self.assertEqual(rows, [["0"]])

    def test_a_disk_that_is_full(self):
        """As far as a sender can tell: 53100 for every INSERT."""
        DATABASE.sql(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END "
            "$$; CREATE TRIGGER full_disk BEFORE INSERT ON takt_fleet.page "
            "FOR EACH ROW WHEN (new.line = 'exp||0|0|scalar|') "
            "EXECUTE FUNCTION full_disk()")
        try:
            line = self.refused(DATABASE.address())
        finally:
            DATABASE.sql("DROP FUNCTION full_disk CASCADE")
        self.assertIn("disk of the database is full", line)
        self.assertIn("sent 1 of 2", self.accepted(DATABASE.address()))

    def test_conflicts_unknown_outcomes_and_cut_connections(self):
        """Made by a proxy at every third group; pages are there once."""
        folder = self.folder / "proxy"
        folder.mkdir()
        proxy = Proxy(str(folder), str(DATABASE.folder), DATABASE.port, 7,
                      0.35)
        self.addCleanup(proxy.close)
        source = machines.sources(3)
        for _ in range(5):
            self.machine.learn_random(source, lines=12)
            ran = self.machine.fleet("sync", DATABASE.address(host=folder))
            self.assertIn(ran.returncode, (0, 1), ran.stderr)
        self.assertTrue(all(proxy.made.values()), proxy.made)
        self.accepted(DATABASE.address())
        self.assertIn("sent 0 of", self.accepted(DATABASE.address()))
        origin = self.machine.origin()
        twice = DATABASE.sql(
            "SELECT line, cells, count(*) FROM takt_fleet.page WHERE line <> "
            f"'' AND origin = '{origin}' GROUP BY 1, 2 HAVING count(*) > 1")
        self.assertEqual(twice, [])
        latest = DATABASE.sql(
            "SELECT DISTINCT ON (line) line, encode(cells, 'hex') FROM "
            f"takt_fleet.page WHERE line <> '' AND origin = '{origin}' ORDER "
            "BY line, epoch DESC, seq DESC")
        found = {(line.split("|")[0], line.split("|")[4], bin_): values[0]
                 for line, cells in latest
                 for bin_, values in machines.cells(
                     bytes.fromhex(cells)).items()}
        wanted = {(r["op"], r["expert"], int(r["bin"])):
                  machines.single(r["n"]) for r in self.machine.records()}
        self.assertEqual(found, wanted)


if __name__ == "__main__":
    sys.exit(run_tests(TAKT))
