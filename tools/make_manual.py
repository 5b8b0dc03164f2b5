#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the manual: man pages of the library and the tutorial, and all of it as
HTML with a search.

The headers, the documents and the tool's own man pages are the sources; nothing
is written here. A public name without a comment, a link that leads nowhere and a
page that nothing leads to are errors, and then nothing is written.
usage: make_manual.py FOLDER_OF_THE_TOOLS_PAGES OUTPUT
"""
import dataclasses
import html
import json
import os
import pathlib
import posixpath
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools/manual"))
import headers  # noqa: E402
import markdown  # noqa: E402
import pages  # noqa: E402
import reference  # noqa: E402
import roff  # noqa: E402

TUTORIAL = "docs/tutorial.md"
# The sections of the page of contents: title, and the kinds of pages in it.
SECTIONS = [("Begin here", "start"), ("How-to", "how-to"),
            ("Reference", "reference"), ("Commands", "command"),
            ("Functions", "function"), ("Types", "type"),
            ("Formats", "format"), ("Examples", "example"),
            ("Decisions", "decision"), ("Project", "project")]
FOLDERS = {"docs/decisions": "decisions", "examples": "examples",
           "docs/how-to": "how-to", "docs/formats": "formats"}


@dataclasses.dataclass
class Page:
    path: str           # below the folder of the manual
    kind: str           # one of SECTIONS
    title: str
    summary: str
    blocks: list
    source: str         # below ROOT
    names: list = dataclasses.field(default_factory=list)
    html: str = ""
    heads: list = dataclasses.field(default_factory=list)
    anchors: set = dataclasses.field(default_factory=set)


def read_headers(folder):
    """The headers, and what is wrong with them."""
    found, problems = [], []
    for path in sorted(folder.glob("*.h")):
        try:
            header = headers.parse(f"takt/{path.name}", path.read_text())
            problems += headers.problems(header)
            found.append(header)
        except headers.Problem as problem:
            problems.append(str(problem))
    return found, problems


def documents(root):
    """(path, kind, page) of every document."""
    yield "README.md", "start", "index.html"
    yield TUTORIAL, "start", "tutorial.html"
    for kind, pattern in (("how-to", "docs/how-to/*.md"),
                          ("reference", "docs/*.md"),
                          ("format", "docs/formats/*.md"),
                          ("decision", "docs/decisions/*.md"),
                          ("project", "*.md"),
                          ("project", "bench/README.md")):
        for path in sorted(root.glob(pattern)):
            name = path.relative_to(root).as_posix()
            if name not in ("README.md", TUTORIAL):
                yield name, kind, name.removeprefix("docs/").removesuffix(
                    ".md").lower() + ".html"
    for path in sorted((root / "examples").rglob("*")):
        if path.suffix in (".c", ".h", ".py"):
            name = path.relative_to(root).as_posix()
            yield name, "example", name + ".html"


def first_sentence(blocks):
    """Of the paragraph below the title, if it says something by itself."""
    if len(blocks) < 2 or blocks[1][0] != "para":
        return ""
    text = markdown.plain(blocks[1][1])
    sentence = re.split(r"(?<=[.])\s", text)[0]
    return sentence if 20 < len(sentence) < 200 else ""


class Manual:
    def __init__(self, root, tool_pages):
        self.root = root
        self.problems = []
        found, problems = read_headers(root / "include/takt")
        self.problems += problems
        self.reference = reference.Reference(found)
        self.functions = list(self.reference.pages())
        self.version = ".".join(re.findall(
            r"#define TAKT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
            (root / "include/takt/version.h").read_text()))
        self.pages = {}
        self.page_of_file = {}
        self.add_documents()
        self.add_tool(tool_pages)
        self.add_functions()
        self.add_contents()

    # ---- what there is

    def add(self, page):
        self.pages[page.path] = page

    def add_documents(self):
        for name, kind, path in documents(self.root):
            text = (self.root / name).read_text()
            if kind == "example":
                blocks = [("head", 1, [("text", name)]),
                          ("code", "c", text.rstrip("\n"), 1)]
                about = re.search(r"- (.+?)(?:[.:]|\n \*\n)", text, re.S)
                summary = re.sub(r"\s*\n \* ", " ", about[1]) if about else ""
                title = name
            else:
                blocks = self.parse(name, text)
                title = next((markdown.plain(block[2]) for block in blocks
                              if block[0] == "head"), name)
                summary = first_sentence(blocks)
            self.page_of_file[name] = path
            self.add(Page(path, kind, title, summary, blocks, name))

    def parse(self, name, text):
        try:
            return markdown.parse(text)
        except ValueError as problem:
            self.problems.append(f"{name}: {problem}")
            return []

    def add_tool(self, folder):
        for path in sorted(folder.glob("*.1")):
            try:
                blocks = roff.parse(path.read_text())
            except ValueError as problem:
                self.problems.append(f"{path.name}: {problem}")
                continue
            self.add(Page(f"man1/{path.stem}.html", "command",
                          path.stem + "(1)", roff.summary(blocks), blocks,
                          "the tables of cli", [path.stem]))
        if "man1/takt.html" not in self.pages:
            self.problems.append(f"{folder}: no man pages of the tool")

    def add_functions(self):
        for page in self.functions:
            kind = "type" if page.kind == "type" else "function"
            self.add(Page(f"man3/{page.name}.html", kind, page.name + "(3)",
                          page.summary, page.blocks, "include/" + page.header,
                          page.names + page.words))
            self.page_of_file["include/" + page.header] = \
                "man3/" + reference.header_page_name(page.header) + ".html"

    def add_contents(self):
        blocks = [("head", 1, [("text", "Contents")])]
        for title, kind in SECTIONS:
            blocks.append(("head", 2, [("text", title)]))
            items = [[("para", [("link", [("text", page.title)],
                                 "page:" + page.path),
                                ("text", f": {page.summary}" if page.summary
                                 else "")])]
                     for page in self.pages.values() if page.kind == kind]
            blocks.append(("list", False, items))
        self.add(Page("contents.html", "start", "Contents",
                      "Every page of this manual.", blocks,
                      "all of them"))

    # ---- links

    def relative(self, page, path):
        return posixpath.relpath(path, posixpath.dirname(page.path) or ".")

    def link(self, page, target):
        """The address that a link of a page leads to; None: to a file that is
        not in the manual."""
        if re.match(r"https?:", target):
            return target
        if target.startswith("page:"):
            return self.relative(page, target[5:])
        if re.match(r"man\d:", target):
            return self.relative(page, self.man_page(page, target))
        name, _, anchor = target.partition("#")
        if not name:
            return "#" + anchor
        name = posixpath.normpath(posixpath.join(
            posixpath.dirname(page.source), name))
        if name in self.page_of_file:
            return self.relative(page, self.page_of_file[name]) + \
                ("#" + anchor if anchor else "")
        if name in FOLDERS:
            return self.relative(page, "contents.html") + "#" + FOLDERS[name]
        if name.startswith("docs/pictures/") and (self.root / name).exists():
            return self.relative(page, name.removeprefix("docs/"))
        if not (self.root / name).exists():
            self.problems.append(f"{page.source}: no file {target}")
        return None

    def man_page(self, page, target):
        """The page of man3:NAME and the like."""
        section, _, name = target.partition(":")
        path = {"man1": f"man1/{name}.html",
                "man3": f"man3/{self.reference.page_of.get(name)}.html",
                "man7": "tutorial.html"}[section]
        if path not in self.pages:
            self.problems.append(f"{page.source}: no man page {target}")
        return path

    def symbol(self, page, word):
        """The address of what a word of code names; None: nothing, or what the
        page itself is about."""
        word = word.removesuffix("()")
        command = re.match(r"takt(?: ([a-z]+)|$)", word)
        if word in self.page_of_file:
            path = self.page_of_file[word]
        elif "include/" + word in self.page_of_file:
            path = self.page_of_file["include/" + word]
        elif command:
            path = "man1/" + "-".join(filter(None, ["takt", command[1]])) + \
                ".html"
        else:
            path = f"man3/{self.reference.page_of.get(word)}.html"
        if path not in self.pages:
            if re.match(r"(docs|examples)/.*\.(md|c|py)$", word):
                self.problems.append(f"{page.source}: no file {word}")
            return None
        return None if path == page.path else self.relative(page, path)

    def unknown_functions(self):
        """A function that is named and does not exist, in any document."""
        for page in self.pages.values():
            if page.kind in ("example", "decision"):
                continue
            for part in markdown.walk_inlines(page.blocks):
                if part[0] not in ("text", "code"):
                    continue
                for name in re.findall(r"\b(takt_[a-z]\w*)\(\)", part[1]):
                    if name not in self.reference.page_of:
                        yield f"{page.source}: there is no {name}()"

    # ---- writing

    def render(self):
        for page in self.pages.values():
            writer = pages.Writer(lambda target, page=page:
                                 self.link(page, target),
                                 lambda word, page=page:
                                 self.symbol(page, word))
            body = writer.body(page.blocks)
            if page.kind in ("command", "function", "type"):
                body = f"<h1>{html.escape(page.title)}</h1>\n" + body
            if page.kind not in ("command", "function", "type") and \
                    page.path not in ("index.html", "contents.html"):
                body = body.replace("</h1>", "</h1>\n" + writer.contents(), 1)
            page.heads, page.anchors = writer.heads, writer.anchors
            page.html = pages.PAGE.format(
                title=html.escape(page.title + " - Takt"), body=body,
                root="../" * page.path.count("/"), version=self.version,
                source=html.escape(page.source))

    def check(self):
        """Anchors that are not there, and pages that nothing leads to."""
        seen, todo = set(), ["index.html"]
        while todo:
            path = todo.pop()
            if path in seen:
                continue
            seen.add(path)
            page = self.pages[path]
            for address in re.findall(r'<a (?:class="\w+" )?href="([^"]*)"',
                                      page.html):
                if re.match(r"https?:", address):
                    continue
                target, _, anchor = html.unescape(address).partition("#")
                target = posixpath.normpath(posixpath.join(
                    posixpath.dirname(path), target)) if target else path
                if target not in self.pages:
                    self.problems.append(f"{page.source}: no page {address}")
                    continue
                if anchor and anchor not in self.pages[target].anchors:
                    self.problems.append(
                        f"{page.source}: no section #{anchor} in "
                        f"{self.pages[target].source}")
                todo.append(target)
        for path in sorted(set(self.pages) - seen):
            self.problems.append(f"{self.pages[path].source}: nothing leads to "
                                 f"{path}")
        self.problems += self.unknown_functions()
        self.problems = list(dict.fromkeys(self.problems))

    def search_index(self):
        """One entry a page: path, title, kind, summary, names, headings with
        their anchors, and every word on it."""
        entries = []
        for page in self.pages.values():
            words = re.sub(r"<[^>]+>", " ", page.html.split("<main>")[1])
            words = re.findall(r"[a-z0-9_][a-z0-9_.+-]*[a-z0-9_]",
                               html.unescape(words).lower())
            entries.append([page.path, page.title, page.kind, page.summary,
                            page.names,
                            [[text, anchor] for level, text, anchor in
                             page.heads if level > 1 and
                             page.kind not in ("command", "function", "type")],
                            " ".join(sorted(set(words)))])
        return "const manualIndex = " + json.dumps(
            entries, separators=(",", ":"), ensure_ascii=False) + ";\n"

    def files(self):
        """(path, text) of everything."""
        for page in self.functions:
            yield f"man3/{page.name}.3", roff.page(page.name, 3, self.version,
                                                   page.blocks)
            for name in page.names[1:]:
                yield f"man3/{name}.3", roff.alias(page.name)
        yield "man7/takt-tutorial.7", self.tutorial()
        for page in self.pages.values():
            yield "html/" + page.path, page.html
        yield "html/index.js", self.search_index()
        web = self.root / "web"
        yield "html/manual.css", ((web / "page.css").read_text() +
                                  (web / "manual.css").read_text())
        yield "html/manual.js", (web / "manual.js").read_text()
        for path in sorted((self.root / "docs/pictures").glob("*.svg")):
            yield f"html/pictures/{path.name}", path.read_text()

    def tutorial(self):
        page = self.pages["tutorial.html"]
        blocks = [block for block in page.blocks
                  if block[0] != "head" or block[1] > 1]
        return roff.page("takt-tutorial", 7, self.version, [
            ("head", 2, [("text", "NAME")]),
            ("para", [("text", "takt-tutorial - " + page.title[:1].lower() +
                       page.title[1:])]),
            ("head", 2, [("text", "DESCRIPTION")]), *blocks,
            ("head", 2, [("text", "SEE ALSO")]),
            ("para", [("bold", [("text", "takt")]), ("text", "(1), "),
                      ("bold", [("text", "takt.h")]), ("text", "(3); the "
                       "documents that are named here, in the folder "
                       "share/doc/takt/docs")])])

    def write(self, output):
        for folder in ("man3", "man7", "html"):
            shutil.rmtree(output / folder, ignore_errors=True)
        for path, text in self.files():
            file = output / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        (output / "made").write_text(f"{self.version}\n")


def main():
    if len(sys.argv) != 3:
        print(__doc__.rstrip().split("\n")[-1], file=sys.stderr)
        return 2
    os.environ.setdefault("PYTHONUTF8", "1")
    manual = Manual(ROOT, pathlib.Path(sys.argv[1]))
    manual.render()
    manual.check()
    if manual.problems:
        print(*manual.problems, f"{len(manual.problems)} problems: no manual "
              "was made", sep="\n", file=sys.stderr)
        return 1
    manual.write(pathlib.Path(sys.argv[2]))
    print(f"{len(manual.pages)} pages, {len(manual.functions)} of section 3")
    return 0


if __name__ == "__main__":
    sys.exit(main())
