# SPDX-License-Identifier: MIT
"""The public headers: what each of them declares, and what is said about it.

The form of the headers is the one of CONTRIBUTING.md. Declarations that follow
each other without a blank line share the comment above them and become one
page. A comment with a line `---- title ----` begins a section. Lines of a
comment that begin with a status and a colon say when it is returned; those of
a section or of the file hold for every function in it.

What cannot be read, and what is public and has no comment, is an error.
"""
import dataclasses
import re

TOKEN = re.compile(
    r"(?P<blank>\n[ \t]*(?=\n))|(?P<space>\s+)|(?P<comment>/\*.*?\*/)"
    r"|(?P<directive>\#(?:/\*.*?\*/|\\\n|[^\n])*)"
    r"|(?P<linkage>extern \"C\" \{|\}(?=\s*\#endif))", re.S)
STATUSES = re.compile(r"^((?:TAKT_E[A-Z]+)(?:, TAKT_E[A-Z]+)*): *(.*)$")
INNER_STATUS = re.compile(
    r"^.*[.;] +TAKT_E[A-Z]+(?:, TAKT_E[A-Z]+)*[:.]", re.M)
TITLE = re.compile(r"^-{4,} (.*?)(?: -{2,})?$")
SUMMARY_MAX = 78


class Problem(Exception):
    pass


@dataclasses.dataclass
class Comment:
    text: str = ""      # without what follows
    title: str = ""     # of the section that it begins
    statuses: list = dataclasses.field(default_factory=list)
    threads: str = ""
    line: int = 0


@dataclasses.dataclass
class Group:
    """What shares a comment."""
    header: str
    comment: Comment
    section: Comment
    code: list = dataclasses.field(default_factory=list)  # verbatim
    functions: list = dataclasses.field(default_factory=list)
    types: list = dataclasses.field(default_factory=list)
    macros: list = dataclasses.field(default_factory=list)
    enumerators: list = dataclasses.field(default_factory=list)
    line: int = 0

    def names(self):
        return self.functions + self.types + self.macros

    def returns_status(self):
        return any(re.match(r"takt_status takt_\w+\(", code)
                   for code in self.code)

    def statuses(self, header):
        """Its own, then those of the section and of the header that it does
        not speak of itself. `also` adds to them."""
        out, known = [], set()
        for comment in (self.comment, self.section, header.comment):
            own = set()
            for names, text in comment.statuses:
                names = [name for name in names if name not in known]
                if names:
                    out.append([names, text])
                if not text.startswith("also"):
                    own.update(names)
            known |= own
        return out

    def summary(self):
        return summary(self.comment.text)


@dataclasses.dataclass
class Header:
    name: str           # takt/ops.h
    summary: str
    comment: Comment
    groups: list


def _strip(text):
    """A comment without its stars and rules."""
    lines = text[2:-2].split("\n")
    lines = [re.sub(r"^ ?\* ?", "", line.strip(" \t") if i == 0
                    else re.sub(r"^ *\*", "*", line)).rstrip()
             for i, line in enumerate(lines)]
    return "\n".join(lines).strip("\n")


def read_comment(text, line=0):
    comment = Comment(line=line)
    lines = []
    status = None
    for text_line in _strip(text).split("\n"):
        title = TITLE.match(text_line)
        match = STATUSES.match(text_line)
        if title:
            comment.title = title[1].strip()
        elif re.match(r"^-{4,}$", text_line):
            continue
        elif match:
            status = [match[1].split(", "), match[2]]
            comment.statuses.append(status)
        elif status is not None and text_line.strip():
            status[1] += " " + text_line.strip()
        else:
            status = None
            lines.append(text_line)
    text = "\n".join(lines).strip("\n")
    threads = re.search(r"^Threads: (.*(?:\n(?!\w+(?:\(\))?:).+)*)\n?", text,
                        re.M)
    if threads:
        comment.threads = re.sub(r"\s*\n\s*", " ", threads[1])
        text = text.replace(threads[0], "")
    comment.text = text.strip("\n")
    return comment


def summary(text):
    """The first clause: up to a full stop, a colon or a semicolon that is not
    within brackets or quotes."""
    text = re.sub(r"\s+", " ", text.split("\n\n")[0]).strip()
    depth, quoted, end = 0, False, len(text)
    for i, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        quoted ^= char == '"'
        if char in ".:;" and text[i + 1:i + 2] in ("", " ") and \
                depth <= 0 and not quoted:
            end = i
            break
    text = text[:end].replace("`", "").rstrip(" ,")
    if re.match(r"[A-Z][a-z]+\b|A ", text):
        text = text[0].lower() + text[1:]
    return text


def _declaration_end(text, at):
    depth = 0
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 1
        elif text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
        elif text[at] == ";" and depth == 0:
            return at + 1
        at += 1
    raise Problem("a declaration without an end")


def tokens(text):
    """(kind, text, line) of comments, directives, declarations and blank
    lines. A comment that begins on the line where a declaration ends belongs
    to it."""
    at = 0
    while at < len(text):
        line = text.count("\n", 0, at) + 1
        match = TOKEN.match(text, at)
        if match is None:
            end = _declaration_end(text, at)
            after = re.compile(r"[ \t]*/\*.*?\*/", re.S).match(text, end)
            end = after.end() if after else end
            yield "declaration", text[at:end], line
            at = end
            continue
        if match.lastgroup not in ("space", "linkage"):
            yield match.lastgroup, match[0], line
        at = match.end()


def _without_comments(code):
    return re.sub(r"/\*.*?\*/", "", code, flags=re.S)


def declared(code):
    """(kind, name) of a declaration."""
    bare = re.sub(r"\s+", " ", _without_comments(code)).strip()
    for kind, pattern in (
            ("functions", r"TAKT_API [\w *]*?\b(takt_\w+)\("),
            ("types", r"typedef (?:struct|enum) \w+ \{.*\} (takt_\w+);$"),
            ("types", r"typedef struct \w+ (takt_\w+);$"),
            ("types", r"typedef [\w *]*?\(\*(takt_\w+)\)\("),
            ("types", r"typedef [\w *]*?\b(takt_\w+)\("),
            ("macros", r"# ?define (TAKT_\w+)")):
        match = re.match(pattern, bare)
        if match:
            return kind, match[1]
    raise Problem(f"not understood: {bare[:60]}")


def _verbatim(code):
    """As it stands in the header, without the mark of what is exported."""
    if not code.startswith("TAKT_API "):
        return code
    first, *rest = code[len("TAKT_API "):].split("\n")
    return "\n".join([first, *(line[9:] if line.startswith(" " * 9) else line
                               for line in rest)])


class _Parser:
    """Comments and declarations in their order become groups."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.groups, self.comments = [], []
        self.section, self.about = Comment(), None
        self.group = None

    def where(self, line):
        return f"include/{self.name}:{line}"

    def close_comments(self):
        """A comment that nothing follows is that of the file or a section."""
        for comment in self.comments:
            if self.about is None:
                self.about = comment
            elif comment.title:
                self.section = comment
            else:
                raise Problem(f"{self.where(comment.line)}: "
                              "a comment that belongs to nothing")
        self.comments = []

    def take_comment(self, text, line):
        if text.startswith("/* SPDX"):
            return
        if self.group is not None:
            self.group = None
        match = INNER_STATUS.search(_strip(text))
        if match:
            raise Problem(f"{self.where(line)}: each status begins a line: "
                          f"{match[0].strip()}")
        self.comments.append(read_comment(text, line))

    def take_declaration(self, code, line):
        kind, name = declared(code)
        if kind == "macros" and name.endswith("_H") or name == "TAKT_API":
            return
        if self.group is None:
            comment = Comment(
                text="\n\n".join(c.text for c in self.comments if c.text),
                statuses=[s for c in self.comments for s in c.statuses])
            for c in self.comments:
                if c.title:
                    self.section = Comment(title=c.title)
            self.comments = []
            self.group = Group(self.name, comment, self.section, line=line)
            self.groups.append(self.group)
        getattr(self.group, kind).append(name)
        self.group.code.append(_verbatim(code))
        if re.match(r"typedef enum", code):
            self.group.enumerators += re.findall(
                r"\bTAKT_\w+(?= = )", _without_comments(code))

    def parse(self):
        for kind, text, line in tokens(self.text):
            try:
                if kind == "comment":
                    self.take_comment(text, line)
                elif kind == "blank":
                    self.close_comments()
                    self.group = None
                elif kind == "declaration" or re.match(r"# ?define", text):
                    self.take_declaration(text, line)
                elif self.comments:
                    self.close_comments()
            except Problem as problem:
                where = "" if str(problem).startswith("include/") else \
                    self.where(line) + ": "
                raise Problem(f"{where}{problem}") from None
        return self.header()

    def header(self):
        self.close_comments()
        first, _, rest = (self.about.text if self.about else "").partition(
            "\n\n")
        match = re.match(rf"{re.escape(self.name)} - (.*)\.$", first, re.S)
        if not match:
            raise Problem(f"include/{self.name}: the first comment does not "
                          f"begin with '{self.name} - WHAT IT IS.'")
        self.about.text = rest
        return Header(self.name, re.sub(r"\s+", " ", match[1]), self.about,
                      self.groups)


def parse(name, text):
    return _Parser(name, text).parse()


def problems(header):
    """What a page would lack."""
    for group in header.groups:
        where = f"include/{header.name}:{group.line}: {group.names()[0]}"
        has_own = all("/*" in code for code in group.code)
        if group.functions or group.types:
            if not group.comment.text:
                yield f"{where} has no comment"
            elif not group.summary() or len(group.summary()) > SUMMARY_MAX:
                yield (f"{where}: its comment begins with "
                       f"{len(group.summary())} letters before a full stop or "
                       f"a colon, of at most {SUMMARY_MAX}: "
                       f"{group.summary()}")
        elif not group.comment.text and not has_own:
            yield f"{where} has no comment"
        if group.returns_status() and not group.statuses(header):
            yield f"{where} returns a status and names none"
    if any(group.functions for group in header.groups) and \
            not header.comment.threads:
        yield f"include/{header.name}: no line 'Threads:'"
