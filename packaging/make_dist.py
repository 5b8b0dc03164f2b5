#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the source tarball of the last commit, with the parsers that `takt
optimize` needs, so that it builds without git and without a network.

usage: make_dist.py FOLDER [--without-parsers] [--level N]

Writes FOLDER/takt-VERSION.tar.xz and FOLDER/takt-VERSION.tar.xz.spdx.json. Two
runs give the same bytes, also from an unpacked tarball. --without-parsers: as
where npm cannot be had; the tool that is built of it cannot scan, and says so.
--level: of xz, 0 to 9.
"""
import argparse
import io
import pathlib
import subprocess
import sys
import tarfile

import archive
from archive import ROOT, Entry

LANGUAGES = ("tree-sitter-c", "tree-sitter-cpp", "tree-sitter-python",
             "tree-sitter-rust", "@tree-sitter-grammars/tree-sitter-toml")
# Nothing else of a package is compiled (tools/grammars.sh).
COMPILED = ("src/parser.c", "src/scanner.c", "src/tree_sitter/*.h", "common/*.h",
            "LICENSE", "package.json")
RUNTIME = ("vendor/tree-sitter/lib/include/**/*.h",
           "vendor/tree-sitter/lib/src/**/*.[ch]",
           "vendor/tree-sitter/lib/src/unicode/LICENSE", "LICENSE",
           "package.json")
LICENCES = {"tree-sitter": "MIT AND ICU"}  # its tables of Unicode are ICU's


def own_files():
    """Of the last commit; of the folder, if it is an unpacked tarball."""
    if not (ROOT / ".git").exists():
        yield from archive.read_folder(ROOT, leave_out=("build", "out"))
        return
    if archive.tell("git", "status", "--porcelain", "--untracked-files=no"):
        print("make_dist: what is not committed is left out", file=sys.stderr)
    data = archive.tell("git", "archive", "--format=tar", "HEAD")
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar:
            if member.isfile():
                yield Entry(member.name, tar.extractfile(member).read(),
                            member.mode & 0o100 != 0)
            elif member.issym():
                yield Entry(member.name, b"", link=member.linkname)
    yield Entry("packaging/epoch", f"{archive.EPOCH}\n".encode())


def parsers():
    """What tools/npm.sh installed, as far as it is compiled."""
    folder = ROOT / "build/node/scan"
    subprocess.run([ROOT / "tools/npm.sh", ROOT / "scan", folder], check=True,
                   stdout=sys.stderr)
    modules = folder / "node_modules"
    yield archive.read(folder / "package-lock.json",
                       "vendor/scan/package-lock.json")
    for name, patterns in [("tree-sitter", RUNTIME),
                           *((language, COMPILED) for language in LANGUAGES)]:
        for pattern in patterns:
            for path in sorted((modules / name).glob(pattern)):
                entry = archive.read(
                    path, f"vendor/scan/node_modules/{path.relative_to(modules)}")
                entry.is_program = False
                yield entry


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--without-parsers", action="store_true")
    parser.add_argument("--level", type=int, default=6)
    given = parser.parse_args()
    entries = list(own_files())
    others = []
    if not given.without_parsers:
        if not any(x.path.startswith("vendor/scan/") for x in entries):
            entries += parsers()
        others = list(archive.npm_packages(
            ROOT / "scan", ("tree-sitter", *LANGUAGES), LICENCES))
    top = f"takt-{archive.version()}"
    target = given.folder / f"{top}.tar.xz"
    archive.write_tar(target, top, entries, given.level)
    archive.write_sbom(given.folder / f"{target.name}.spdx.json", target.name,
                       entries, others)
    print(target)


if __name__ == "__main__":
    main()
