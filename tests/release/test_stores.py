#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""This version keeps what stores of earlier releases have learned, and refuses
those of later ones with one line.

A fixture is tests/fixtures/stores/VERSION.db, written by that version on the
machine of fixtures/machines/epyc-genoa-2: by takt tune, by programs, and by takt
run. It is never changed. Python's own SQLite says what is in it.
usage: test_stores.py PATH_TO_TAKT FIXTURES
"""
import csv
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

TAKT, FIXTURES = sys.argv[1], pathlib.Path(sys.argv[2])
STORES = sorted((FIXTURES / "stores").glob("*.db"))
MACHINE = str(FIXTURES / "machines/epyc-genoa-2")
KEY = ("machine", "device", "software", "writer", "op", "layout", "expert")
PLACE = ("dtype", "situation", "bin")
LEARNED = ("n", "mean", "m2", "first_s", "bytes", "flops", "calls", "seconds",
           "last_unix_s")


def takt(*words, fails=False):
    ran = subprocess.run([TAKT, *words], capture_output=True, text=True,
                         timeout=600, env={**os.environ, "TAKT_GPU": ""})
    assert (ran.returncode != 0) == fails, ran.stdout + ran.stderr
    return ran.stderr if fails else ran.stdout


def read(path):
    """(key) -> what was learned, by SQLite alone."""
    store = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    names = dict(store.execute("SELECT id, text FROM name"))
    columns = KEY + PLACE + LEARNED
    rows = store.execute(f"SELECT {', '.join(columns)} FROM record").fetchall()
    store.close()
    return {tuple(names[x] for x in row[:len(KEY)]) +
            row[len(KEY):len(KEY + PLACE)]: row[len(KEY + PLACE):]
            for row in rows}


def read_export(text):
    lines = text.splitlines()
    assert lines[0].startswith("takt history "), lines[0]
    assert lines[-1].startswith("end"), lines[-1]
    rows = csv.DictReader(lines[1:-1], delimiter="\t", quoting=csv.QUOTE_NONE)
    return {tuple(row[x] for x in KEY) + tuple(int(row[x]) for x in PLACE):
            tuple(float(row[x]) for x in LEARNED) for row in rows}


class Earlier(unittest.TestCase):
    """Each test sees a copy of each store."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def copies(self):
        for store in STORES:
            yield store, shutil.copy(store, self.folder / store.name)

    def holds_all(self, now, before):
        self.assertGreater(len(before), 100)
        for key, learned in before.items():
            self.assertIn(key, now)
            for old, new in zip(learned, now[key]):
                self.assertTrue(math.isclose(old, new, rel_tol=1e-12), key)

    def test_there_are_stores(self):
        self.assertIn("0.1.0", [store.stem for store in STORES])

    def test_it_is_read(self):
        for store, copy in self.copies():
            self.holds_all(read_export(takt("history", "export", "--db", copy)),
                           read(store))

    def test_it_is_kept_when_this_version_writes(self):
        for store, copy in self.copies():
            # Another layout than any that the store has of this op.
            takt("tune", "--ops", "neg", "--sizes", "64", "--dtype", "f64",
                 "--budget", "1", "--anyway", "--db", copy)
            now = read_export(takt("history", "export", "--db", copy))
            self.assertTrue(any(key[4] == "neg" for key in now))
            self.holds_all(now, read(store))

    def test_it_is_merged_into_a_new_one(self):
        for store, copy in self.copies():
            new = str(self.folder / "new.db")
            takt("history", "merge", copy, "--db", new)
            self.holds_all(read_export(takt("history", "export", "--db", new)),
                           read(store))

    def test_it_decides(self):
        for store, copy in self.copies():
            for op, shape in (("matmul", "256x256x256"), ("add", "65536"),
                              ("sum", "4194304")):
                said = json.loads(takt("explain", op, shape, "--machine",
                                       MACHINE, "--db", copy, "--json"))
                choice = said["policies"][0]
                self.assertEqual(choice["reason"], "model", choice)
                self.assertGreater(choice["samples"], 0, choice)

    def test_programs_are_kept(self):
        for _, copy in self.copies():
            # Of all machines: list has those of this one alone.
            now = read_export(takt("history", "export", "--db", copy))
            self.assertIn("lapack.prog.py-b866670d", {key[4] for key in now})


class Later(unittest.TestCase):
    def test_one_line_refuses_it_and_it_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "later.db"
            shutil.copy(STORES[0], path)
            store = sqlite3.connect(path)
            store.execute("PRAGMA user_version = 999")
            store.execute("PRAGMA journal_mode = DELETE")
            store.close()
            before = path.read_bytes()
            for words in (("history", "list", "--db", str(path)),
                          ("history", "merge", str(STORES[0]), "--db", str(path)),
                          ("history", "merge", str(path), "--db",
                           folder + "/new.db")):
                said = takt(*words, fails=True)
                self.assertEqual(said.count("\n"), 1, said)
                self.assertIn("999", said)
                self.assertEqual(path.read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
