# SPDX-License-Identifier: MIT
"""Markdown, as the documents of this tree use it, as blocks.

A block is one of
    ("head", level, inlines)          ("para", inlines)
    ("code", language, text, line)    ("list", is_ordered, [blocks, ...])
    ("table", head, rows)             ("terms", [(inlines, blocks), ...])
where head, a row of rows are lists of cells, and a cell is inlines. Inlines are
a list of
    ("text", text)   ("code", text)   ("bold", inlines)   ("em", inlines)
    ("link", inlines, target)         ("image", text, target)
What the writers (roff.py, pages.py) get is this and nothing else.
"""
import re

INLINE = re.compile(
    r"(?P<tick>`+)(?P<code>.+?)(?P=tick)(?!`)"
    r"|!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)\)"
    r"|\[(?P<link>(?:`[^`]*`|[^\]`])*)\]\((?P<target>[^)\s]+)\)"
    r"|\*\*(?P<bold>(?:`[^`]*`|.)+?)\*\*"
    r"|(?<![\w*])\*(?=[^\s*])(?P<em>[^*]+?)(?<=\S)\*(?![\w*])"
    r"|\\(?P<escaped>[\\`*_|\[\]<>-])", re.S)
TICKS = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^(\s*)(```+)\s*([\w ]*?)\s*$")
HEAD = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
ITEM = re.compile(r"^( {0,3})([-*]|\d{1,3}\.)( +)(?=\S)")
RULE = re.compile(r"^\|?\s*:?-{2,}:?\s*(\|\s*:?-*:?\s*)*$")


def inlines(text, is_prose=True):
    """The inlines of a text; of a comment (not prose) `ticks` mean code, and
    every other character itself."""
    pattern = INLINE if is_prose else TICKS
    out, at = [], 0
    for match in pattern.finditer(text):
        if match.start() > at:
            out.append(("text", text[at:match.start()]))
        at = match.end()
        out.append(_inline(match) if is_prose else ("code", match[1]))
    if at < len(text):
        out.append(("text", text[at:]))
    return out


def _inline(match):
    if match["code"] is not None:
        return "code", re.sub(r"\s+", " ", match["code"]).strip()
    if match["source"] is not None:
        return "image", match["alt"], match["source"]
    if match["target"] is not None:
        return "link", inlines(match["link"]), match["target"]
    if match["bold"] is not None:
        return "bold", inlines(match["bold"])
    if match["em"] is not None:
        return "em", inlines(match["em"])
    return "text", match["escaped"]


def plain(parts):
    """The inlines as text alone."""
    return "".join(part[1] if part[0] in ("text", "code", "image")
                   else plain(part[1]) for part in parts)


def _cells(line, is_prose):
    line = re.sub(r"^\s*\||\|\s*$", "", line)
    cells = re.split(r"\|(?=(?:[^`]*`[^`]*`)*[^`]*$)",
                     line.replace(r"\|", "\0"))
    return [inlines(cell.strip().replace("\0", "|"), is_prose)
            for cell in cells]


class _Reader:
    def __init__(self, lines, first, is_prose):
        self.lines, self.first, self.is_prose = lines, first, is_prose
        self.at, self.blocks = 0, []

    def more(self):
        return self.at < len(self.lines)

    def line(self):
        return self.lines[self.at]

    def inside(self, text):
        return inlines(re.sub(r"\s*\n\s*", " ", text.strip()), self.is_prose)

    def read(self):
        while self.more():
            line = self.line()
            if not line.strip():
                self.at += 1
            elif FENCE.match(line):
                self.fenced()
            elif line.startswith("    "):
                self.indented()
            elif self.is_prose and HEAD.match(line):
                level, text = HEAD.match(line).groups()
                self.blocks.append(("head", len(level), self.inside(text)))
                self.at += 1
            elif ITEM.match(line):
                self.items()
            elif self.begins_table():
                self.table()
            else:
                self.paragraph()
        return self.blocks

    def fenced(self):
        indent, ticks, language = FENCE.match(self.line()).groups()
        begin = self.at = self.at + 1
        while self.more() and not self.line().strip().startswith(ticks):
            self.at += 1
        if not self.more():
            raise ValueError(f"line {self.first + begin - 1}: "
                             "a code block without an end")
        text = [re.sub(rf"^ {{0,{len(indent)}}}", "", line)
                for line in self.lines[begin:self.at]]
        self.at += 1
        self.blocks.append(("code", language, "\n".join(text),
                            self.first + begin))

    def indented(self):
        begin = end = self.at
        while self.more() and (not self.line().strip() or
                               self.line().startswith("    ")):
            self.at += 1
            if self.lines[self.at - 1].strip():
                end = self.at
        self.at = end
        text = [line[4:] for line in self.lines[begin:end]]
        self.blocks.append(("code", "", "\n".join(text), self.first + begin))

    def items(self):
        is_ordered = ITEM.match(self.line())[2][0].isdigit()
        items = []
        while self.more():
            match = ITEM.match(self.line())
            if not match or match[2][0].isdigit() != is_ordered:
                break
            width, begin = match.end(), self.at
            text = [self.line()[width:]]
            self.at += 1
            while self.more() and self.continues(width):
                text.append(re.sub(rf"^ {{0,{width}}}", "", self.line()))
                self.at += 1
            items.append(_Reader(text, self.first + begin,
                                 self.is_prose).read())
            while self.more() and not self.line().strip():
                self.at += 1
        self.blocks.append(("list", is_ordered, items))

    def continues(self, width):
        """Whether the line belongs to an item whose text begins at `width`."""
        if self.line().strip():
            return self.line().startswith(" " * width) or not (
                ITEM.match(self.line()) or HEAD.match(self.line()) or
                FENCE.match(self.line()) or not self.lines[self.at - 1].strip())
        after = self.lines[self.at + 1:]
        after = next((line for line in after if line.strip()), "")
        return after.startswith(" " * width)

    def begins_list(self):
        """Whether a list begins within a paragraph. A number other than 1 does
        not begin one, nor does a sign in the midst of a comment."""
        match = ITEM.match(self.line())
        if not match or match[2] not in ("-", "*", "1."):
            return False
        return self.is_prose or self.lines[self.at - 1].endswith(":")

    def begins_table(self):
        return (self.is_prose and "|" in self.line() and
                self.at + 1 < len(self.lines) and
                RULE.match(self.lines[self.at + 1]))

    def table(self):
        head = _cells(self.line(), self.is_prose)
        rows = []
        self.at += 2
        while self.more() and "|" in self.line():
            row = _cells(self.line(), self.is_prose)
            rows.append(row + [[]] * (len(head) - len(row)))
            self.at += 1
        self.blocks.append(("table", head, rows))

    def paragraph(self):
        begin = self.at
        self.at += 1
        while self.more() and self.line().strip() and not (
                FENCE.match(self.line()) or self.begins_list() or
                self.is_prose and HEAD.match(self.line()) or
                self.begins_table()):
            self.at += 1
        self.blocks.append(
            ("para", self.inside("\n".join(self.lines[begin:self.at]))))


def parse(text, is_prose=True, first=1):
    """The blocks of a text that begins at line `first` of its file."""
    return _Reader(text.split("\n"), first, is_prose).read()


def walk(blocks):
    """Every block, also those within others."""
    for block in blocks:
        yield block
        if block[0] == "list":
            for item in block[2]:
                yield from walk(item)
        elif block[0] == "terms":
            for _, inner in block[1]:
                yield from walk(inner)


def walk_inlines(blocks):
    """Every inline, also those within others."""
    def deeper(parts):
        for part in parts:
            yield part
            if part[0] in ("bold", "em", "link"):
                yield from deeper(part[1])
    for block in walk(blocks):
        if block[0] == "head":
            yield from deeper(block[2])
        elif block[0] == "para":
            yield from deeper(block[1])
        elif block[0] == "table":
            for row in [block[1], *block[2]]:
                for cell in row:
                    yield from deeper(cell)
        elif block[0] == "terms":
            for term, _ in block[1]:
                yield from deeper(term)
