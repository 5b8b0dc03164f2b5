#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs the Python module of a build as a wheel: the same build gives the same
bytes.

usage: make_wheel.py BUILD FOLDER

It has libtakt and libtakt-blas inside. Its tag says what these need: manylinux
with the version of glibc if that is all, else plain linux, for this machine and
those like it. What packaging/make_portable.sh built is all inside (`make wheel`);
of other builds, libsqlite3 is outside. FOLDER gets a list of contents, too."""
import base64
import hashlib
import pathlib
import platform
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
import archive  # noqa: E402
import needs  # noqa: E402


def version():
    return archive.version()


def stripped(path):
    """The bytes of a library without its debug information."""
    with tempfile.NamedTemporaryFile() as target:
        subprocess.run(["strip", "--strip-unneeded", "-o", target.name,
                        str(path)], check=True)
        return pathlib.Path(target.name).read_bytes()


def platform_tag(package):
    """That of what all its libraries need together."""
    inside = {path.name for path in package.iterdir()}
    found = [needs.of(path) for path in package.glob("*.so*")]
    most = max((2, 17), *(glibc for glibc, _, _ in found))
    outside = {name for _, names, _ in found for name in names} - inside
    if outside <= needs.C_LIBRARY:  # as PEP 600 lets manylinux expect
        return f"manylinux_{most[0]}_{most[1]}_{platform.machine()}"
    return f"linux_{platform.machine()}"


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


def members(package, tag):
    """(name, bytes) of everything but the list of it."""
    info = f"takt-{version()}.dist-info"
    for path in sorted(package.iterdir()):
        if path.is_file():  # links to libraries are followed
            data = stripped(path) if ".so" in path.name else path.read_bytes()
            yield f"takt/{path.name}", data
    yield f"{info}/METADATA", metadata().encode()
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: takt\n"
                            f"Root-Is-Purelib: false\nTag: {tag}\n").encode()
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
    tag = f"cp311-abi3-{platform_tag(package)}"
    target = pathlib.Path(folder) / f"takt-{version()}-{tag}.whl"
    target.parent.mkdir(parents=True, exist_ok=True)
    record, entries = "", []
    with zipfile.ZipFile(target, "w") as wheel:
        for name, data in members(package, tag):
            add(wheel, name, data)
            record += record_line(name, data)
            entries.append(archive.Entry(name, data))
        name = f"takt-{version()}.dist-info/RECORD"
        add(wheel, name, (record + f"{name},,\n").encode())
    others = [archive.sqlite()] if "manylinux" in tag else []
    archive.write_sbom(target.with_name(target.name + ".spdx.json"),
                       target.name, entries, others)
    print(target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
