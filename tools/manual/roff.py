# SPDX-License-Identifier: MIT
"""Blocks (markdown.py) as man pages, and the man pages of the tool as blocks.

The pages of the tool come from its tables (cli/help.c), which use few requests.
One that is not known here is an error.
"""
import re

import markdown

def escape(text):
    """A text on one line: roff reads - as a hyphen and \\ as its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return text.replace("'", "\\(aq").replace("`", "\\(ga").replace(
        "^", "\\(ha").replace("~", "\\(ti")


def _lines(text):
    """No line begins with a request."""
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def inline(parts, font="R"):
    out = ""
    for part in parts:
        if part[0] == "text":
            text = escape(part[1])
            out += re.sub(r"\b(takt_\w+)\(\)|\b(TAKT_[A-Z0-9_]+)\b",
                          lambda m: f"\\fB\\%{m[1] or m[2]}\\f{font}" +
                          ("()" if m[1] else ""), text)
        elif part[0] == "code":
            out += f"\\fB\\%{escape(part[1])}\\f{font}"
        elif part[0] == "bold":
            out += "\\fB" + inline(part[1], "B") + f"\\f{font}"
        elif part[0] == "em":
            out += "\\fI" + inline(part[1], "I") + f"\\f{font}"
        elif part[0] == "link":
            out += inline(part[1], font)
            if not re.match(r"man\d:|#", part[2]) and \
                    not part[2].endswith(markdown.plain(part[1])):
                out += f" ({escape(part[2])})"
        else:
            out += escape(part[1])
    return out


def _code(text):
    return [".PP", ".RS 4", ".EX", _lines(escape(text)), ".EE", ".RE"]


def _nested(head, blocks):
    """A list's item or a term: what follows the first paragraph is indented."""
    first, *rest = blocks if blocks and blocks[0][0] == "para" else \
        [("para", []), *blocks]
    out = [*head, _lines(inline(first[1])) or "\\&"]
    if rest:
        out += [".RS", *body(rest), ".RE"]
    return out


def _table(head, rows):
    """Each row is a term, its first cell, and what the others say of it."""
    titles = [inline(cell) for cell in head]
    out = []
    for row in rows:
        cells = [(title, inline(cell)) for title, cell in
                 zip(titles[1:], row[1:]) if cell]
        text = "; ".join(f"{title}: {cell}" if title and len(cells) > 1
                         else cell for title, cell in cells)
        out += [".TP", _lines(inline(row[0]) or "\\&"), _lines(text or "\\&")]
    return out


def body(blocks):
    out = []
    for block in blocks:
        if block[0] == "head":
            out.append((".SH " if block[1] < 3 else ".SS ") + '"' +
                       inline(block[2], "B").replace('"', '\\(dq') + '"')
        elif block[0] == "para":
            if not out or not out[-1].startswith((".SH", ".SS")):
                out.append(".PP")
            out.append(_lines(inline(block[1])))
        elif block[0] == "code":
            out += _code(block[2])
        elif block[0] == "list":
            for number, item in enumerate(block[2], 1):
                mark = f"{number}." if block[1] else "\\(bu"
                out += _nested([f".IP {mark} 4"], item)
        elif block[0] == "table":
            out += _table(*block[1:])
        else:
            for term, blocks_of in block[1]:
                out += _nested([".TP", _lines(inline(term))], blocks_of)
    return out


def page(name, section, version, blocks):
    """A whole man page. Its first block is the heading NAME."""
    title = escape(name.upper() if section == 7 else name)
    lines = [f'.TH "{title}" {section} "" "takt {version}" "Takt manual"',
             ".ad l", *body(blocks)]
    text = "\n".join(lines) + "\n"
    return re.sub(r"(\.S[HS] .*\n)\.PP\n", r"\1", text)


def alias(name):
    return f".so man3/{name}.3\n"


# ---- the pages of the tool, read

FONT = re.compile(r"\\f([BIR])((?:(?!\\f).)*)", re.S)
ESCAPES = {"-": "-", "e": "\\", "&": ""}


def _unescape(text):
    try:
        return re.sub(r"\\(.)", lambda m: ESCAPES[m[1]], text)
    except KeyError as escape_character:
        raise ValueError(f"an escape that is not known, {escape_character}: "
                         f"{text}") from None


def _inlines(text):
    out = []
    plain, *rest = re.split(r"(?=\\f[BIR])", text)
    if plain:
        out.append(("text", _unescape(plain)))
    for piece in rest:
        font, inside = FONT.match(piece).groups()
        kind = {"B": "bold", "I": "em", "R": None}[font]
        if inside:
            part = ("text", _unescape(inside))
            out.append((kind, [part]) if kind else part)
    return out


def _request(line):
    name, _, rest = line.partition(" ")
    if name == ".BR":
        word, section, tail = re.fullmatch(r"(\S+) \((\d)\)(.*)",
                                           rest).groups()
        word = _unescape(word)
        return [("link", [("bold", [("text", word)]),
                          ("text", f"({section})")], f"man{section}:{word}"),
                ("text", tail)]
    if name == ".B":
        plain, *fonts = re.split(r"(?=\\f)", rest)
        return [("bold", [("text", _unescape(plain))]),
                *_inlines("".join(fonts))]
    raise ValueError(f"a request that is not known: {line}")


class _Reader:
    def __init__(self, text):
        self.lines = text.rstrip("\n").split("\n")
        self.blocks, self.para, self.terms = [], [], None

    def close(self):
        if self.para:
            self.add(("para", self.para))
        self.para = []

    def add(self, block):
        if self.terms is not None and self.terms[1]:
            self.terms[1][-1][1].append(block)
        else:
            self.blocks.append(block)

    def text(self, parts):
        if self.para:
            self.para.append(("text", " "))
        self.para += parts

    def read(self):
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            at += 1
            if line.startswith((".TH", ".PP")):
                self.close()
            elif line.startswith(".SH "):
                self.close()
                self.terms = None
                self.blocks.append(("head", 2, [("text", line[4:])]))
            elif line == ".TP":
                self.close()
                if self.terms is None:
                    self.terms = ("terms", [])
                    self.blocks.append(self.terms)
                term = self.lines[at]
                self.terms[1].append((_request(term), []))
                at += 1
            elif line == ".nf":
                end = self.lines.index(".fi", at)
                self.close()
                self.add(("code", "sh", _unescape(
                    "\n".join(self.lines[at:end])), at))
                at = end + 1
            elif line.startswith("."):
                self.text(_request(line))
            else:
                self.text(_inlines(line))
        self.close()
        return self.blocks


def parse(text):
    """The blocks of a man page of the tool."""
    return _Reader(text).read()


def summary(blocks):
    """What the section NAME says after the dash."""
    at = next(i for i, block in enumerate(blocks)
              if block[0] == "head" and markdown.plain(block[2]) == "NAME")
    return markdown.plain(blocks[at + 1][1]).partition(" - ")[2]
