# SPDX-License-Identifier: MIT
"""The pages of section 3: blocks, made from what headers.py read.

A page is that of a header (takt_ops.h for takt/ops.h), of functions that share
a comment, or of a type. Every other name is an alias of such a page.
"""
import dataclasses
import re

import markdown

TUTORIAL = "takt-tutorial"
TABLE_INDENT = re.compile(r"^ {2,3}(?=\S)")
REFERENCE = re.compile(r"\btakt_\w+\(\)|\btakt_\w+|\btakt/\w+\.h")


@dataclasses.dataclass
class Page:
    name: str
    kind: str           # "function", "type" or "header"
    summary: str
    blocks: list
    names: list         # its own, then those of its aliases
    words: list         # macros and enumerators, for the search
    header: str
    examples: list      # (code, line) shown first on this page


def header_page_name(name):
    """takt_ops.h for takt/ops.h; takt.h for takt/takt.h."""
    return "takt.h" if name == "takt/takt.h" else name.replace("/", "_")


def _prose(comment):
    """The comment as blocks. A paragraph that is indented by two or three is a
    table in a comment: it stays as it is."""
    paragraphs = []
    for paragraph in comment.split("\n\n"):
        if TABLE_INDENT.match(paragraph):
            paragraph = re.sub("^", "    ", paragraph, flags=re.M)
        paragraphs.append(paragraph)
    return markdown.parse("\n\n".join(paragraphs), is_prose=False)


def is_example(block):
    """Code, but no table: that is indented by two or three once more."""
    return block[0] == "code" and not block[2].startswith(" ")


def _head(text):
    return "head", 2, [("text", text)]


def _text(text):
    return "para", markdown.inlines(text, is_prose=False)


def _page_link(name, section=3):
    return ("link", [("bold", [("text", name)]), ("text", f"({section})")],
            f"man{section}:{name}")


def _see_also(names):
    parts = []
    for name in names:
        section = 7 if name == TUTORIAL else 3
        parts += [("text", ", " if parts else ""), _page_link(name, section)]
    return [_head("SEE ALSO"), ("para", parts)]


def _errors(statuses):
    """Each status once; what begins with `also` comes after the rest."""
    said = {}
    for names, text in statuses:
        said.setdefault(tuple(names), []).append(text)
    terms = []
    for names, texts in said.items():
        texts.sort(key=lambda text: text.startswith("also"))
        terms.append((markdown.inlines(", ".join(f"`{name}`"
                                                 for name in names)),
                      [_text(" ".join(text[:1].upper() + text[1:]
                                      for text in texts))]))
    return [_head("ERRORS"), ("terms", terms)]


def _name(names, summary):
    shown = ", ".join(names)
    return [_head("NAME"), ("para", [("text", f"{shown} - {summary}")])]


def _synopsis(header, code):
    return [_head("SYNOPSIS"), ("code", "c", "\n\n".join(
        [f"#include <{header}>", *code]), 0)]


class Reference:
    """All pages, from all headers."""

    def __init__(self, headers):
        self.headers = headers
        self.page_of = {}   # symbol or header page -> page name
        for header in headers:
            self.page_of[header_page_name(header.name)] = \
                header_page_name(header.name)
            for group in header.groups:
                if group.functions or group.types:
                    name = (group.functions + group.types)[0]
                    for symbol in group.names() + group.enumerators:
                        self.page_of[symbol] = name
                else:
                    for symbol in group.macros:
                        self.page_of[symbol] = header_page_name(header.name)

    def _mentioned(self, group, header):
        """Pages to see also: what the declarations and the comment name, who
        uses a type, the header, and the rules of all headers."""
        text = "\n".join([*group.code, group.comment.text])
        own = self.page_of[(group.functions + group.types)[0]]
        found = []
        for match in REFERENCE.findall(text):
            if "/" in match:
                name = header_page_name(match)
            else:
                name = self.page_of.get(match.removesuffix("()"))
            found.append(name)
        for other in header.groups if group.types else []:
            if any(re.search(rf"\b{name}\b", code)
                   for name in group.types for code in other.code):
                found += (other.functions + other.types)[:1]
        found = [name for name in dict.fromkeys(found)
                 if name and name != own and name in self.page_of]
        top = ["takt_status"] if group.returns_status() else []
        last = [header_page_name(header.name), "takt.h"]
        ordered = sorted(set(found) - set(last) - set(top))
        return [*dict.fromkeys(ordered + top + last)]

    def _example_of(self, header, names):
        """The examples of the header that call one of the functions."""
        return [block for block in _prose(header.comment.text)
                if is_example(block) and
                any(re.search(rf"\b{name}\b", block[2]) for name in names)]

    def _group_page(self, group, header):
        names = group.functions + group.types
        own = _prose(group.comment.text)
        section = _prose(group.section.text) if \
            group.section.text != group.comment.text else []
        examples = [block for block in own if is_example(block)]
        blocks = [*_name(names, group.summary()),
                  *_synopsis(header.name, ["\n".join(group.code)]),
                  _head("DESCRIPTION"),
                  *(block for block in own if block not in examples), *section]
        if any(block[0] == "list" for block in _prose(header.comment.text)):
            blocks.append(("para", [
                ("text", f"What holds for all of {header.name} is in "),
                _page_link(header_page_name(header.name)), ("text", ".")]))
        if group.returns_status():
            blocks += [_head("RETURN VALUE"), ("para", [
                ("code", "TAKT_OK"), ("text", " or an error. What NULL means "
                                      "as an argument is in "),
                _page_link("takt.h"), ("text", ".")]),
                *_errors(group.statuses(header))]
        if group.functions:
            blocks += [_head("THREADS"), _text(
                header.comment.threads[:1].upper() +
                header.comment.threads[1:])]
        shown = examples + self._example_of(header, names)
        if shown:
            blocks += [_head("EXAMPLES"), *shown]
        blocks += _see_also(self._mentioned(group, header))
        return Page(names[0], "function" if group.functions else "type",
                    group.summary(), blocks, names,
                    group.enumerators + group.macros, header.name, examples)

    def _listed(self, title, groups):
        if not groups:
            return []
        terms = []
        for group in groups:
            term = []
            for name in group.functions or group.types:
                term += [("text", ", " if term else ""), ("code", name)]
            terms.append((term, [("para", markdown.inlines(
                group.summary(), is_prose=False))]))
        return [_head(title), ("terms", terms)]

    def _header_page(self, header):
        name = header_page_name(header.name)
        about = _prose(header.comment.text)
        examples = [block for block in about if is_example(block)]
        macros = [group for group in header.groups if group.macros and
                  not group.functions and not group.types]
        blocks = [*_name([name], header.summary),
                  *_synopsis(header.name, []), _head("DESCRIPTION"),
                  *(about or [_text(header.summary[:1].upper() +
                                    header.summary[1:] + ".")])]
        blocks += self._listed("FUNCTIONS", [
            group for group in header.groups if group.functions])
        blocks += self._listed("TYPES", [
            group for group in header.groups
            if group.types and not group.functions])
        if macros:
            blocks += [_head("CONSTANTS"), ("code", "c", "\n\n".join(
                (f"/* {group.comment.text} */\n" if group.comment.text else "")
                + "\n".join(group.code) for group in macros), 0)]
        if header.comment.statuses:
            blocks += _errors(header.comment.statuses)
        if header.comment.threads:
            blocks += [_head("THREADS"), _text(
                header.comment.threads[:1].upper() +
                header.comment.threads[1:])]
        others = [TUTORIAL, *sorted({header_page_name(other.name)
                                     for other in self.headers} - {name})] \
            if name == "takt.h" else ["takt.h"]
        blocks += _see_also(others)
        return Page(name, "header", header.summary, blocks, [name],
                    [macro for group in macros for macro in group.macros],
                    header.name, examples)

    def pages(self):
        for header in self.headers:
            yield self._header_page(header)
            for group in header.groups:
                if group.functions or group.types:
                    yield self._group_page(group, header)
