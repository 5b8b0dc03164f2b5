#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt report`: pages, in a real browser where there is one.

usage: test_report.py PATH_TO_TAKT MACHINES
"""
import json
import math
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402
import trace_records as records  # noqa: E402

TAKT, MACHINES = sys.argv[1], sys.argv[2]
HAS_BROWSER = (shutil.which("chromium") is not None and
               "TAKT_TEST_NO_BROWSER" not in os.environ)

HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x "
           "onerror='window.hacked = 2'>", "\x1b[31mred\u202e", "a" * 10000,
           "\"'&<!--"]


def run_report(command):
    sums = {"calls": {"pass_through": 3, "baseline": 0, "scalar": 0,
                      "simd": 7, "gpu": 0}, "took_s": 0.25, "error_s": 0.001,
            "gain_s": 0.05, "why": {"small": 3}}
    line = {name: [0] * 20 for name in ("baseline_s", "routed_cpu_s",
                                        "routed_gpu_s", "numpy_loops_s")}
    line.update(slot_s=0.1, baseline_s=[0.05, 0.1] * 10,
                numpy_loops_s=[0.025] * 20)
    return {"schema": 3, "command": command, "wall_s": 2.0, "exit_status": 0,
            "ended_unix_s": 1700000000, "timeline": line,
            "total": {"why": {"small": 3, "settled": 2, "slower": 0}},
            "signal": None, "left_alone": None, "gpu": None, "trouble": None,
            "libraries": ["/home/me/libblas.so"],
            "parts": {"baseline_s": 0.5, "routed_cpu_s": 0.25,
                      "routed_gpu_s": 0.1, "lapack_s": 0.1,
                      "numpy_loops_s": 0.25, "transfers_s": 0.05,
                      "waiting_s": 0.05, "opening_s": 0.01,
                      "other_s": 0.69},
            "gain_s": 0.05, "gain_low_s": 0.04, "gain_high_s": 0.06,
            "rows": [dict(sums, routine="sgemm", least=256, most=511)],
            "loops": [{"loop": "exp d->d", "least": 524288, "most": 1048575,
                       "whole": 4, "split": 6, "whole_s": 0.1, "split_s": 0.1,
                       "gain_s": 0.01, "error_s": 0.02}]}


def compare_report(command):
    runs = [{"takt_first": i % 2 == 0, "plain": {"wall_s": 1 + i / 50},
             "takt": {"wall_s": 0.9 + i / 60}} for i in range(7)]
    return {"schema": 1, "command": command, "store": "/home/me/x.db",
            "pairs": 7, "verdict": "faster", "text": "1.1 times as fast",
            "wall": {"ratio": 0.91, "low": 0.89, "high": 0.93},
            "cpu": {"ratio": 1.0}, "claimed": {"share": 0.08},
            "output": {"runs": "same"}, "failure": None, "runs": runs}


def optimize_report(name):
    finding = {"file": name, "line": 3, "op": "matmul", "certainty": "exact",
               "standing": "open", "test": False, "snippet": "for (;;) " + name,
               "rewrite": "if (takt_matmul(" + name, "evidence":
               {"share": 0.25, "by": "line", "shared_by": 1},
               "recommendation": {"backend": "simd", "text": "SIMD",
                                  "predicted_speedup": 3.5}}
    return {"schema": 2, "summary": {"profiles": {"files": 1,
            "formats": "gprof"}}, "project": name, "findings": [
                finding, dict(finding, line=9, standing="library")]}


def trace(name):
    """Three calls, two of ops that the program named; trials, a change."""
    return (records.header(program=name) + records.event(at=5) +
            records.event(at=9, op=name[:200], expert=name[:60]) +
            records.event(at=12, op=b"no\xffUTF-8") +
            records.event(at=20, drift=True, took=3e-3) +
            records.duration("matmul", "simd.avx2", 1, 750, 0.5) +
            records.totals(explorations=3, drifts=1, told=2,
                           exploring_s=0.2513) + records.end() +
            records.header(stream=2) + records.totals(stream=2) +
            records.end(stream=2))


def pixels(png):
    """Width, height and rows of RGB(A) bytes of a PNG picture."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    size = {2: 3, 6: 4}[colour]
    raw, rows, before = zlib.decompress(data), [], bytes(width * size)
    for y in range(height):
        start = y * (width * size + 1)
        kind, row = raw[start], bytearray(raw[start + 1:start + 1
                                              + width * size])
        for i in range(len(row)) if kind else ():
            left = row[i - size] if i >= size else 0
            up = before[i]
            corner = before[i - size] if i >= size else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = up
            elif kind == 3:
                guess = (left + up) // 2
            else:
                p = left + up - corner
                guess = min((abs(p - left), 0, left), (abs(p - up), 1, up),
                            (abs(p - corner), 2, corner))[2]
            row[i] = (row[i] + guess) & 255
        rows.append(bytes(row))
        before = row
    return width, height, size, rows


def colours(png):
    _, _, size, rows = pixels(png)
    return {row[i:i + 3] for row in rows for i in range(0, len(row), size)}


# Of every text that is shown: the least contrast with what is behind it.
CONTRAST = """(() => {
const parts = s => s.match(/[\\d.]+/g).map(Number);
const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <=
    0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
let least = [99, ''];
for (const e of document.querySelectorAll('body *')) {
    if (e.closest('svg') || !e.checkVisibility() ||
        ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
        continue;
    let back = e, colour;
    do { colour = parts(getComputedStyle(back).backgroundColor);
         back = back.parentElement; } while (back && colour[3] === 0);
    const a = lum(parts(getComputedStyle(e).color)), b = lum(colour);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 80)];
}
return least; })()"""


# The same of what is written into the bars of maps, which are translucent.
MAP_CONTRAST = """(() => {
const parts = s => s.match(/[\\d.]+/g).map(Number);
const lum = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <=
    0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const paper = parts(getComputedStyle(document.body).backgroundColor);
let least = [99, ''];
for (const e of document.querySelectorAll('svg.map g')) {
    const [bar, text] = [e.querySelector('rect'), e.querySelector('text')];
    if (!text) continue;
    const share = Number(bar.getAttribute('fill-opacity'));
    const fill = parts(getComputedStyle(bar).fill)
        .map((v, i) => share * v + (1 - share) * paper[i]);
    const a = lum(parts(getComputedStyle(text).fill)), b = lum(fill);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least[0]) least = [ratio, e.outerHTML.slice(0, 200)];
}
return least; })()"""

# What a screen reader or a keyboard would miss: pictures without a name or a
# table after them, controls without a label, tables without a head.
NAMELESS = """(() => {
const out = [];
const all = s => [...document.querySelectorAll(s)];
for (const p of all('main svg')) {
    if (!p.getAttribute('aria-label') && !p.querySelector('title'))
        out.push('no name: ' + p.outerHTML.slice(0, 80));
    if (!p.closest('section').querySelector('table'))
        out.push('no table: ' + p.outerHTML.slice(0, 80));
}
for (const c of all('input, select'))
    if (c.labels.length === 0) out.push('no label: ' + c.outerHTML);
for (const t of all('table'))
    if (!t.closest('.tip') && !t.querySelector('thead th'))
        out.push('no head: ' + t.outerHTML.slice(0, 80));
for (const s of all('main section'))
    if (!document.getElementById(s.getAttribute('aria-labelledby')))
        out.push('no title: ' + s.id);
for (const s of ['main', 'header', 'footer', 'nav[aria-label]', 'h1'])
    if (all(s).length !== 1) out.push('landmark: ' + s);
return out; })()"""


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.env = {name: value for name, value in os.environ.items()
                   if not name.startswith(("TAKT_", "OTEL_"))}
        cls.env.update(TAKT_DB="", TAKT_GPU="", TAKT_BLAS="")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def takt(self, *words, status=0, **env):
        env = {name: value for name, value in dict(self.env, **env).items()
               if value is not None}
        ran = subprocess.run([TAKT, *words], capture_output=True, text=True,
                             timeout=600, env=env, cwd=self.folder)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran.stdout if status == 0 else ran.stderr

    def files(self, names):
        """A run, a comparison and findings in which those names occur."""
        made = {"run.json": run_report(["python3"] + names),
                "again.json": run_report(["python3"]),
                "compare.json": compare_report(names),
                "optimize.json": optimize_report(names[0])}
        for name, content in made.items():
            with open(self.path(name), "w", encoding="utf-8") as file:
                json.dump(content, file)
        with open(self.path("run.trace"), "wb") as file:
            file.write(trace(names[0]))
        return [*made, "run.trace"]

    def test_a_terminal_is_told_what_takes_long(self):
        """And nothing else is."""
        words = [TAKT, "report", "--output", self.path("terminal.html")]
        ours, theirs = pty.openpty()
        with open(ours, "rb", buffering=0) as terminal:
            subprocess.run(words, stderr=theirs, env=self.env, check=True,
                           timeout=600)
            os.close(theirs)
            shown = terminal.read(4096)
        self.assertIn(b"every op at every size", shown)
        ran = subprocess.run(words, stderr=subprocess.PIPE, env=self.env,
                             check=True, timeout=600)
        self.assertNotIn(b"every op at every size", ran.stderr)

    def test_data_is_json_and_pages_are_whole(self):
        data = json.loads(self.takt("report", "--json"))
        self.assertEqual(data["machine"],
                         json.loads(self.takt("machine", "--json")))
        self.assertIn("matmul", {curve["op"] for curve in data["curves"]})
        for curve in data["curves"]:
            for expert in curve["experts"]:
                self.assertEqual(len(expert["us"]), len(curve["n"]))
        self.takt("report", "-o", "page.html")
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertLess(len(page), 2 << 20)
        self.assertTrue(page.endswith("</html>\n"))
        self.assertNotRegex(page, r'(src|href)="?(http|//)')

    def test_the_data_of_a_page_is_what_json_prints(self):
        files = self.files(HOSTILE + ['a  " b\\', "\\\\ \" ,  : "])
        with open(self.path(files[0]), "r+", encoding="utf-8") as file:
            report = json.load(file)
            file.seek(0)
            json.dump(report, file, indent="\t")
            file.truncate()
        data = json.loads(self.takt("report", "--json", *files))
        self.takt("report", *files, "-o", "page.html")
        with open(self.path("page.html"), encoding="utf-8") as file:
            found = re.findall(r'id="data">(.*?)</script>', file.read(), re.S)
        self.assertEqual(len(found), 1)
        self.assertEqual(json.loads(found[0]), data)
        self.assertNotIn('": ', found[0].replace(" ,  : ", ""))

    def test_curves_are_what_explain_says(self):
        data = json.loads(self.takt("report", "--json"))
        curve = next(c for c in data["curves"] if c["op"] == "sum"
                     and c["dtype"] == "f64")
        at = len(curve["n"]) // 2
        said = json.loads(self.takt("explain", "sum", str(curve["n"][at]),
                                    "--dtype", "f64", "--json"))
        by_name = {e["expert"]: e for e in said["experts"]}
        for expert in curve["experts"]:
            shown = expert["us"][at]
            self.assertAlmostEqual(
                shown / by_name[expert["name"]]["predicted_us"], 1, places=3)
            self.assertAlmostEqual(
                expert["p99_us"][at] / by_name[expert["name"]]["p99_us"], 1,
                places=3)

    def test_fronts_are_what_explain_says(self):
        data = json.loads(self.takt("report", "--json"))
        curve = next(c for c in data["curves"] if c["op"] == "sum"
                     and c["dtype"] == "f64")
        at = len(curve["n"]) // 2
        said = json.loads(self.takt("explain", "sum", str(curve["n"][at]),
                                    "--dtype", "f64", "--objective", "all",
                                    "--json"))
        self.assertEqual(curve["time"][at], said["choices"]["time"])
        self.assertEqual(curve["p99"][at], said["choices"]["p99"])
        self.assertEqual(curve["energy"][at], said["choices"]["energy"])
        by_name = {e["expert"]: e for e in said["front"]}
        for expert in curve["experts"]:
            self.assertEqual(bool(expert["dominated"][at]),
                             bool(by_name[expert["name"]]["dominated"]))

    def test_maps_are_what_map_says(self):
        self.takt("report", "-o", "page.html")
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        for dtype in ("f32", "f64"):
            said = json.loads(self.takt("map", "--json", "--dtype", dtype))
            view = re.search(
                r'data-dtype="%s" data-situation="fresh" data-resident="host"'
                r'.*?<tbody>(.*?)</tbody>' % dtype, page, re.S).group(1)
            rows = [re.split("<[^>]*>", line)[2:]
                    for line in view.strip().splitlines()]
            ranges = [(op["op"], part["expert"],
                       part["predicted_speedup_over_next"],
                       "%d of %d" % (part["measured"], part["sizes"]))
                      for op in said for part in op["ranges"]]
            self.assertEqual(len(rows), len(ranges))
            for row, (op, expert, speedup, measured) in zip(rows, ranges):
                self.assertEqual((row[0], row[2], row[5]),
                                 (op, expert, measured))
                if speedup is not None:
                    self.assertEqual(row[3], "%.2f" % speedup)

    def test_files_that_are_no_reports_are_refused(self):
        for name, text, why in (("empty", "", "missing"),
                                ("other", "{}", "is no report"),
                                ("half", '{"wall_s": 1,', "")):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
            said = self.takt("report", name, "-o", "never.html", status=2)
            self.assertEqual(len(said.splitlines()), 1)
            self.assertIn(why, said)
        self.assertIn("No such file", self.takt("report", "nope", status=2))
        self.assertFalse(os.path.exists(self.path("never.html")))
        self.takt("report", "-o", self.path("missing/page.html"), status=2)

    def test_a_pipe_is_read_once(self):
        files = self.files(["a.py"])
        for name in files:
            if not name.endswith(".json"):
                continue
            with open(self.path(name), "rb") as file:
                ran = subprocess.run(
                    [TAKT, "report", "/dev/stdin", "--json"], env=self.env,
                    input=file.read() + b" " * 100000, capture_output=True,
                    timeout=600, cwd=self.folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            kind = name.split(".")[0].replace("again", "run")
            self.assertEqual(json.loads(ran.stdout)["inputs"][0]["kind"], kind)

    def test_anonymous_leaves_names_out(self):
        files = self.files(["/home/me/secret.py"])
        with open(self.path("twice.json"), "w", encoding="utf-8") as file:
            file.write('{"wall_s": 1, "left_alone": null, "command": [], '
                       '"command": ["secret"], "inputs": []}')
        self.takt("report", *files, "twice.json", "--anonymous", "-o",
                  "page.html")
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        for word in ("secret", "/home/me", "run.json", "run.trace"):
            self.assertNotIn(word, page)
        # With the libraries that there are, whose paths it does not tell.
        self.takt("report", "--anonymous", "-o", "page.html",
                  TAKT_BLAS=self.path("none.so"))
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        for word in ("/usr/", "/home", "/lib/", self.folder):
            self.assertNotIn(word, page)

    def import_rows(self, store, rows):
        columns = ("machine device software writer op layout expert dtype "
                   "situation bin epoch seq n mean m2 first_s bytes flops "
                   "calls seconds last_unix_s")
        with open(self.path("rows.tsv"), "w", encoding="utf-8") as file:
            for row in [["takt history 1"], columns.split(), *rows,
                        ["end", str(len(rows))]]:
                file.write("\t".join(map(str, row)) + "\n")
        self.takt("history", "import", "rows.tsv", "--db", store)

    def import_days(self, store):
        """Two days of two writers, and rows that do not count."""
        prints = json.loads(self.takt("machine", "--json"))

        def row(day, expert, n, mean, m2, calls, took_s, writer=1, bin=None,
                machine=prints["hw_fingerprint"]):
            return [machine, "", prints["sw_fingerprint"], "%032x" % writer,
                    "takt:day", "", expert, 0, 0,
                    day % 400 if bin is None else bin, 1, 1, n, mean, m2, 0, 0,
                    0, calls, took_s, day * 86400 + 5]
        ratio = math.log(0.8e9)
        self.import_rows(store, [
            row(20000, "calls", 30, 0, 0, 100, 2),
            row(20000, "calls", 10, 0, 0, 50, 1, writer=2),
            row(20000, "budget", 0, 0, 0, 0, 0.06),
            row(20000, "trials", 0, 0, 0, 4, 0.03),
            row(20000, "gain", 2, ratio - 0.1, 0.02, 0, 0),
            row(20000, "gain", 2, ratio + 0.1, 0.02, 0, 0, writer=2),
            row(20003, "changes", 0, 0, 0, 1, 0),
            row(20003, "gain", 1, math.log(1.25e9), 0, 0, 0),
            row(19590, "calls", 7, 0, 0, 7, 7),  # too old
            row(19600, "calls", 7, 0, 0, 7, 7, writer=2),  # replaced
            row(20001, "calls", 7, 0, 0, 7, 7, bin=5),
            row(20002, "other", 7, 0, 0, 7, 7),
            row(20003, "calls", 7, 0, 0, 7, 7, machine="else"),
            row(70010, "calls", 7, 0, 0, 7, 7),  # not yet
            row(2 ** 40, "calls", 7, 0, 0, 7, 7)])

    def test_days_are_added_up(self):
        self.import_days("days.db")
        days = json.loads(self.takt("history", "days", "--json", "--db",
                                    "days.db"))
        # A day of which nothing is known is shown, as it was there.
        self.assertEqual([d["day"] for d in days],
                         ["2024-10-04", "2024-10-06", "2024-10-07"])
        first, last = days[0], days[2]
        for name, value in (("samples", 40), ("calls", 150), ("called_s", 3),
                            ("trials", 4), ("trials_s", 0.03), ("changes", 0),
                            ("budget_s", 0.06), ("comparisons", 4),
                            ("gain_share", 0.2)):
            self.assertAlmostEqual(first[name], value, 9, name)
        # The squares of both, and of the distance of their means: 0.08 / 3.
        wide = 2 * math.sqrt(0.08 / 3)
        self.assertAlmostEqual(first["gain_low_share"],
                               1 - 0.8 * math.exp(wide), 9)
        self.assertAlmostEqual(first["gain_high_share"],
                               1 - 0.8 * math.exp(-wide), 9)
        self.assertEqual((last["changes"], last["samples"]), (1, 0))
        self.assertAlmostEqual(last["gain_share"], -0.25)
        self.assertIsNone(last["gain_low_share"])
        text = self.takt("history", "days", "--db", "days.db")
        self.assertRegex(text, r"2024-10-04 +40 +150 +3 s +4 +30 ms +60 ms +0 "
                               r"\+20.0%")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        page = json.loads(self.takt("report", "--json", "--db", "days.db"))
        self.assertEqual(page["days"], days)
        self.assertEqual(page["history"], [])
        self.assertIn("nothing yet", self.takt("history", "days",
                                               TAKT_DB="none.db"))

    def test_programs_are_there_without_naming_the_store(self):
        prints = json.loads(self.takt("machine", "--json"))
        self.import_rows("own.db", [
            [prints["hw_fingerprint"], "", prints["sw_fingerprint"], "0" * 32,
             "run.app-1", "", side, 0, 0, 0, 1, 1, 3, math.log(s * 1e9), 0, 0,
             1, 1, 3, 3 * s, 1] for side, s in (("baseline", 1),
                                                ("routed", 0.5))])
        for words in ((), ("--db", self.path("own.db"))):
            data = json.loads(self.takt("report", "--json", *words,
                                        TAKT_DB=self.path("own.db")))
            self.assertEqual([p["program"] for p in data["gain"]["programs"]],
                             ["app-1"])

    def test_a_recorded_machine_has_its_records(self):
        machine = os.path.join(MACHINES, "xeon-h200-16")
        prints = json.loads(self.takt("machine", "--from", machine, "--json"))
        self.import_rows("a.db", [[
            prints["hw_fingerprint"], "", prints["sw_fingerprint"], "0" * 32,
            "sum", "", "simd.avx512x16", "0", "0", "40", "1", "1", "9", "11.5",
            "0.5", "0", "1048576", "262144", "0", "0", "1"]])
        with open(self.path("a.db"), "rb") as file:
            before = file.read()
        data = json.loads(self.takt("report", "--machine", machine, "--db",
                                    "a.db", "--json", TAKT_GPU=None))
        self.assertEqual(data["learning"]["own_records"], 1)
        self.assertEqual({c["resident"] for c in data["curves"]},
                         {"host", "gpu"})
        sums = next(c for c in data["curves"] if c["op"] == "sum" and
                    c["dtype"] == "f32" and c["resident"] == "host")
        team = next(e for e in sums["experts"]
                    if e["name"] == "simd.avx512x16")
        self.assertGreater(team["samples"][sums["n"].index(262144)], 0)
        with open(self.path("a.db"), "rb") as file:
            self.assertEqual(file.read(), before)

    def test_traces_are_what_trace_says(self):
        self.files(["add"])
        told = [json.loads(line) for line in self.takt(
            "trace", "--format", "json", "run.trace").splitlines()]
        shown = json.loads(self.takt("report", "--json", "run.trace"))
        shown = shown["inputs"][0]
        self.assertEqual(shown["kind"], "trace")
        self.assertEqual(shown["data"]["summary"], told[-1])
        self.assertEqual([e for e in shown["data"]["events"]
                          if e["event"] != "totals"], told[:-1])
        with open(self.path("cut.trace"), "wb") as file:
            file.write(trace("add")[:30])
        self.assertIn("cut off", self.takt("report", "cut.trace", status=2))

    def test_other_commands_write_the_same_page(self):
        self.takt("report", "-o", "page.html")
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        for words in (("map", "--html"), ("history", "list", "--html")):
            self.assertEqual(self.takt(*words, TAKT_DB="none.db")[:2000],
                             page[:2000])
        self.takt("history", "export", "--html", status=2, TAKT_DB="none.db")

    def can_scan(self):
        ran = subprocess.run([TAKT, "optimize", "--dry-run", self.folder],
                             capture_output=True, text=True, timeout=600)
        return "cannot be searched" not in ran.stderr

    def test_what_was_found_in_sources_is_a_page(self):
        if not self.can_scan():
            self.skipTest("this build has no parsers")
        with open(self.path("a.c"), "w", encoding="utf-8") as file:
            file.write("void f(int n, float *a, float *b, float *c) { for (int "
                       "i = 0; i < n; i++) c[i] = a[i] + b[i]; }\n")
        self.takt("optimize", "--dry-run", "--report", "--output", "o.html", ".")
        with open(self.path("o.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn('"kind":"optimize"', page)
        self.assertIn("a.c", page)
        self.assertIn("--report", self.takt(
            "optimize", "--dry-run", "--report", "--json", ".", status=2))

    def test_a_page_replaces_nothing_that_it_shows(self):
        names = self.files(["app.py"])
        os.symlink("run.json", self.path("link"))
        for words in (["report", names[0], "-o", names[0]],
                      ["report", names[1], names[0], "--output", "link"],
                      ["optimize", "--dry-run", "--report", "--profile-data",
                       names[0], "--output", names[0], "."]):
            with open(self.path(names[0]), "rb") as file:
                before = file.read()
            self.assertIn("--output", self.takt(*words, status=2))
            with open(self.path(names[0]), "rb") as file:
                self.assertEqual(file.read(), before)

    def test_a_map_is_a_picture_of_the_ops_named(self):
        picture = self.takt("map", "matmul", "sum", "--svg")
        self.assertTrue(picture.startswith("<svg"))
        self.assertIn(">matmul", picture)
        self.assertNotIn(">exp", picture)

    def test_a_chart_of_all_ops_fits_a_terminal(self):
        lines = self.takt("map").splitlines()
        self.assertLessEqual(len(lines), 45)
        self.assertIn("B BLAS library", lines[2])  # the legend comes first
        self.assertLessEqual(max(map(len, lines[1:])), 80)
        self.assertNotIn("\033", "".join(lines))

    @unittest.skipUnless(HAS_BROWSER, "no chromium")
    def test_pages_in_a_browser(self):
        self.import_days("learned.db")
        self.takt("report", "--db", "learned.db", "-o", "machine.html")
        self.takt("report", "--machine", os.path.join(MACHINES, "xeon-h200-16"),
                  "-o", "gpu.html", TAKT_GPU=None)
        self.takt("report", *self.files(HOSTILE), "-o", "hostile.html")
        with Browser() as browser:
            for page in ("machine.html", "gpu.html", "hostile.html"):
                for width, dark in ((1100, False), (360, True)):
                    browser.open(self.path(page), width, dark=dark)
                    self.check_page(browser, width)
            self.check_hostile(browser)
            self.check_files(browser)
            self.check_machine(browser)
            self.check_broken(browser)

    def check_page(self, browser, width):
        self.assertEqual(browser.errors, [])
        self.assertEqual(len(browser.requests), 1)
        self.assertEqual(browser.ask(
            "document.documentElement.dataset.ready"), "yes")
        browser.ask("document.querySelectorAll('details').forEach("
                    "d => d.open = true)")
        browser.ask("new Promise(r => setTimeout(r))")  # toggle events
        self.assertLessEqual(browser.ask(
            "document.documentElement.scrollWidth"), width)
        for expression in (CONTRAST, MAP_CONTRAST):
            ratio, where = browser.ask(expression)
            self.assertGreaterEqual(ratio, 4.5, where)
        self.assertEqual(browser.ask(NAMELESS), [])

    def check_hostile(self, browser):
        browser.open(self.path("hostile.html"))
        browser.ask("document.querySelectorAll('details').forEach("
                    "d => d.open = true)")
        browser.ask("new Promise(r => setTimeout(r))")
        self.assertIsNone(browser.ask("window.hacked"))
        text = browser.ask("document.querySelector('main').textContent")
        for name in HOSTILE:
            shown = name.replace("\x1b", "\\u001b").replace("\u202e",
                                                            "\\u202e")
            self.assertTrue(shown in text, name[:40])
        self.assertEqual(browser.ask(
            "document.querySelectorAll('main img').length"), 0)

    def check_broken(self, browser):
        """Numbers without end, and files that are not what they seem."""
        endless, strange = compare_report(["x"]), run_report(["x"])
        for run in endless["runs"]:
            run["plain"]["wall_s"] = run["takt"]["wall_s"] = float("inf")
        strange["timeline"]["baseline_s"] = "x"
        names = []
        for name, report in (("endless.json", endless),
                             ("strange.json", strange),
                             ("whole.json", run_report(["whole"]))):
            names.append(self.path(name))
            with open(names[-1], "w", encoding="utf-8") as out:
                out.write(json.dumps(report).replace("Infinity", "1e999"))
        self.takt("report", *names, "-o", "broken.html")
        browser.open(self.path("broken.html"))
        self.assertEqual(browser.errors, [])
        self.assertEqual(browser.ask(
            "document.documentElement.dataset.ready"), "yes")
        self.assertIn("strange.json", browser.ask(
            "document.getElementById('broken-2').textContent"))
        self.assertIn("whole", browser.ask(
            "document.getElementById('run-3').textContent"))

    def check_files(self, browser):
        def marks(where, what):
            return browser.ask("document.querySelectorAll('#%s .chart .%s')"
                               ".length" % (where, what))
        text = browser.ask("document.querySelector('main').textContent")
        self.assertEqual(marks("compare-3", "dot"), 14)
        self.assertEqual(marks("compare-3", "median"), 2)
        self.assertEqual(marks("runs", "interval"), 2)
        self.assertEqual(marks("run-1", "slot"), 40)
        self.assertEqual(marks("trace-5", "call"), 3)
        self.assertTrue("no?UTF-8" in text)
        self.assertEqual(marks("trace-5", "drift"), 1)
        self.assertEqual(marks("trace-5", "line"), 2)
        for said in ("+50 ms", "too small for it to matter", "25% of the time",
                     "3.5 times as fast", "+ if (takt_matmul(", "gprof",
                     "run by a library already"):
            self.assertIn(said, text)
        # Trials of two contexts are added up.
        heights = browser.ask(
            "document.querySelector('#trace-5 .trials').getAttribute('d')")
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)",
                                                heights)]
        self.assertEqual(len(heights), 3)
        self.assertEqual(heights, sorted(set(heights), reverse=True))
        # Axes have round numbers.
        for label in browser.ask(
                "[...document.querySelectorAll('#trace-5 svg:has(.trials) "
                "text')].map(t => t.textContent)"):
            self.assertRegex(label, r"^(0|\d\d?0*|\d\.\d) [mun]?s$")
        # A gain that may be none has no colour.
        self.assertEqual(browser.ask(
            "['+50 ms', '+10 ms'].map(text => [...document.querySelectorAll("
            "'#run-1 td span')].find(e => e.textContent.startsWith(text))"
            ".className)"), ["gain", ""])
        # No two parts of a run have one colour.
        bars = browser.ask(
            "[...document.querySelectorAll('.parts')].map(bar => "
            "[...bar.children].map(i => i.style.background))")
        for colours in bars:
            self.assertEqual(len(set(colours)), len(colours), colours)
        self.assertEqual(max(map(len, bars)), 9)

    def check_machine(self, browser):
        browser.open(self.path("machine.html"))
        self.assertEqual(browser.ask(
            "['bar', 'median', 'interval', 'dot'].map(c => document"
            ".querySelectorAll('#learning .chart .' + c).length)"),
            [6, 1, 2, 3])
        box = browser.ask("(() => {const p = document.querySelector("
                          "'#crossover svg'); p.scrollIntoView();"
                          "const b = p.getBoundingClientRect();"
                          "return [b.x, b.y, b.width, b.height]})()")
        self.assertGreater(len(colours(browser.picture(whole=False))), 30)
        browser.point(box[0] + box[2] / 2, box[1] + box[3] / 2)
        tip = browser.ask("document.querySelector('.tip').textContent")
        self.assertRegex(tip, r"^n = .*simd.*(us|ns|ms)")
        browser.ask("document.querySelector('#crossover svg').focus()")
        for name in ("ArrowRight", "ArrowRight"):
            browser.call("Input.dispatchKeyEvent", type="keyDown", key=name)
        self.assertEqual(browser.ask(
            "document.querySelector('.tip strong').textContent"), "n = 12")
        lines = "document.querySelectorAll('#crossover .line').length"
        self.assertGreater(browser.ask(lines), 1)
        browser.click("#crossover .keys input")
        self.assertEqual(browser.ask(
            "document.querySelector('#crossover .line')"
            ".getAttribute('visibility')"), "hidden")
        before = browser.ask(
            "document.querySelector('#crossover .line').getAttribute('d')")
        browser.click("input[name=curve-shown][value='times the fastest']")
        self.assertNotEqual(before, browser.ask(
            "document.querySelector('#crossover .line').getAttribute('d')"))
        shown = ("[...document.querySelectorAll('.map-view')].filter("
                 "v => !v.hidden).map(v => v.dataset.dtype)")
        self.assertEqual(browser.ask(shown), ["f32"])
        browser.click("input[name=map-dtype][value=f64]")
        self.assertEqual(browser.ask(shown), ["f64"])
        self.assertEqual(browser.ask(
            "[...document.querySelectorAll('svg')].filter(s => !s.closest("
            "'figure') && !s.querySelector('title')).length"), 0)
        # The map, its title and its switches fit on one sheet: A4 less
        # margins of 14 mm is 182 mm by 269 mm.
        browser.call("Emulation.setDeviceMetricsOverride", width=688,
                     height=1016, deviceScaleFactor=1, mobile=False)
        browser.call("Emulation.setEmulatedMedia", media="print")
        self.assertLess(browser.ask(
            "document.querySelector('.map-view:not([hidden]) svg')"
            ".getBoundingClientRect().bottom - document.getElementById("
            "'maps').getBoundingClientRect().top"), 1016)
        browser.call("Emulation.setEmulatedMedia", media="")
        paper = browser.paper()
        self.assertTrue(paper.startswith(b"%PDF"))
        sizes = re.findall(rb"/MediaBox \[0 0 (\d+)[.\d]* (\d+)", paper)
        self.assertTrue(sizes)
        for size in sizes:
            self.assertIn(size, ((b"594", b"841"), (b"595", b"842"),
                                 (b"594", b"842"), (b"595", b"841")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
