#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of which one call after another fails: allocations, reads, writes,
opens, maps, libraries, threads; each once, and each from then on.

usage: sweep.py BUILD [--all] [--only WORD] [--jobs N]

A program may succeed or fail, but it ends by itself, with a status of its own,
says why it failed, and leaves in the store all that was there. Without --all a
sample is tried that is the same every time.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

KINDS = ["malloc", "read", "write", "open", "mmap", "dlopen", "thread"]
PLACES = 3  # of each scenario, kind and persistence, where not all are tried
COLUMNS = ("machine", "device", "software", "writer", "op", "layout", "expert")

arguments = argparse.ArgumentParser()
arguments.add_argument("build", type=pathlib.Path)
arguments.add_argument("--all", action="store_true")
arguments.add_argument("--only", default="")
arguments.add_argument("--jobs", type=int, default=os.cpu_count())
options = arguments.parse_args()

BUILD = options.build.resolve()
TAKT = BUILD / "cli" / "takt"
FAIL = next(BUILD.glob("tests/*inject_fail.so"))
PROGRAM = BUILD / "tests" / "inject_program"
SOLVER = BUILD / "tests" / "inject_solver"  # where there is a LAPACK

SOURCE = """
void add(float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        a[i] = a[i] + b[i];
}
"""

# Name, command, whether what is in the store may grow.
SCENARIOS = [
    ("program", [PROGRAM], True),
    ("select", [TAKT, "select", "add", "1M"], False),
    ("explain", [TAKT, "explain", "matmul", "64x64x64"], False),
    ("map", [TAKT, "map", "add"], False),
    ("machine", [TAKT, "machine"], False),
    ("list", [TAKT, "history", "list"], False),
    ("show", [TAKT, "history", "show", "add"], False),
    ("days", [TAKT, "history", "days"], False),
    ("gain", [TAKT, "history", "gain", "--json"], False),
    ("list-other", [TAKT, "history", "list", "--db", "other.db"], False),
    ("export", [TAKT, "history", "export", "out.tsv"], False),
    ("import", [TAKT, "history", "import", "in.tsv"], True),
    ("merge", [TAKT, "history", "merge", "other.db"], True),
    ("tune", [TAKT, "tune", "--ops", "add", "--dtype", "f32", "--sizes",
              "1024", "--budget", "1", "--anyway"], True),
    ("optimize", [TAKT, "optimize", "--dry-run", "tree"], False),
    ("profile", [TAKT, "optimize", "--dry-run", "--profile-data",
                 "profile.txt", "tree"], False),
    ("patch", [TAKT, "optimize", "--patch", "tree"], False),
    ("report", [TAKT, "report", "-o", "page.html"], False),
    ("page", [TAKT, "report", "run.json", "--json"], False),
    ("trace", [TAKT, "trace", "trace.bin", "--format", "chrome"], False),
    ("fleet", [TAKT, "fleet", "status", "--dry-run"], False),
    ("fleet-pull", [TAKT, "fleet", "pull", "priors", "--key", "fleet.pub"],
     False),
    ("doctor", [TAKT, "doctor"], False),
    ("run", [TAKT, "run", "--", PROGRAM], True),
    ("run-page", [TAKT, "run", "--report=html", "--output", "page.html", "--",
                  "/bin/true"], True),
    ("run-compare", [TAKT, "run", "--compare=1", "--", "/bin/true"], True),
    ("top", [TAKT, "top", "--json", "--for", "0.1"], False),
    ("fixed", [PROGRAM], True),
    ("advice", [TAKT, "optimize", "--dry-run", "tree"], False),
]
if SOLVER.exists():
    SCENARIOS.append(("run-solver", [TAKT, "run", "--", SOLVER], True))
KINDS_OF = {"fixed": ["malloc"], "run-page": ["malloc"], "advice": ["malloc"],
            "run-compare": ["read"], "top": ["malloc"]}  # where not all of them are tried
# Where a context is made, and where the report is.
PLACES_OF = {"fixed": [9, 28], "run-page": range(7, 21),
             "advice": range(-30, -10), "run-compare": [9], "top": [1],
             "fleet": range(-4, 0)}  # where its state is read
# What these print is what they print undisturbed, or they say what is missing.
SAME = {"page": None, "trace": None, "patch": None, "advice": None,
        "gain": None, "days": None, "machine": None, "list": None,
        "show": None, "fleet": None}
PAGES = ["report", "run-page"]
LONG = ["report", "doctor"]  # seconds each: with --all alone
SETTINGS = {"fixed": {"TAKT_EXPERT": "scalar"},
            "run-solver": {"TAKT_RUN_EAGER": "1"}}


def environment(folder, **more):
    return dict(os.environ, TAKT_DB=str(folder / "store.db"), TAKT_BLAS="",
                TAKT_GPU="", TAKT_THREADS="2", HOME=str(folder),
                XDG_STATE_HOME=str(folder), TMPDIR=str(folder), **more)


def run(folder, command, **more):
    return subprocess.run([str(word) for word in command], cwd=folder,
                          env=environment(folder, **more), text=True,
                          capture_output=True, timeout=600,
                          errors="replace", stdin=subprocess.DEVNULL)


def records(path):
    """What is in a store: by key, how late it is."""
    if not path.exists():
        return {}
    db = sqlite3.connect(path)
    name = dict(db.execute("SELECT id, text FROM name"))
    rows = db.execute(f"SELECT {', '.join(COLUMNS)}, dtype, situation, bin, "
                      "epoch, seq, n FROM record").fetchall()
    db.close()
    return {tuple(name[x] for x in row[:7]) + row[7:10]: row[10:]
            for row in rows}


ORIGIN = "0123456789abcdef" * 2


def make_fleet(folder):
    """A machine that has sent nothing yet, and a file that is signed."""
    (folder / "store.db-fleet").write_text(
        f"takt-fleet 1\norigin {ORIGIN}\ndatabase x\ninode 0\nepoch 1\nseq 0"
        "\ngeneration 0\nreceived 0\nmachines 0\nlines 0\nend\n")
    for words in (["genpkey", "-algorithm", "ed25519", "-out", "fleet.key"],
                  ["pkey", "-in", "fleet.key", "-pubout", "-out", "fleet.pub"],
                  ["pkeyutl", "-sign", "-rawin", "-inkey", "fleet.key", "-in",
                   "priors", "-out", "signature"]):
        (folder / "priors").write_bytes(b"takt-prior 1\n" + bytes(8))
        subprocess.run(["openssl", *words], cwd=folder, check=True,
                       capture_output=True)
    with open(folder / "priors", "ab") as priors:
        priors.write((folder / "signature").read_bytes())


def adopt(folder):
    """A state is that of its store, which was copied."""
    path = folder / "store.db-fleet"
    inode = (folder / "store.db").stat().st_ino
    path.write_text(path.read_text().replace("inode 0\n", f"inode {inode}\n"))


def make_template(folder):
    """A store that has learned something, and another one, also as text."""
    (folder / "tree").mkdir()
    (folder / "tree" / "add.c").write_text(SOURCE)
    for name in "other.db", "store.db":
        ran = run(folder, [PROGRAM])
        assert ran.returncode == 0, ran.stderr
        if name == "other.db":
            for end in "", "-wal":  # where programs leave what they learned
                os.rename(folder / f"store.db{end}", folder / f"other.db{end}")
            (folder / "store.db-shm").unlink(missing_ok=True)
            (folder / "store.db-writers").unlink()
    (folder / "profile.txt").write_text("main;add 10\n")
    for command, settings in (
            ([TAKT, "history", "export", "in.tsv", "--db", "other.db"], {}),
            ([TAKT, "run", "--report=json", "--output", "run.json", "--",
              "/bin/true"], {}),
            ([PROGRAM], {"TAKT_TRACE": str(folder / "trace.bin"),
                         "TAKT_TRACE_DEBUG": "1"})):
        ran = run(folder, command, **settings)
        assert ran.returncode == 0, ran.stderr
    make_fleet(folder)


def lacks(name, folder, ran):
    """Whether a program that has succeeded left out some of its work."""
    page = folder / "page.html"
    if name in PAGES:
        return "could not be written" not in ran.stderr and (
                not page.exists() or
                not page.read_text().endswith("</html>\n") or
                '<script type="application/json" id="data">{"schema"'
                not in page.read_text())
    said = re.sub(r"\d+\.\d+ s", "", ran.stdout).replace(str(folder), "")
    if name in SAME and SAME[name] is None:
        SAME[name] = said
    return name in SAME and said != SAME[name] and not ran.stderr.strip()


def judge(case, folder, ran, before):
    """What is wrong; nothing is None."""
    name, command, grows = case
    allowed = {0, 1, 2} | ({126, 127} if name.startswith("run") else set())
    if ran.returncode not in allowed:
        return f"ended with {ran.returncode}"
    said = ran.stderr + (ran.stdout if name == "doctor" else "")
    if ran.returncode != 0 and not said.strip():
        return f"ended with {ran.returncode} and said nothing"
    if ran.returncode == 0 and lacks(name, folder, ran):
        return "succeeded without all of its output"
    if name == "list" and ran.returncode == 0 and "nothing yet" in ran.stdout:
        return "took a store that it could not read for an empty one"
    if "no such expert" in ran.stderr:
        return "took lack of memory for a machine without that expert"
    if list(folder.glob("*.damaged-*")):
        return "set the store aside"
    if f"origin {ORIGIN}\n" not in (folder / "store.db-fleet").read_text():
        return "became another origin"
    after = records(folder / "store.db")
    for key, value in before.items():
        if key not in after:
            return f"lost {key}"
        if after[key][:2] < value[:2] or (not grows and after[key] != value):
            return f"changed {key}: {value}, now {after[key]}"
    return None


def attempt(template, before, case, kind, at, keeps):
    with tempfile.TemporaryDirectory(dir=template.parent) as place:
        folder = pathlib.Path(place) / "case"
        shutil.copytree(template, folder)
        adopt(folder)
        try:
            ran = run(folder, case[1], **SETTINGS.get(case[0], {}),
                      LD_PRELOAD=str(FAIL),
                      TAKT_FAIL_KIND=kind, TAKT_FAIL_AT=str(at),
                      TAKT_FAIL_KEEPS="1" if keeps else "",
                      TAKT_FAIL_COUNT=str(folder / "count"))
        except subprocess.TimeoutExpired:
            return "did not end", 0
        wrong = judge(case, folder, ran, before)
        if wrong:
            wrong += "\n    " + ran.stderr.strip()[-600:].replace("\n",
                                                                  "\n    ")
        counts = folder / "count"
        calls = (max(map(int, counts.read_text().split()))
                 if counts.exists() else 0)
        return wrong, calls


def places(name, calls):
    if options.all:
        return range(1, calls + 1)
    if name in PLACES_OF:
        return [at if at > 0 else calls + 1 + at for at in PLACES_OF[name]]
    step = max(1, calls // PLACES)
    return sorted({1 + i * step for i in range(PLACES)
                   if 1 + i * step <= calls})


def main():
    faults = tried = 0
    base = pathlib.Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as place, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        template = pathlib.Path(place) / "template"
        template.mkdir()
        make_template(template)
        before = records(template / "store.db")
        assert before, "the program has learned nothing"
        for case in SCENARIOS:
            for kind in KINDS_OF.get(case[0], KINDS):
                if options.only not in f"{case[0]}/{kind}" or \
                        (case[0] in LONG and not options.all):
                    continue
                wrong, calls = attempt(template, before, case, kind, 0, False)
                if wrong:
                    print(f"not ok - {case[0]}: {wrong}")
                    return 1
                todo = [(at, keeps) for keeps in (False, True)
                        for at in places(case[0], calls)]
                done = pool.map(lambda one: attempt(template, before, case,
                                                    kind, *one), todo)
                said = time.monotonic()
                for i, ((at, keeps), (wrong, _)) in enumerate(zip(todo, done)):
                    tried += 1
                    if options.all and time.monotonic() - said > 60:
                        said = time.monotonic()
                        print(f"# {case[0]}: {kind}, {i} of {len(todo)} tried",
                              flush=True)
                    if wrong:
                        faults += 1
                        print(f"not ok - {case[0]}: {kind} {at}"
                              f"{' and all after' if keeps else ''}: {wrong}",
                              flush=True)
                if options.all:
                    print(f"# {case[0]}: {kind}, {calls} places", flush=True)
    print(f"{tried} tried, {faults} wrong")
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
