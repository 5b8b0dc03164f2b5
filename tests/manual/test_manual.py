#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual as it was built, and the step that makes it on small sources.

usage: test_manual.py SOURCE BUILD
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.path[:0] = [str(SOURCE / folder)
                for folder in ("tests/cli", "tools", "tools/manual")]
from browser import Browser  # noqa: E402
import headers  # noqa: E402
import make_manual  # noqa: E402
import markdown  # noqa: E402
import pages  # noqa: E402
import roff  # noqa: E402

MADE = BUILD / "manual"
HEADER = """/* SPDX-License-Identifier: MIT */
/*
 * takt/small.h - a small header.
 *
 * What it is for.
 *
 *     const int one = takt_one();
 *
 * Threads: any.
 */
#ifndef TAKT_SMALL_H
#define TAKT_SMALL_H

#include <takt/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As many there are. */
#define TAKT_MANY 3

/* A kind: of two. */
typedef enum takt_kind { TAKT_THIS = 0, TAKT_THAT = 1 } takt_kind;

/* The number one. It is
 * odd. */
TAKT_API int takt_one(void);
TAKT_API int takt_uno(void); /* the same */

/* ---- more ----
 *
 * All of these are new.
 * TAKT_ENOMEM: no memory. */

/* Makes a thing (of `kind`: any) and keeps it.
 * TAKT_EINVAL, TAKT_EFULL: no such kind, or
 *   too many. */
TAKT_API takt_status takt_make(takt_kind kind,
                               int count);

#ifdef __cplusplus
}
#endif

#endif
"""


def read(path):
    return (MADE / path).read_text()


def small(old="", new=""):
    assert old in HEADER, old
    return headers.parse("takt/small.h", HEADER.replace(old, new, 1))


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", BUILD / library],
                         capture_output=True, text=True, check=True).stdout
    return sorted({line.split()[2].partition("@")[0]
                   for line in out.splitlines() if line.split()[1] != "A"})


class Headers(unittest.TestCase):
    def test_declarations_with_one_comment_are_one_group(self):
        header = small()
        self.assertEqual([group.names() for group in header.groups],
                         [["TAKT_MANY"], ["takt_kind"],
                          ["takt_one", "takt_uno"], ["takt_make"]])
        self.assertEqual(header.summary, "a small header")
        self.assertEqual(header.comment.threads, "any.")
        self.assertEqual(header.groups[1].enumerators,
                         ["TAKT_THIS", "TAKT_THAT"])
        self.assertEqual(list(headers.problems(header)), [])

    def test_summaries_end_with_the_first_clause(self):
        header = small()
        self.assertEqual([group.summary() for group in header.groups],
                         ["as many there are", "a kind", "the number one",
                          "makes a thing (of kind: any) and keeps it"])

    def test_statuses_are_those_of_function_and_section(self):
        header = small()
        self.assertEqual(header.groups[3].statuses(header),
                         [[["TAKT_EINVAL", "TAKT_EFULL"],
                           "no such kind, or too many."],
                          [["TAKT_ENOMEM"], "no memory."]])

    def test_what_a_function_says_itself_replaces_what_holds_for_all(self):
        for also, count in (("no memory at all", 2), ("also none at all", 3)):
            header = small("TAKT_EFULL: no such kind, or\n *   too many.",
                           f"TAKT_EFULL: no.\n * TAKT_ENOMEM: {also}.")
            self.assertEqual(len(header.groups[3].statuses(header)), count)

    def test_declarations_are_shown_as_they_stand(self):
        self.assertEqual(small().groups[3].code,
                         ["takt_status takt_make(takt_kind kind,\n"
                          "                      int count);"])

    def problems(self, old, new):
        return " ".join(headers.problems(small(old, new)))

    def test_what_is_public_has_a_comment(self):
        self.assertIn("takt_one has no comment", self.problems(
            "/* The number one. It is\n * odd. */\n", ""))
        self.assertIn("takt_kind has no comment", self.problems(
            "/* A kind: of two. */\n", ""))
        self.assertIn("TAKT_MANY has no comment", self.problems(
            "/* As many there are. */\n", ""))

    def test_a_status_that_is_returned_is_named(self):
        header = headers.parse("takt/small.h", re.sub(
            r"\n \* TAKT_E[\s\S]*?\*/", " */", HEADER))
        self.assertIn("takt_make returns a status and names none",
                      " ".join(headers.problems(header)))

    def test_a_header_says_what_threads_may_do(self):
        self.assertIn("no line 'Threads:'",
                      self.problems(" * Threads: any.\n", ""))

    def test_a_summary_is_short(self):
        self.assertIn("takt_one: its comment begins with",
                      self.problems("The number one.", "A number" * 12 + "."))

    def refused(self, old, new, message):
        with self.assertRaisesRegex(headers.Problem, message):
            small(old, new)

    def test_what_is_not_understood_is_refused(self):
        self.refused("TAKT_API int takt_one(void);", "int takt_one(void);",
                     "not understood: int takt_one")
        self.refused("int count);", "int count)", "without an end")
        self.refused("/* A kind: of two. */\n", "/* A kind: of two. */\n\n",
                     "a comment that belongs to nothing")
        self.refused("takt/small.h - a small header.", "A header.",
                     "does not begin with")

    def test_each_status_begins_a_line(self):
        self.refused("keeps it.\n * TAKT_EINVAL", "keeps it. TAKT_EINVAL",
                     "each status begins a line")


class Markdown(unittest.TestCase):
    def html(self, text):
        return pages.Writer(lambda target: target,
                            lambda _: None).body(markdown.parse(text))

    def test_blocks(self):
        self.assertEqual(
            [block[0] for block in markdown.parse(
                "# A\n\n    code\n\ntext\n- one\n- two\n\n```c\nint x;\n```\n\n"
                "| a | b |\n|---|---|\n| 1 | `x|y` |\n")],
            ["head", "code", "para", "list", "code", "table"])

    def test_items_hold_blocks(self):
        block, = markdown.parse("1. one\n   more\n\n   ```sh\n   run\n   ```\n"
                                "2. two\n")
        self.assertTrue(block[1])
        self.assertEqual([[inner[0] for inner in item] for item in block[2]],
                         [["para", "code"], ["para"]])
        self.assertEqual(block[2][0][1][2], "run")

    def test_a_number_at_the_beginning_of_a_line_is_no_list(self):
        for text in ("names are\n0. Of the flags", "x = a\n- b"):
            block, = markdown.parse(text, is_prose=False)
            self.assertEqual(block[0], "para")

    def test_inlines(self):
        self.assertEqual(self.html("a *b* **c `d`** [e](f#g) <&> 2 * 3 * 4"),
                         "<p>a <em>b</em> <strong>c <code>d</code></strong> "
                         '<a href="f#g">e</a> &lt;&amp;&gt; 2 * 3 * 4</p>')

    def test_cells_may_hold_bars(self):
        block, = markdown.parse("| a | b |\n|---|---|\n| `x|y` | p\\|q |")
        self.assertEqual([markdown.plain(cell) for cell in block[2][0]],
                         ["x|y", "p|q"])

    def test_a_block_without_an_end_is_refused(self):
        with self.assertRaisesRegex(ValueError, "line 3: a code block"):
            markdown.parse("a\n\n```c\nint x;\n")

    def test_no_text_is_lost_whatever_its_form(self):
        pieces = ["# w%d", "w%d", "- w%d", "  w%d", "    w%d", "1. w%d", "",
                  "| w%d | x |", "|---|---|", "```", "**w%d", "[w%d](", "\tw%d"]
        for seed in range(300):
            chosen = random.Random(seed)
            lines = [chosen.choice(pieces) for _ in range(12)]
            lines = [line % i if "%" in line else line
                     for i, line in enumerate(lines)]
            if sum(line == "```" for line in lines) % 2 == 1:
                lines.append("```")
            try:
                shown = self.html("\n".join(lines))
            except ValueError:
                continue  # a fence within an item that ends before it
            for word in re.findall(r"w\d+", "\n".join(lines)):
                self.assertRegex(shown, rf"\b{word}\b", lines)

    def test_headings_have_the_anchors_of_code_hosts(self):
        used = set()
        self.assertEqual([pages.slug(text, used) for text in
                          ("The driver's own cache", "A `b`-c", "A `b`-c")],
                         ["the-drivers-own-cache", "a-b-c", "a-b-c-1"])


class Roff(unittest.TestCase):
    def test_nothing_becomes_a_request(self):
        text = roff.page("x", 3, "1", markdown.parse(
            ".so is text\n\n    .TH\n    'x\n    \\n-\n"))
        self.assertIn("\n\\&.so is text\n", text)
        self.assertIn("\n\\&.TH\n\\(aqx\n\\en\\-\n", text)

    def test_links_say_where_they_lead_unless_their_text_does(self):
        self.assertEqual(roff.inline(markdown.inlines(
            "[a](b.md), [c.md](d/c.md), [e](#e)")), "a (b.md), c.md, e")

    def test_a_page_of_the_tool_is_read(self):
        blocks = roff.parse(".TH X 1\n.SH NAME\ntakt\\-x \\- an x\n.SH OPTIONS"
                            "\n.TP\n.B \\-\\-a \\fIN\\fR\nwhat.\n.SH EXAMPLES\n"
                            ".nf\ntakt x\n.fi\n")
        self.assertEqual(roff.summary(blocks), "an x")
        self.assertEqual(markdown.plain(blocks[3][1][0][0]), "--a N")
        self.assertEqual(blocks[5][2], "takt x")

    def test_what_is_not_known_is_refused(self):
        for text in (".XX y\n", "a \\(em b\n"):
            with self.assertRaisesRegex(ValueError, "not known"):
                roff.parse(text)


class Step(unittest.TestCase):
    """The step on a copy of the sources in which one thing is wrong."""

    def complaint(self, path, change):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("include", "docs", "examples", "tools", "web",
                         "README.md", "CONTRIBUTING.md", "SECURITY.md",
                         "CHANGELOG.md", "bench", "src", "tests"):
                (root / name).symlink_to(SOURCE / name)
            top = pathlib.Path(path).parts[0]
            if (SOURCE / top).is_dir():
                (root / top).unlink()
                shutil.copytree(SOURCE / top, root / top)
            text = (SOURCE / path).read_text()
            (root / path).unlink()
            (root / path).write_text(change(text))
            manual = make_manual.Manual(root, BUILD / "cli")
            manual.render()
            manual.check()
            return manual.problems

    def test_links_and_names_that_lead_nowhere_are_found(self):
        self.assertEqual(self.complaint("docs/words.md", lambda text: text +
                                        "\n[a](none.md) [b](ops.md#none) "
                                        "[c](#none) `takt_none()`\n"),
                         ["docs/words.md: no file none.md",
                          "docs/words.md: no section #none in docs/ops.md",
                          "docs/words.md: no section #none in docs/words.md",
                          "docs/words.md: there is no takt_none()"])

    def test_a_new_function_needs_a_comment(self):
        problem, = self.complaint(
            "include/takt/version.h", lambda text: text.replace(
                "/* The version of the library",
                "TAKT_API int takt_new(void);\n\n"
                "/* The version of the library", 1))
        self.assertRegex(problem, "version.h:.*: takt_new has no comment")


class Made(unittest.TestCase):
    def test_every_symbol_has_a_page(self):
        symbols = exported("libtakt.so")
        if (BUILD / "libtakt-otel.so").exists():
            symbols += exported("libtakt-otel.so")
        self.assertGreater(len(symbols), 190)
        for symbol in symbols:
            text = read(f"man3/{symbol}.3")
            alias = re.fullmatch(r"\.so (man3/\w+\.3)\n", text)
            text = read(alias[1]) if alias else text
            name = text.partition(".SH")[2].partition(".SH")[0]
            self.assertRegex(name, rf"\b{symbol}\b", symbol)

    def test_functions_say_what_they_return(self):
        for path in MADE.glob("man3/*.3"):
            text = path.read_text()
            if re.search(r"^takt_status takt_\w+\(", text, re.M):
                self.assertIn('\n.SH "ERRORS"\n.TP\n', text, path.name)
                self.assertIn('\n.SH "THREADS"\n', text, path.name)

    def test_pages_have_no_mistake_for_groff(self):
        paths = [path for path in sorted(MADE.glob("man[37]/*"))
                 if not path.read_text().startswith(".so ")]
        paths += sorted((BUILD / "cli").glob("*.1"))
        ran = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-Z", *paths],
                             capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_man_shows_an_alias(self):
        env = dict(os.environ, MANPATH=str(MADE), MANWIDTH="80", LC_ALL="C")
        ran = subprocess.run(["man", "--warnings", "-E", "ascii",
                              "takt_sub_f64"], env=env, capture_output=True,
                             text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertIn("takt_status takt_sub_f64(size_t n", ran.stdout)

    def test_no_page_needs_anything_from_elsewhere(self):
        for path in MADE.glob("html/**/*"):
            if path.suffix in (".html", ".css", ".js"):
                self.assertNotRegex(
                    path.read_text(), r"(?:src=|url\(|@import|<link[^>]*href=)"
                    r"[\"']?(?:https?:)?//", path.name)

    def test_made_twice_it_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, SOURCE / "tools/make_manual.py",
                            BUILD / "cli", folder], check=True,
                           stdout=subprocess.DEVNULL,
                           env=dict(os.environ, PYTHONHASHSEED="7",
                                    LC_ALL="C"))
            ran = subprocess.run(["diff", "-r", MADE, folder],
                                 capture_output=True, text=True)
            self.assertEqual(ran.stdout, "")

    @unittest.skipIf(shutil.which("chromium") is None, "no browser")
    def test_the_search_finds_a_symbol(self):
        ask = """(async (text) => {
            const input = document.querySelector("#search input");
            input.value = text;
            input.dispatchEvent(new Event("input"));
            for (let i = 0; i < 500; i++) {
                const first = document.querySelector("#found a");
                if (first && first.dataset.seen !== "yes") {
                    first.dataset.seen = "yes";
                    return first.getAttribute("href");
                }
                await new Promise((done) => setTimeout(done, 10));
            }
        })("%s")"""
        with Browser() as browser:
            browser.open(MADE / "html/how-to/use-a-gpu.html", width=360)
            self.assertEqual(browser.ask(ask % "takt_sub_f64"),
                             "../man3/takt_add_f32.html")
            self.assertEqual(browser.ask(ask % "TAKT_MAP_READ"),
                             "../man3/takt_buffer.h.html")
            self.assertEqual(browser.ask(ask % "takt run"),
                             "../man1/takt-run.html")
            self.assertFalse(browser.ask(
                "document.documentElement.scrollWidth > innerWidth"))
            self.assertEqual(browser.errors, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
