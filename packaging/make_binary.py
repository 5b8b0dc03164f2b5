#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs what packaging/make_portable.sh built as a tarball that is unpacked
anywhere and run, on glibc 2.31 or later.

usage: make_binary.py BUILD FOLDER

Writes FOLDER/takt-VERSION-linux-MACHINE.tar.xz and its list of contents. The same
build gives the same bytes."""
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import archive
import needs
from make_dist import LANGUAGES, LICENCES

# What it may need beside the C library: the exporter, which is loaded when it is
# asked for, libcurl and zlib.
OF_EXPORTER = {"libcurl.so.4", "libz.so.1"}
OWN = re.compile(r"libtakt(-below)?\.so")

README = """Takt {version}, for Linux on {machine} with glibc 2.31 or later.

Unpack it anywhere, and run bin/takt. The folder may be moved as a whole.

  bin/takt machine             what this machine has
  bin/takt tune --quick        measures it, for 5 seconds
  bin/takt run -- python3 app.py

Programs in C: PKG_CONFIG_PATH=THIS_FOLDER/lib/pkgconfig, or
CMAKE_PREFIX_PATH=THIS_FOLDER; link with -Wl,-rpath,THIS_FOLDER/lib.
There is no libtakt.a here. share/doc/takt has the documents and the licence;
licences of others of whom there is something inside are beside it.
"""


def check(path):
    """Refuses what would not start elsewhere."""
    most, libraries, runpath = needs.of(path)
    allowed = needs.C_LIBRARY | (OF_EXPORTER if "otel" in path.name else set())
    strange = [x for x in libraries if x not in allowed and not OWN.match(x)]
    if most > (2, 31) or strange or runpath not in (
            "", "$ORIGIN", "$ORIGIN:$ORIGIN/takt"):
        sys.exit(f"make_binary: {path.name} needs glibc {most}, {strange}, "
                 f"and looks in '{runpath}'")


def licences():
    """Of what is inside: SQLite's says that there is nothing to say."""
    modules = archive.ROOT / "build/node/scan/node_modules"
    if (archive.ROOT / "vendor/scan").exists():
        modules = archive.ROOT / "vendor/scan/node_modules"
    for name in ("tree-sitter", *LANGUAGES):
        path = modules / name / "LICENSE"
        yield archive.Entry(
            f"share/doc/takt/licences/{name.split('/')[-1]}.txt",
            path.read_bytes())
    unicode = modules / "tree-sitter/vendor/tree-sitter/lib/src/unicode/LICENSE"
    yield archive.Entry("share/doc/takt/licences/icu.txt", unicode.read_bytes())


def main(build, folder):
    with tempfile.TemporaryDirectory() as stage:
        os.umask(0o022)
        subprocess.run(["cmake", "--install", build, "--strip", "--prefix",
                        stage], check=True, stdout=subprocess.DEVNULL)
        entries = list(archive.read_folder(pathlib.Path(stage)))
        for entry in entries:
            if entry.data[:4] == b"\x7fELF":
                check(pathlib.Path(stage) / entry.path)
    machine = platform.machine()
    text = README.format(version=archive.version(), machine=machine)
    entries.append(archive.Entry("README", text.encode()))
    entries += licences()
    top = f"takt-{archive.version()}-linux-{machine}"
    target = pathlib.Path(folder) / f"{top}.tar.xz"
    archive.write_tar(target, top, entries)
    others = [*archive.npm_packages(archive.ROOT / "scan",
                                    ("tree-sitter", *LANGUAGES), LICENCES),
              archive.sqlite()]
    archive.write_sbom(target.with_name(target.name + ".spdx.json"),
                       target.name, entries, others)
    print(target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
