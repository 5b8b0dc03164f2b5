# SPDX-License-Identifier: MIT
"""Blocks (markdown.py) as HTML."""
import html
import re

import markdown

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{root}manual.css">
<script defer src="{root}manual.js"></script>
</head>
<body data-root="{root}">
<header>
<nav aria-label="Manual">
<a href="{root}index.html"><strong>Takt manual</strong></a>
<a href="{root}tutorial.html">Tutorial</a>
<a href="{root}contents.html#how-to">How-to</a>
<a href="{root}contents.html#commands">Commands</a>
<a href="{root}contents.html#functions">Library</a>
<a href="{root}contents.html">Contents</a>
</nav>
<form id="search" role="search" hidden>
<input type="search" placeholder="Search the manual" aria-label="Search"
 autocomplete="off">
<ol id="found" aria-live="polite"></ol>
</form>
</header>
<main>
{body}
</main>
<footer><p>takt {version}; made from {source}.</p></footer>
</body>
</html>
"""


def slug(text, used):
    """The anchor of a heading, as code hosts make them."""
    base = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") or "section"
    name, number = base, 0
    while name in used:
        number += 1
        name = f"{base}-{number}"
    used.add(name)
    return name


class Writer:
    """Writes one page. `link` turns a target into an address or None, and
    `symbol` a word of code into the address of its page or None."""

    def __init__(self, link, symbol):
        self.link, self.symbol = link, symbol
        self.anchors, self.heads = set(), []

    def code(self, text):
        """Code, its public names linked."""
        def one(match):
            address = self.symbol(match[0])
            word = html.escape(match[0], quote=False)
            return f'<a href="{address}">{word}</a>' if address else word
        pieces, at = [], 0
        for match in re.finditer(
                r"\b(?:takt_\w+|TAKT_\w+|takt/\w+\.h|"
                r"docs/[\w/-]+\.md|examples/[\w/]+\.(?:c|py))\b", text):
            pieces.append(html.escape(text[at:match.start()], quote=False))
            pieces.append(one(match))
            at = match.end()
        return "".join(pieces) + html.escape(text[at:], quote=False)

    def inline(self, parts):
        out = ""
        for part in parts:
            kind = part[0]
            if kind == "text":
                out += self.code(part[1])
            elif kind == "code":
                address = self.symbol(part[1])
                inside = html.escape(part[1], quote=False)
                out += f'<code><a href="{address}">{inside}</a></code>' \
                    if address else f"<code>{self.code(part[1])}</code>"
            elif kind in ("bold", "em"):
                tag = "strong" if kind == "bold" else "em"
                out += f"<{tag}>{self.inline(part[1])}</{tag}>"
            elif kind == "link":
                address = self.link(part[2])
                inside = Writer(self.link, lambda _: None).inline(part[1])
                out += inside if address is None else \
                    f'<a href="{html.escape(address)}">{inside}</a>'
            else:
                out += (f'<img src="{html.escape(self.link(part[2]))}" '
                        f'alt="{html.escape(part[1])}">')
        return out

    def head(self, level, parts):
        text = markdown.plain(parts)
        anchor = slug(text, self.anchors)
        self.heads.append((level, text, anchor))
        inside = Writer(self.link, lambda _: None).inline(parts)
        return (f'<h{level} id="{anchor}">{inside} <a class="anchor" '
                f'href="#{anchor}" aria-label="Link to this section">#</a>'
                f"</h{level}>")

    def cells(self, tag, row):
        return "".join(f"<{tag}>{self.inline(cell)}</{tag}>" for cell in row)

    def body(self, blocks):
        return "\n".join(self.block(block) for block in blocks)

    def block(self, block):
        kind = block[0]
        if kind == "head":
            return self.head(block[1], block[2])
        if kind == "para":
            return f"<p>{self.inline(block[1])}</p>"
        if kind == "code":
            return f"<pre><code>{self.code(block[2])}</code></pre>"
        if kind == "list":
            tag = "ol" if block[1] else "ul"
            items = "\n".join(f"<li>{self.item(item)}</li>"
                              for item in block[2])
            return f"<{tag}>\n{items}\n</{tag}>"
        if kind == "table":
            head = f"<thead><tr>{self.cells('th', block[1])}</tr></thead>" \
                if any(block[1]) else ""
            rows = "\n".join(f"<tr>{self.cells('td', row)}</tr>"
                             for row in block[2])
            return ('<div class="wide"><table>' + head +
                    f"<tbody>\n{rows}\n</tbody></table></div>")
        return '<dl class="terms">' + "\n".join(
            f"<dt>{self.inline(term)}</dt><dd>{self.item(inside)}</dd>"
            for term, inside in block[1]) + "</dl>"

    def item(self, blocks):
        """What an item holds; one paragraph alone needs no tag."""
        if len(blocks) == 1 and blocks[0][0] == "para":
            return self.inline(blocks[0][1])
        return self.body(blocks)

    def contents(self):
        """The sections of a long page, to jump to."""
        heads = [head for head in self.heads if head[0] == 2]
        if len(heads) < 4:
            return ""
        return '<nav class="sections" aria-label="Sections">' + "\n".join(
            f'<a href="#{anchor}">{html.escape(text)}</a>'
            for _, text, anchor in heads) + "</nav>"
