#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt report`: pages, in a real browser where there is one.

usage: test_report.py PATH_TO_TAKT MACHINES
"""
import json
import os
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
    return {"schema": 3, "command": command, "wall_s": 2.0, "exit_status": 0,
            "signal": None, "left_alone": None, "gpu": None, "trouble": None,
            "libraries": ["/home/me/libblas.so"],
            "parts": {"baseline_s": 0.5, "routed_cpu_s": 0.25,
                      "routed_gpu_s": 0, "numpy_loops_s": 0.25,
                      "transfers_s": 0, "waiting_s": 0, "opening_s": 0.01,
                      "other_s": 0.99},
            "gain_s": 0.05, "gain_low_s": 0.04, "gain_high_s": 0.06,
            "rows": [dict(sums, routine="sgemm", least=256, most=511)],
            "loops": [{"loop": "exp d->d", "least": 524288, "most": 1048575,
                       "whole": 4, "split": 6, "whole_s": 0.1, "split_s": 0.1,
                       "gain_s": None}]}


def compare_report(command):
    runs = [{"takt_first": i % 2 == 0, "plain": {"wall_s": 1 + i / 50},
             "takt": {"wall_s": 0.9 + i / 60}} for i in range(7)]
    return {"schema": 1, "command": command, "store": "/home/me/x.db",
            "pairs": 7, "verdict": "faster", "text": "1.1 times as fast",
            "wall": {"ratio": 0.91, "low": 0.89, "high": 0.93},
            "cpu": {"ratio": 1.0}, "claimed": {"share": 0.08},
            "output": {"runs": "same"}, "failure": None, "runs": runs}


def optimize_report(name):
    return {"schema": 2, "summary": {}, "findings": [
        {"file": name, "line": 3, "op": "matmul", "certainty": "exact",
         "recommendation": {"backend": "simd", "predicted_speedup": 3.5}}]}


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

    def takt(self, *words, status=0):
        ran = subprocess.run([TAKT, *words], capture_output=True, text=True,
                             timeout=600, env=self.env, cwd=self.folder)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran.stdout if status == 0 else ran.stderr

    def files(self, names):
        """A run, a comparison and findings in which those names occur."""
        made = {"run.json": run_report(["python3"] + names),
                "compare.json": compare_report(names),
                "optimize.json": optimize_report(names[0])}
        for name, content in made.items():
            with open(self.path(name), "w", encoding="utf-8") as file:
                json.dump(content, file)
        return list(made)

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
            with open(self.path(name), "rb") as file:
                ran = subprocess.run(
                    [TAKT, "report", "/dev/stdin", "--json"], env=self.env,
                    input=file.read() + b" " * 100000, capture_output=True,
                    timeout=600, cwd=self.folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(json.loads(ran.stdout)["inputs"][0]["kind"],
                             name.split(".")[0])

    def test_anonymous_leaves_names_out(self):
        files = self.files(["/home/me/secret.py"])
        with open(self.path("twice.json"), "w", encoding="utf-8") as file:
            file.write('{"wall_s": 1, "left_alone": null, "command": [], '
                       '"command": ["secret"], "inputs": []}')
        self.takt("report", *files, "twice.json", "--anonymous", "-o",
                  "page.html")
        with open(self.path("page.html"), encoding="utf-8") as file:
            page = file.read()
        for word in ("secret", "/home/me", "run.json"):
            self.assertNotIn(word, page)

    def test_a_map_is_a_picture_of_the_ops_named(self):
        picture = self.takt("map", "matmul", "sum", "--svg")
        self.assertTrue(picture.startswith("<svg"))
        self.assertIn(">matmul", picture)
        self.assertNotIn(">exp", picture)

    def test_a_chart_of_all_ops_fits_a_terminal(self):
        lines = self.takt("map").splitlines()
        self.assertLessEqual(len(lines), 45)
        self.assertLessEqual(max(map(len, lines[1:])), 80)
        self.assertNotIn("\033", "".join(lines))

    @unittest.skipUnless(HAS_BROWSER, "no chromium")
    def test_pages_in_a_browser(self):
        self.takt("report", "-o", "machine.html")
        self.takt("report", *self.files(HOSTILE), "-o", "hostile.html")
        with Browser() as browser:
            for page in ("machine.html", "hostile.html"):
                for width, dark in ((1100, False), (360, True)):
                    browser.open(self.path(page), width, dark=dark)
                    self.assertEqual(browser.errors, [])
                    self.assertEqual(len(browser.requests), 1)
                    self.assertEqual(browser.ask(
                        "document.documentElement.dataset.ready"), "yes")
                    self.assertLessEqual(browser.ask(
                        "document.documentElement.scrollWidth"), width)
                    ratio, where = browser.ask(CONTRAST)
                    self.assertGreaterEqual(ratio, 4.5, where)
            self.check_hostile(browser)
            self.check_machine(browser)

    def check_hostile(self, browser):
        browser.open(self.path("hostile.html"))
        self.assertIsNone(browser.ask("window.hacked"))
        text = browser.ask("document.body.textContent")
        for name in HOSTILE[:2] + HOSTILE[4:]:
            self.assertIn(name, text)
        self.assertEqual(browser.ask(
            "document.querySelectorAll('main img').length"), 0)
        self.assertEqual(browser.ask(
            "document.querySelectorAll('.chart .dot').length"), 14)
        self.assertIn("+50 ms", text)

    def check_machine(self, browser):
        browser.open(self.path("machine.html"))
        box = browser.ask("(() => {const p = document.querySelector("
                          "'#crossover svg'); p.scrollIntoView();"
                          "const b = p.getBoundingClientRect();"
                          "return [b.x, b.y, b.width, b.height]})()")
        self.assertGreater(len(colours(browser.picture(whole=False))), 30)
        browser.point(box[0] + box[2] / 2, box[1] + box[3] / 2)
        tip = browser.ask("document.querySelector('.tip').textContent")
        self.assertRegex(tip, r"^n = .*simd.*(us|ns|ms)")
        lines = "document.querySelectorAll('#crossover .line').length"
        self.assertGreater(browser.ask(lines), 1)
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
        paper = browser.paper()
        self.assertTrue(paper.startswith(b"%PDF"))
        sizes = re.findall(rb"/MediaBox \[0 0 (\d+)[.\d]* (\d+)", paper)
        self.assertTrue(sizes)
        for size in sizes:
            self.assertIn(size, ((b"594", b"841"), (b"595", b"842"),
                                 (b"594", b"842"), (b"595", b"841")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
