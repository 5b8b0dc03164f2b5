#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the Python module of a build as a wheel: the same build gives the same
bytes.

usage: make_wheel.py BUILD FOLDER

It has libtakt and libtakt-blas inside. Its tag is plain linux: it needs the
libc it was built with, and libsqlite3, so it is for this machine and those like
it, not for an index."""
import base64
import hashlib
import pathlib
import platform
import re
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TAG = f"cp311-abi3-linux_{platform.machine()}"


def version():
    header = (ROOT / "include/takt/version.h").read_text()
    return re.search(r'TAKT_VERSION_STRING "(.*)"', header)[1]


def metadata():
    guide = (ROOT / "docs/how-to/use-from-python.md").read_text()
    return f"""Metadata-Version: 2.1
Name: takt
Version: {version()}
Summary: Runs each numeric operation where it finishes first
License: MIT
Requires-Python: >=3.11
Description-Content-Type: text/markdown

{guide}"""


def members(package):
    """(name, bytes) of everything but the list of it."""
    info = f"takt-{version()}.dist-info"
    for path in sorted(package.iterdir()):
        if path.is_file():  # links to libraries are followed
            yield f"takt/{path.name}", path.read_bytes()
    yield f"{info}/METADATA", metadata().encode()
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: takt\n"
                            f"Root-Is-Purelib: false\nTag: {TAG}\n").encode()
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes()


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return f"{name},sha256={digest.rstrip(b'=').decode()},{len(data)}\n"


def add(wheel, name, data):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
    wheel.writestr(entry, data)


def main(build, folder):
    package = pathlib.Path(build) / "python/takt"
    if not (package / "_takt.abi3.so").exists():
        sys.exit(f"make_wheel: {build} has no Python module: are there headers "
                 "of Python 3.11 or later (python3-dev)?")
    target = pathlib.Path(folder) / f"takt-{version()}-{TAG}.whl"
    target.parent.mkdir(parents=True, exist_ok=True)
    record = ""
    with zipfile.ZipFile(target, "w") as wheel:
        for name, data in members(package):
            add(wheel, name, data)
            record += record_line(name, data)
        name = f"takt-{version()}.dist-info/RECORD"
        add(wheel, name, (record + f"{name},,\n").encode())
    print(target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
